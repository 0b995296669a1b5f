"""Inverting an increasing function, elementwise."""

from __future__ import annotations

from collections.abc import Callable

from calibrant._arrays import Array, anywhere, clip, detached, namespace
from calibrant._search import count_up_to, gather

_STEPS, _FEW_STEPS = 100, 3

Function = Callable[[Array], tuple[Array, Array]]


def solve_increasing(function: Function, target: Array, low: Array, high: Array) -> Array:
    """The y in [low, high] with value(y) = target, for a function that gives the value and the log slope.

    Newton steps, replaced by bisection where they leave the bracket or do not halve: beside a bend they may go back and
    forth for ever. The search ends when every step is small beside y or beside the length over which the value changes
    by 1, so that one more reaches the floats' resolution. That one is taken outside the search, with the slope held
    fixed, so that torch's gradients flow through it to the function's own parameters.
    """
    xp = namespace(target)
    shape = (target + low + high).shape
    a, b = (detached(xp.broadcast_to(end, shape)) for end in (low, high))
    goal, y, width = detached(target), _between(a, b), b - a
    last, done = width, ~(b > a)
    for _ in range(_STEPS):
        value, log_slope = (detached(part) for part in function(y))
        gap, length = value - goal, _exp(-log_slope)
        step = gap * length
        a, b = xp.where(gap <= 0, y, a), xp.where(gap >= 0, y, b)
        done = done | (xp.abs(step) <= _close(y) * xp.minimum(xp.abs(y) + length, width)) | (gap == 0)
        newton = y - step
        good = (newton >= a) & (newton <= b) & (2 * xp.abs(step) <= last)
        following = xp.where(done, y, xp.where(good, newton, _between(a, b)))
        y, last = following, xp.abs(following - y)
        if bool(xp.all(done)):
            break
    return newton_step(function, target, y, width)


def newton_step(function: Function, target: Array, y: Array, width: Array) -> Array:
    """One more step from a y that is close to the root, of a bracket that was so wide."""
    xp = namespace(y)
    value, log_slope = function(y)
    correction = (value - target) * _exp(-detached(log_slope))
    fine = xp.abs(detached(correction)) <= max(1e-6, 2 * _close(y)) * (xp.abs(y) + width)
    return y - xp.where(fine, correction, xp.zeros_like(correction))


def inverse_by_table(function: Function, s: Array, places: Array) -> tuple[Array, Array]:
    """The y with value(y) = s for increasing s, (1, k) or (n, k), and dy/ds there, both (n, k).

    `places`, (n, m), are increasing in each row and reach about as far as s. The inverse is a cubic between them; a
    Newton step follows, and more of them while one is long. The last one carries torch's gradients.
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
    inside = (s >= va) & (s <= vb) & xp.isfinite(va) & xp.isfinite(vb)
    y, low, high = xp.where(xp.isfinite(y), y, a), a, b
    going, per_unit = xp.ones_like(inside), xp.zeros_like(y)
    for _ in range(_FEW_STEPS):  # each value by itself, however long the others take
        y = detached(y)
        value, log_slope = function(y)
        per_unit, gap = xp.where(going, _exp(-detached(log_slope)), per_unit), detached(value) - s
        step = (value - s) * per_unit
        step = xp.where(inside & xp.isfinite(step), step, xp.zeros_like(step))
        step = xp.where(going, step, step - detached(step))  # of what is done, the gradients
        low, high = xp.where(gap < 0, y, low), xp.where(gap > 0, y, high)
        newton, before = y - step, y
        out = (newton < low) | (newton > high)  # beside a bend, or in a gap between two modes: halve instead
        y = xp.where(out & going & inside, low / 2 + high / 2 + detached(step) - step, newton)
        going = going & (xp.abs(detached(y) - before) > 1e-3 * width)
        if not anywhere(going):
            break
    return y, per_unit


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
