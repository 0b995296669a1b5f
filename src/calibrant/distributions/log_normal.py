"""The log-normal distribution."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant._special import log_ndtr, ndtr, ndtri, ndtri_logit
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.parameters import keep, parameters, widths
from calibrant.distributions.standard_families import StandardNormal
from calibrant.distributions.table import ONCE


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
        mu, sigma = parameters("LogNormal", mu=self.mu, sigma=self.sigma)
        # sigma has no unit: exp(mu + sigma z) tells it from 0 only where it is not far below eps
        least = 4 * float(namespace(mu).finfo(mu.dtype).eps)
        keep(self, mu=mu, sigma=widths("LogNormal.sigma", sigma, mu, strict=self.strict, least=least))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mu.shape)

    def _z(self, y: Array) -> tuple[Array, Array]:
        """z, -inf up to 0, and the log of dy/dz there, log(y sigma)."""
        xp, sigma = namespace(y), self._lift(self.sigma)
        inside = (y > 0) & ~xp.isinf(y)
        log_y = xp.log(xp.where(inside, y, xp.ones_like(y)))
        z = (log_y - self._lift(self.mu)) / sigma
        end = xp.where(y > 0, xp.full_like(y, xp.inf), xp.full_like(y, -xp.inf))
        return xp.where(inside, z, end), log_y + xp.log(sigma)

    def _y(self, z: Array) -> Array:
        return _exp(self._lift(self.mu) + self._lift(self.sigma) * z)

    def _cdf(self, y: Array) -> Array:
        return ndtr(self._z(y)[0])

    def _sf(self, y: Array) -> Array:
        return ndtr(-self._z(y)[0])

    def _logit(self, y: Array) -> tuple[Array, Array]:
        z, log_width = self._z(y)
        value, log_slope = StandardNormal()._logit(z)
        return value, log_slope - log_width

    def _ppf(self, p: Array) -> Array:
        return self._y(ndtri(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._y(ndtri_logit(s))

    def _logpdf(self, y: Array) -> Array:
        z, log_width = self._z(y)
        return StandardNormal()._logpdf(z) - log_width

    def _moments(self) -> Moments:
        """m = exp(mu + sigma^2 / 2), m sqrt(exp(sigma^2) - 1), 2 m Phi(-sigma / sqrt(2)) (Baran and Lerch, 2015)."""
        xp, mu, variance = namespace(self.mu), self.mu, self.sigma**2
        std = _exp(mu + variance + 0.5 * xp.log(-xp.expm1(-variance)))  # overflows no sooner than it must
        shift = 2 * _exp(mu + 0.5 * variance + log_ndtr(-self.sigma * math.sqrt(0.5)))
        return Moments(_exp(mu + 0.5 * variance), std, shift)

    def _integrals(self, y: Array, which: int) -> Array:
        """Of F: y Phi(z) - E Y 1{Y <= y} = y Phi(z) - exp(mu + sigma^2 / 2) Phi(z - sigma)."""
        if which != ONCE:
            return super()._integrals(y, which)
        xp, positive, mu, sigma = namespace(y), y > 0, self._lift(self.mu), self._lift(self.sigma)
        y = xp.where(positive, y, xp.ones_like(y))
        z, _ = self._z(y)
        value = y * ndtr(z) - _exp(mu + 0.5 * sigma**2 + log_ndtr(z - sigma))
        return xp.where(positive, value, xp.zeros_like(value))


def _exp(x: Array) -> Array:
    """exp(x), inf beyond the largest float."""
    with np.errstate(over="ignore"):
        return namespace(x).exp(x)
