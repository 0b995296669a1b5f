"""H = q pulled back through broken lines, as quantile predictions lay them over the line."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._search import gather
from calibrant.distributions.base import Distribution
from calibrant.distributions.composed import Composed
from calibrant.distributions.integrals import PartialMoments, Squares, image
from calibrant.distributions.maps import Broken
from calibrant.distributions.outline import Outline


@dataclass(frozen=True, eq=False, repr=False)
class PulledBroken(Composed):
    """H(y) = q(map(y)) for a broken line with K knots a row: exact, a sum over K + 1 pieces of integrals of q.

    On a piece dy = ds / slope, so an integral of H over it is one of q, divided by the slope.
    """

    map: Broken
    q: Distribution

    def _partial_moments(self, y: Array) -> PartialMoments:
        line, s = self.map, self.map(y)
        at_knots, at_s = self.q._partial_moments(line.levels), self.q._partial_moments(s)
        below = _Pieces(line, s, upwards=True)
        above = _Pieces(line, s, upwards=False)
        with np.errstate(over="ignore", invalid="ignore"):  # a square too large for floats is infinite
            lower, lower2 = below.twice(at_knots.lower, at_knots.lower2, at_s.lower, at_s.lower2)
            upper, upper2 = above.twice(at_knots.upper, at_knots.upper2, at_s.upper, at_s.upper2)
        return PartialMoments(lower, lower2, upper, upper2)

    def _squares(self, y: Array) -> Squares:
        line, s = self.map, self.map(y)
        at_knots, at_s = self.q._squares(line.levels), self.q._squares(s)
        lower = _Pieces(line, s, upwards=True).once(at_knots.lower, at_s.lower)
        upper = _Pieces(line, s, upwards=False).once(at_knots.upper, at_s.upper)
        return Squares(lower, upper)

    def _outline(self) -> Outline | None:
        """The images of the points of q, and the bends of the line: in order of the score, where these are few."""
        outline = self.q._outline()
        if outline is None or self.q.shape:
            return None
        xp, line = namespace(self.map.values), self.map
        levels = line.levels
        own = levels, self.q._cdf_left(levels), self.q._cdf(levels), self.q._sf(levels)
        s, left, right, rest = (
            concatenate([xp.broadcast_to(a[None, :], (b.shape[0], a.shape[0])), b], axis=1)
            for a, b in zip(outline[:4], own, strict=True)
        )
        # in order of s, and at one s in order of F
        for column in (2, 0):
            order = xp.argsort((s, left, right)[column], axis=1, stable=True)
            s, left, right, rest = (xp.take_along_axis(part, order, axis=1) for part in (s, left, right, rest))
        middle = (s[:, :-1] + s[:, 1:]) / 2
        piece = clip(xp.searchsorted(outline.y, xp.reshape(middle, (-1,))) - 1, 0, outline.bend.shape[0] - 1)
        bend = xp.reshape(xp.take(outline.bend, piece), middle.shape)
        slope = gather(line.slopes, line.piece(levels, middle))
        y = line.inverse(s)
        return Outline(y, left, right, rest, xp.broadcast_to(bend, slope.shape) * slope**2)

    def _places(self, s: Array) -> Array:
        """Those of q, and the bends of the line."""
        xp, places = namespace(self.map.values), super()._places(s)
        return xp.sort(concatenate([places, self.map.values], axis=1), axis=1)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        y, a, b = self._stretches(y, lower, y)
        lower1, lower2 = self._summed(y, a, b, lambda a, b: self.q._moments_within(b, a, b)[:2], end=1)
        y, a, b = self._stretches(y, y, upper)
        upper1, upper2 = self._summed(y, a, b, lambda a, b: self.q._moments_within(a, a, b)[2:], end=0)
        return PartialMoments(lower1, lower2, upper1, upper2)

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        xp, width = namespace(y), 1 / self.map.slopes
        sides = []
        for side, (low, high) in enumerate(((lower, y), (y, upper))):
            _, a, b = self._stretches(y, low, high)

            def squares(a: Array, b: Array, side: int = side) -> Array:
                return self.q._squares_within((b, a)[side], a, b)[side]

            square = self._at_stretches(squares, a, b)
            sides.append(xp.sum(square * width[:, None, :], axis=-1))
        return Squares(sides[0], sides[1])

    def _stretches(self, y: Array, low: Array, high: Array) -> tuple[Array, Array, Array]:
        """y as (n, k), and the scores at which its stretch of each of K + 1 pieces starts and ends, (n, k, K + 1)."""
        xp, line = namespace(y), self.map
        y = xp.broadcast_to(y, (*self.shape, y.shape[-1]))
        low, high = (image(line, xp.broadcast_to(end, y.shape))[..., None] for end in (low, high))
        levels = xp.broadcast_to(line.levels, line.values.shape)[:, None, :]
        inner = xp.minimum(xp.maximum(levels, low), high)
        return y, concatenate([low, inner], axis=-1), concatenate([inner, high], axis=-1)

    def _at_stretches(self, function: Callable[[Array, Array], Array], a: Array, b: Array) -> Array:
        """A function of q over stretches, laid out as q takes them."""
        xp, rows = namespace(a), a.shape[0]
        result = function(xp.reshape(a, (rows, -1)), xp.reshape(b, (rows, -1)))
        if isinstance(result, tuple):
            return tuple(xp.reshape(part, a.shape) for part in result)
        return xp.reshape(result, a.shape)

    def _summed(self, y: Array, a: Array, b: Array, function: Callable[..., Any], *, end: int) -> tuple[Array, Array]:
        """The integral over all stretches, and the integral of that: each stretch has an arm, from y to its far end."""
        xp, rows = namespace(y), y.shape[0]
        once, twice = self._at_stretches(function, a, b)
        width = (1 / self.map.slopes)[:, None, :]
        far = (a, b)[end]
        arm = xp.abs(xp.reshape(self.map.inverse(xp.reshape(far, (rows, -1))), far.shape) - y[..., None])
        arm = xp.where(b > a, arm, xp.zeros_like(arm))
        return xp.sum(width * once, axis=-1), xp.sum(width**2 * twice + width * once * arm, axis=-1)


class _Pieces:
    """Integrals over y as sums over the pieces of a broken line, from one end of the line up to the scores s."""

    def __init__(self, line: Broken, s: Array, *, upwards: bool) -> None:
        xp = namespace(s)
        self.xp, self.upwards = xp, upwards
        self.s = s
        self.levels = self._turn(line.levels)
        self.width = 1 / self._turn(line.slopes)  # dy / ds, piece by piece in the direction of integration
        count = line.values.shape[-1]
        piece = line.piece(line.levels, s)
        self.piece = piece if upwards else count - piece
        self.knot = xp.clip(self.piece - 1, 0, count - 1)

    def _turn(self, table: Array) -> Array:
        return table if self.upwards else self.xp.flip(table, axis=1)

    def once(self, at_knots: Array, at_s: Array) -> Array:
        """The integral of a function of q, given its integral over s at the knots and at s."""
        xp, table = self.xp, self._turn(at_knots)
        inner = self.width[:, 1:-1] * (table[:, 1:] - table[:, :-1])
        total = xp.cumulative_sum(concatenate([self.width[:, :1] * table[:, :1], inner], axis=1), axis=1)
        return self._onwards(total, table, at_s)

    def _onwards(self, total: Array, table: Array, at_s: Array) -> Array:
        """The total at the last knot passed, and the piece from there."""
        return self._at_knot(total) + gather(self.width, self.piece) * (at_s - self._at_knot(table))

    def _at_knot(self, column: Array) -> Array:
        """A column at the last knot passed; 0 before the first, where the integrals start."""
        value = gather(column, self.knot)
        return self.xp.where(self.piece == 0, self.xp.zeros_like(value), value)

    def twice(self, at_knots: Array, at_knots2: Array, at_s: Array, at_s2: Array) -> tuple[Array, Array]:
        """The same, and the integral of that integral."""
        xp, table, table2 = self.xp, self._turn(at_knots), self._turn(at_knots2)
        width, h = self.width, xp.abs(self.levels[:, 1:] - self.levels[:, :-1])
        inner = width[:, 1:-1] * (table[:, 1:] - table[:, :-1])
        total = xp.cumulative_sum(concatenate([width[:, :1] * table[:, :1], inner], axis=1), axis=1)
        w = width[:, 1:-1]
        inner2 = w * h * total[:, :-1] + w**2 * (table2[:, 1:] - table2[:, :-1] - h * table[:, :-1])
        total2 = xp.cumulative_sum(concatenate([width[:, :1] ** 2 * table2[:, :1], inner2], axis=1), axis=1)
        t = self._at_knot(self.levels)
        t = xp.where(self.piece == 0, xp.zeros_like(at_s), xp.abs(self.s - t))
        w = gather(width, self.piece)
        ahead = at_s2 - self._at_knot(table2) - t * self._at_knot(table)
        second = self._at_knot(total2) + w * t * self._at_knot(total) + w**2 * ahead
        return self._onwards(total, table, at_s), second
