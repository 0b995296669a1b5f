"""Finding values among sorted knots, shared by all rows or a row's own, and inverting increasing functions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal, NamedTuple

import array_api_compat
import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, detached, namespace

_FEW = 64  # knots or values; below this a guide costs more than it saves
_CELLS = 4  # cells of the guide for each knot
_AT_ONCE = 256  # knots times values of a row; above this halving costs less than comparing all of them
_JUMP, _NEAR = 5.0, 14.0  # spreads for a change of the value by 1, in a gap between modes; and values that count

Function = Callable[[Array], tuple[Array, Array]]
"""The value and the log slope at each y."""


class Finder:
    """#{knots <= y} and #{knots < y}, for a 1-d array of y.

    On numpy, where a binary search waits for memory at every step, a guide leads there directly: equal cells over
    the inner 98% of the knots, with the number of knots before each. Two comparisons settle the cells that hold at most
    two knots, a binary search the others. The result is exact: a cell is a non-decreasing function of y, so a knot in
    an earlier cell is smaller. Without a guide, where knots are few or too close, it is all binary search.
    """

    def __init__(self, knots: Array) -> None:
        self.knots, self._cells = knots, 0
        if not isinstance(knots, np.ndarray) or knots.size < _FEW:
            return
        low, high = float(knots[knots.size // 100]), float(knots[-1 - knots.size // 100])
        cells = _CELLS * knots.size
        with np.errstate(divide="ignore"):
            per_unit = float(np.float64(cells) / (high - low))
        if not 0 < per_unit < np.inf:
            return
        self._cells, self._origin, self._per_unit = cells, low, per_unit
        self._padded = np.append(knots, np.inf)
        counts = np.bincount(self._cell(knots), minlength=cells + 2)
        self._before, self._crowded = np.cumsum(counts) - counts, counts > 2

    def _cell(self, y: Any) -> Any:
        """0 below the inner knots, cells + 1 above them."""
        with np.errstate(over="ignore"):  # an infinite number of cells away is beyond them too
            inner = y - self._origin
            inner *= self._per_unit
        inner += 1
        np.maximum(inner, 0, out=inner)
        np.minimum(inner, self._cells + 1, out=inner)
        return inner.astype(np.intp)

    def count(self, y: Any, *, left: bool = False) -> Any:
        """#{knots <= y}; from the left #{knots < y}."""
        side: Literal["left", "right"] = "left" if left else "right"
        if not self._cells or y.size <= _FEW:
            return namespace(self.knots).searchsorted(self.knots, y, side=side)
        cell, compare = self._cell(y), np.less if left else np.less_equal
        found = self._before.take(cell)
        for _ in range(2):
            found += compare(self._padded.take(found), y)
        hard = self._crowded.take(cell)
        if hard.any():
            found[hard] = np.searchsorted(self.knots, y[hard], side=side)
        return found


def count_up_to(table: Array, argument: Array) -> Array:
    """#{k: table[i, k] <= argument[i, j]}, for sorted rows (or one row for all) and a 2-d argument."""
    xp, count = namespace(argument), table.shape[1]
    if isinstance(table, np.ndarray):
        if table.shape[0] == 1:
            return xp.searchsorted(table[0], argument, side="right")
        if 0 < count * argument.shape[1] <= _AT_ONCE:
            first = np.argmax(table[:, None, :] > argument[:, :, None], axis=-1)  # of the knots above; 0 if none is
            return np.where(argument < table[:, -1:], first, count)
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
    return gatherer(table, index)(table)


def gatherer(like: Array, index: Array) -> Callable[[Any], Array]:
    """`gather` for many tables of the shape of `like` and one index."""
    xp = namespace(index)
    if like.shape[0] > 1:
        rows = xp.arange(like.shape[0], dtype=index.dtype, device=array_api_compat.device(index))
        index = index + like.shape[1] * rows[:, None]
    if isinstance(index, np.ndarray):
        return lambda table: table.ravel().take(index)
    flat = xp.reshape(index, (-1,))
    return lambda table: xp.reshape(xp.take(xp.reshape(table, (-1,)), flat), index.shape)


def interpolated(x: Array, knots: Array, heights: Array) -> Array:
    """The broken line through the knots of each row at its x: numpy.interp by row, from the right where knots tie."""
    j = clip(count_up_to(knots, x), 1, knots.shape[1] - 1)
    xp, low, gap = namespace(x), gather(knots, j - 1), gather(knots, j) - gather(knots, j - 1)
    rises = gap > 0
    part = xp.where(rises, clip((x - low) / xp.where(rises, gap, 1.0), 0.0, 1.0), 1.0)
    return gather(heights, j - 1) + part * (gather(heights, j) - gather(heights, j - 1))


def solve_increasing(function: Function, target: Array, low: Array, high: Array) -> Array:
    """The y in [low, high] with value(y) = target, to the floats' resolution.

    Newton steps, replaced by bisection where they leave the bracket or do not halve: next to a bend they may go back
    and forth for ever. A search ends after a step that is small compared with the bracket and with y or the length over
    which the value changes by 1. torch's gradients flow through the last step to the function's parameters.
    """
    xp, shape = namespace(target), (target + low + high).shape
    low, high = (detached(xp.broadcast_to(end, shape)) for end in (low, high))
    y, width, near = low / 2 + high / 2, high - low, _close(low)
    last, going = width, width >= 0
    for _ in range(200):  # each value by itself, however long the others take
        y = detached(y)
        value, log_slope = function(y)
        length = _exp(-detached(log_slope))
        step = (value - target) * length
        size = detached(step)  # infinite where the value is: no step to take, but a side to look on
        step = xp.where(xp.isfinite(size), step, 0.0)
        size = xp.where(xp.isnan(size), 0.0, size)
        low, high = xp.where(size <= 0, y, low), xp.where(size >= 0, y, high)
        safe = (y - size >= low) & (y - size <= high) & (2 * xp.abs(size) <= last)
        moved = xp.where(going, xp.where(safe, y - size, low / 2 + high / 2), y)
        last = xp.abs(moved - y)
        going = going & (last > near * xp.minimum(xp.abs(y) + length, width))
        y = moved - (step - detached(step))
        if not anywhere(going):
            break
    return y


class Curve(NamedTuple):
    """An increasing function of each row at some places, (n, m): they, its values, and d place / d value."""

    places: Array
    values: Array
    widths: Array

    @classmethod
    def of(cls, function: Function, places: Array) -> Curve:
        """At places that increase in each row."""
        places = detached(places)
        values, log_slopes = map(detached, function(places))
        return cls(places, values, _exp(-log_slopes))

    def inverse(self, function: Function, s: Array) -> tuple[Array, Array]:
        """The y with value(y) = s for increasing s, (1, k) or (n, k), which the curve reaches, and dy/ds there.

        On a cubic between the places; a slope of more than three times the chord's would make it turn back.
        """
        (a, v, w), xp = self, namespace(s)
        rise, chord = v[:, 1:] - v[:, :-1], a[:, 1:] - a[:, :-1]
        rise = xp.where(xp.isfinite(rise) & (rise > 0), rise, 1.0)
        da, db = (xp.minimum(rise * width, 3 * chord) for width in (w[:, :-1], w[:, 1:]))
        j = clip(_count_up_to_increasing(v, s) - 1, 0, v.shape[1] - 2)
        own = gatherer(rise, j)
        t = clip((s - own(v[:, :-1])) / own(rise), 0.0, 1.0)
        y, width = own(da + db - 2 * chord), 0 * t
        for part in (3 * chord - 2 * da - db, da, a[:, :-1]):  # Horner's rule, in place, which saves memory and time
            width *= t
            width += y
            y *= t
            y += own(part)
        width /= own(rise)
        if isinstance(y, np.ndarray):
            return y, width
        value, log_slope = function(y)
        step = xp.where(xp.isfinite(value), value - s, 0.0) * _exp(-detached(log_slope))
        if not getattr(step, "requires_grad", False):
            return y, width
        y = y - (step - detached(step))  # a step that is taken back carries the gradients
        exact = _exp(-function(y)[1])
        return y, width + (exact - detached(exact))

    def jumps(self) -> Array | None:
        """The values on either side of where places all but jump, (n, k), then NaN; None if no row has any."""
        (a, v, _), xp, last = self, namespace(self.values), self.values.shape[1] - 1
        chord, spread = a[:, 1:] - a[:, :-1], a[:, last - last // 4, None] - a[:, last // 4, None]
        near = xp.maximum(xp.abs(v[:, 1:]), xp.abs(v[:, :-1])) < _NEAR
        jump = near & (chord > _JUMP * spread * (v[:, 1:] - v[:, :-1]))
        if not anywhere(jump):
            return None
        sides = xp.where(concatenate([jump, jump], axis=1), concatenate([v[:, :-1], v[:, 1:]], axis=1), np.inf)
        found = xp.sort(sides, axis=1)[:, : 2 * int(xp.max(xp.count_nonzero(jump, axis=1)))]
        return xp.where(xp.isfinite(found), found, np.nan)


def _count_up_to_increasing(table: Array, argument: Array) -> Array:
    """`count_up_to` of an argument that increases in each row; all rows may share one."""
    rows, size = table.shape[0], argument.shape[1]
    if not isinstance(table, np.ndarray) or argument.shape[0] > 1:
        return count_up_to(table, namespace(argument).broadcast_to(argument, (rows, size)))
    first = np.searchsorted(argument[0], table.ravel(), side="left")  # that is not below a knot
    first += np.repeat(np.arange(rows) * (size + 1), table.shape[1])
    return np.cumsum(np.bincount(first, minlength=rows * (size + 1)).reshape(rows, size + 1), axis=1)[:, :-1]


def newton_step(function: Function, target: Array, y: Array, width: Array) -> Array:
    """One more step from a y that is close to the root, of a bracket that was so wide."""
    xp = namespace(y)
    value, log_slope = function(y)
    correction = (value - target) * _exp(-detached(log_slope))
    fine = xp.abs(detached(correction)) <= max(1e-6, 2 * _close(y)) * (xp.abs(y) + width)
    return y - xp.where(fine, correction, 0.0)


def _close(like: Array) -> float:
    """How close to the root a search ends, relative to y: one Newton step from there reaches the floats' resolution."""
    return float(float(namespace(like).finfo(like.dtype).eps) ** 0.75)


def _exp(x: Array) -> Array:
    """exp(x), clipped so far from 0 and from infinity that steps in these units stay finite."""
    most = 600.0 if x.dtype == namespace(x).float64 else 60.0
    return namespace(x).exp(clip(x, -most, most))
