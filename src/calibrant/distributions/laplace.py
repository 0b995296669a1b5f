"""The Laplace law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant._special import log_sigmoid, safe_log
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.location_scale import LocationScale, located
from calibrant.distributions.logits import LOGIT_GRID


@dataclass(frozen=True, repr=False)
class StandardLaplace(Distribution):
    """f(z) = exp(-|z|) / 2; everything below is in h = exp(-|z|) / 2, the mass of the nearer tail."""

    @property
    def shape(self) -> tuple[int, ...]:
        """One law."""
        return ()

    def _cdf(self, z: Array) -> Array:
        h = _nearer_tail(z)
        return namespace(z).where(z < 0, h, 1 - h)

    def _sf(self, z: Array) -> Array:
        return self._cdf(-z)

    def _logcdf(self, z: Array) -> Array:
        xp = namespace(z)
        return xp.where(z < 0, z - math.log(2), xp.log1p(-_nearer_tail(z)))

    def _logsf(self, z: Array) -> Array:
        return self._logcdf(-z)

    def _ppf(self, p: Array) -> Array:
        return namespace(p).where(p < 0.5, safe_log(2 * p), -safe_log(2 * (1 - p)))

    def _ppf_logit(self, s: Array) -> Array:
        """log(2 sigmoid(s)) below the median, and the same mirrored above."""
        xp = namespace(s)
        z = math.log(2) + log_sigmoid(-xp.abs(s))
        return xp.where(s < 0, z, -z)

    def _logpdf(self, z: Array) -> Array:
        return -namespace(z).abs(z) - math.log(2)

    def _mean(self) -> Any:
        return 0.0

    def _std(self) -> Any:
        return math.sqrt(2)

    def _crps(self, z: Array) -> Array:
        """|z| + exp(-|z|) - 3/4."""
        return namespace(z).abs(z) + 2 * _nearer_tail(z) - 0.75

    def _partial_moments(self, z: Array) -> PartialMoments:
        """h and h below the median, z + h and z^2 / 2 + 1 - h above it; and the same at -z."""
        return PartialMoments(*self._moments(z), *self._moments(-z))

    def _moments(self, z: Array) -> tuple[Array, Array]:
        xp, h = namespace(z), _nearer_tail(z)
        return xp.where(z < 0, h, z + h), xp.where(z < 0, h, 0.5 * z**2 + 1 - h)

    def _squares(self, z: Array) -> Squares:
        """h^2 / 2 below the median, z + 2 h - h^2 / 2 - 3/4 above it; and the same at -z."""
        return Squares(self._square(z), self._square(-z))

    def _square(self, z: Array) -> Array:
        h = _nearer_tail(z)
        return namespace(z).where(z < 0, 0.5 * h**2, z + 2 * h - 0.5 * h**2 - 0.75)

    def _breaks(self) -> Array:
        """A fine grid, with the kink at 0 among its points."""
        return np.asarray(self._ppf_logit(LOGIT_GRID))


def _nearer_tail(z: Array) -> Array:
    xp = namespace(z)
    return 0.5 * xp.exp(-xp.abs(z))


def Laplace(loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The Laplace laws with mean `loc` and density exp(-|y - loc| / scale) / (2 scale).

    A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises instead.

    >>> Laplace([0.0, 1.0], [1.0, 2.0]).interval(0.9)
    (array([-2.30258509, -3.60517019]), array([2.30258509, 5.60517019]))
    """
    return located("Laplace", loc, scale, StandardLaplace(), strict=strict)
