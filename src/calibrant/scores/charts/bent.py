"""A broken line after another map."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
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

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        y, width = self.chart.inverse_with_width(self.line.inverse(s))
        return y, width * namespace(s).exp(-self.line.with_slope(self.line.inverse(s))[1])

    @property
    def bends(self) -> Array | None:
        return self.line.bends


def bent(chart: Chart, line: BrokenLine) -> Chart:
    """The line after the map, in the simplest form there is."""
    if isinstance(chart, Affine):
        loc, scale = chart.loc[:, None], chart.scale[:, None]
        return BrokenLine(loc + scale * line.values, line.levels, line.slopes / scale)
    return Bent(chart, line)
