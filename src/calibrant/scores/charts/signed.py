"""A chart in two branches, below and above a point of each row, between which the score jumps."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, device_like, namespace
from calibrant.distributions.folded import Fold
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class SignedChart(Chart):
    """s = -g(-below(y)) for y < at, s = g(above(y)) from `at` on; g(v) = v + sqrt(v^2 + 1) is the upper `Fold`.

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
        origin = device_like(0.0, self.at)
        return Fold(origin, upper=False), Fold(origin, upper=True)

    def __call__(self, y: Array) -> Array:
        xp, low = namespace(y), y < self._lift(self.at)
        u = self.below(y)
        g = self.folds[1](xp.where(low, -u, u if self.above is self.below else self.above(y)))
        return xp.where(low, -g, g)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp, low = namespace(y), y < self._lift(self.at)
        below = self.below.with_slope(y)
        above = below if self.above is self.below else self.above.with_slope(y)
        g, bend = self.folds[1].with_slope(xp.where(low, -below[0], above[0]))
        return xp.where(low, -g, g), bend + xp.where(low, below[1], above[1])

    def log_slope(self, y: Array) -> Array:
        return self.with_slope(y)[1]

    def inverse(self, s: Array) -> Array:
        xp, at = namespace(s), self._lift(self.at)
        v = self.folds[1].inverse(xp.abs(s))
        lower, upper = self.below.inverse(-v), self.above.inverse(v)
        lower, upper = xp.where(s < 0, lower, at), xp.where(s > 0, upper, at)
        return xp.where(lower < at, lower, xp.where(upper > at, upper, at + xp.zeros_like(lower)))
