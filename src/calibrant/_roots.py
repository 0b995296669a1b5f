"""Inverting an increasing function, elementwise."""

from __future__ import annotations

from collections.abc import Callable

from calibrant._arrays import Array, clip, namespace


def solve_increasing(
    function: Callable[[Array], Array],
    log_slope: Callable[[Array], Array],
    target: Array,
    low: Array,
    high: Array,
) -> Array:
    """The y in [low, high] with function(y) = target: Newton steps, replaced by bisection where they leave the bracket.

    Ends when every bracket or every step is at the resolution of the floats. The last step is taken outside the search
    with the slope held fixed, so that torch's gradients flow through it to the function's own parameters.
    """
    xp = namespace(target)
    resolution = 4 * float(xp.finfo(target.dtype).eps)
    shape = (target + low + high).shape
    search_low, search_high = (_detached(xp.broadcast_to(end, shape)) for end in (low, high))
    goal = _detached(target)
    y = 0.5 * search_low + 0.5 * search_high
    for _ in range(200):
        value = _detached(function(y))
        gap = value - goal
        search_low = xp.where(gap <= 0, y, search_low)
        search_high = xp.where(gap >= 0, y, search_high)
        step = gap * xp.exp(clip(-_detached(log_slope(y)), -700.0, 700.0))
        newton = y - step
        inside = (newton > search_low) & (newton < search_high)
        following = xp.where(inside, newton, 0.5 * search_low + 0.5 * search_high)
        still = (xp.abs(following - y) <= resolution * xp.abs(y)) | (search_high - search_low <= resolution * xp.abs(y))
        y = xp.where(gap == 0, y, following)
        if bool(xp.all(still | (gap == 0))):
            break
    slope = xp.exp(_detached(log_slope(y)))
    steady = xp.isfinite(slope) & (slope > 0)
    correction = (function(y) - target) / xp.where(steady, slope, xp.ones_like(slope))
    small = steady & (xp.abs(_detached(correction)) <= 1e-6 * (1 + xp.abs(y)))
    return y - xp.where(small, correction, xp.zeros_like(correction))


def _detached(array: Array) -> Array:
    return array.detach() if hasattr(array, "detach") else array
