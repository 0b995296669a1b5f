"""Inverting an increasing function, elementwise."""

from __future__ import annotations

from collections.abc import Callable

from calibrant._arrays import Array, anywhere, clip, detached, namespace
from calibrant._search import count_up_to, gather

Function = Callable[[Array], tuple[Array, Array]]
"""The value and the log slope at each y."""


def solve_increasing(function: Function, target: Array, low: Array, high: Array) -> Array:
    """The y in [low, high] with value(y) = target, to the floats' resolution."""
    xp = namespace(target)
    shape = (target + low + high).shape
    low, high = (detached(xp.broadcast_to(end, shape)) for end in (low, high))
    return _newton(function, target, _between(low, high), low, high, near=_close(low), most=100)[0]


def inverse_by_table(function: Function, s: Array, places: Array) -> tuple[Array, Array]:
    """The y with value(y) = s for increasing s, (1, k) or (n, k), and dy/ds there, both (n, k).

    `places`, (n, m), are increasing in each row and reach about as far as s. The inverse is a cubic between them; a
    Newton step follows, and more of them while one is long.
    """
    xp, places = namespace(places), detached(places)
    value, log_slope = (detached(part) for part in function(places))
    s = xp.broadcast_to(s, (places.shape[0], s.shape[1]))
    j = clip(count_up_to(value, s), 1, places.shape[1] - 1)
    a, b, va, vb = (gather(part, index) for part in (places, value) for index in (j - 1, j))
    inverse = _exp(-log_slope)
    rise, width = xp.where(vb > va, vb - va, xp.ones_like(va)), b - a
    # a slope of more than three times the chord's makes a cubic turn back
    da, db = (xp.minimum(rise * gather(inverse, index), 3 * width) for index in (j - 1, j))
    t = clip((s - va) / rise, 0.0, 1.0)
    y = a + t * (da + t * (3 * width - 2 * da - db + t * (da + db - 2 * width)))
    y = xp.where(xp.isfinite(y), y, a)
    inside = (s >= va) & (s <= vb) & xp.isfinite(va) & xp.isfinite(vb)
    return _newton(function, s, y, xp.where(inside, a, y), xp.where(inside, b, y), near=1e-3, most=3)


def _newton(
    function: Function, target: Array, y: Array, low: Array, high: Array, *, near: float, most: int
) -> tuple[Array, Array]:
    """The y in [low, high] with value(y) = target, and dy/dvalue there, from a first guess.

    Newton steps, replaced by bisection where they leave the bracket or do not halve: beside a bend they may go back and
    forth for ever. A search ends after a step that is small, by `near`, beside the bracket and beside y or the length
    over which the value changes by 1. torch's gradients flow through the last step to the function's own parameters.
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
        step = xp.where(xp.isfinite(size), step, xp.zeros_like(step))
        size = xp.where(xp.isnan(size), xp.zeros_like(size), size)
        low, high = xp.where(size <= 0, y, low), xp.where(size >= 0, y, high)
        safe = (y - size >= low) & (y - size <= high) & (2 * xp.abs(size) <= last)
        moved = xp.where(going, xp.where(safe, y - size, _between(low, high)), y)
        per_unit, last = xp.where(going, length, per_unit), xp.abs(moved - y)
        going = going & (last > near * xp.minimum(xp.abs(y) + length, width))
        y = moved - (step - detached(step))
        if not anywhere(going):
            break
    return y, per_unit


def newton_step(function: Function, target: Array, y: Array, width: Array) -> Array:
    """One more step from a y that is close to the root, of a bracket that was so wide."""
    xp = namespace(y)
    value, log_slope = function(y)
    correction = (value - target) * _exp(-detached(log_slope))
    fine = xp.abs(detached(correction)) <= max(1e-6, 2 * _close(y)) * (xp.abs(y) + width)
    return y - xp.where(fine, correction, xp.zeros_like(correction))


def _between(a: Array, b: Array) -> Array:
    """A point well inside [a, b]: halfway, or where the ends differ by many powers of ten, halfway between these."""
    xp = namespace(a)
    near, far = xp.minimum(xp.abs(a), xp.abs(b)), xp.maximum(xp.abs(a), xp.abs(b))
    root = xp.sqrt(xp.maximum(near, 1e-16 * far)) * xp.sqrt(far)
    apart = xp.where(b <= 0, -root, xp.where(a >= 0, root, xp.zeros_like(root)))
    return xp.where(far > 64 * near, apart, 0.5 * a + 0.5 * b)


def _close(like: Array) -> float:
    """How close to the root a search ends, relative to y: one Newton step from there reaches the floats' resolution."""
    return float(float(namespace(like).finfo(like.dtype).eps) ** 0.75)


def _exp(x: Array) -> Array:
    """exp(x), kept so far from 0 and from infinity that steps in these units stay finite."""
    most = 600.0 if x.dtype == namespace(x).float64 else 60.0
    return namespace(x).exp(clip(x, -most, most))
