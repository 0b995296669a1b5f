"""Inverting an increasing function, elementwise."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from calibrant._arrays import Array, clip, detached, namespace
from calibrant._search import count_up_to, gather

_STEPS = 100
_SLOPED = 1e10
"""Values below which a log slope is known in double precision."""


Function = Callable[[Array], tuple[Array, Array]]


def solve_increasing(function: Function, target: Array, low: Array, high: Array) -> Array:
    """The y in [low, high] with value(y) = target, for a function that gives the value and the log slope.

    Newton steps, replaced by bisection where they leave the bracket or do not halve: beside a bend they may go back and
    forth for ever. Where values are larger than 1e10, or 1e5 in single precision, a log slope, a difference of
    logarithms as large, may have no digits: there it is bisection alone. The search ends when every step is small
    beside y or beside the length over which the value changes by 1, so that one more reaches the floats' resolution.
    That one is taken outside the search, with the slope held fixed, so that torch's gradients flow through it to the
    function's own parameters.
    """
    with np.errstate(over="ignore"):  # a step that is too long for floats is none
        return _solved(function, target, low, high)


def _solved(function: Function, target: Array, low: Array, high: Array) -> Array:
    xp = namespace(target)
    shape = (target + low + high).shape
    a, b = (detached(xp.broadcast_to(end, shape)) for end in (low, high))
    goal = detached(target)
    eps, close = float(xp.finfo(target.dtype).eps), _close(target)
    width = xp.abs(b - a)
    y = between(a, b)
    done = ~(b > a)
    sloped = _sloped(goal)
    last = width
    for _ in range(_STEPS):
        value, log_slope = (detached(part) for part in function(y))
        gap = value - goal
        step = gap * _exp(-log_slope)
        a, b = xp.where(gap <= 0, y, a), xp.where(gap >= 0, y, b)
        small = close * xp.minimum(xp.abs(y) + _exp(-log_slope), width)
        small = xp.where(sloped, small, 4 * eps * xp.abs(y))
        done = done | (xp.where(sloped, xp.abs(step), b - a) <= small) | (gap == 0)
        newton = y - step
        good = sloped & (newton >= a) & (newton <= b) & (2 * xp.abs(step) <= last)
        following = xp.where(done, y, xp.where(good, newton, between(a, b)))
        y, last = following, xp.abs(following - y)
        if bool(xp.all(done)):
            break
    return newton_step(function, target, y, width)


def between(a: Array, b: Array) -> Array:
    """A point well inside [a, b]: halfway, or where the ends differ by many powers of ten, halfway between these."""
    xp = namespace(a)
    near, far = xp.minimum(xp.abs(a), xp.abs(b)), xp.maximum(xp.abs(a), xp.abs(b))
    near = xp.maximum(near, 1e-16 * far)
    root = xp.sqrt(near) * xp.sqrt(far)
    apart = xp.where(b <= 0, -root, xp.where(a >= 0, root, xp.zeros_like(root)))
    return xp.where(far > 64 * near, apart, 0.5 * a + 0.5 * b)


def invert_many(
    function: Function,
    of_rows: Callable[[Array], tuple[Function, Callable[[Array], Array]]],
    target: Array,
    grid: Array,
) -> Array:
    """The y with value(y) = target for many increasing targets, (1, k), that all rows share, as (n, k).

    `grid` holds increasing places in each row, (n, m): the inverse is interpolated between them, and a Newton step or
    two follow. What is not settled then, some places beside a bend or beyond the grid, is
    solved for by itself: `of_rows(rows)` gives the function and its own slow inverse for these rows, one value each.
    """
    with np.errstate(over="ignore"):  # far out in a heavy tail squares are infinite, as they should be
        return _inverted(function, of_rows, target, grid)


def _inverted(
    function: Function,
    of_rows: Callable[[Array], tuple[Function, Callable[[Array], Array]]],
    target: Array,
    grid: Array,
) -> Array:
    xp, grid = namespace(grid), detached(grid)
    value, log_slope = (detached(part) for part in function(grid))
    target = xp.broadcast_to(target, (grid.shape[0], target.shape[1]))
    j = clip(count_up_to(value, target), 1, grid.shape[1] - 1)
    a, b, va, vb = gather(grid, j - 1), gather(grid, j), gather(value, j - 1), gather(value, j)
    inverse = _exp(-log_slope)
    rise, width = xp.where(vb > va, vb - va, xp.ones_like(va)), b - a
    da, db = rise * gather(inverse, j - 1), rise * gather(inverse, j)
    t = (target - va) / rise
    y = a + t * (da + t * (3 * width - 2 * da - db + t * (da + db - 2 * width)))
    inside = (target >= va) & (target <= vb) & xp.isfinite(va) & xp.isfinite(vb)
    y = xp.where(inside, xp.minimum(xp.maximum(y, a), b), xp.where(target < va, a, b))
    settled = xp.zeros_like(inside)
    for tolerance in (1e-4, 1e-9):
        y = detached(y)
        value, log_slope = function(y)
        graded = getattr(value, "requires_grad", False)
        step = (detached(value) - detached(target)) * _exp(-detached(log_slope))
        # what is done stays as it is, whatever the others need
        y = xp.where(settled, y, xp.minimum(xp.maximum(y - step, a), b))
        settled = settled | (inside & (xp.abs(step) <= tolerance * (width + 1e-6 * xp.abs(y))))
        if bool(xp.all(settled)):
            break
    for left, bracketed in ((~settled & inside, True), (~inside, False)):
        if not bool(xp.any(left)):
            continue
        flat = xp.nonzero(xp.reshape(left, (-1,)))[0]
        of_these, slowly = of_rows(flat // target.shape[1])
        goal, low, high = (xp.take(xp.reshape(part, (-1,)), flat)[:, None] for part in (target, a, b))
        found = solve_increasing(of_these, goal, low, high) if bracketed else slowly(goal)
        rank = xp.cumulative_sum(xp.astype(xp.reshape(left, (-1,)), xp.int64)) - 1
        rank = xp.where(xp.reshape(left, (-1,)), rank, xp.zeros_like(rank))
        y = xp.where(left, xp.reshape(xp.take(found[:, 0], rank), y.shape), y)
    if not graded:
        return y
    # one more step, whose gradients are those of the inverse
    return xp.where(inside, newton_step(function, target, detached(y), width), y)


def _close(like: Array) -> float:
    """How close to the root a search ends, relative to y: one Newton step from there reaches the floats' resolution."""
    return float(float(namespace(like).finfo(like.dtype).eps) ** 0.75)


def _sloped(value: Array) -> Array:
    """Where a log slope, as large as the value before its parts were subtracted, is known to a hundredth or better."""
    xp = namespace(value)
    return xp.abs(value) < min(_SLOPED, 0.01 / float(xp.finfo(value.dtype).eps))


def _exp(x: Array) -> Array:
    """exp(x), kept from 0 and from infinity."""
    xp = namespace(x)
    most = 700.0 if x.dtype == xp.float64 else 80.0
    return xp.exp(clip(x, -most, most))


def newton_step(function: Callable[[Array], tuple[Array, Array]], target: Array, y: Array, width: Array) -> Array:
    """One more step from a y that is close to the root, of a bracket that was so wide."""
    xp = namespace(y)
    value, log_slope = function(y)
    correction = (value - target) / _exp(detached(log_slope))
    near = max(1e-6, 2 * _close(y))
    fine = (xp.abs(detached(correction)) <= near * (xp.abs(y) + width)) & _sloped(detached(target))
    return y - xp.where(fine, correction, xp.zeros_like(correction))
