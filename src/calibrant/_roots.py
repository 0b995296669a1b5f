"""Inverting an increasing function, elementwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, detached, namespace

_STEPS = 100
_SECANTS = 16

Floats = np.ndarray[Any, np.dtype[np.float64]]
Rows = np.ndarray[Any, np.dtype[np.int64]]


def solve_increasing(
    function: Callable[[Array], tuple[Array, Array]],
    target: Array,
    low: Array,
    high: Array,
) -> Array:
    """The y in [low, high] with value(y) = target, for a function that gives the value and the log slope.

    Newton steps, replaced by bisection where they leave the bracket or do not halve: beside a bend they may go back and
    forth for ever. The search ends when every step is small beside the root of the floats' resolution, so that one more
    reaches it. That one is taken outside the search, with the slope held fixed, so that torch's gradients flow through
    it to the function's own parameters.
    """
    xp = namespace(target)
    shape = (target + low + high).shape
    a, b = (detached(xp.broadcast_to(end, shape)) for end in (low, high))
    goal = detached(target)
    close = float(xp.finfo(target.dtype).eps) ** 0.75
    width = xp.abs(b - a)
    y = 0.5 * a + 0.5 * b
    done = ~(b > a)
    last = width
    for _ in range(_STEPS):
        value, log_slope = (detached(part) for part in function(y))
        gap = value - goal
        step = gap * xp.exp(clip(-log_slope, -700.0, 700.0))
        a, b = xp.where(gap <= 0, y, a), xp.where(gap >= 0, y, b)
        small = close * xp.minimum(xp.abs(y) + 1e-3 * width, width)
        done = done | (xp.abs(step) <= small) | (gap == 0)
        newton = y - step
        good = (newton >= a) & (newton <= b) & (2 * xp.abs(step) <= last)
        following = xp.where(done, y, xp.where(good, newton, 0.5 * a + 0.5 * b))
        y, last = following, xp.abs(following - y)
        if bool(xp.all(done)):
            break
    return newton_step(function, target, y, width)


def newton_step(function: Callable[[Array], tuple[Array, Array]], target: Array, y: Array, width: Array) -> Array:
    """One more step from a y that is close to the root, of a bracket that was so wide."""
    xp = namespace(y)
    value, log_slope = function(y)
    correction = (value - target) / xp.exp(clip(detached(log_slope), -700.0, 700.0))
    fine = xp.abs(detached(correction)) <= 1e-6 * (xp.abs(y) + width)
    return y - xp.where(fine, correction, xp.zeros_like(correction))


def secants(
    function: Callable[[Floats, Rows], Floats], low: Floats, high: Floats, close: Floats
) -> tuple[Floats, Rows]:
    """The roots of increasing functions, one a row, in [low, high], and the rows whose value is not yet `close` to 0.

    Secants of the bracket, as in the Illinois method, of fewer and fewer rows: `function(y, rows)` gives the values of
    these rows only. They need no slope, and where a function is a broken line they end on the piece of the root.
    """
    root, rows = high.copy(), np.arange(low.shape[0])
    a, b, side = low, high, np.zeros(low.shape[0])
    fa, fb = function(a, rows), function(b, rows)
    for _ in range(_SECANTS):
        rise = fb - fa
        y = np.clip(b - fb * (b - a) / np.where(rise > 0, rise, 1.0), a, b)
        value = function(y, rows)
        root[rows] = y
        on = np.abs(value) > close[rows]
        if not on.any():
            return root, rows[:0]
        over = value > 0
        # an end that stays for two steps counts half, or the secants would creep up on the root from one side
        fa, fb = (
            np.where(over, np.where(side > 0, fa / 2, fa), value),
            np.where(over, value, np.where(side < 0, fb / 2, fb)),
        )
        a, b, side = np.where(over, a, y), np.where(over, y, b), np.where(over, 1.0, -1.0)
        rows, a, b, fa, fb, side = (each[on] for each in (rows, a, b, fa, fb, side))
    return root, rows
