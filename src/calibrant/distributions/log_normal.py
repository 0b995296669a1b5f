"""The log-normal distribution."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from calibrant._arguments import same_length
from calibrant._arrays import Array, complain, floats, namespace, positive, wider
from calibrant._special import log_ndtr, ndtr, ndtri, ndtri_logit
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.normal import StandardNormal
from calibrant.distributions.table import ONCE, SQUARE


@dataclass(frozen=True, eq=False, repr=False)
class LogNormal(Distribution):
    """F(y) = Phi(z), z = (log y - mu) / sigma, for y > 0: the distributions of exp(mu + sigma Z), Z normal.

    `mu` and `sigma` hold one number per row, or one in all for a single distribution. Up to 0 the cdf is 0, the logpdf
    -inf. A zero sigma becomes the least that floats tell apart, with a warning; `strict=True` raises instead.

    >>> LogNormal([0.0, 1.0], [1.0, 0.5]).mean()
    array([1.64872127, 3.08021685])
    """

    mu: Array
    sigma: Array
    _: KW_ONLY
    strict: bool = field(default=False, metadata={"shared": True})

    if TYPE_CHECKING:

        def __init__(self, mu: ArrayLike, sigma: ArrayLike, *, strict: bool = False) -> None: ...

    def __post_init__(self) -> None:
        mu = floats("LogNormal.mu", self.mu)
        mu = floats("LogNormal.mu", mu, like=wider(mu, self.sigma))
        sigma = floats("LogNormal.sigma", self.sigma, like=mu)
        if mu.ndim > 1 or sigma.ndim > 1:
            shapes = f"{tuple(mu.shape)}, {tuple(sigma.shape)}"
            raise ValueError(f"LogNormal takes one mu and one sigma per row, got shapes {shapes}")
        if mu.ndim and sigma.ndim:
            same_length("LogNormal.mu", mu.shape[0], "LogNormal.sigma", sigma.shape[0])
        xp = namespace(mu)
        if bool(xp.any(sigma < 0)):
            complain("LogNormal.sigma", sigma < 0, "is negative")
        # sigma has no unit: exp(mu + sigma z) tells it from 0 only where it is not far below eps
        least = 4 * float(xp.finfo(mu.dtype).eps)
        sigma = positive("LogNormal.sigma", sigma, mu, strict=self.strict, least=least)
        mu, sigma = xp.broadcast_arrays(mu, sigma)
        object.__setattr__(self, "mu", mu)
        object.__setattr__(self, "sigma", sigma)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mu.shape)

    def _z(self, y: Array) -> Array:
        xp, positive = namespace(y), y > 0
        z = (xp.log(xp.where(positive, y, xp.ones_like(y))) - self._lift(self.mu)) / self._lift(self.sigma)
        return xp.where(positive, z, xp.full_like(z, -xp.inf))

    def _y(self, z: Array) -> Array:
        return _exp(self._lift(self.mu) + self._lift(self.sigma) * z)

    def _cdf(self, y: Array) -> Array:
        return ndtr(self._z(y))

    def _sf(self, y: Array) -> Array:
        return ndtr(-self._z(y))

    def _logit(self, y: Array) -> tuple[Array, Array]:
        """That of z; dz/dy = 1 / (y sigma)."""
        xp, z = namespace(y), self._z(y)
        inside = xp.isfinite(z)
        safe = xp.where(inside, y, xp.ones_like(z))
        value, log_slope = StandardNormal()._logit(xp.where(inside, z, xp.zeros_like(z)))
        log_slope = log_slope - xp.log(safe) - xp.log(self._lift(self.sigma))
        return xp.where(inside, value, z), xp.where(inside, log_slope, xp.full_like(z, xp.inf))

    def _ppf(self, p: Array) -> Array:
        return self._y(ndtri(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._y(ndtri_logit(s))

    def _logpdf(self, y: Array) -> Array:
        """-z^2 / 2 - log(y sigma sqrt(2 pi))."""
        xp, positive = namespace(y), y > 0
        safe = xp.where(positive, y, xp.ones_like(y))
        constant = xp.log(self._lift(self.sigma)) + 0.5 * math.log(2 * math.pi)
        logpdf = -0.5 * self._z(safe) ** 2 - xp.log(safe) - constant
        return xp.where(positive, logpdf, xp.full_like(logpdf, -xp.inf))

    def _moments(self) -> Moments:
        """m = exp(mu + sigma^2 / 2), m sqrt(exp(sigma^2) - 1), 2 m Phi(-sigma / sqrt(2)) (Baran and Lerch, 2015)."""
        xp, mu, variance = namespace(self.mu), self.mu, self.sigma**2
        std = _exp(mu + variance + 0.5 * xp.log(-xp.expm1(-variance)))  # overflows no sooner than it must
        shift = 2 * _exp(mu + 0.5 * variance + log_ndtr(-self.sigma * math.sqrt(0.5)))
        return Moments(_exp(mu + 0.5 * variance), std, shift)

    def _integrals(self, y: Array, which: int) -> Array:
        """y p_0 - p_1; (y^2 p_0 - 2 y p_1 + p_2) / 2: p_k = E Y^k 1{Y <= y} = E Y^k Phi(z - k sigma)."""
        if which == SQUARE:
            return super()._integrals(y, which)
        xp, positive, mu, sigma = namespace(y), y > 0, self._lift(self.mu), self._lift(self.sigma)
        y = xp.where(positive, y, xp.ones_like(y))
        z = self._z(y)
        p = [_exp(k * mu + 0.5 * (k * sigma) ** 2 + log_ndtr(z - k * sigma)) for k in range(2 if which == ONCE else 3)]
        value = y * p[0] - p[1] if which == ONCE else (y**2 * p[0] - 2 * y * p[1] + p[2]) / 2
        return xp.where(positive, value, xp.zeros_like(value))


def _exp(x: Array) -> Array:
    """exp(x), inf beyond the largest float, without a warning."""
    xp = namespace(x)
    largest = math.log(float(xp.finfo(x.dtype).max))
    finite = x < largest
    return xp.where(finite, xp.exp(xp.where(finite, x, xp.zeros_like(x))), xp.full_like(x, xp.inf))
