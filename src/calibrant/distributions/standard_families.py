"""The normal, logistic and Laplace distributions."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import erfcx, log_ndtr, log_sigmoid, ndtr, ndtri, ndtri_logit, safe_log, sigmoid
from calibrant._types import ArrayLike
from calibrant.distributions.base import Moments
from calibrant.distributions.location_scale import LocationScale, Standard, located


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
        out = namespace(z).abs(z)
        hazard = -safe_log(erfcx(out * math.sqrt(0.5)) * math.sqrt(math.pi / 2))  # 0 at infinity
        return log_ndtr(z) - log_ndtr(-z), hazard - log_ndtr(out)

    def _moments(self) -> Any:
        """E |Z - Z'| / 2 = 1 / sqrt(pi)."""
        return Moments(0.0, 1.0, -1 / math.sqrt(math.pi))

    def _area(self, z: Array) -> Array:
        """z Phi + phi."""
        return z * ndtr(z) + namespace(z).exp(self._logpdf(z))


def Normal(loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The normal distributions with mean `loc` and standard deviation `scale`.

    A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises instead.

    >>> Normal([0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-1.64485363, -2.28970725]), array([1.64485363, 4.28970725]))
    """
    return located("Normal", loc, scale, StandardNormal(), strict=strict)


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


def Logistic(loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The logistic distributions with mean `loc` and CDF 1 / (1 + exp(-(y - loc) / scale)).

    A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises instead.

    >>> Logistic([0.0, 1.0], [1.0, 2.0]).std()
    array([1.81379936, 3.62759873])
    """
    return located("Logistic", loc, scale, StandardLogistic(), strict=strict)


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


def Laplace(loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The Laplace distributions with mean `loc` and density exp(-|y - loc| / scale) / (2 scale).

    A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises instead.

    >>> Laplace([0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-2.30258509, -3.60517019]), array([2.30258509, 5.60517019]))
    """
    return located("Laplace", loc, scale, StandardLaplace(), strict=strict)
