"""Sums of increasing maps."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import reduce

from calibrant._arrays import Array, concatenate, namespace
from calibrant._batch import take_rows
from calibrant._roots import invert_many, solve_increasing
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.broken_line import BrokenLine

_FEW = 48  # places of each term between which the inverse of many scores is interpolated


@dataclass(frozen=True, eq=False)
class SumChart(Chart):
    """s = sum of weight * chart(y): a weighted sum of increasing maps, inverted by safeguarded Newton steps."""

    charts: tuple[Chart, ...]
    weights: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.charts[0].shape

    def __call__(self, y: Array) -> Array:
        return reduce(lambda a, b: a + b, (w * c(y) for c, w in zip(self.charts, self.weights, strict=True)))

    def inverse(self, s: Array) -> Array:
        # At min and max over the charts of inverse(their share of s) the sum is at most and at least s; a chart of
        # bounded range has no share of its own, it only moves s by its bounds.
        free = [(c, w) for c, w in self.terms if c.range[1] == float("inf")]
        bound = [(c, w) for c, w in self.terms if c.range[1] < float("inf")]
        if not free:
            raise ValueError("a sum of bounded scores has no inverse on the whole line")
        xp, total = namespace(s), sum(w for _, w in free)
        least, most = (sum(w * c.range[end] for c, w in bound) for end in (0, 1))
        low = reduce(xp.minimum, (c.inverse((s - most) / total) for c, _ in free))
        high = reduce(xp.maximum, (c.inverse((s - least) / total) for c, _ in free))
        sure = xp.isfinite(s) & xp.isfinite(low) & xp.isfinite(high)
        held = [xp.where(sure, part, xp.zeros_like(low)) for part in (s, low, high)]
        root = solve_increasing(self.with_slope, *held)
        return xp.where(sure, root, xp.where(s > 0, xp.full_like(root, xp.inf), xp.full_like(root, -xp.inf)))

    def inverse_at(self, s: Array) -> Array:
        """Interpolated between the terms' own places for such scores, and one Newton step."""
        if s.shape[-1] <= _FEW:
            return self.inverse(s)
        return invert_many(self.with_slope, self._of_rows, s, self.places(s))

    @property
    def solved(self) -> bool:
        return True

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp = namespace(y)
        parts = [(w, *c.with_slope(y)) for c, w in self.terms]
        total = reduce(lambda a, b: a + b, (w * s for w, s, _ in parts))
        return total, xp.log(reduce(lambda a, b: a + b, (w * xp.exp(slope) for w, _, slope in parts)))

    def _of_rows(self, rows: Array) -> tuple[Callable[[Array], tuple[Array, Array]], Callable[[Array], Array]]:
        chart = take_rows(self, rows)
        return chart.with_slope, chart.inverse

    def places(self, s: Array) -> Array:
        """The terms' own places for their shares of such scores, and where they bend."""
        free = [c for c, _ in self.terms if c.range[1] == float("inf")]
        if not free:
            return super().places(s)
        xp, (rows,) = namespace(s), self.shape
        total = sum(w for c, w in self.terms if c.range[1] == float("inf"))
        bound = sum(w for c, w in self.terms if c.range[1] < float("inf")) / total
        step = max(1, s.shape[-1] // _FEW)
        few = concatenate([s[:, :-1:step], s[:, -1:]], axis=1) / total
        places = [xp.broadcast_to(c.inverse(few - shift), (rows, few.shape[1])) for c in free for shift in {0.0, bound}]
        bent = [c.places(s) for c, _ in self.terms if c.range[1] < float("inf")]
        bent += [c.values for c, _ in self.terms if isinstance(c, BrokenLine)]
        return xp.sort(concatenate([*places, *bent], axis=1), axis=1)

    def log_slope(self, y: Array) -> Array:
        return self.with_slope(y)[1]

    @property
    def terms(self) -> tuple[tuple[Chart, float], ...]:
        """The charts and their weights."""
        return tuple(zip(self.charts, self.weights, strict=True))
