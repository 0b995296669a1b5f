"""Broken lines."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant._search import count_up_to, gather
from calibrant.scores.transforms.base import Transform


@dataclass(frozen=True, eq=False)
class BrokenLine(Transform):
    """s runs straight through (values[i, k], levels[i, k]), k = 1..K, and on outside with its first and last slope.

    `levels` has shape (1, K) where all rows share them, `slopes` is (n, K + 1).
    """

    values: Array
    levels: Array
    slopes: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape[:-1])

    @property
    def bends(self) -> Array | None:
        return self.levels

    def piece(self, table: Array, argument: Array) -> Array:
        """How many of a row's knots lie at or below the argument: 0..K."""
        rows = self.values.shape[0]
        return count_up_to(table, namespace(argument).broadcast_to(argument, (rows, argument.shape[-1])))

    def __call__(self, y: Array) -> Array:
        level, value, slope = self._line(self.values, y)
        return level + slope * (y - value)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        level, value, slope = self._line(self.values, y)
        return level + slope * (y - value), namespace(y).log(slope)

    def inverse(self, s: Array) -> Array:
        level, value, slope = self._line(self.levels, s)
        return value + (s - level) / slope

    def _line(self, table: Array, argument: Array) -> tuple[Array, Array, Array]:
        """The piece around each argument: a point on it, as level and value, and its slope."""
        j = self.piece(table, argument)
        a = j - namespace(j).astype(j > 0, j.dtype)
        return gather(self.levels, a), gather(self.values, a), gather(self.slopes, j)
