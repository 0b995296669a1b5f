"""Integrals of H(y) = q(map(y)) for a batch of any maps: Gauss-Legendre in y, between the images of the bends of q.

The work a row grows with the number of scores: this is for the rows that `SmoothRows` finds too rough.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import take_rows
from calibrant._search import count_up_to, gather
from calibrant.distributions.base import Distribution
from calibrant.distributions.gauss import gauss_legendre
from calibrant.distributions.integrals import PartialMoments, Squares, moments_beyond, squares_beyond
from calibrant.distributions.maps import Increasing

_BLOCK = 2**17  # function values held at a time
_MANY = 700  # pieces


@dataclass(frozen=True, eq=False)
class RoughRows:
    """Partial moments and squares of each row, between bounds, (n, 1) or None for the ends of the line."""

    map: Increasing
    q: Distribution

    def partial_moments(self, y: Array, lower: Array = None, upper: Array = None) -> PartialMoments:
        """See `PartialMoments`."""
        *part, over, under = self._in_blocks(y, lower, upper, _moments)
        return moments_beyond(PartialMoments(*part), over, under, self.q._infinite_mass())

    def squares(self, y: Array, lower: Array = None, upper: Array = None) -> Squares:
        """See `Squares`."""
        *part, over, under = self._in_blocks(y, lower, upper, _squares)
        return squares_beyond(Squares(*part), over, under, self.q._infinite_mass())

    def _in_blocks(self, y: Array, lower: Array, upper: Array, integrate: Array) -> list[Array]:
        (rows,) = self.map.shape
        y = namespace(y).broadcast_to(y, (rows, y.shape[1]))
        cuts = self.q._breaks()
        cuts = device_like(cuts, self.map.like) if self.q.like is None else cuts
        size = max(1, _BLOCK // (5 * cuts.shape[0] + 500))
        parts = []
        for start in range(0, max(rows, 1), size):
            block = slice(start, min(start + size, rows))
            low, high = (end if end is None or end.shape[0] == 1 else end[block, ...] for end in (lower, upper))
            with np.errstate(over="ignore", invalid="ignore"):  # of moments that do not exist
                parts.append(self._integrate(take_rows(self.map, block), cuts, y[block, ...], low, high, integrate))
        return [concatenate(column) for column in zip(*parts, strict=True)]

    def _integrate(
        self, map: Increasing, cuts: Array, y: Array, lower: Array, upper: Array, integrate: Array
    ) -> tuple[Array, ...]:
        xp = namespace(y)
        edges = self._edges(map, cuts, y)
        if lower is not None or upper is not None:
            low = edges[:, :1] if lower is None else xp.zeros_like(edges[:, :1]) + lower
            high = edges[:, -1:] if upper is None else xp.zeros_like(edges[:, :1]) + upper
            inner = xp.minimum(xp.maximum(edges, low), high)
            edges = concatenate([low, inner, high], axis=1)
        inside = xp.minimum(xp.maximum(y, edges[:, :1]), edges[:, -1:])
        piece = clip(count_up_to(edges, inside) - 1, 0, edges.shape[1] - 2)
        a, b = gather(edges, piece), gather(edges, piece + 1)
        # many short pieces need few nodes each
        x, w = gauss_legendre(3 if edges.shape[1] > _MANY else 9, y)

        def at_nodes(low: Array, high: Array) -> tuple[Array, Array, Array]:
            """The lengths of some stretches of y, and F and 1 - F at their nodes."""
            h = high - low
            s = map(xp.reshape(low[..., None] + h[..., None] * x, (low.shape[0], -1)))
            shape = (*low.shape, x.shape[0])
            return h, xp.reshape(self.q._cdf(s), shape), xp.reshape(self.q._sf(s), shape)

        h, F, S = at_nodes(edges[:, :-1], edges[:, 1:])
        below, F_below, _ = at_nodes(a, inside)
        above, _, S_above = at_nodes(inside, b)
        first = integrate(piece, w, 1 - x, h, F, below, F_below)
        backwards = edges.shape[1] - 2 - piece
        h, S = xp.flip(h, axis=1), xp.flip(S, axis=1)
        last = integrate(backwards, w, x, h, S, above, S_above)
        zero = xp.zeros_like(y)
        over, under = xp.maximum(y - inside, zero), xp.maximum(inside - y, zero)
        return (*first, *last, over, under)

    def _edges(self, map: Increasing, cuts: Array, y: Array) -> Array:
        """The images of the bends of q, and places between which the map itself is smooth, in order."""
        xp, rows = namespace(y), y.shape[0]
        # where q bends, a piece may start a little beside the bend; where it jumps, it may not
        jumps = bool(xp.any(self.q._cdf(cuts) > self.q._cdf_left(cuts)))
        images = map.inverse_at(cuts[None, :]) if jumps else map.inverse_near(cuts[None, :])
        images = xp.broadcast_to(images, (rows, cuts.shape[0]))
        low = images[:, :1]
        places = map.places(cuts[None, :])
        parts = [images, xp.broadcast_to(places, (rows, places.shape[1]))]
        for mass, end in zip(self.q._infinite_mass(), (-np.inf, np.inf), strict=True):
            if mass:  # where a map of a bounded label takes it to
                landed = map.inverse(device_like([[end]], y))
                parts.append(xp.where(xp.isfinite(landed), landed, low) + xp.zeros_like(low))
        largest = 1e-3 * float(xp.finfo(y.dtype).max) ** 0.5  # whose square is still a float
        parts = [xp.where(xp.abs(part) <= largest, part, low + xp.zeros_like(part)) for part in parts]
        return xp.sort(concatenate(parts, axis=1), axis=1)


def _squares(piece: Array, w: Array, arm: Array, h: Array, F: Array, t: Array, F_part: Array) -> tuple[Array]:
    """The integral of F^2 up to a point in `piece`, a length t from its start."""
    xp = namespace(h)
    total = _prefix(h * xp.sum(F**2 * w, axis=-1))
    return (gather(total, piece) + t * xp.sum(F_part**2 * w, axis=-1),)


def _moments(piece: Array, w: Array, arm: Array, h: Array, F: Array, t: Array, F_part: Array) -> tuple[Array, Array]:
    """The integral of F up to the same point, and the integral of that integral."""
    xp = namespace(h)
    first = _prefix(h * xp.sum(F * w, axis=-1))
    second = _prefix(h * first[:, :-1] + h**2 * xp.sum(F * w * arm, axis=-1))
    start, start2 = gather(first, piece), gather(second, piece)
    once = start + t * xp.sum(F_part * w, axis=-1)
    twice = start2 + t * start + t**2 * xp.sum(F_part * w * arm, axis=-1)
    return once, twice


def _prefix(terms: Array) -> Array:
    xp = namespace(terms)
    return xp.cumulative_sum(concatenate([xp.zeros_like(terms[:, :1]), terms], axis=1), axis=1)
