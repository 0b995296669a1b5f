"""Integrals of H(y) = q(map(y)) for a batch of any maps: between places where a map is smooth, with a rule for each.

With F = H(y), S = 1 - F, and a stretch of y from a to b, h long, the integrals are those of lengths against dq:

    the integral of F   over it:  h F(a)   + that of (b - Y) against dq
    the integral of F^2 over it:  h F(a)^2 + that of (b - Y) against d(q^2)

and the same, mirrored, for S. Y is a polynomial in the score on each stretch, see `stretch_rule`. It takes a map's
values alone, not its inverse: this is for the rows that `SmoothRows` finds too rough, or too dear to invert.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import partial, reduce
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._kept import keep
from calibrant._search import count_up_to, gather
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import PartialMoments, Squares, largest, moments_beyond, squares_beyond
from calibrant.distributions.row_blocks import Block, mended
from calibrant.distributions.rule import scores_along
from calibrant.distributions.stretch_rule import NODES, Place, StretchRule
from calibrant.distributions.tails import HEAVY, still_rising, unsettled

_BLOCK = 2**14  # stretches at a time
_FINEST = 4096  # parts of a stretch: few rows need more than 16
_ROUGH = 1e-6  # of the spread: how much the highest power may count; what is missed then is a tenth of that or less
_BLUR = 16.0  # roundings of y
_UNSTEADY = 5.0  # times their sum: what the sizes of the weights come to where the nodes lie badly for polynomials
_SHARES = (1 - np.cos(np.arange(NODES) * np.pi / (NODES - 1))) / 2
"""Where the nodes of a stretch lie between its ends: closer together there, where polynomials are at their worst."""

Floats = np.ndarray[Any, np.dtype[np.float64]]
Integrate = Callable[["_CutRows"], tuple[list[Array], Array]]


@dataclass(frozen=True, eq=False)
class RoughRows:
    """Partial moments and squares of rows that share q, to 1e-8 or so, in time that does not depend on n."""

    q: Distribution

    def partial_moments(self, block: Block) -> list[Array]:
        """See `PartialMoments`."""
        return self._in_blocks(block, _moments)

    def squares(self, block: Block) -> list[Array]:
        """See `Squares`."""
        return self._in_blocks(block, _squares)

    def _in_blocks(self, block: Block, integrate: Integrate, *, far: bool = False, parts: int = 1) -> list[Array]:
        size = max(1, _BLOCK // (100 * parts + 2 * block.y.shape[1]))
        answers = [self._answer(part, integrate, far=far, parts=parts) for part in block.split(size)]
        return [concatenate(column) for column in zip(*answers, strict=True)]

    def _answer(self, block: Block, integrate: Integrate, *, far: bool, parts: int) -> list[Array]:
        """As far as nearly all of the mass lies; rows with heavy tails as far as floats go, and rough ones finer."""
        with np.errstate(all="ignore"):  # of moments that do not exist, and stretches of no length
            rows = _CutRows.of(block, self.q, self._rule(block.y, far=far), far=far, parts=parts)
            results, rough = integrate(rows)
            again = partial(self._in_blocks, integrate=integrate)
            if not far:
                heavy = rows.heavy()
                results = mended(results, heavy, block, partial(again, far=True, parts=parts))
                rough = rough & ~heavy
            if parts < _FINEST:
                results = mended(results, rough, block, partial(again, far=far, parts=4 * parts))
            return results

    def _rule(self, like: Array, *, far: bool) -> StretchRule:
        key = ("stretch rule", namespace(like).__name__, str(device(like)), far)
        return keep(self.q, key, lambda: StretchRule.of(self.q, like, far=far))


class _Stretches(NamedTuple):
    """Stretches of y: their lengths, what q is at their ends, and its weights at their nodes."""

    h: Array
    blur: Array
    """What rounding makes of a y on it."""
    start: Place
    stop: Place
    nodes: list[Array]
    """The scores of its nodes."""
    weights: list[list[Array]]

    def rough(self) -> Array:
        """The rows whose Y is no polynomial of the score yet: those in which the highest power still counts.

        That power has the divided difference of Y at all nodes, and is 2 / 4^k at most between them, k its degree.
        """
        xp, k = namespace(self.h), NODES - 1
        y, length = [xp.full_like(self.h, float(x)) for x in _SHARES], self.stop.s - self.start.s
        for step in range(1, NODES):
            y = [(y[i + 1] - y[i]) / ((self.nodes[i + step] - self.nodes[i]) / length) for i in range(NODES - step)]
        miss = xp.abs(y[0]) * 2 / 4**k
        for weights in self.weights:
            total, size = (reduce(lambda a, b: a + b, part) for part in (weights, map(xp.abs, weights)))
            miss = xp.where(size > _UNSTEADY * total, xp.ones_like(miss), miss)
        start, stop = self.start, self.stop
        mass = xp.where(start.F < 0.5, stop.F - start.F, start.S - stop.S)
        miss = self.h * xp.where(miss < 1, miss, xp.ones_like(miss))
        # a map is known as well as its argument is: finer stretches would find the roundings of y again
        miss = xp.maximum(miss - self.blur, xp.zeros_like(miss))
        miss = xp.where(mass > 0, mass * miss, xp.zeros_like(mass))
        spread = self.h * xp.minimum(start.F, stop.S)
        return ~(xp.sum(miss, axis=1) <= _ROUGH * xp.sum(spread, axis=1))

    def below(self, power: int, which: int = 0) -> Array:
        """The integral of (b - y)^(power - 1) F, or of F^2."""
        return self._sum(1 - _SHARES, self.start.F, power, which)

    def above(self, power: int, which: int = 0) -> Array:
        """The integral of (y - a)^(power - 1) S, or of S^2."""
        return self._sum(_SHARES, self.stop.S, power, which)

    def _sum(self, shares: Floats, at_end: Array, power: int, which: int) -> Array:
        squared = len(self.weights) > 1
        terms = (w * float(x**power) for w, x in zip(self.weights[which], shares, strict=True) if x > 0)
        return reduce(lambda a, b: a + b, terms, at_end**2 if squared else at_end) * self.h**power / power


@dataclass(frozen=True, eq=False)
class _CutRows:
    """Some rows, cut into stretches."""

    block: Block
    q: Distribution
    rule: StretchRule
    far: bool
    parts: int
    edges: Array
    at: Place
    """Of the edges."""
    inside: Array
    """What is asked, moved into the stretches."""
    piece: Array
    """The stretch of each."""

    @classmethod
    def of(cls, block: Block, q: Distribution, rule: StretchRule, *, far: bool, parts: int) -> _CutRows:
        """Cut at places between which the map is smooth, between the bounds, and each stretch into parts."""
        xp, y = namespace(block.y), block.y
        edges = _edges(block, q, far=far)
        low, high = edges[:, :1], edges[:, -1:]
        if block.lower is not None or block.upper is not None:
            low = low if block.lower is None else xp.zeros_like(low) + block.lower
            high = high if block.upper is None else xp.zeros_like(low) + block.upper
            edges = concatenate([low, xp.minimum(xp.maximum(edges, low), high), high], axis=1)
        if parts > 1:
            edges = _finer(edges, parts)
        inside = xp.minimum(xp.maximum(y, low), high)
        piece = clip(count_up_to(edges, inside) - 1, 0, edges.shape[1] - 2)
        return cls(block, q, rule, far, parts, edges, rule.at(block.map(edges)), inside, piece)

    def stretches(self, *, squares: bool) -> tuple[_Stretches, _Stretches, _Stretches]:
        """All of them; and for what is asked, the part of its own stretch below it and that above."""

        def between(low: Array, high: Array, start: Place, stop: Place) -> _Stretches:
            xp, h = namespace(low), high - low
            nodes = low[..., None] + h[..., None] * device_like(_SHARES[1:-1], low)
            s = xp.reshape(self.block.map(xp.reshape(nodes, (low.shape[0], -1))), nodes.shape)
            inner = [s[..., j] for j in range(NODES - 2)]
            weights = self.rule.weights(start, stop, inner, squares=squares)
            blur = _BLUR * float(xp.finfo(h.dtype).eps) * (xp.abs(low) + xp.abs(high))
            return _Stretches(h, blur, start, stop, [start.s, *inner, stop.s], weights)

        at_y = self.rule.at(self.block.map(self.inside))
        (a, left), (b, right) = (
            (gather(self.edges, index), Place(*(gather(column, index) for column in self.at)))
            for index in (self.piece, self.piece + 1)
        )
        starts, stops = (Place(*(column[:, cut] for column in self.at)) for cut in (slice(None, -1), slice(1, None)))
        return (
            between(self.edges[:, :-1], self.edges[:, 1:], starts, stops),
            between(a, self.inside, left, at_y),
            between(self.inside, b, at_y, right),
        )

    @property
    def beyond(self) -> tuple[Array, Array]:
        """How far what is asked lies above and below the stretches."""
        xp, y = namespace(self.inside), self.block.y
        zero = xp.zeros_like(y)
        return xp.maximum(y - self.inside, zero), xp.maximum(self.inside - y, zero)

    @property
    def unbounded(self) -> tuple[bool, bool]:
        """Whether the mass thins out towards either end of the line."""
        below, above = self.q._infinite_mass()
        return self.block.lower is None and not below, self.block.upper is None and not above

    def heavy(self) -> Array:
        """The rows in which what lies beyond the outermost edges is more than a rounding."""
        xp, F = namespace(self.edges), self.at.F
        middle = xp.sum(xp.astype(F < 0.5, xp.int64), axis=1)[:, None]
        out = self.edges - gather(self.edges, clip(middle, 0, F.shape[1] - 1))
        total = xp.sum((F[:, 1:] - F[:, :-1]) * (out[:, 1:] ** 2 + out[:, :-1] ** 2), axis=1)
        heavy = xp.zeros_like(total) > 1
        for is_open, mass, end in zip(
            self.unbounded, (F[:, 0], self.at.S[:, -1]), (out[:, 0], out[:, -1]), strict=True
        ):
            heavy = heavy | ~(mass * end**2 <= HEAVY * total) if is_open else heavy
        return heavy


def _edges(block: Block, q: Distribution, *, far: bool) -> Array:
    """Places between which a row's map is smooth, as far as q reaches, in order."""
    xp, rows = namespace(block.y), block.rows
    places = block.map.places(scores_along(q, block.y, far=far)[None, :])
    parts = [xp.broadcast_to(places, (rows, places.shape[1]))]
    for mass, end in zip(q._infinite_mass(), (-np.inf, np.inf), strict=True):
        if mass:  # where a map of a bounded label takes it to
            landed = block.map.inverse(device_like([[end]], block.y))
            parts.append(xp.where(xp.isfinite(landed), landed, parts[0][:, :1]) + xp.zeros_like(parts[0][:, :1]))
    most = largest(block.y)
    edges = xp.sort(clip(concatenate(parts, axis=1), -most, most), axis=1)
    # a little beyond, so that a score at an end is in no stretch from there to a bound that may be far away
    low, high = 2 * edges[:, :1] - edges[:, 1:2], 2 * edges[:, -1:] - edges[:, -2:-1]
    return concatenate([low, edges, high], axis=1)


def _finer(edges: Array, parts: int) -> Array:
    """Each stretch in parts, equal ones near the middle of a row and in equal ratios far from there."""
    xp, (rows, count) = namespace(edges), edges.shape
    k = max(1, count // 10)
    c, unit = edges[:, count // 2, None], edges[:, count // 2 + k, None] - edges[:, count // 2 - k, None]
    unit = xp.where(unit > 0, unit, xp.ones_like(unit))
    t = xp.asinh((edges - c) / unit)
    inner = t[:, :-1, None] + (t[:, 1:] - t[:, :-1])[..., None] * device_like(np.arange(1, parts) / parts, edges)
    inner = c[..., None] + unit[..., None] * xp.sinh(inner)
    inner = xp.minimum(xp.maximum(inner, edges[:, :-1, None]), edges[:, 1:, None])
    inner = xp.reshape(concatenate([edges[:, :-1, None], inner], axis=2), (rows, -1))
    return concatenate([inner, edges[:, -1:]], axis=1)


def _moments(rows: _CutRows) -> tuple[list[Array], Array]:
    """The integrals of F up to a point in a stretch and of S from it on, and the integrals of these."""
    whole, left, right = rows.stretches(squares=False)
    once, h, piece = (whole.below(1), whole.above(1)), whole.h, rows.piece
    first, last = _prefix(once[0]), _suffix(once[1])
    twice = h * first[:, :-1] + whole.below(2), h * last[:, 1:] + whole.above(2)
    first2, last2 = _prefix(twice[0]), _suffix(twice[1])
    low, high = gather(first, piece), gather(last, piece + 1)
    part = PartialMoments(
        low + left.below(1),
        gather(first2, piece) + left.h * low + left.below(2),
        high + right.above(1),
        gather(last2, piece + 1) + right.h * high + right.above(2),
    )
    xp, (below, above) = namespace(low), rows.unbounded
    rising = [
        still_rising(terms, mass) if is_open else None
        for terms, mass, is_open in (
            (once[0], whole.stop.F, below),
            (twice[0], whole.stop.F, below),
            (once[1], whole.start.S, above),
            (twice[1], whole.start.S, above),
        )
    ]
    if rows.far:
        middle = rows.edges[:, rows.edges.shape[1] // 2]
        out = middle - rows.edges[:, 0], rows.edges[:, -1] - middle
        halves = whole.stop.F <= 0.5, whole.start.S <= 0.5  # on the other side F or S is 1, however far that goes
        below_all = rows.at.F[:, 0], out[0], halves[0], once[0], twice[0]
        above_all = rows.at.S[:, -1], out[1], halves[1], once[1], twice[1]
        lost = [
            unsettled(mass, far**k, xp.sum(xp.where(half, terms[k - 1], 0 * terms[k - 1]), axis=1))
            for mass, far, half, *terms in (below_all, above_all)
            for k in (1, 2)
        ]
        rising = [old if old is None else old | new for old, new in zip(rising, lost, strict=True)]
    part = moments_beyond(part, *rows.beyond, rows.q._infinite_mass())
    # what is still too rough to tell is cut finer first
    rough = whole.rough()
    sure = ~rough | (rows.parts >= _FINEST)
    results = [
        moment if rises is None else xp.where((rises & sure)[:, None], xp.full_like(moment, xp.inf), moment)
        for moment, rises in zip(part, rising, strict=True)
    ]
    return results, rough


def _squares(rows: _CutRows) -> tuple[list[Array], Array]:
    """The integrals of F^2 up to the same point and of S^2 from it on."""
    whole, left, right = rows.stretches(squares=True)
    first, last = _prefix(whole.below(1, 0)), _suffix(whole.above(1, 1))
    part = Squares(
        gather(first, rows.piece) + left.below(1, 0),
        gather(last, rows.piece + 1) + right.above(1, 1),
    )
    part = squares_beyond(part, *rows.beyond, rows.q._infinite_mass())
    rough = whole.rough()
    if not rows.far:
        return list(part), rough
    xp, middle, sure = namespace(first), rows.edges.shape[1] // 2, ~rough | (rows.parts >= _FINEST)
    results, out = [], xp.abs(rows.edges - rows.edges[:, middle, None])
    for square, tail, end, total, is_open in zip(
        part, (rows.at.F, rows.at.S), (0, -1), (first[:, middle], last[:, middle]), rows.unbounded, strict=True
    ):
        lost = unsettled(tail[:, end] ** 2, out[:, end], total) & sure & is_open
        results.append(xp.where(lost[:, None], xp.full_like(square, xp.inf), square))
    return results, rough


def _prefix(terms: Array) -> Array:
    xp = namespace(terms)
    return xp.cumulative_sum(concatenate([xp.zeros_like(terms[:, :1]), terms], axis=1), axis=1)


def _suffix(terms: Array) -> Array:
    return namespace(terms).flip(_prefix(namespace(terms).flip(terms, axis=1)), axis=1)
