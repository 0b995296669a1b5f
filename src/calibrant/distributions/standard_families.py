"""The normal, log-normal, logistic and Laplace distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._arguments import keep
from calibrant._arrays import Array, namespace
from calibrant._special import erfcx, log_ndtr, log_sigmoid, ndtr, ndtri, ndtri_logit, safe_log, sigmoid
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.location_scale import LocationScale, Standard, located
from calibrant.distributions.parameters import parameters, widths
from calibrant.distributions.table import ONCE


@dataclass(frozen=True, repr=False)
class StandardNormal(Standard):
    """F(z) = Phi(z)."""

    def _cdf(self, z: Array) -> Array:
        return ndtr(z)

    def _ppf(self, p: Array) -> Array:
        return ndtri(p)

    def _ppf_logit(self, s: Array) -> Array:
        return ndtri_logit(s)

    def _logpdf(self, z: Array) -> Array:
        return -0.5 * z**2 - 0.5 * math.log(2 * math.pi)

    def _logit(self, z: Array) -> tuple[Array, Array]:
        """The slope is f / S / F; f / S by the scaled erfc, since log f and log S far out differ in no digit."""
        xp, below, above = namespace(z), log_ndtr(z), log_ndtr(-z)
        hazard = -safe_log(erfcx(xp.abs(z) * math.sqrt(0.5)) * math.sqrt(math.pi / 2))  # 0 at infinity
        return below - above, hazard - xp.maximum(below, above)

    def _moments(self) -> Any:
        """E |Z - Z'| / 2 = 1 / sqrt(pi)."""
        return Moments(0.0, 1.0, -1 / math.sqrt(math.pi))

    def _area(self, z: Array) -> Array:
        """z Phi + phi."""
        return z * ndtr(z) + namespace(z).exp(self._logpdf(z))


def Normal(loc: ArrayLike, scale: ArrayLike) -> LocationScale:
    """The normal distributions with mean `loc` and standard deviation `scale`.

    A zero scale is replaced by the smallest one that floats near `loc` can resolve, with a warning.

    Args:
        loc: The mean: one number, or one per row.
        scale: The standard deviation, above zero: one number, or one per row.

    >>> Normal([0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-1.64485363, -2.28970725]), array([1.64485363, 4.28970725]))
    """
    return located("Normal", loc, scale, StandardNormal())


@dataclass(frozen=True, eq=False, repr=False)
class LogNormal(Distribution):
    """F(y) = Phi(z), z = (log y - mu) / sigma, for y > 0: the distributions of exp(mu + sigma Z), Z normal.

    `mu` and `sigma` hold one number per row, or one in all for a single distribution. Up to 0 the cdf is 0, the logpdf
    -inf. A zero sigma is replaced by the smallest one that floats resolve, with a warning.

    >>> LogNormal([0.0, 1.0], [1.0, 0.5]).mean()
    array([1.64872127, 3.08021685])
    """

    mu: Array
    sigma: Array

    if TYPE_CHECKING:

        def __init__(self, mu: ArrayLike, sigma: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        mu, sigma = parameters("LogNormal", mu=self.mu, sigma=self.sigma)
        # sigma has no unit: exp(mu + sigma z) tells it from 0 only where it is not far below eps
        least = 4 * float(namespace(mu).finfo(mu.dtype).eps)
        keep(self, mu=mu, sigma=widths("LogNormal.sigma", sigma, mu, least=least))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.mu.shape)

    def _z(self, y: Array) -> tuple[Array, Array]:
        """z, -inf up to 0, and the log of dy/dz there, log(y sigma)."""
        xp, sigma = namespace(y), self._lift(self.sigma)
        inside = (y > 0) & ~xp.isinf(y)
        log_y = xp.log(xp.where(inside, y, 1.0))
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
        y = xp.where(positive, y, 1.0)
        z, _ = self._z(y)
        value = y * ndtr(z) - _exp(mu + 0.5 * sigma**2 + log_ndtr(z - sigma))
        return xp.where(positive, value, 0.0)


def _exp(x: Array) -> Array:
    """exp(x), inf beyond the largest float."""
    with np.errstate(over="ignore"):
        return namespace(x).exp(x)


@dataclass(frozen=True, repr=False)
class StandardLogistic(Standard):
    """F(z) = 1 / (1 + exp(-z))."""

    def _cdf(self, z: Array) -> Array:
        return sigmoid(z)

    def _ppf_logit(self, s: Array) -> Array:
        return s

    def _logpdf(self, z: Array) -> Array:
        return log_sigmoid(z) + log_sigmoid(-z)

    def _logit(self, z: Array) -> tuple[Array, Array]:
        return z, namespace(z).zeros_like(z)

    def _moments(self) -> Any:
        """E |Z - Z'| / 2 = 1."""
        return Moments(0.0, math.pi / math.sqrt(3), -1.0)

    def _area(self, z: Array) -> Array:
        """log(1 + exp(z))."""
        return -log_sigmoid(-z)


def Logistic(loc: ArrayLike, scale: ArrayLike) -> LocationScale:
    """The logistic distributions with mean `loc` and CDF 1 / (1 + exp(-(y - loc) / scale)).

    A zero scale is replaced by the smallest one that floats near `loc` can resolve, with a warning.

    Args:
        loc: The mean: one number, or one per row.
        scale: The scale, above zero: one number, or one per row.

    >>> Logistic([0.0, 1.0], [1.0, 2.0]).std()
    array([1.81379936, 3.62759873])
    """
    return located("Logistic", loc, scale, StandardLogistic())


@dataclass(frozen=True, repr=False)
class StandardLaplace(Standard):
    """f(z) = exp(-|z|) / 2; everything below is in h = exp(-|z|) / 2, the mass of the nearer tail."""

    def _cdf(self, z: Array) -> Array:
        h = _nearer_tail(z)
        return namespace(z).where(z < 0, h, 1 - h)

    def _ppf_logit(self, s: Array) -> Array:
        """log(2 sigmoid(s)) below the median, and the same mirrored above."""
        xp = namespace(s)
        z = math.log(2) + log_sigmoid(-xp.abs(s))
        return xp.where(s < 0, z, -z)

    def _logpdf(self, z: Array) -> Array:
        return -namespace(z).abs(z) - math.log(2)

    def _logit(self, z: Array) -> tuple[Array, Array]:
        """log h - log(1 - h) on the side of the nearer tail; the slope f / F / (1 - F) is 1 / (1 - h)."""
        xp, size = namespace(z), namespace(z).abs(z)
        rest = xp.log1p(-_nearer_tail(z))
        value = math.log(2) + size + rest
        return xp.where(z < 0, -value, value), -rest

    def _moments(self) -> Any:
        """E |Z - Z'| / 2 = 3 / 4."""
        return Moments(0.0, math.sqrt(2), -0.75)

    def _area(self, z: Array) -> Array:
        """h below the median, z + h above it."""
        h = _nearer_tail(z)
        return namespace(z).where(z < 0, h, z + h)


def _nearer_tail(z: Array) -> Array:
    xp = namespace(z)
    return 0.5 * xp.exp(-xp.abs(z))


def Laplace(loc: ArrayLike, scale: ArrayLike) -> LocationScale:
    """The Laplace distributions with mean `loc` and density exp(-|y - loc| / scale) / (2 scale).

    A zero scale is replaced by the smallest one that floats near `loc` can resolve, with a warning.

    Args:
        loc: The mean: one number, or one per row.
        scale: The scale, above zero: one number, or one per row.

    >>> Laplace([0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-2.30258509, -3.60517019]), array([2.30258509, 5.60517019]))
    """
    return located("Laplace", loc, scale, StandardLaplace())
