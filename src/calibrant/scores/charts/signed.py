"""A chart in two branches, below and above a point of each row, between which the score jumps."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant.distributions.folded import Fold
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class SignedChart(Chart):
    """s = u - sqrt(u^2 + 1), u = below(y), for y < at; s = u + sqrt(u^2 + 1), u = above(y), from `at` on.

    The scores between the two branches all lead back to `at`.
    """

    below: Chart
    above: Chart
    at: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.at.shape)

    @property
    def folds(self) -> tuple[Fold, Fold]:
        """The maps from either branch to the score."""
        origin = namespace(self.at).zeros_like(self.at[:1][0] if self.shape else self.at)
        return Fold(origin, upper=False), Fold(origin, upper=True)

    def __call__(self, y: Array) -> Array:
        xp, (low, high) = namespace(y), self.folds
        return xp.where(y < self._lift(self.at), low(self.below(y)), high(self.above(y)))

    def inverse(self, s: Array) -> Array:
        xp, at, (low, high) = namespace(s), self._lift(self.at), self.folds
        lower, upper = self.below.inverse(low.inverse(s)), self.above.inverse(high.inverse(s))
        lower, upper = xp.where(s < 0, lower, at), xp.where(s > 0, upper, at)
        return xp.where(lower < at, lower, xp.where(upper > at, upper, at + xp.zeros_like(lower)))

    def log_slope(self, y: Array) -> Array:
        xp, (low, high) = namespace(y), self.folds
        below = self.below.log_slope(y) + low.log_slope(self.below(y))
        above = self.above.log_slope(y) + high.log_slope(self.above(y))
        return xp.where(y < self._lift(self.at), below, above)
