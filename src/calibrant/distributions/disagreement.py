"""By how much several laws disagree: the integral of the variance of their CDFs.

It is what the CRPS of a mixture lies below the mean of the components' CRPS: sum w_k F_k^2 - (sum w_k F_k)^2,
integrated over the line.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import reduce
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, count_true, device_like, namespace
from calibrant._batch import take_rows
from calibrant._search import gather
from calibrant.distributions.base import Distribution
from calibrant.distributions.gauss import nodes_and_weights
from calibrant.distributions.outline import Outline, stretched, within_floats

_REACH, _FAR = 34.0, 340.0  # logits beyond which the squares of differences of CDFs vanish, and those of heavy tails
_LONG = 1e5  # of the inner fifth of the places: a tail that reaches so far is a heavy one
_NODES = 3  # between neighbouring places of all laws
_PARTS = 8  # of which there are in a heavy tail
_NARROW = 1e-10  # of the spread of a law: a gap in which its CDF jumps


def disagreement(laws: Sequence[Distribution], weights: Sequence[float]) -> Array:
    """One number for each row, or one for single laws."""
    outlines = [law._outline() for law in laws]
    if all(outline is not None for outline in outlines):
        return _of_outlines(outlines, weights)  # type: ignore[arg-type]
    return _by_quadrature(laws, weights, [outline for outline in outlines if outline is not None])


def _of_outlines(outlines: Sequence[Outline], weights: Sequence[float]) -> Array:
    """The integrals of F^2 up to a middle and of (1 - F)^2 from there: the components' mean, less the mixture's.

    These squares have an integral even where a law has no mean, and 1 - F itself has none.

    The points of all components are put in order. At a point the mixture jumps and its slope changes by what its own
    law does there, and all else is sums of these. That is exact for CDFs that run straight between points of their own.
    One that bulges by d over a piece of its own adds 2 d F, with F the mixture's at the ends of the piece, but for
    terms of fourth order in its length.
    """
    xp = namespace(outlines[0].y)
    parts: list[tuple[Array, ...]] = []
    centre: Array | float = 0.0
    for outline, weight in zip(outlines, weights, strict=True):
        columns = *_increments(outline), _at_points(outline.bulge())
        parts.append((outline.y, *(weight * column + xp.zeros_like(outline.y) for column in columns)))
        centre = centre + weight * _quantile(outline, 0.5)
    y, jump, change, bulge = (concatenate(column, axis=-1) for column in zip(*parts, strict=True))
    order = xp.argsort(y, axis=-1)
    y, jump, change, bulge = (xp.take_along_axis(column, order, axis=-1) for column in (y, jump, change, bulge))
    # about as many points lie below the centre in all rows
    middle = min(count_true(y < centre) * y.shape[-1] // max(1, math.prod(y.shape)), y.shape[-1] - 1)
    at = y[..., middle : middle + 1]
    lower, F = _squares(*(column[..., : middle + 1] for column in (y, jump, change)))
    mirrored = -y[..., middle:], jump[..., middle:], -change[..., middle:]
    upper, S = _squares(*(xp.flip(column, axis=-1) for column in mirrored))
    S = xp.flip(S, axis=-1)[..., 1:]
    above, tied = bulge[..., middle + 1 :], y[..., middle + 1 :] == at
    bulges = xp.sum(bulge[..., : middle + 1] * F, axis=-1) - xp.sum(above * (S - 2 * xp.astype(tied, S.dtype)), axis=-1)
    own = (weight * _own_squares(outline, at) for outline, weight in zip(outlines, weights, strict=True))
    return reduce(lambda a, b: a + b, own) - (lower + upper + bulges)


def _squares(y: Array, jump: Array, change: Array) -> tuple[Array, Array]:
    """The integral of F^2 from one end of the line to its middle, and 2 F at every point, halfway up the jump there.

    Sums over the whole line would have lost the digits of a flat tail to the steep slopes before it.
    """
    xp = namespace(y)
    h = y[..., 1:] - y[..., :-1]
    rise = h * xp.cumulative_sum(change[..., :-1], axis=-1)
    end = xp.cumulative_sum(jump[..., :-1], axis=-1) + xp.cumulative_sum(rise, axis=-1)
    twice = concatenate([jump[..., :1], 2 * end + jump[..., 1:]], axis=-1)
    return xp.sum(h * _square(end - rise, end), axis=-1), twice


def _square(start: Array, end: Array) -> Array:
    """The mean of F^2 on a piece where F runs straight."""
    return (start**2 + start * end + end**2) / 3


def _own_squares(outline: Outline, at: Array) -> Array:
    """The integrals of F^2 up to a point and of (1 - F)^2 from there, with what bulges as in the mixture."""
    y, left, right, rest, _ = outline
    xp, last = namespace(y), y.shape[-1] - 1
    before = rest + (right - left)  # 1 - F from the left
    below = y <= at
    h, start, end = y[..., 1:] - y[..., :-1], right[..., :-1], left[..., 1:]
    squares = xp.where(below[..., 1:], _square(start, end), _square(rest[..., :-1], before[..., 1:]))
    bulges = _at_points(outline.bulge()) * xp.where(below, left + right, -(rest + before))
    total = xp.sum(h * squares, axis=-1) + xp.sum(bulges, axis=-1)
    # the piece around the point counts as one above it, and what is beyond the ends is F = 0 or F = 1
    count = xp.sum(xp.astype(below, xp.int64), axis=-1, keepdims=True)
    piece = clip(count - 1, 0, max(0, last - 1))
    start, end = _pick(start, piece) if last else 0 * at, _pick(end, piece) if last else 0 * at
    t, length = at - _pick(y, piece), _pick(y, clip(piece + 1, 0, last)) - _pick(y, piece)
    inside = (count > 0) & (count <= last) & (length > 0)
    share = xp.where(inside, t / xp.where(inside, length, xp.ones_like(length)), xp.zeros_like(t))
    around = xp.where(inside, t * (2 * start + (end - start) * share - 1), xp.zeros_like(t))
    ends = xp.maximum(y[..., :1] - at, xp.zeros_like(t)) + xp.maximum(at - y[..., -1:], xp.zeros_like(t))
    return total + (around + ends)[..., 0]


def _increments(outline: Outline) -> tuple[Array, Array]:
    """The jump of a CDF at each of its points, and by how much its slope changes there."""
    y, left, right, rest, _ = outline
    xp = namespace(y)
    start, end = right[..., :-1], left[..., 1:]
    rise = xp.where(start < 0.5, end - start, rest[..., :-1] - (rest + (right - left))[..., 1:])
    gap = y[..., 1:] - y[..., :-1]
    wide = gap > _NARROW * (_quantile(outline, 0.9) - _quantile(outline, 0.1))
    slope = xp.where(wide, rise / xp.where(wide, gap, xp.ones_like(gap)), xp.zeros_like(gap))
    none = xp.zeros_like(y[..., :1])
    narrow = xp.where(wide, xp.zeros_like(gap), rise)
    # what lies beyond the first and the last point lies on them
    first, last = left[..., :1] + none, concatenate([xp.zeros_like(gap), rest[..., -1:] + none], axis=-1)
    jump = right - left + concatenate([first, narrow], axis=-1) + last
    return jump, concatenate([slope, none], axis=-1) - concatenate([none, slope], axis=-1)


def _at_points(bulge: Array) -> Array:
    """Half of what lies before a point and half of what comes after it."""
    none = namespace(bulge).zeros_like(bulge[..., :1])
    return (concatenate([none, bulge], axis=-1) + concatenate([bulge, none], axis=-1)) / 2


def _quantile(outline: Outline, level: float) -> Array:
    """The first of the points that reach a level, (n, 1) or (1,)."""
    xp, right = namespace(outline.y), outline.right
    count = xp.sum(xp.astype(right < level, xp.int64), axis=-1, keepdims=True)
    return _pick(outline.y, clip(count, 0, right.shape[-1] - 1))


def _pick(column: Array, index: Array) -> Array:
    """One entry of each row, or of a column that all rows share."""
    xp = namespace(column)
    if column.ndim == 1:
        return xp.reshape(xp.take(column, xp.reshape(index, (-1,))), index.shape)
    return gather(column, index) if index.ndim == 2 else column[:, int(index[0])][:, None]


def _by_quadrature(laws: Sequence[Distribution], weights: Sequence[float], outlines: Sequence[Outline]) -> Array:
    """Gauss-Legendre between places of all laws, between which they are smooth, and the points of those that bend."""
    edges = _edges(laws, outlines, _REACH)
    nodes, steps = nodes_and_weights(edges[..., :-1], edges[..., 1:], _NODES)
    found = _variance(laws, weights, nodes, steps, lambda law, y: law._cdf(y))
    xp, (centre, spread) = namespace(edges), _size(edges)
    long = xp.any(xp.abs(edges - centre) > _LONG * spread, axis=-1)
    if not anywhere(long):
        return found
    if not found.ndim:
        return _far_out(laws, weights, outlines)
    rows = xp.nonzero(long)[0]
    laws = [take_rows(law, rows) if law.shape else law for law in laws]
    outlines = [outline for outline in (law._outline() for law in laws) if outline is not None]
    found[long] = _far_out(laws, weights, outlines)
    return found


def _far_out(laws: Sequence[Distribution], weights: Sequence[float], outlines: Sequence[Outline]) -> Array:
    """The same of heavy tails: as far as floats reach, by steps that become ratios far away from the centre."""
    edges = _edges(laws, outlines, _FAR)
    xp, (centre, spread) = namespace(edges), _size(edges)
    u = stretched(edges, centre, spread)
    share = device_like(np.arange(_PARTS) / _PARTS, u)
    parts = xp.reshape(u[..., :-1, None] + (u[..., 1:] - u[..., :-1])[..., None] * share, (*u.shape[:-1], -1))
    u = concatenate([parts, u[..., -1:]], axis=-1)
    u, steps = nodes_and_weights(u[..., :-1], u[..., 1:], _NODES)
    nodes, steps = centre[..., None] + spread[..., None] * xp.sinh(u), spread[..., None] * xp.cosh(u) * steps
    # of 1 - F where that has more digits: it varies as F does
    return _variance(laws, weights, nodes, steps, lambda law, y: xp.where(y < centre, law._cdf(y), law._sf(y)))


def _edges(laws: Sequence[Distribution], outlines: Sequence[Outline], reach: float) -> Array:
    like = next(law.like for law in laws if law.like is not None)
    xp, ends = namespace(like), device_like([[-reach, reach]], like)
    edges: Any = [law._places(ends) if law.shape else law._places(ends)[0, :] for law in laws]
    edges += [outline.y + xp.zeros_like(edges[0][..., :1]) for outline in outlines]
    return within_floats(xp.sort(concatenate(edges, axis=-1), axis=-1))


def _size(edges: Array) -> tuple[Array, Array]:
    """The middle one, and the length of the inner fifth."""
    xp, count = namespace(edges), edges.shape[-1]
    low, centre, high = (edges[..., k : k + 1] for k in (2 * count // 5, count // 2, 3 * count // 5))
    return centre, xp.where(high > low, high - low, xp.ones_like(high))


def _variance(
    laws: Sequence[Distribution],
    weights: Sequence[float],
    nodes: Array,
    steps: Array,
    function: Callable[[Distribution, Array], Array],
) -> Array:
    """The integral of the variance of a function of the laws."""
    xp = namespace(nodes)
    flat = xp.reshape(nodes, (*nodes.shape[:-2], -1))
    values = [function(law, flat) for law in laws]
    mean = reduce(lambda a, b: a + b, (w * F for w, F in zip(weights, values, strict=True)))
    variance = reduce(lambda a, b: a + b, (w * (F - mean) ** 2 for w, F in zip(weights, values, strict=True)))
    return xp.sum(variance * xp.reshape(steps, flat.shape), axis=-1)
