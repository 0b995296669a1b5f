"""The logistic law."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import log_sigmoid, logit, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale, located


@dataclass(frozen=True, repr=False)
class StandardLogistic(Distribution):
    """F(z) = 1 / (1 + exp(-z))."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def _cdf(self, z: Array) -> Array:
        return sigmoid(z)

    def _sf(self, z: Array) -> Array:
        return sigmoid(-z)

    def _logcdf(self, z: Array) -> Array:
        return log_sigmoid(z)

    def _logsf(self, z: Array) -> Array:
        return log_sigmoid(-z)

    def _ppf(self, p: Array) -> Array:
        return logit(p)

    def _ppf_logit(self, s: Array) -> Array:
        return s

    def _logpdf(self, z: Array) -> Array:
        return log_sigmoid(z) + log_sigmoid(-z)

    def _mean(self) -> float:
        return 0.0

    def _std(self) -> float:
        return math.pi / math.sqrt(3)

    def _crps(self, z: Array) -> Array:
        """z - 2 log F(z) - 1."""
        xp = namespace(z)
        return xp.abs(z) - 2 * log_sigmoid(xp.abs(z)) - 1


def Logistic(loc: Any, scale: Any, *, strict: bool = False) -> LocationScale:
    """The logistic laws with mean `loc` and CDF 1 / (1 + exp(-(y - loc) / scale)).

    A zero scale is lifted to a millionth of the batch's median, with a warning; `strict=True` raises instead.

    >>> Logistic([0.0, 1.0], [1.0, 2.0]).std()
    array([1.81379936, 3.62759873])
    """
    return located("Logistic", loc, scale, StandardLogistic(), strict=strict)
