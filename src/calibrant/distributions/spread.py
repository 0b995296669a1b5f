"""A law of counts spread evenly over the gaps between them: the law of K + U."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, clip, namespace
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.discrete import Discrete, straight
from calibrant.distributions.from_ends import FromEnds
from calibrant.distributions.integrals import PartialMoments, Squares


@dataclass(frozen=True, eq=False, repr=False)
class SpreadLaw(FromEnds):
    """The law of Y + step * U, Y ~ law on a lattice, U uniform in (0, 1): F(y + step * u) = F(y-) + u P(Y = y).

    Its CDF runs straight from each point of the lattice to the next. What calibrates spread labels is a forecast that
    is spread as they are.

    >>> from calibrant.distributions import Poisson
    >>> SpreadLaw(Poisson([0.5, 3.0])).median()
    array([0.82436064, 3.34283744])
    """

    law: Discrete

    def __post_init__(self) -> None:
        if not isinstance(self.law, Discrete):
            raise TypeError(f"SpreadLaw.law must be a law on a lattice, such as Poisson(3.0), got {self.law!r}")

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.law.like

    def _position(self, y: Array) -> tuple[Array, Array, Array]:
        """k and t with y = origin + step * (k + t), k = 0 and t = 0 for an infinite y, and whether it is finite."""
        xp = namespace(y)
        k, t = self.law._position(y)
        finite = xp.isfinite(k)
        return xp.where(finite, k, xp.zeros_like(k)), t, finite

    def _ended(self, y: Array, finite: Array, value: Array, low: float, high: float) -> Array:
        xp = namespace(value)
        ends = xp.where(y < 0, xp.full_like(value, low), xp.full_like(value, high))
        return xp.where(finite, value, ends)

    def _cdf(self, y: Array) -> Array:
        k, t, finite = self._position(y)
        F = (1 - t) * self.law._below(k - 1) + t * self.law._below(k)
        return self._ended(y, finite, F, 0.0, 1.0)

    def _sf(self, y: Array) -> Array:
        k, t, finite = self._position(y)
        S = (1 - t) * self.law._above(k - 1) + t * self.law._above(k)
        return self._ended(y, finite, S, 1.0, 0.0)

    def _logcdf(self, y: Array) -> Array:
        k, t, finite = self._position(y)
        return self._ended(y, finite, _log_mean(self.law._log_below(k - 1), self.law._log_below(k), t), -math.inf, 0.0)

    def _logsf(self, y: Array) -> Array:
        k, t, finite = self._position(y)
        return self._ended(y, finite, _log_mean(self.law._log_above(k - 1), self.law._log_above(k), t), 0.0, -math.inf)

    def _logpdf(self, y: Array) -> Array:
        k, _, finite = self._position(y)
        return self._ended(y, finite, self.law._log_mass(k), -math.inf, -math.inf) - math.log(self.law.step)

    def _ppf(self, p: Array) -> Array:
        """In the cell of the quantile k of the law, (p - F(k - 1)) / P(k) of the way."""
        k, finite = self._finite(self.law._index(p))
        before, mass = self.law._below(k - 1), self._mass(k)
        return self._within(k, finite, (p - before) / mass)

    def _ppf_logit(self, s: Array) -> Array:
        """From the nearer end."""
        xp = namespace(s)
        k, finite = self._finite(self.law._index_logit(s))
        mass = self._mass(k)
        below = (sigmoid(s) - self.law._below(k - 1)) / mass
        above = 1 - (sigmoid(-s) - self.law._above(k)) / mass
        return self._within(k, finite, xp.where(s <= 0, below, above))

    @staticmethod
    def _finite(k: Array) -> tuple[Array, tuple[Array, Array]]:
        xp, finite = namespace(k), namespace(k).isfinite(k)
        return xp.where(finite, k, xp.zeros_like(k)), (finite, k)

    def _mass(self, k: Array) -> Array:
        xp = namespace(k)
        mass = xp.exp(self.law._log_mass(k))
        return xp.where(mass > 0, mass, xp.ones_like(mass))

    def _within(self, k: Array, finite: tuple[Array, Array], share: Array) -> Array:
        y = self.law._place(k + clip(share, 0.0, 1.0))
        return namespace(y).where(finite[0], y, finite[1])

    def _mean(self) -> Array:
        return self.law._mean() + self.law.step / 2

    def _std(self) -> Array:
        """The variance of step * U is step^2 / 12."""
        variance = self.law._std() ** 2 + self.law.step**2 / 12
        return namespace(variance).sqrt(variance)

    def _partial_moments(self, y: Array) -> PartialMoments:
        lower, lower2, _, upper, upper2, _ = self.law._integrated(y, straight)
        return PartialMoments(lower, lower2, upper, upper2)

    def _squares(self, y: Array) -> Squares:
        found = self.law._integrated(y, straight)
        return Squares(found[2], found[5])

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.law._infinite_mass()

    def _describe(self) -> str:
        return repr(self.law)


def _log_mean(before: Array, after: Array, t: Array) -> Array:
    """log((1 - t) exp(before) + t exp(after))."""
    xp = namespace(before)
    one, two = before + safe_log(1 - t), after + safe_log(t)
    large, small = xp.maximum(one, two), xp.minimum(one, two)
    gap = xp.where(xp.isfinite(small), small - xp.where(xp.isfinite(large), large, 0 * t), xp.full_like(large, -xp.inf))
    return xp.where(xp.isfinite(large), large + xp.log1p(xp.exp(gap)), large)
