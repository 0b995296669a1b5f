"""A chart in two branches, below and above a point of each row, between which the score jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class SignedChart(Chart):
    """s = -g(-below(y)) for y < at, s = g(above(y)) from `at` on; g(v) = v + sqrt(v^2 + 1).

    The scores between the two branches all lead back to `at`.
    """

    below: Chart
    above: Chart
    at: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.at.shape)

    def __call__(self, y: Array) -> Array:
        return self.with_slope(y)[0]

    def left(self, y: Array) -> Array:
        """The score from the left: at `at`, where it jumps, that of the lower branch."""
        return namespace(y).where(y == self._lift(self.at), -_folded(-self.below(y))[0], self(y))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp, low = namespace(y), y < self._lift(self.at)
        below = self.below.with_slope(y)
        above = below if self.above is self.below else self.above.with_slope(y)
        v = xp.where(low, -below[0], above[0])
        g, root = _folded(v)
        with np.errstate(invalid="ignore"):  # at -inf and inf
            return xp.where(low, -g, g), xp.log(g / root) + xp.where(low, below[1], above[1])

    def log_slope(self, y: Array) -> Array:
        return self.with_slope(y)[1]

    def inverse(self, s: Array) -> Array:
        xp, at = namespace(s), self._lift(self.at)
        size = xp.abs(s)
        some = size > 0
        safe = xp.where(some, size, xp.ones_like(s))
        v = xp.where(xp.isinf(safe), safe, (safe - 1) / 2 * (1 + 1 / safe))  # (g - 1/g) / 2
        v = xp.where(some, v, xp.full_like(v, -xp.inf))
        lower, upper = self.below.inverse(-v), self.above.inverse(v)
        lower, upper = xp.where(s < 0, lower, at), xp.where(s > 0, upper, at)
        return xp.where(lower < at, lower, xp.where(upper > at, upper, at + xp.zeros_like(lower)))

    @property
    def bends(self) -> Array | None:
        """The two scores at `at`."""
        xp, at = namespace(self.at), self._lift(self.at)
        edges = xp.concat([-_folded(-self.below(at))[0], _folded(self.above(at))[0]], axis=1)
        return edges[0, ...] if bool(xp.all(edges == edges[:1, :])) else edges


def _folded(v: Array) -> tuple[Array, Array]:
    """g(v) = v + sqrt(v^2 + 1), and the root."""
    xp = namespace(v)
    root = xp.hypot(v, xp.ones_like(v))
    size = xp.abs(v) + root
    return xp.where(v < 0, 1 / size, size), root  # not by the sum, which cancels
