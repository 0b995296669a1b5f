"""Integrals of a single law without closed forms: Gauss-Legendre between the points where the law bends.

They are tabulated once, and read off by cubic Hermite interpolation: the integrand is known at the ends of each piece,
so the error is of fourth order in the length of a piece.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._kept import kept
from calibrant._search import distinct
from calibrant.distributions.base import Distribution
from calibrant.distributions.gauss import gauss_legendre
from calibrant.distributions.integrals import (
    FromMiddle,
    Outward,
    PartialMoments,
    Squares,
    double,
    in_double,
    largest,
    moments_beyond,
    squares_beyond,
)
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.tails import still_rising, unsettled

_PIECES = 12288
_FAR = 1e6  # interquartile ranges


def _refined(points: Array, count: int) -> Array:
    """Sorted points, each once, with as many more between any two as make `count` in all."""
    xp = namespace(points)
    points = distinct(points)
    pieces = points.shape[0] - 1
    if not 0 < pieces < count:
        return points
    share = device_like(np.arange(-(-count // pieces)) / -(-count // pieces), points)
    inner = points[:-1, None] + (points[1:] - points[:-1])[:, None] * share
    return distinct(concatenate([xp.reshape(inner, (-1,)), points[-1:]]))  # floats may have no room for so many


@dataclass(frozen=True, eq=False)
class Tabulated(FromMiddle):
    """Integrals of a single law from either end, at `edges`; in between the law is smooth."""

    edges: Array
    F: tuple[Array, Array]  # at the left and at the right end of each piece
    S: tuple[Array, Array]
    moments: PartialMoments
    second: Squares
    infinite: tuple[float, float]
    rising: tuple[bool, ...]
    """Which of the moments and squares have not settled at the outermost edge, and are infinite."""
    middle: int
    """The edge in the middle of the law."""
    outward: Outward
    """Integrals from there to every edge."""

    @classmethod
    def of(cls, law: Distribution, like: Array) -> Tabulated:
        """Tabulate a law between its `_breaks`, which must reach far enough into both tails, beside an array.

        In double precision, as all integrals: see `in_double`.
        """
        like = double(like)
        law = law.to(like)
        edges = device_like(law._breaks(), like) if law.like is None else law._breaks()
        xp = namespace(edges)
        edges = _refined(edges[xp.abs(edges) <= largest(edges)], _PIECES)
        h = edges[1:] - edges[:-1]
        x, w = gauss_legendre(5, edges)
        nodes = edges[:-1, None] + h[:, None] * x
        F, S = law._cdf(nodes), law._sf(nodes)
        lower, lower2, lower_square = _sums(xp, F, h, w, 1 - x)
        upper, upper2, upper_square = (
            xp.flip(column) + 0  # laid out anew: numpy would copy a reversed view at every take
            for column in _sums(xp, xp.flip(S, axis=0), xp.flip(h), w, x)
        )
        left, right = edges[:-1], edges[1:]
        below, above = law._cdf(left), law._sf(left)
        rises_inside = (
            _rises(lower[1:] - lower[:-1], law._cdf(right)),
            _rises(lower2[1:] - lower2[:-1], law._cdf(right)),
            _rises(upper[:-1] - upper[1:], above),
            _rises(upper2[:-1] - upper2[1:], above),
        )
        below_all, above_all = law._infinite_mass()
        beyond = law._cdf_left(left[:1])[0] - below_all, law._sf(right[-1:])[0] - above_all
        median = law._ppf(device_like([(below_all + 1 - above_all) / 2], edges))  # of what is not at an end of the line
        median = xp.where(xp.isfinite(median), median, edges[edges.shape[0] // 2])
        middle = int(clip(xp.searchsorted(edges, median), 0, edges.shape[0] - 1)[0])
        # Beside what lies on the same side of the middle: on the other side F or 1 - F is 1, however far that goes.
        # What ends close by has no tail to settle.
        out = xp.abs(edges - edges[middle])
        finite = 1 - above_all - below_all
        quartiles = law._ppf(device_like([below_all + finite / 4, below_all + 3 * finite / 4], edges))
        with np.errstate(invalid="ignore"):  # a law may have all of its mass at an end of the line
            far = concatenate([out[:1], out[-1:]]) > _FAR * (quartiles[1] - quartiles[0])
        sums = (lower, lower2, upper, upper2, lower_square, upper_square)
        rising = tuple(
            rises or bool(far[side] & unsettled(mass, out[side] ** power, column[middle]))
            for rises, mass, side, power, column in zip(
                (*rises_inside, False, False),
                (beyond[0], beyond[0], beyond[1], beyond[1], beyond[0] ** 2, beyond[1] ** 2),
                (0, 0, -1, -1, 0, -1),
                (1, 2, 1, 2, 1, 1),
                sums,
                strict=True,
            )
        )
        F_down, h_down = xp.flip(F[:middle, :], axis=0), xp.flip(h[:middle])
        down = _sums(xp, F_down, h_down, w, x)
        up = _sums(xp, S[middle:, :], h[middle:], w, 1 - x)
        signs = (-1.0, -1.0), (1.0, -1.0), (-1.0, -1.0)
        outward = (
            concatenate([sign[0] * xp.flip(low[1:]), sign[1] * high])
            for sign, low, high in zip(signs, down, up, strict=True)
        )
        return cls(
            edges,
            (below, law._cdf_left(right)),
            (above, 1 - law._cdf_left(right)),
            PartialMoments(lower, lower2, upper, upper2),
            Squares(lower_square, upper_square),
            law._infinite_mass(),
            rising,
            middle,
            Outward(*outward),
        )

    def partial_moments(self, y: Array) -> PartialMoments:
        """See `PartialMoments`; beyond the edges the law has no mass left."""
        at = self._interpolation(y)
        moments, falling = self.moments, lambda S: -S
        lower = at(moments.lower, self.F[0], self.F[1])
        upper = at(moments.upper, self.S[0], self.S[1], falling)
        lower2 = at(moments.lower2, moments.lower[:-1], moments.lower[1:])
        upper2 = at(moments.upper2, moments.upper[:-1], moments.upper[1:], falling)
        part = moments_beyond(PartialMoments(lower, lower2, upper, upper2), *self._beyond(y), self.infinite)
        infinite = namespace(y).full_like(y, np.inf)
        return PartialMoments(*(infinite if r else moment for moment, r in zip(part, self.rising[:4], strict=True)))

    def squares(self, y: Array) -> Squares:
        """See `Squares`."""
        at = self._interpolation(y)
        lower = at(self.second.lower, self.F[0], self.F[1], lambda F: F**2)
        upper = at(self.second.upper, self.S[0], self.S[1], lambda S: -(S**2))
        part = squares_beyond(Squares(lower, upper), *self._beyond(y), self.infinite)
        infinite = namespace(y).full_like(y, np.inf)
        return Squares(*(infinite if r else square for square, r in zip(part, self.rising[4:], strict=True)))

    def _middle(self) -> float:
        return float(self.edges[self.middle])

    def _reach(self) -> tuple[Any, Any]:
        return float(self.edges[0]), float(self.edges[-1])

    def _infinite_mass(self) -> tuple[Any, Any]:
        return self.infinite

    def _from_ends(self, y: Array) -> tuple[PartialMoments, Squares]:
        return self.partial_moments(y), self.squares(y)

    def _outward(self, y: Array) -> Outward:
        """See `Outward`; beyond the edges the law has no mass left but at infinity."""
        at, xp = self._interpolation(y), namespace(y)
        above = y >= self.edges[self.middle]
        out = self.outward
        # the slope of each column is -F or 1 - F times -1, by the side
        once = xp.where(above, at(out.once, self.S[0], self.S[1], lambda S: -S), at(out.once, self.F[0], self.F[1]))
        squared = (lambda S: -(S**2)), (lambda F: F**2)
        square = xp.where(
            above, at(out.square, self.S[0], self.S[1], squared[0]), at(out.square, self.F[0], self.F[1], squared[1])
        )
        twice = at(out.twice, out.once[:-1], out.once[1:])
        over, under = self._beyond(y)
        below, rest = self.infinite
        return Outward(
            once - rest * over - below * under,
            twice + (over - under) * once - rest * over**2 / 2 + below * under**2 / 2,
            square - rest**2 * over - below**2 * under,
        )

    def _beyond(self, y: Array) -> tuple[Array, Array]:
        """How far y lies above the last and below the first edge."""
        xp = namespace(y)
        zero = xp.zeros_like(y)
        return xp.maximum(y - self.edges[-1], zero), xp.maximum(self.edges[0] - y, zero)

    def _interpolation(self, y: Array) -> Callable[..., Array]:
        """The function that reads a column, with its slopes at both ends of each piece, off at y."""
        xp = namespace(y)
        flat = clip(xp.reshape(y, (-1,)), self.edges[0], self.edges[-1])
        i = clip(xp.searchsorted(self.edges, flat, side="right") - 1, 0, self.edges.shape[0] - 2)
        a, b = xp.take(self.edges, i), xp.take(self.edges, i + 1)
        h = b - a
        t = (flat - a) / h

        def at(values: Array, left: Array, right: Array, slope: Callable[[Array], Array] = lambda F: F) -> Array:
            """Cubic Hermite; the slope is a function of two columns, taken after the look-up since these are long."""
            va, vb = xp.take(values, i), xp.take(values, i + 1)
            da, db = h * slope(xp.take(left, i)), h * slope(xp.take(right, i))
            rise = vb - va
            value = va + t * (da + t * (3 * rise - 2 * da - db + t * (da + db - 2 * rise)))
            return xp.reshape(value, y.shape)

        return at


def _rises(terms: Array, mass: Array) -> bool:
    return bool(still_rising(terms, mass))


def _sums(xp: Any, F: Array, h: Array, w: Array, arm: Array) -> tuple[Array, Array, Array]:
    """Prefix sums of the integrals of F, of that integral, and of F^2, over pieces of length h."""
    zero = xp.zeros((1,), dtype=h.dtype, device=device(h))
    first = xp.cumulative_sum(concatenate([zero, h * xp.sum(F * w, axis=1)]))
    moment = h**2 * xp.sum(F * w * arm, axis=1)
    second = xp.cumulative_sum(concatenate([zero, h * first[:-1] + moment]))
    square = xp.cumulative_sum(concatenate([zero, h * xp.sum(F**2 * w, axis=1)]))
    return first, second, square


class ByTable(Integrated):
    """A single law whose integrals are tabulated once."""

    @kept
    def _table(self) -> Tabulated:
        return Tabulated.of(self, self.like)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return in_double(self._table.partial_moments, y)

    def _squares(self, y: Array) -> Squares:
        return in_double(self._table.squares, y)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return in_double(self._table._moments_within, y, lower, upper)

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return in_double(self._table._squares_within, y, lower, upper)
