"""The normal law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import erfcx, log_ndtr, ndtr, ndtri, ndtri_logit
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.location_scale import LocationScale, located


@dataclass(frozen=True, repr=False)
class StandardNormal(Distribution):
    """F(z) = Phi(z)."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, z: Array) -> Array:
        return ndtr(z)

    def _sf(self, z: Array) -> Array:
        return ndtr(-z)

    def _logcdf(self, z: Array) -> Array:
        return log_ndtr(z)

    def _logsf(self, z: Array) -> Array:
        return log_ndtr(-z)

    def _ppf(self, p: Array) -> Array:
        return ndtri(p)

    def _ppf_logit(self, s: Array) -> Array:
        return ndtri_logit(s)

    def _logpdf(self, z: Array) -> Array:
        return -0.5 * z**2 - 0.5 * math.log(2 * math.pi)

    def _logit_and_log_slope(self, z: Array) -> tuple[Array, Array]:
        """The slope is f / S / F; f / S by the scaled erfc, since log f and log S far out differ in no digit."""
        out = namespace(z).abs(z)
        hazard = -namespace(z).log(erfcx(out * math.sqrt(0.5)) * math.sqrt(math.pi / 2))
        return log_ndtr(z) - log_ndtr(-z), hazard - log_ndtr(out)

    def _mean(self) -> Any:
        return 0.0

    def _std(self) -> Any:
        return 1.0

    def _crps(self, z: Array) -> Array:
        """z (2 Phi(z) - 1) + 2 phi(z) - 1 / sqrt(pi)."""
        return z * (2 * ndtr(z) - 1) + 2 * self._density(z) - 1 / math.sqrt(math.pi)

    def _partial_moments(self, z: Array) -> PartialMoments:
        """z Phi + phi and ((z^2 + 1) Phi + z phi) / 2, and the same at -z."""
        phi, below, above = self._density(z), ndtr(z), ndtr(-z)
        return PartialMoments(
            z * below + phi,
            ((z**2 + 1) * below + z * phi) / 2,
            phi - z * above,
            ((z**2 + 1) * above - z * phi) / 2,
        )

    def _squares(self, z: Array) -> Squares:
        """z Phi^2 + 2 Phi phi - Phi(sqrt(2) z) / sqrt(pi), and the same at -z."""
        return Squares(self._square(z), self._square(-z))

    def _square(self, z: Array) -> Array:
        below = ndtr(z)
        return z * below**2 + 2 * below * self._density(z) - ndtr(math.sqrt(2) * z) / math.sqrt(math.pi)

    def _density(self, z: Array) -> Array:
        return namespace(z).exp(self._logpdf(z))


def Normal(loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The normal laws with mean `loc` and standard deviation `scale`.

    A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises instead.

    >>> Normal([0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-1.64485363, -2.28970725]), array([1.64485363, 4.28970725]))
    """
    return located("Normal", loc, scale, StandardNormal(), strict=strict)
