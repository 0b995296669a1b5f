"""What a law may be pulled back through: an increasing map of the line for each row."""

from __future__ import annotations

from typing import Protocol

from calibrant._arrays import Array


class Increasing(Protocol):
    """An increasing map y -> s for each row, or a single one; a frozen dataclass, so that its rows can be taken.

    Arguments follow the convention of `Distribution`: (n, k) or (1, k) against n maps, anything against one.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,) for one map a row, () for a single map."""

    @property
    def like(self) -> Array:
        """One of its arrays, which tells namespace, dtype and device."""

    @property
    def solved(self) -> bool:
        """Whether the inverse has to be solved for, so that the map itself is the cheaper one by far."""

    @property
    def steep(self) -> bool:
        """Whether its inverse grows so fast that what lies far out in the tails of q counts."""

    def __call__(self, y: Array, /) -> Array:
        """The s of y."""

    def inverse(self, s: Array, /) -> Array:
        """The y whose s this is."""

    def inverse_at(self, s: Array, /) -> Array:
        """The same for many increasing s that all rows share, (1, k), worked out at once."""

    def log_slope(self, y: Array, /) -> Array:
        """The log derivative of s in y."""

    def with_slope(self, y: Array, /) -> tuple[Array, Array]:
        """The s of y and the log derivative, worked out at once."""

    def breaks(self) -> Array | None:
        """The y at which a single map bends; None where it is smooth."""

    def places(self, s: Array, /) -> Array:
        """Places in each row, (n, m), between which the map is smooth, as far as scores like these reach."""

    def widest(self, s: Array, /) -> Array:
        """How long a stretch of scores around s may be for its inverse to be as good as a polynomial on it."""


class Broken(Increasing, Protocol):
    """A map that runs straight through (values[i, k], levels[i, k]) and on outside, with these K + 1 slopes."""

    values: Array
    levels: Array
    slopes: Array

    def piece(self, table: Array, argument: Array) -> Array:
        """How many of a row's knots lie at or below the argument: 0..K."""
