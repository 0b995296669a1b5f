"""The logistic distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import log_sigmoid, sigmoid
from calibrant._types import ArrayLike
from calibrant.distributions.base import Moments
from calibrant.distributions.location_scale import LocationScale, Standard, located


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
