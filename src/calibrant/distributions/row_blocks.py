"""Rows of maps taken together, a few at a time, and some of them again in another way."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import NamedTuple

from calibrant._arrays import Array, namespace
from calibrant._batch import take_rows
from calibrant.distributions.maps import Increasing


class Block(NamedTuple):
    """Some rows: their maps, what is asked of them, (n, k), and between which bounds, (n, 1), (1, 1) or None."""

    map: Increasing
    y: Array
    lower: Array
    upper: Array

    @property
    def rows(self) -> int:
        """How many."""
        return int(self.y.shape[0])

    def split(self, size: int) -> Iterator[Block]:
        """All rows, `size` at a time; one block where there are none."""
        for start in range(0, max(self.rows, 1), size):
            rows = slice(start, min(start + size, self.rows))
            bounds = (end if end is None or end.shape[0] == 1 else end[rows, ...] for end in self[2:])
            yield Block(take_rows(self.map, rows), self.y[rows, ...], *bounds)

    def take(self, index: Array) -> Block:
        """Some of these rows."""
        xp = namespace(self.y)
        bounds = (None if end is None else xp.take(end, index, axis=0) if end.shape[0] > 1 else end for end in self[2:])
        return Block(take_rows(self.map, index), xp.take(self.y, index, axis=0), *bounds)


def mended(values: list[Array], where: Array, block: Block, again: Callable[[Block], list[Array]]) -> list[Array]:
    """`values` with the rows `where` worked out again, in another way; an integral found to be infinite stays so."""
    xp = namespace(where)
    if not bool(xp.any(where)):
        return values
    rank = xp.cumulative_sum(xp.astype(where, xp.int64)) - 1
    rank = xp.where(where, rank, xp.zeros_like(rank))
    new = again(block.take(xp.nonzero(where)[0]))
    return [
        xp.where(where[:, None] & ~xp.isinf(old), xp.take(value, rank, axis=0), old)
        for old, value in zip(values, new, strict=True)
    ]
