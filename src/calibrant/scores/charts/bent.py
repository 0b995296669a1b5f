"""A broken line after another map."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, concatenate, namespace
from calibrant.scores.charts.affine import Affine
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.broken_line import BrokenLine


@dataclass(frozen=True, eq=False)
class Bent(Chart):
    """s = line(chart(y)), with a line for each row."""

    chart: Chart
    line: BrokenLine

    @property
    def shape(self) -> tuple[int, ...]:
        return self.line.shape

    def __call__(self, y: Array) -> Array:
        return self.line(self.chart(y))

    def inverse(self, s: Array) -> Array:
        return self.chart.inverse(self.line.inverse(s))

    def log_slope(self, y: Array) -> Array:
        return self.with_slope(y)[1]

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        before, slope = self.chart.with_slope(y)
        s, steeper = self.line.with_slope(before)
        return s, slope + steeper

    @property
    def solved(self) -> bool:
        """Its inverse bends within a row, so that integrals take the values of the map itself, from place to place."""
        return True

    @property
    def steep(self) -> bool:
        return self.chart.steep

    def places(self, s: Array) -> Array:
        """Those of the map, and where the line bends."""
        xp, line = namespace(s), self.line
        ends = line.inverse(concatenate([s[:, :1], s[:, -1:]], axis=1))
        low, high = ends[:, :1], ends[:, 1:]
        steps = xp.linspace(0, 1, s.shape[-1], dtype=s.dtype)
        smooth = self.chart.inverse(low + (high - low) * steps[None, :])
        found = [smooth, self.chart.inverse(line.inverse(s)), self.chart.inverse(line.values)]
        return xp.sort(concatenate(found, axis=1), axis=1)


def bent(chart: Chart, line: BrokenLine) -> Chart:
    """The line after the map, in the simplest form there is."""
    if isinstance(chart, Affine):
        loc, scale = chart.loc[:, None], chart.scale[:, None]
        return BrokenLine(loc + scale * line.values, line.levels, line.slopes / scale)
    return Bent(chart, line)
