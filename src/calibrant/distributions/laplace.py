"""The Laplace distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import log_sigmoid, safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.location_scale import LocationScale, located
from calibrant.distributions.table import ONCE, TWICE


@dataclass(frozen=True, repr=False)
class StandardLaplace(Distribution):
    """f(z) = exp(-|z|) / 2; everything below is in h = exp(-|z|) / 2, the mass of the nearer tail."""

    @property
    def shape(self) -> tuple[int, ...]:
        """A single one."""
        return ()

    def _cdf(self, z: Array) -> Array:
        h = _nearer_tail(z)
        return namespace(z).where(z < 0, h, 1 - h)

    def _sf(self, z: Array) -> Array:
        return self._cdf(-z)

    def _ppf(self, p: Array) -> Array:
        return namespace(p).where(p < 0.5, safe_log(2 * p), -safe_log(2 * (1 - p)))

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

    def _integrals(self, z: Array, which: int) -> Array:
        """h, h and h^2 / 2 below the median; z + h, z^2 / 2 + 1 - h and z + 2 h - h^2 / 2 - 3/4 above it."""
        xp, h = namespace(z), _nearer_tail(z)
        if which == ONCE:
            return xp.where(z < 0, h, z + h)
        if which == TWICE:
            return xp.where(z < 0, h, 0.5 * z**2 + 1 - h)
        return xp.where(z < 0, 0.5 * h**2, z + 2 * h - 0.5 * h**2 - 0.75)


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
