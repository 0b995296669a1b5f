"""Integrals of H(y) = q(map(y)) for a batch of any maps: Gauss-Legendre in y, between the images of the bends of q.

The work a row grows with the number of scores: this is for the rows that `SmoothRows` finds too rough.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import take_rows
from calibrant._kept import keep
from calibrant._search import count_up_to, gather
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares, moments_beyond, squares_beyond
from calibrant.distributions.maps import Increasing
from calibrant.distributions.stretch_rule import NODES, Place, StretchRule

_BLOCK = 2**12  # stretches at a time
_SHARES = (1 - np.cos(np.arange(NODES) * np.pi / (NODES - 1))) / 2


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
        rule = self._rule()
        size = max(1, _BLOCK // (60 * max(1, y.shape[1])))
        parts = []
        for start in range(0, max(rows, 1), size):
            block = slice(start, min(start + size, rows))
            low, high = (end if end is None or end.shape[0] == 1 else end[block, ...] for end in (lower, upper))
            with np.errstate(over="ignore", invalid="ignore"):  # of moments that do not exist
                parts.append(self._integrate(take_rows(self.map, block), rule, y[block, ...], low, high, integrate))
        return [concatenate(column) for column in zip(*parts, strict=True)]

    def _rule(self) -> StretchRule:
        like = self.map.like
        key = ("stretch rule", namespace(like).__name__, str(like.dtype), str(device(like)))
        return keep(self.q, key, lambda: StretchRule.of(self.q, like))

    def _integrate(
        self, map: Increasing, rule: StretchRule, y: Array, lower: Array, upper: Array, integrate: Array
    ) -> tuple[Array, ...]:
        xp = namespace(y)
        edges = self._edges(map, rule, y)
        if lower is not None or upper is not None:
            low = edges[:, :1] if lower is None else xp.zeros_like(edges[:, :1]) + lower
            high = edges[:, -1:] if upper is None else xp.zeros_like(edges[:, :1]) + upper
            inner = xp.minimum(xp.maximum(edges, low), high)
            edges = concatenate([low, inner, high], axis=1)
        inside = xp.minimum(xp.maximum(y, edges[:, :1]), edges[:, -1:])
        piece = clip(count_up_to(edges, inside) - 1, 0, edges.shape[1] - 2)
        at_edges, at_y = rule.at(map(edges)), rule.at(map(inside))

        def between(low: Array, high: Array, start: Place, stop: Place) -> _Pieces:
            h = high - low
            nodes = xp.reshape(low[..., None] + h[..., None] * device_like(_SHARES[1:-1], y), (low.shape[0], -1))
            s = xp.reshape(map(nodes), (*low.shape, NODES - 2))
            inner = [s[..., j] for j in range(NODES - 2)]
            return _Pieces(h, start, stop, rule.weights(start, stop, inner, squares=integrate is _squares))

        whole = between(edges[:, :-1], edges[:, 1:], at_edges.part((slice(None), slice(None, -1))), at_edges.part((slice(None), slice(1, None))))
        a, b = gather(edges, piece), gather(edges, piece + 1)
        left = Place(*(gather(part, piece) for part in at_edges))
        right = Place(*(gather(part, piece + 1) for part in at_edges))
        first, last = integrate(piece, whole, between(a, inside, left, at_y), between(inside, b, at_y, right))
        zero = xp.zeros_like(y)
        over, under = xp.maximum(y - inside, zero), xp.maximum(inside - y, zero)
        return (*(xp.astype(part, y.dtype) for part in (*first, *last)), over, under)

    def _edges(self, map: Increasing, rule: StretchRule, y: Array) -> Array:
        """Places between which the map is smooth, as far as q reaches, in order."""
        xp, rows = namespace(y), y.shape[0]
        ends = xp.astype(rule.points[1:-1], y.dtype)[None, :]
        ends = concatenate([ends[:, :1], ends[:, -1:]], axis=1)
        low = xp.broadcast_to(map.inverse(ends), (rows, 2))
        places = map.places(ends)
        parts = [low, xp.broadcast_to(places, (rows, places.shape[1]))]
        low = low[:, :1]
        for mass, end in zip(self.q._infinite_mass(), (-np.inf, np.inf), strict=True):
            if mass:  # where a map of a bounded label takes it to
                landed = map.inverse(device_like([[end]], y))
                parts.append(xp.where(xp.isfinite(landed), landed, low) + xp.zeros_like(low))
        largest = 1e-3 * float(xp.finfo(y.dtype).max) ** 0.5  # whose square is still a float
        parts = [xp.where(xp.abs(part) <= largest, part, xp.zeros_like(part)) for part in parts]
        return xp.sort(concatenate(parts, axis=1), axis=1)


class _Pieces(NamedTuple):
    """Stretches of y: their lengths, what q is at their ends, and its weights at their nodes."""

    h: Array
    start: Place
    stop: Place
    weights: list[list[Array]]

    def below(self, power: int, which: int = 0) -> Array:
        """The integral of F (b - y)^(power - 1), or of F^2, as a multiple of h^power."""
        return self._sum(1 - _SHARES, self.start.F, power, which)

    def above(self, power: int, which: int = 0) -> Array:
        """The same of 1 - F, and of y - a."""
        return self._sum(_SHARES, self.stop.S, power, which)

    def _sum(self, shares: Array, at_end: Array, power: int, which: int) -> Array:
        weights = self.weights[which]
        terms = (weight * float(share**power) for weight, share in zip(weights, shares, strict=True) if share)
        squared = len(self.weights) > 1
        return reduce(lambda a, b: a + b, terms, at_end**2 if squared else at_end) * self.h**power / power


def _squares(piece: Array, whole: _Pieces, left: _Pieces, right: _Pieces) -> tuple[tuple[Array, ...], ...]:
    """The integrals of F^2 up to a point in `piece` and of (1 - F)^2 from it on."""
    first, last = _prefix(whole.below(1, 0)), _suffix(whole.above(1, 1))
    return (gather(first, piece) + left.below(1, 0),), (gather(last, piece + 1) + right.above(1, 1),)


def _moments(piece: Array, whole: _Pieces, left: _Pieces, right: _Pieces) -> tuple[tuple[Array, ...], ...]:
    """The integrals of F up to the same point and of 1 - F from it on, and the integrals of these."""
    first, last = _prefix(whole.below(1)), _suffix(whole.above(1))
    first2 = _prefix(whole.h * first[:, :-1] + whole.below(2))
    last2 = _suffix(whole.h * last[:, 1:] + whole.above(2))
    low, high = gather(first, piece), gather(last, piece + 1)
    lower2 = gather(first2, piece) + left.h * low + left.below(2)
    upper2 = gather(last2, piece + 1) + right.h * high + right.above(2)
    return (low + left.below(1), lower2), (high + right.above(1), upper2)


def _prefix(terms: Array) -> Array:
    xp = namespace(terms)
    return xp.cumulative_sum(concatenate([xp.zeros_like(terms[:, :1]), terms], axis=1), axis=1)


def _suffix(terms: Array) -> Array:
    return namespace(terms).flip(_prefix(namespace(terms).flip(terms, axis=1)), axis=1)
