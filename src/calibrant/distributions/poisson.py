"""The Poisson distribution."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from calibrant._arrays import Array, namespace
from calibrant._special import gammainc, gammaincc, gammaln
from calibrant._types import ArrayLike
from calibrant.distributions.on_lattice import OnLattice, from_zero
from calibrant.distributions.parameters import parameters, refuse_where

_STIRLING = 60.0  # from here on log k! is Stirling's series, whose error is below 1e-15


@dataclass(frozen=True, eq=False, repr=False)
class Poisson(OnLattice):
    """P(Y = k) = rate^k exp(-rate) / k!, k = 0, 1, ...: the mean is the rate.

    >>> Poisson([0.5, 3.0]).pmf([0, 2])
    array([0.60653066, 0.22404181])
    """

    rate: Array

    if TYPE_CHECKING:

        def __init__(self, rate: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        (rate,) = parameters("Poisson", rate=self.rate)
        refuse_where("Poisson.rate", rate < 0, "is negative")
        object.__setattr__(self, "rate", rate)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.rate.shape)

    def _ends(self) -> tuple[Any, Any]:
        return 0.0, math.inf

    def _below(self, k: Array) -> Array:
        """Q(k + 1, rate)."""
        return from_zero(k, 0.0, lambda k: gammaincc(k + 1, self._lift(self.rate)))

    def _above(self, k: Array) -> Array:
        """P(k + 1, rate)."""
        return from_zero(k, 1.0, lambda k: gammainc(k + 1, self._lift(self.rate)))

    def _log_mass(self, k: Array) -> Array:
        """k log rate - rate - log k!."""
        return from_zero(k, -math.inf, lambda k: _log_mass(k, self._lift(self.rate)))

    def _mean_std(self) -> tuple[Array, Array]:
        return self.rate, namespace(self.rate).sqrt(self.rate)


def _log_mass(k: Array, rate: Array) -> Array:
    """For large k by its distance from the mean, so that no digits cancel: -rate h(x) - log sqrt(2 pi k) - ...

    with k = rate (1 + x) and h(x) = (1 + x) log(1 + x) - x.
    """
    xp = namespace(rate)
    k, rate = k + 0 * rate, rate + 0 * k
    safe = xp.where(rate > 0, rate, xp.ones_like(rate))
    small = k * xp.log(safe) - safe - gammaln(k + 1)
    large = xp.maximum(k, xp.full_like(k, _STIRLING))
    x = (large - safe) / safe
    h = (1 + x) * xp.log1p(x) - x
    series = 1 / (12 * large) - 1 / (360 * large**3) + 1 / (1260 * large**5)
    big = -safe * h - 0.5 * xp.log(2 * math.pi * large) - series
    found = xp.where(k < _STIRLING, small, big)
    return xp.where(rate > 0, found, xp.where(k == 0, 0 * k, xp.full_like(k, -xp.inf)))
