"""A map less a constant, in another unit."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from calibrant._arrays import Array
from calibrant.scores.charts.affine import Affine
from calibrant.scores.charts.base import Chart
from calibrant.scores.charts.broken_line import BrokenLine


@dataclass(frozen=True, eq=False)
class Shifted(Chart):
    """s = (chart(y) - origin) / unit."""

    chart: Chart
    origin: float = field(metadata={"shared": True})
    unit: float = field(metadata={"shared": True})

    @property
    def shape(self) -> tuple[int, ...]:
        return self.chart.shape

    def _before(self, s: Array) -> Array:
        return s * self.unit + self.origin

    def __call__(self, y: Array) -> Array:
        return (self.chart(y) - self.origin) / self.unit

    def inverse(self, s: Array) -> Array:
        return self.chart.inverse(self._before(s))

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        y, width = self.chart.inverse_with_width(self._before(s))
        return y, width * self.unit

    @property
    def bends(self) -> Array | None:
        bends = self.chart.bends
        return None if bends is None else (bends - self.origin) / self.unit

    def log_slope(self, y: Array) -> Array:
        return self.chart.log_slope(y) - math.log(self.unit)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        s, log_slope = self.chart.with_slope(y)
        return (s - self.origin) / self.unit, log_slope - math.log(self.unit)


def shifted(chart: Chart, origin: float, unit: float = 1.0) -> Chart:
    """The chart less a constant, in another unit, in the simplest form there is."""
    if origin == 0 and unit == 1:
        return chart
    if isinstance(chart, Affine):
        return Affine(chart.loc + origin * chart.scale, chart.scale * unit)
    if isinstance(chart, BrokenLine):
        return BrokenLine(chart.values, (chart.levels - origin) / unit, chart.slopes / unit)
    return Shifted(chart, origin, unit)
