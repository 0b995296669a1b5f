"""When an integral over a tail has settled, and when it does not exist."""

from __future__ import annotations

from calibrant._arrays import Array, namespace

HEAVY = 1e-10
"""Of the variance: what may lie beyond the outermost points before the tails are followed farther."""
_FAR_OUT = 1e-100
_ROUNDING = 1e-6


def far_out(mass: Array) -> Array:
    """Where there is next to nothing, but something, from an end of the line up to a point."""
    return (mass > 0) & (mass < _FAR_OUT)


def still_rising(terms: Array, mass: Array) -> Array:
    """Whether what is added where next to nothing lies beyond is still a part of the integral: then that is infinite.

    Terms of an integral along the last axis, from an end of the line on, and the mass from that end to each.
    """
    xp = namespace(terms)
    zero = xp.zeros_like(terms)
    far = xp.sum(xp.where(far_out(mass), terms, zero), axis=-1)
    return ~(far <= _ROUNDING * xp.sum(xp.where(mass <= 0.5, terms, zero), axis=-1))


def unsettled(mass: Array, distance: Array, total: Array) -> Array:
    """Whether the mass beyond the outermost point, where floats end, would still be a part of an integral."""
    return ~(mass * distance <= _ROUNDING * total)


def beyond(points: Array, others: Array) -> Array:
    """Those of the other places that lie farther out than all of the points."""
    xp = namespace(points)
    finite = points[xp.isfinite(points)]
    return others[(others < xp.min(finite)) | (others > xp.max(finite))]
