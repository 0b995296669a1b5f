"""A transform: an increasing map y -> s for each row. Straight and broken lines, on which everything is exact."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import cast

from calibrant._arrays import Array, namespace
from calibrant._batch import first_array
from calibrant._search import count_up_to, gather


class Transform(ABC):
    """An increasing map of the real line for each row; arguments are (n, k) or (1, k) against n rows."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for one map per row, () for a single map."""

    @abstractmethod
    def with_slope(self, y: Array) -> tuple[Array, Array]:
        """s(y) and log s'(y)."""

    @abstractmethod
    def inverse(self, s: Array) -> Array:
        """The y with s(y) = s."""

    def __call__(self, y: Array) -> Array:
        """s(y)."""
        return self.with_slope(y)[0]

    def log_slope(self, y: Array) -> Array:
        """log s'(y)."""
        return self.with_slope(y)[1]

    def left(self, y: Array) -> Array:
        """s(y) from the left, which differs where s jumps."""
        return self(y)

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        """The y of many increasing s, (1, k) or (n, k), and dy/ds there, both (n, k)."""
        y = self.inverse(s)
        return y, namespace(y).exp(-self.log_slope(y))

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """loc, scale and G where each row's map is G((y - loc) / scale) with one G for all rows; None otherwise."""
        return None

    @property
    def bends(self) -> Array | None:
        """The s at which the inverse bends: (1, m) for all rows, or (n, m); None where it is smooth."""
        return None

    @property
    def like(self) -> Array:
        """One of its arrays, which tells namespace, dtype and device."""
        return cast(Array, first_array(self))

    @staticmethod
    def _lift(parameter: Array) -> Array:
        """One number per row as a column, ready to meet arguments."""
        return parameter[:, None, ...] if parameter.ndim else parameter


@dataclass(frozen=True, eq=False)
class Affine(Transform):
    """s = (y - loc) / scale."""

    loc: Array
    scale: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    def __call__(self, y: Array) -> Array:
        return (y - self._lift(self.loc)) / self._lift(self.scale)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        s = self(y)
        return s, namespace(s).zeros_like(s) - namespace(s).log(self._lift(self.scale))

    def inverse(self, s: Array) -> Array:
        return self._lift(self.loc) + self._lift(self.scale) * s


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
