"""Sums of increasing maps."""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant._roots import inverse_by_table, solve_increasing
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.broken_line import BrokenLine

_EVERY = 8  # of the scores, those whose places bracket the others


@dataclass(frozen=True, eq=False)
class SumChart(Chart):
    """s = sum of weight * chart(y): a weighted sum of increasing maps, inverted by safeguarded Newton steps."""

    charts: tuple[Chart, ...]
    weights: tuple[float, ...]

    @property
    def shape(self) -> tuple[int, ...]:
        return self.charts[0].shape

    def __call__(self, y: Array) -> Array:
        return reduce(lambda a, b: a + b, (w * c(y) for c, w in self.terms))

    def _brackets(self, s: Array) -> tuple[list[Array], list[Array]]:
        """For each map without bounds, the y at which it alone would make at most, and at least, the score s.

        A map of bounded range has no share of s: it only moves s by its bounds.
        """
        free = [(c, w) for c, w in self.terms if c.range[1] == float("inf")]
        bound = [(c, w) for c, w in self.terms if c.range[1] < float("inf")]
        if not free:
            raise ValueError("a sum of bounded scores has no inverse on the whole line")
        total = sum(w for _, w in free)
        least, most = (sum(w * c.range[end] for c, w in bound) for end in (0, 1))
        return [c.inverse((s - most) / total) for c, _ in free], [c.inverse((s - least) / total) for c, _ in free]

    def inverse(self, s: Array) -> Array:
        xp, (lows, highs) = namespace(s), self._brackets(s)
        low, high = reduce(xp.minimum, lows), reduce(xp.maximum, highs)
        sure = xp.isfinite(s) & xp.isfinite(low) & xp.isfinite(high)
        held = [xp.where(sure, part, xp.zeros_like(low)) for part in (s, low, high)]
        root = solve_increasing(self.with_slope, *held)
        return xp.where(sure, root, xp.where(s > 0, xp.full_like(root, xp.inf), xp.full_like(root, -xp.inf)))

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        few = concatenate([s[:, :-1:_EVERY], s[:, -1:]], axis=1)
        lows, highs = self._brackets(few)
        bounded = any(c.range[1] < float("inf") for c, _ in self.terms)
        places = lows + (highs if bounded else [])
        for chart, _ in self.terms:
            if isinstance(chart, BrokenLine):
                places.append(chart.values)
            elif chart.range[1] < float("inf"):
                places.append(chart.inverse(device_like([[k / 64 for k in range(1, 64)]], s)))
        xp, (rows,) = namespace(s), self.shape
        wide = concatenate([xp.broadcast_to(part, (rows, part.shape[1])) for part in places], axis=1)
        return inverse_by_table(self.with_slope, s, xp.sort(wide, axis=1))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp = namespace(y)
        parts = [(w, *c.with_slope(y)) for c, w in self.terms]
        total = reduce(lambda a, b: a + b, (w * s for w, s, _ in parts))
        return total, xp.log(reduce(lambda a, b: a + b, (w * xp.exp(slope) for w, _, slope in parts)))

    def log_slope(self, y: Array) -> Array:
        return self.with_slope(y)[1]

    @property
    def terms(self) -> tuple[tuple[Chart, float], ...]:
        """The charts and their weights."""
        return tuple(zip(self.charts, self.weights, strict=True))
