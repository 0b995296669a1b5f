"""Straight lines."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class Affine(Chart):
    """s = (y - loc) / scale."""

    loc: Array
    scale: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    def __call__(self, y: Array) -> Array:
        return (y - self._lift(self.loc)) / self._lift(self.scale)

    def inverse(self, s: Array) -> Array:
        return self._lift(self.loc) + self._lift(self.scale) * s

    def log_slope(self, y: Array) -> Array:
        xp = namespace(y)
        return xp.zeros_like(y) - xp.log(self._lift(self.scale))
