"""The logistic distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant._special import log_sigmoid, logit, sigmoid
from calibrant._types import ArrayLike
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.location_scale import LocationScale, located
from calibrant.distributions.table import ONCE, TWICE

_BERNOULLI = (1 / 6, -1 / 30, 1 / 42, -1 / 30, 5 / 66, -691 / 2730, 7 / 6, -3617 / 510)


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

    def _ppf(self, p: Array) -> Array:
        return logit(p)

    def _ppf_logit(self, s: Array) -> Array:
        return s

    def _logpdf(self, z: Array) -> Array:
        return log_sigmoid(z) + log_sigmoid(-z)

    def _logit(self, z: Array) -> tuple[Array, Array]:
        return z, namespace(z).zeros_like(z)

    def _moments(self) -> Any:
        """E |Z - Z'| / 2 = 1."""
        return Moments(0.0, math.pi / math.sqrt(3), -1.0)

    def _integrals(self, z: Array, which: int) -> Array:
        """log(1 + exp(z)), its integral, and log(1 + exp(z)) - F(z)."""
        if which == TWICE:
            return softplus_integral(z)
        return -log_sigmoid(-z) if which == ONCE else -log_sigmoid(-z) - sigmoid(z)


def Logistic(loc: ArrayLike, scale: ArrayLike, *, strict: bool = False) -> LocationScale:
    """The logistic distributions with mean `loc` and CDF 1 / (1 + exp(-(y - loc) / scale)).

    A zero scale becomes the least that floats tell apart there, with a warning; `strict=True` raises instead.

    >>> Logistic([0.0, 1.0], [1.0, 2.0]).std()
    array([1.81379936, 3.62759873])
    """
    return located("Logistic", loc, scale, StandardLogistic(), strict=strict)


def softplus_integral(z: Array) -> Array:
    """-Li2(-exp(z)) = x + x^2 / 4 + sum of B_2k x^(2k + 1) / (2k + 1)!, x = log(1 + exp(z)), for z <= 0.

    Above, the reflection pi^2 / 6 + z^2 / 2 + Li2(-exp(-z)).
    """
    xp = namespace(z)
    x = -log_sigmoid(xp.abs(z))
    series = xp.zeros_like(x)
    for k in range(len(_BERNOULLI), 0, -1):
        series = series * x**2 + _BERNOULLI[k - 1] / math.factorial(2 * k + 1)
    below = x + x**2 * (0.25 + x * series)
    return xp.where(z < 0, below, math.pi**2 / 6 + 0.5 * z**2 - below)
