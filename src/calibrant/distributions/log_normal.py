"""The log-normal law."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from calibrant._arguments import same_length
from calibrant._arrays import Array, complain, floats, namespace, positive, wider
from calibrant._special import log_ndtr, ndtr, ndtri, ndtri_logit
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments


@dataclass(frozen=True, eq=False, repr=False)
class LogNormal(Distribution):
    """F(y) = Phi(z), z = (log y - mu) / sigma, for y > 0: the laws of exp(mu + sigma Z), Z normal.

    `mu` and `sigma` hold one number a row, or one in all for a single law. Up to 0 the cdf is 0, the logpdf
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
            raise ValueError(f"LogNormal takes one mu and one sigma a row, got shapes {shapes}")
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
        """One law for each mu."""
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

    def _logcdf(self, y: Array) -> Array:
        return log_ndtr(self._z(y))

    def _logsf(self, y: Array) -> Array:
        return log_ndtr(-self._z(y))

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

    def _mean(self) -> Array:
        """exp(mu + sigma^2 / 2)."""
        return _exp(self.mu + 0.5 * self.sigma**2)

    def _std(self) -> Array:
        """exp(mu + sigma^2) sqrt(1 - exp(-sigma^2)), which overflows no sooner than it must."""
        xp = namespace(self.mu)
        return _exp(self.mu + self.sigma**2 + 0.5 * xp.log(-xp.expm1(-(self.sigma**2))))

    def _crps(self, y: Array) -> Array:
        """y (2 Phi(z) - 1) - 2 mean (Phi(z - sigma) + Phi(sigma / sqrt 2) - 1) (Baran and Lerch, 2015)."""
        z, sigma = self._z(y), self._lift(self.sigma)
        mean = self._lift(self._mean())
        return y * (ndtr(z) - ndtr(-z)) + 2 * mean * (ndtr(-sigma / math.sqrt(2)) - ndtr(z - sigma))

    def _partial_moments(self, y: Array) -> PartialMoments:
        """y Phi(z) - m Phi(z - s), (y^2 Phi(z) - 2 y m Phi(z - s) + r Phi(z - 2 s)) / 2; r = E Y^2."""
        z, s = self._z(y), self._lift(self.sigma)
        m, r = self._lift(self._mean()), self._lift(_exp(2 * self.mu + 2 * self.sigma**2))
        below = ndtr(z), m * ndtr(z - s), r * ndtr(z - 2 * s)
        above = ndtr(-z), m * ndtr(s - z), r * ndtr(2 * s - z)
        lower, upper = y * below[0] - below[1], above[1] - y * above[0]
        return PartialMoments(
            lower,
            (y**2 * below[0] - 2 * y * below[1] + below[2]) / 2,
            upper,
            (y**2 * above[0] - 2 * y * above[1] + above[2]) / 2,
        )


def _exp(x: Array) -> Array:
    """exp(x), inf beyond the largest float, without a warning."""
    xp = namespace(x)
    largest = math.log(float(xp.finfo(x.dtype).max))
    finite = x < largest
    return xp.where(finite, xp.exp(xp.where(finite, x, xp.zeros_like(x))), xp.full_like(x, xp.inf))
