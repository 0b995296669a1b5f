"""Finding many values among sorted knots, shared by all rows or a row's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

import array_api_compat
import numpy as np

from calibrant._arrays import Array, clip, namespace

_FEW = 64  # knots or values; below this a guide costs more than it saves
_CELLS = 4  # cells of the guide for each knot
_AT_ONCE = 256  # knots times values of a row; above this halving costs less than comparing all of them


class Finder:
    """#{knots <= y} and #{knots < y}, for a 1-d array of y.

    On numpy, where a binary search waits for memory at every step, a guide leads there directly: equal cells over
    the inner 98% of the knots, with the number of knots before each. Two comparisons settle the cells that hold at most
    two knots, a binary search the others. The result is exact: a cell is a non-decreasing function of y, so a knot in
    an earlier cell is smaller. Other namespaces search as they do, as does numpy where knots are few or too close for
    cells to tell them apart.
    """

    def __init__(self, knots: Array) -> None:
        self.knots, self._cells = knots, 0
        if not array_api_compat.is_numpy_array(knots) or knots.size < _FEW:
            return
        low, high = float(knots[knots.size // 100]), float(knots[-1 - knots.size // 100])
        cells = _CELLS * knots.size
        with np.errstate(divide="ignore"):
            per_unit = np.float64(cells) / (high - low)
        if not (per_unit > 0 and np.isfinite(per_unit)):
            return
        self._cells, self._origin, self._per_unit = cells, low, float(per_unit)
        self._padded = np.append(knots, np.inf)
        counts = np.bincount(self._cell(knots), minlength=cells + 2)
        self._before = np.concatenate([[0], np.cumsum(counts)[:-1]])
        self._crowded = counts > 2

    def up_to(self, y: Any) -> Any:
        """#{knots <= y}."""
        return self._count(y, np.less_equal, "right")

    def below(self, y: Any) -> Any:
        """#{knots < y}."""
        return self._count(y, np.less, "left")

    def _cell(self, y: Any) -> Any:
        """0 below the inner knots, cells + 1 above them."""
        with np.errstate(over="ignore"):  # an infinite number of cells away is beyond them too
            inner = y - self._origin
            inner *= self._per_unit
        inner += 1
        np.maximum(inner, 0, out=inner)
        np.minimum(inner, self._cells + 1, out=inner)
        return inner.astype(np.intp)

    def _count(self, y: Any, compare: Any, side: Literal["left", "right"]) -> Any:
        if not self._cells or y.size <= _FEW:
            return namespace(self.knots).searchsorted(self.knots, y, side=side)
        cell = self._cell(y)
        found = self._before.take(cell)
        found += compare(self._padded.take(found), y)
        found += compare(self._padded.take(found), y)
        hard = self._crowded.take(cell)
        if hard.any():
            found[hard] = np.searchsorted(self.knots, y[hard], side=side)
        return found


def count_up_to(table: Array, argument: Array) -> Array:
    """#{k: table[i, k] <= argument[i, j]}, for sorted rows (or one row for all) and a 2-d argument."""
    count = table.shape[1]
    if not isinstance(table, np.ndarray):
        return _bisected(table, argument)
    if table.shape[0] == 1:
        return np.searchsorted(table[0], argument, side="right")
    if 0 < count * argument.shape[1] <= _AT_ONCE:
        first = np.argmax(table[:, None, :] > argument[:, :, None], axis=-1)  # of the knots above; 0 if there is none
        return np.where(argument < table[:, -1:], first, count)
    if argument.shape[1] > _FEW:
        argument = np.broadcast_to(argument, (table.shape[0], argument.shape[1]))
        rows = (np.searchsorted(*row, side="right") for row in zip(table, argument, strict=True))
        return np.stack(list(rows))
    return _bisected(table, argument)


def count_up_to_increasing(table: Array, argument: Array) -> Array:
    """The same for an argument that increases in each row; one row of it may stand for all."""
    rows, size = table.shape[0], argument.shape[1]
    if not isinstance(table, np.ndarray) or argument.shape[0] > 1:
        return count_up_to(table, namespace(argument).broadcast_to(argument, (rows, size)))
    first = np.searchsorted(argument[0], table.ravel(), side="left")  # that is not below a knot
    first += np.repeat(np.arange(rows) * (size + 1), table.shape[1])
    return np.cumsum(np.bincount(first, minlength=rows * (size + 1)).reshape(rows, size + 1), axis=1)[:, :-1]


def _bisected(table: Array, argument: Array) -> Array:
    """The same by halving, for many knots, or many arguments, a row."""
    xp, count = namespace(argument), table.shape[1]
    low = xp.zeros(argument.shape, dtype=xp.int64, device=array_api_compat.device(argument))
    high = low + count
    for _ in range(count.bit_length()):
        middle = clip((low + high) // 2, 0, count - 1)
        below = (gather(table, middle) <= argument) & (low < high)
        low = xp.where(below, middle + 1, low)
        high = xp.where(below | (low >= high), high, middle)
    return low


def gather(table: Array, index: Array) -> Array:
    """table[i, index[i, k]], for a table with one row or one row for each row of the index."""
    xp, one = namespace(table), table.shape[0] == 1
    if isinstance(table, np.ndarray):
        first = 0 if one else np.arange(0, table.size, table.shape[1])[:, None]
        return table.ravel().take(index + first)
    if one:
        return xp.reshape(xp.take(xp.reshape(table, (-1,)), xp.reshape(index, (-1,))), index.shape)
    start = table.shape[1] * xp.arange(table.shape[0], dtype=index.dtype, device=array_api_compat.device(index))
    flat = xp.reshape(index + start[:, None], (-1,))
    return xp.reshape(xp.take(xp.reshape(table, (-1,)), flat), index.shape)


def gatherer(like: Array, index: Array) -> Callable[[Any], Any]:
    """`gather` for many tables of the shape of `like` and one index."""
    if not isinstance(like, np.ndarray) or like.shape[0] == 1:
        return lambda table: gather(table, index)
    flat = index + np.arange(0, like.size, like.shape[1])[:, None]
    return lambda table: table.ravel().take(flat)


def interpolated(x: Array, knots: Array, heights: Array) -> Array:
    """The broken line through the knots of each row at its x: numpy.interp by row, from the right where knots tie."""
    j = clip(count_up_to(knots, x), 1, knots.shape[1] - 1)
    xp, low, gap = namespace(x), gather(knots, j - 1), gather(knots, j) - gather(knots, j - 1)
    rises = gap > 0
    part = xp.where(rises, clip((x - low) / xp.where(rises, gap, xp.ones_like(gap)), 0.0, 1.0), xp.ones_like(gap))
    return gather(heights, j - 1) + part * (gather(heights, j) - gather(heights, j - 1))
