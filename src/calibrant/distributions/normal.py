"""The normal distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import erfcx, log_ndtr, ndtr, ndtri, ndtri_logit, safe_log
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
