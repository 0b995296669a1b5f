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
_OFF = 2e-4  # of the spread: how far a cubic over two places may be off; that over one is some 16 times closer
_JUMP, _STEEP, _FAR = 6.0, 3.0, 14.0
"""Spreads for a change of the value by 1: of a gap between modes, and next to it; and values up to which one counts."""
_NEAR, _STEPS = 1e-3, 6  # where Newton steps end that start from a cubic, and how many at most

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
    """The y in [low, high] with value(y) = target, to the floats' resolution."""
    xp = namespace(target)
    shape = (target + low + high).shape
    low, high = (detached(xp.broadcast_to(end, shape)) for end in (low, high))
    return _newton(function, target, _between(low, high), low, high, near=_close(low), most=100)[0]


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

    @property
    def spread(self) -> Array:
        """How far apart the inner half of the places lies, (n, 1)."""
        last = self.places.shape[1] - 1
        return self.places[:, last - last // 4, None] - self.places[:, last // 4, None]

    def between(self, gap: int = 1) -> tuple[Array, tuple[Array, ...], Array]:
        """The inverse between each place and the next but `gap` - 1: the rise, a cubic of its share, whether it is one.

        A slope of more than three times the chord's makes a cubic turn back.
        """
        a, v, w = self
        xp, rise, chord = namespace(a), v[:, gap:] - v[:, :-gap], a[:, gap:] - a[:, :-gap]
        fine = xp.isfinite(rise) & (rise > 0)
        rise = xp.where(fine, rise, 1.0)
        da, db = (xp.minimum(rise * width, 3 * chord) for width in (w[:, :-gap], w[:, gap:]))
        return rise, (a[:, :-gap], da, 3 * chord - 2 * da - db, da + db - 2 * chord), fine

    def rough(self) -> Array:
        """Between which places the cubic is off: a cubic over two of them tells how far; far out may be off more."""
        rise, (first, second, third, fourth), fine = self.between(2)
        inner = self.values[:, 1:-1]
        xp, t = namespace(inner), (inner - self.values[:, :-2]) / rise
        off = first + t * (second + t * (third + t * fourth)) - self.places[:, 1:-1]
        bad = ~(fine & (xp.abs(off) <= _OFF * self.spread * _exp(xp.abs(inner) / 2)))
        return concatenate([bad[:, :1], bad], axis=1) | concatenate([bad, bad[:, -1:]], axis=1)

    def jumps(self) -> Array | None:
        """The values on either side of where the inverse all but jumps, (n, k), then NaN; None if no row has any."""
        xp, (a, v, _) = namespace(self.values), self
        chord, rise = a[:, 1:] - a[:, :-1], v[:, 1:] - v[:, :-1]
        near, spread = xp.maximum(xp.abs(v[:, 1:]), xp.abs(v[:, :-1])) < _FAR, self.spread * rise
        some = xp.any(near & (chord > _JUMP * spread), axis=1, keepdims=True)
        if not anywhere(some):
            return None
        steep = some & near & (chord > _STEEP * spread)
        none = xp.zeros_like(steep[:, :1])
        side = concatenate([none, steep], axis=1) | concatenate([steep, none], axis=1)
        found = xp.sort(xp.where(side, v, np.inf), axis=1)
        found = found[:, : int(xp.max(xp.count_nonzero(side, axis=1)))]
        return xp.where(xp.isfinite(found), found, np.nan)


def inverse_by_curve(function: Function, curve: Curve, s: Array) -> tuple[Array, Array]:
    """The y with value(y) = s for increasing s, (1, k) or (n, k), which the curve reaches, and dy/ds there.

    A cubic between the curve's places; where that is not close, Newton steps.
    """
    a, v, _ = curve
    j = clip(_count_up_to_increasing(v, s) - 1, 0, v.shape[1] - 2)
    steps, cubic, fine = curve.between()
    own = gatherer(steps, j)
    rise = own(steps)
    t = clip((s - own(v[:, :-1])) / rise, 0.0, 1.0)
    y, width = own(cubic[3]), 0 * t
    for part in reversed(cubic[:3]):  # Horner's rule, in place: memory takes longer than sums
        width *= t
        width += y
        y *= t
        y += own(part)
    width /= rise
    off = own(curve.rough() | ~fine)
    if not isinstance(y, np.ndarray):
        xp, low, high = namespace(y), gather(a, j), gather(a, j + 1)
        found, per_unit = _newton(function, s, y, low, high, near=_NEAR, most=_STEPS)
        y, width = detached(xp.where(off, found, y)), detached(xp.where(off, per_unit, width))
        value, log_slope = function(y)
        step = xp.where(xp.isfinite(value), value - s, 0.0) * _exp(-detached(log_slope))
        if not getattr(step, "requires_grad", False):
            return y, width
        y = y - (step - detached(step))  # a step that is taken back carries the gradients
        exact = _exp(-function(y)[1])
        return y, width + (exact - detached(exact))
    if np.any(off):
        row, column = np.nonzero(off)
        counts = np.bincount(row, minlength=len(y))
        place = np.arange(len(row)) - (np.cumsum(counts) - counts)[row]
        some = np.zeros((len(y), counts.max()), dtype=np.intp)  # of each row, filled up with its first
        some[row, place] = column
        target, start, j = gather(s, some), gather(y, some), gather(j, some)
        found, per_unit = _newton(function, target, start, gather(a, j), gather(a, j + 1), near=_NEAR, most=_STEPS)
        y[row, column], width[row, column] = found[row, place], per_unit[row, place]
    return y, width


def newton_step(function: Function, target: Array, y: Array, width: Array) -> Array:
    """One more step from a y that is close to the root, of a bracket that was so wide."""
    xp = namespace(y)
    value, log_slope = function(y)
    correction = (value - target) * _exp(-detached(log_slope))
    fine = xp.abs(detached(correction)) <= max(1e-6, 2 * _close(y)) * (xp.abs(y) + width)
    return y - xp.where(fine, correction, 0.0)


def _count_up_to_increasing(table: Array, argument: Array) -> Array:
    """`count_up_to` of an argument that increases in each row; all rows may share one."""
    rows, size = table.shape[0], argument.shape[1]
    if not isinstance(table, np.ndarray) or argument.shape[0] > 1:
        return count_up_to(table, namespace(argument).broadcast_to(argument, (rows, size)))
    first = np.searchsorted(argument[0], table.ravel(), side="left")  # that is not below a knot
    first += np.repeat(np.arange(rows) * (size + 1), table.shape[1])
    return np.cumsum(np.bincount(first, minlength=rows * (size + 1)).reshape(rows, size + 1), axis=1)[:, :-1]


def _newton(
    function: Function, target: Array, y: Array, low: Array, high: Array, *, near: float, most: int
) -> tuple[Array, Array]:
    """The y in [low, high] with value(y) = target, from a first guess, and dy/dvalue.

    Newton steps, replaced by bisection where they leave the bracket or do not halve: next to a bend they may go back
    and forth for ever. A search ends after a step that is small, by `near`, compared with the bracket and with y or the
    length over which the value changes by 1. torch's gradients flow through the last step to the function's parameters.
    """
    xp = namespace(y)
    width = last = high - low
    going, per_unit = width >= 0, xp.zeros_like(y)
    for _ in range(most):  # each value by itself, however long the others take
        y = detached(y)
        value, log_slope = function(y)
        length = _exp(-detached(log_slope))
        step = (value - target) * length
        size = detached(step)  # infinite where the value is: no step to take, but a side to look on
        step = xp.where(xp.isfinite(size), step, 0.0)
        size = xp.where(xp.isnan(size), 0.0, size)
        low, high = xp.where(size <= 0, y, low), xp.where(size >= 0, y, high)
        safe = (y - size >= low) & (y - size <= high) & (2 * xp.abs(size) <= last)
        moved = xp.where(going, xp.where(safe, y - size, _between(low, high)), y)
        per_unit, last = xp.where(going, length, per_unit), xp.abs(moved - y)
        going = going & (last > near * xp.minimum(xp.abs(y) + length, width))
        y = moved - (step - detached(step))
        if not anywhere(going):
            break
    return y, per_unit


def _between(a: Array, b: Array) -> Array:
    """A point well inside [a, b]: halfway, or where the ends differ by many powers of ten, halfway between these."""
    xp = namespace(a)
    near, far = xp.minimum(xp.abs(a), xp.abs(b)), xp.maximum(xp.abs(a), xp.abs(b))
    root = xp.sqrt(xp.maximum(near, 1e-16 * far)) * xp.sqrt(far)
    apart = xp.where(b <= 0, -root, xp.where(a >= 0, root, 0.0))
    return xp.where(far > 64 * near, apart, 0.5 * a + 0.5 * b)


def _close(like: Array) -> float:
    """How close to the root a search ends, relative to y: one Newton step from there reaches the floats' resolution."""
    return float(float(namespace(like).finfo(like.dtype).eps) ** 0.75)


def _exp(x: Array) -> Array:
    """exp(x), clipped so far from 0 and from infinity that steps in these units stay finite."""
    most = 600.0 if x.dtype == namespace(x).float64 else 60.0
    return namespace(x).exp(clip(x, -most, most))
