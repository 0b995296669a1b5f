"""The Laplace distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import log_sigmoid
from calibrant._types import ArrayLike
from calibrant.distributions.base import Moments
from calibrant.distributions.location_scale import LocationScale, Standard, located


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
