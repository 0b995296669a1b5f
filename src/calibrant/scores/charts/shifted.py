"""A map less a constant."""

from __future__ import annotations

from dataclasses import dataclass, field

from calibrant._arrays import Array
from calibrant.scores.charts.affine import Affine
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.broken_line import BrokenLine


@dataclass(frozen=True, eq=False)
class Shifted(Chart):
    """s = chart(y) - shift."""

    chart: Chart
    shift: float = field(metadata={"shared": True})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.chart.shape

    def __call__(self, y: Array) -> Array:
        return self.chart(y) - self.shift

    def inverse(self, s: Array) -> Array:
        return self.chart.inverse(s + self.shift)

    def inverse_at(self, s: Array) -> Array:
        return self.chart.inverse_at(s + self.shift)

    @property
    def solved(self) -> bool:
        return self.chart.solved

    def log_slope(self, y: Array) -> Array:
        return self.chart.log_slope(y)

    def places(self, s: Array) -> Array:
        return self.chart.places(s + self.shift)

    def widest(self, s: Array) -> Array:
        return self.chart.widest(s + self.shift)


def shifted(chart: Chart, shift: float) -> Chart:
    """The chart less a constant, in the simplest form there is."""
    if shift == 0:
        return chart
    if isinstance(chart, Affine):
        return Affine(chart.loc + shift * chart.scale, chart.scale)
    if isinstance(chart, BrokenLine):
        return BrokenLine(chart.values, chart.levels - shift, chart.slopes)
    return Shifted(chart, shift)
