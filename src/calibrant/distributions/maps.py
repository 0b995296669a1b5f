"""What a distribution may be pulled back through: an increasing map of the line for each row."""

from __future__ import annotations

from typing import Protocol

from calibrant._arrays import Array


class Increasing(Protocol):
    """An increasing map y -> s for each row, or a single one; a frozen dataclass, so that its rows can be taken.

    Arguments follow the convention of `Distribution`: (n, k) or (1, k) against n maps, anything against one.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,) for one map per row, () for a single map."""

    @property
    def like(self) -> Array:
        """One of its arrays, which tells namespace, dtype and device."""

    @property
    def bends(self) -> Array | None:
        """The s at which the inverse bends: (m,) in all rows, or (n, m); None where it is smooth."""

    def __call__(self, y: Array, /) -> Array:
        """The s of y."""

    def left(self, y: Array, /) -> Array:
        """The s of y from the left, which differs where it jumps."""

    def inverse(self, s: Array, /) -> Array:
        """The y whose s this is."""

    def inverse_with_width(self, s: Array, /) -> tuple[Array, Array]:
        """The y of many increasing s, and dy/ds there."""

    def with_slope(self, y: Array, /) -> tuple[Array, Array]:
        """The s of y and the log derivative."""


class Broken(Increasing, Protocol):
    """A map that runs straight through (values[i, k], levels[i, k]) and on outside, with these K + 1 slopes."""

    values: Array
    levels: Array
    slopes: Array

    def piece(self, table: Array, argument: Array) -> Array:
        """How many of a row's knots lie at or below the argument: 0..K."""
