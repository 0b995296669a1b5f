"""By how much several laws disagree: the integral of the variance of their CDFs.

It is what the CRPS of a mixture lies below the mean of the components' CRPS: sum w_k F_k^2 - (sum w_k F_k)^2,
integrated over the line; or, which is the same, E|Y - Y'| / 2 of the mixture less the mean of the components' own.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import reduce

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.gauss import nodes_and_weights

# Logits of the levels between which smooth CDFs are integrated; beyond them the squares of their differences vanish.
_LEVELS = np.array([-34.0, -28, -23, -18, -14, -11, -9, *np.linspace(-7, 7, 23), 9, 11, 14, 18, 23, 28, 34])
_NARROW = 1e-10  # of the spread of a law: a gap in which its CDF jumps


def disagreement(laws: Sequence[Distribution], weights: Sequence[float]) -> Array:
    """One number for each row, or one for single laws."""
    outlines = [law._outline() for law in laws]
    if all(outline is not None for outline in outlines):
        return _of_outlines(outlines, weights)  # type: ignore[arg-type]
    return _by_quadrature(laws, weights, [outline for outline in outlines if outline is not None])


def _of_outlines(outlines: Sequence[tuple[Array, Array, Array]], weights: Sequence[float]) -> Array:
    """Exact for CDFs that run straight between points of their own: the points of all, put in order.

    At a point the mixture jumps and its slope changes by what its own law does there, and all else is sums of these.
    """
    xp = namespace(outlines[0][0])
    parts = []
    mean = 0.0
    for (y, left, right), weight in zip(outlines, weights, strict=True):
        left, right = left + xp.zeros_like(y), right + xp.zeros_like(y)
        jump, change = _increments(y, left, right)
        parts.append((y, weight * jump, weight * change))
        mean = mean + weight * _spread(y, jump, change)
    y, jump, change = (concatenate([part[k] for part in parts], axis=-1) for k in range(3))
    order = xp.argsort(y, axis=-1)
    y, jump, change = (_taken(column, order) for column in (y, jump, change))
    return _spread(y, jump, change) - mean


def _increments(y: Array, left: Array, right: Array) -> tuple[Array, Array]:
    """The jump of a CDF at each of its points, and by how much its slope changes there."""
    xp = namespace(y)
    gap, rise = y[..., 1:] - y[..., :-1], left[..., 1:] - right[..., :-1]
    wide = gap > _NARROW * (y[..., -1:] - y[..., :1])
    slope = xp.where(wide, rise / xp.where(wide, gap, xp.ones_like(gap)), xp.zeros_like(gap))
    none = xp.zeros_like(y[..., :1])
    jump = right - left + concatenate([left[..., :1], xp.where(wide, xp.zeros_like(rise), rise)], axis=-1)
    return jump, concatenate([slope, none], axis=-1) - concatenate([none, slope], axis=-1)


def _spread(y: Array, jump: Array, change: Array) -> Array:
    """The integral of F (1 - F)."""
    xp = namespace(y)
    h = y[..., 1:] - y[..., :-1]
    rise = h * xp.cumulative_sum(change, axis=-1)[..., :-1]
    start = xp.cumulative_sum(jump, axis=-1)[..., :-1] + xp.cumulative_sum(rise, axis=-1) - rise
    end = start + rise
    # the integral of F - F^2 over a straight piece
    return xp.sum(h * ((start + end) / 2 - (start**2 + start * end + end**2) / 3), axis=-1)


def _taken(table: Array, order: Array) -> Array:
    xp = namespace(table)
    return xp.take_along_axis(table, order, axis=-1)


def _by_quadrature(
    laws: Sequence[Distribution], weights: Sequence[float], outlines: Sequence[tuple[Array, Array, Array]]
) -> Array:
    """Gauss-Legendre between the quantiles of all at a grid of levels, and between the points of those that bend."""
    like = next(law.like for law in laws if law.like is not None)
    xp = namespace(like)
    levels = device_like(_LEVELS, like)
    levels = levels[None, :] if laws[0].shape else levels
    edges = [law._quantiles_logit(levels) for law in laws]
    edges += [y + xp.zeros_like(edges[0][..., :1]) for y, _, _ in outlines]
    edges = xp.sort(concatenate(edges, axis=-1), axis=-1)
    largest = float(xp.finfo(edges.dtype).max) / 4
    edges = clip(edges, -largest, largest)
    nodes, steps = nodes_and_weights(edges[..., :-1], edges[..., 1:])
    flat = xp.reshape(nodes, (*nodes.shape[:-2], -1))
    below = [law._cdf(flat) for law in laws]
    mean = reduce(lambda a, b: a + b, (w * F for w, F in zip(weights, below, strict=True)))
    variance = reduce(lambda a, b: a + b, (w * (F - mean) ** 2 for w, F in zip(weights, below, strict=True)))
    return xp.sum(variance * xp.reshape(steps, flat.shape), axis=-1)
