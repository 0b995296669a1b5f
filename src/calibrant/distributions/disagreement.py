"""By how much several laws disagree: the integral of the variance of their CDFs.

It is what the CRPS of a mixture lies below the mean of the components' CRPS: sum w_k F_k^2 - (sum w_k F_k)^2,
integrated over the line; or, which is the same, E|Y - Y'| / 2 of the mixture less the mean of the components' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce
from typing import Any

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.gauss import nodes_and_weights
from calibrant.distributions.outline import Outline

_REACH = 34.0  # the logit beyond which the squares of differences of CDFs vanish
_NODES = 3  # between neighbouring places of all laws
_NARROW = 1e-10  # of the spread of a law: a gap in which its CDF jumps


def disagreement(laws: Sequence[Distribution], weights: Sequence[float]) -> Array:
    """One number for each row, or one for single laws."""
    outlines = [law._outline() for law in laws]
    if all(outline is not None for outline in outlines):
        return _of_outlines(outlines, weights)  # type: ignore[arg-type]
    return _by_quadrature(laws, weights, [outline for outline in outlines if outline is not None])


def _of_outlines(outlines: Sequence[Outline], weights: Sequence[float]) -> Array:
    """E|Y - Y'| / 2, the integral of F (1 - F), of the mixture less the mean of the components' own.

    The points of all components are put in order. At a point the mixture jumps and its slope changes by what its own
    law does there, and all else is sums of these. That is exact for CDFs that run straight between points of their own.
    One that bulges by d over a piece of its own adds d (1 - 2 F), with F the mixture's at the ends of the piece, but
    for terms of fourth order in its length.
    """
    xp = namespace(outlines[0].y)
    mean: Array | float = 0.0
    parts = []
    for outline, weight in zip(outlines, weights, strict=True):
        mean = mean + weight * _own_spread(outline)
        columns = *_increments(outline), _at_points(outline.bulge())
        parts.append((outline.y, *(weight * column + xp.zeros_like(outline.y) for column in columns)))
    y, jump, change, bulge = (concatenate(column, axis=-1) for column in zip(*parts, strict=True))
    order = xp.argsort(y, axis=-1)
    y, jump, change, bulge = (xp.take_along_axis(column, order, axis=-1) for column in (y, jump, change, bulge))
    middle = y.shape[-1] // 2
    below = _spread(*(column[..., : middle + 1] for column in (y, jump, change, bulge)))
    # what bulges at the middle has been counted
    bulge = concatenate([xp.zeros_like(bulge[..., :1]), bulge[..., middle + 1 :]], axis=-1)
    upper = -y[..., middle:], jump[..., middle:], -change[..., middle:], -bulge
    return below + _spread(*(xp.flip(column, axis=-1) for column in upper)) - mean


def _spread(y: Array, jump: Array, change: Array, bulge: Array) -> Array:
    """The integral of F (1 - F) from one end of the line to its middle.

    Sums over the whole line would have lost the digits of a flat tail to the steep slopes before it.
    """
    xp = namespace(y)
    h = y[..., 1:] - y[..., :-1]
    rise = h * xp.cumulative_sum(change[..., :-1], axis=-1)
    end = xp.cumulative_sum(jump[..., :-1], axis=-1) + xp.cumulative_sum(rise, axis=-1)
    # of what bulges, F halfway up the jump at a point
    first, later = bulge[..., 0] * (1 - jump[..., 0]), bulge[..., 1:] * (1 - 2 * end - jump[..., 1:])
    return first + xp.sum(_straight(h, end - rise, end) + later, axis=-1)


def _increments(outline: Outline) -> tuple[Array, Array]:
    """The jump of a CDF at each of its points, and by how much its slope changes there."""
    y, left, right, _ = outline
    xp = namespace(y)
    gap, rise = y[..., 1:] - y[..., :-1], left[..., 1:] - right[..., :-1]
    wide = gap > _NARROW * (y[..., -1:] - y[..., :1])
    slope = xp.where(wide, rise / xp.where(wide, gap, xp.ones_like(gap)), xp.zeros_like(gap))
    none = xp.zeros_like(y[..., :1])
    narrow = xp.where(wide, xp.zeros_like(gap), rise)
    # what lies beyond the first and the last point lies on them
    first, last = left[..., :1] + none, concatenate([xp.zeros_like(gap), 1 - right[..., -1:] + none], axis=-1)
    jump = right - left + concatenate([first, narrow], axis=-1) + last
    return jump, concatenate([slope, none], axis=-1) - concatenate([none, slope], axis=-1)


def _at_points(bulge: Array) -> Array:
    """Half of what lies before a point and half of what comes after it."""
    none = namespace(bulge).zeros_like(bulge[..., :1])
    return (concatenate([none, bulge], axis=-1) + concatenate([bulge, none], axis=-1)) / 2


def _own_spread(outline: Outline) -> Array:
    """The integral of F (1 - F)."""
    y, left, right, _ = outline
    start, end = right[..., :-1], left[..., 1:]
    straight = _straight(y[..., 1:] - y[..., :-1], start, end)
    return namespace(y).sum(straight + outline.bulge() * (1 - start - end), axis=-1)


def _straight(h: Array, start: Array, end: Array) -> Array:
    """The integral of F - F^2 over pieces of length h on which F runs straight."""
    return h * ((start + end) / 2 - (start**2 + start * end + end**2) / 3)


def _by_quadrature(laws: Sequence[Distribution], weights: Sequence[float], outlines: Sequence[Outline]) -> Array:
    """Gauss-Legendre between places of all laws, between which they are smooth, and the points of those that bend."""
    like = next(law.like for law in laws if law.like is not None)
    xp = namespace(like)
    ends = device_like([[-_REACH, _REACH]], like)
    edges: Any = [law._places(ends) if law.shape else law._places(ends)[0, :] for law in laws]
    edges += [y + xp.zeros_like(edges[0][..., :1]) for y, *_ in outlines]
    edges = xp.sort(concatenate(edges, axis=-1), axis=-1)
    largest = float(xp.finfo(edges.dtype).max) / 4
    edges = clip(edges, -largest, largest)
    nodes, steps = nodes_and_weights(edges[..., :-1], edges[..., 1:], _NODES)
    flat = xp.reshape(nodes, (*nodes.shape[:-2], -1))
    below = [law._cdf(flat) for law in laws]
    mean = reduce(lambda a, b: a + b, (w * F for w, F in zip(weights, below, strict=True)))
    variance = reduce(lambda a, b: a + b, (w * (F - mean) ** 2 for w, F in zip(weights, below, strict=True)))
    return xp.sum(variance * xp.reshape(steps, flat.shape), axis=-1)
