"""Rows of a table of straight lines: a law for each of ten thousand groups is an index."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, anywhere, clip, namespace
from calibrant._special import sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.integrals import FromMiddle, Outward, PartialMoments, Squares
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.joined import Joined
from calibrant.distributions.outline import Outline
from calibrant.distributions.table_of_lines import Counts, TableOfLines

_REACH = 745.0  # mean excesses, beyond which exp is 0


@dataclass(frozen=True, eq=False, repr=False)
class Lines(FromMiddle, Integrated):
    """Row i is law `law[i]` of a table. Everything is exact, from prefix sums.

    >>> from calibrant.distributions import PiecewiseLinear
    >>> table = TableOfLines.of(
    ...     [
    ...         PiecewiseLinear(np.array([0.0, 1.0]), np.array([0.0, 1.0]), 0.0, 0.0),
    ...         PiecewiseLinear(np.array([0.0, 9.0]), np.array([0.0, 1.0]), 0.0, 0.0),
    ...     ]
    ... )
    >>> Lines(table, np.array([0, 1, 1])).mean()
    array([0.5, 4.5, 4.5])
    """

    table: TableOfLines = field(metadata={"shared": True})
    law: Counts

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.law.shape[0],)

    @property
    def like(self) -> Array:
        return self.table.knots

    def joined(self) -> Joined:
        """The same rows as single laws, one for each that occurs: what one law can share, its rows then share."""
        which, part = np.unique(self.law, return_inverse=True)
        return Joined.of([self.table.law(int(g)) for g in which], part.reshape(-1))

    # ---- where a value lies ----------------------------------------------------------------------------------------

    def _ends(self) -> tuple[Any, Any]:
        """The first and the last knot of each row, as places in the table."""
        first = self.table.first
        return self._here(first[self.law][:, None]), self._here(first[self.law + 1][:, None] - 1)

    def _here(self, places: Counts) -> Array:
        like = self.table.knots
        return namespace(like).asarray(places, device=device(like))

    def _take(self, column: Array, places: Array) -> Array:
        xp = namespace(column)
        return xp.reshape(xp.take(column, xp.reshape(places, (-1,))), places.shape)

    def _find(self, column: Array, value: Array, *, equal: bool) -> tuple[Array, Array]:
        """The places at and after the last entry of a row's own that is below a value, or equal to it if so asked."""
        xp, (begin, end) = namespace(value), self._ends()
        shape = (len(self), value.shape[1])
        low, high = (xp.broadcast_to(place, shape) for place in (begin, end + 1))
        longest = int(np.diff(self.table.first)[self.law].max(initial=1))
        for _ in range(longest.bit_length()):
            middle = (low + high) // 2
            entry = self._take(column, clip(middle, 0, column.shape[0] - 1))
            on = (entry <= value if equal else entry < value) & (low < high)
            low, high = xp.where(on, middle + 1, low), xp.where(on, high, middle)
        return low - 1, low

    def _inside(self, y: Array, *, equal: bool = True) -> tuple[Array, Array, Array]:
        """Each y, kept between the end knots of its row; the knot at or below it and the knot above it, as places."""
        begin, end = self._ends()
        inside = clip(y, self._take(self.table.knots, begin), self._take(self.table.knots, end))
        a, b = self._find(self.table.knots, inside, equal=equal)
        return inside, clip(a, begin, end), clip(b, begin, end)

    def _tail(self, side: int) -> tuple[Array, Array, Array]:
        """The end knot, the mass beyond it and its mean excess, each a column; a tail without mass has none."""
        xp, end = namespace(self.table.knots), self._ends()[side]
        knot, prob = self._take(self.table.knots, end), self._take(self.table.probs, end)
        mass = prob if side == 0 else 1 - prob
        scale = xp.take((self.table.left, self.table.right)[side], self._here(self.law))[:, None]
        return knot, mass, xp.where(mass > 0, scale, xp.zeros_like(scale))

    # ---- the six ---------------------------------------------------------------------------------------------------

    def _cdf(self, y: Array) -> Array:
        return self._distribution(y, equal=True)

    def _cdf_left(self, y: Array) -> Array:
        return self._distribution(y, equal=False)

    def _distribution(self, y: Array, *, equal: bool) -> Array:
        xp = namespace(y)
        inside, a, _ = self._inside(y, equal=equal)
        F = self._at_knot(inside, a)
        (first, *low), (last, *high) = self._tail(0), self._tail(1)
        F = xp.where(y < first if equal else y <= first, _mass(first - y, *low), F)
        return xp.where(y > last, 1 - self._above(y, last, *high), F)

    def _at_knot(self, inside: Array, a: Array) -> Array:
        table = self.table
        rise = self._take(table.slopes.slope, a) * (inside - self._take(table.knots, a))
        return self._take(table.probs, a) + rise

    @staticmethod
    def _above(y: Array, last: Array, mass: Array, scale: Array) -> Array:
        """The mass above y, beyond the last knot; none lies above +inf, though some may lie there."""
        xp = namespace(y)
        return xp.where(xp.isinf(y), xp.zeros_like(mass), _mass(y - last, mass, scale))

    def _sf(self, y: Array) -> Array:
        last, *high = self._tail(1)
        return namespace(y).where(y > last, self._above(y, last, *high), 1 - self._cdf(y))

    def _ppf(self, p: Array) -> Array:
        xp, (begin, end) = namespace(p), self._ends()
        a, b = self._find(self.table.probs, p, equal=False)
        low, high = b == begin, b == end + 1
        a, b = clip(a, begin, end), clip(b, begin, end)
        knots, probs = self.table.knots, self.table.probs
        step = (p - self._take(probs, a)) * self._take(self.table.slopes.inverse, a)
        y = xp.minimum(self._take(knots, a) + step, self._take(knots, b))
        (first, *below), (last, *above) = self._tail(0), self._tail(1)
        y = xp.where(low, first - _excess(p, *below), y)
        return xp.where(high, last + _excess(1 - p, *above), y)

    def _ppf_logit(self, s: Array) -> Array:
        """In the upper tail from the mass beyond, sigmoid(-s), which does not round to 0."""
        xp, rest, (last, mass, scale) = namespace(s), sigmoid(-s), self._tail(1)
        return xp.where(rest < mass, last + _excess(rest, mass, scale), self._ppf(sigmoid(s)))

    def _logpdf(self, y: Array) -> Array:
        xp = namespace(y)
        _, a, _ = self._inside(y)
        density = self._take(self.table.slopes.log_slope, a)
        for side, sign in ((0, -1), (1, 1)):
            knot, mass, scale = self._tail(side)
            proper = (mass > 0) & xp.isfinite(scale)
            mass, scale = (xp.where(proper, part, xp.ones_like(part)) for part in (mass, scale))
            tail = xp.log(mass / scale) - sign * (y - knot) / scale
            out = y < knot if side == 0 else y >= knot
            density = xp.where(out, xp.where(proper, tail, xp.full_like(tail, -xp.inf)), density)
        return density

    def _partial_moments(self, y: Array) -> PartialMoments:
        xp, table = namespace(y), self.table.integrals
        inside, a, b = self._inside(y)
        t, r = inside - self._take(self.table.knots, a), self._take(self.table.knots, b) - inside
        Fa, Fb, F = self._take(self.table.probs, a), self._take(self.table.probs, b), self._at_knot(inside, a)
        lower_a, upper_b = self._take(table.lower, a), self._take(table.upper, b)
        lower = lower_a + t * (Fa + F) / 2
        lower2 = self._take(table.lower2, a) + t * lower_a + t**2 * (2 * Fa + F) / 6
        upper = upper_b + r * (2 - Fb - F) / 2
        upper2 = self._take(table.upper2, b) + r * upper_b + r**2 * (3 - 2 * Fb - F) / 6
        for side, out in ((0, y < inside), (1, y > inside)):
            if not anywhere(out):
                continue
            d, (_, mass, scale) = xp.abs(y - inside), self._tail(side)
            near, near2, _, once, twice, _ = _beyond(d, mass, scale)
            far, far2 = (upper, upper2) if side == 0 else (lower, lower2)
            far2 = xp.where(out, far2 + d * far + d**2 / 2 - twice, far2)
            far = xp.where(out, far + d - once, far)
            here, here2 = (lower, lower2) if side == 0 else (upper, upper2)
            here, here2 = xp.where(out, near, here), xp.where(out, near2, here2)
            lower, lower2, upper, upper2 = (here, here2, far, far2) if side == 0 else (far, far2, here, here2)
        return PartialMoments(lower, lower2, upper, upper2)

    def _squares(self, y: Array) -> Squares:
        xp, table = namespace(y), self.table.integrals
        inside, a, b = self._inside(y)
        t, r = inside - self._take(self.table.knots, a), self._take(self.table.knots, b) - inside
        Fa, F = self._take(self.table.probs, a), self._at_knot(inside, a)
        Sb, S = 1 - self._take(self.table.probs, b), 1 - F
        lower = self._take(table.lower_square, a) + t * (Fa**2 + Fa * F + F**2) / 3
        upper = self._take(table.upper_square, b) + r * (Sb**2 + Sb * S + S**2) / 3
        for side, out in ((0, y < inside), (1, y > inside)):
            if not anywhere(out):
                continue
            d, (_, mass, scale) = xp.abs(y - inside), self._tail(side)
            _, _, near, once, _, squared = _beyond(d, mass, scale)
            rest = d - 2 * once + squared
            if side == 0:
                lower, upper = xp.where(out, near, lower), xp.where(out, upper + rest, upper)
            else:
                lower, upper = xp.where(out, lower + rest, lower), xp.where(out, near, upper)
        return Squares(lower, upper)

    # ---- what it knows better --------------------------------------------------------------------------------------

    def _infinite_mass(self) -> tuple[Any, Any]:
        xp, tails = namespace(self.table.knots), (self._tail(0), self._tail(1))
        below, above = (xp.where(xp.isinf(scale), mass, xp.zeros_like(mass))[:, 0] for _, mass, scale in tails)
        return below, above

    # ---- from the middle outwards ----------------------------------------------------------------------------------

    def _middle(self) -> Any:
        return self._take(self.table.knots, self._here(self.table.middle[self.law][:, None]))

    def _reach(self) -> tuple[Any, Any]:
        ends = []
        for sign, (knot, _, scale) in ((-1, self._tail(0)), (1, self._tail(1))):
            xp = namespace(knot)
            ends.append(knot + sign * xp.where(xp.isfinite(scale), _REACH * scale, xp.zeros_like(scale)))
        return ends[0], ends[1]

    def _held(self, lower: Array, upper: Array) -> tuple[Array, Array]:
        xp, (low, high), masses = namespace(lower), self._reach(), self._infinite_mass()
        below, above = (mass[:, None] > 0 for mass in masses)
        lower = xp.where(xp.where(below, xp.isinf(lower), lower < low), low, lower)
        return lower, xp.where(xp.where(above, xp.isinf(upper), upper > high), high, upper)

    def _from_ends(self, y: Array) -> tuple[PartialMoments, Squares]:
        return self._partial_moments(y), self._squares(y)

    def _outward(self, y: Array) -> Outward:
        xp, table = namespace(y), self.table
        inside, a, b = self._inside(y)
        F, above = self._at_knot(inside, a), inside >= self._middle()
        inner = xp.where(above, a, b)  # the end of the piece that is nearer to the middle
        t, near = xp.abs(inside - self._take(table.knots, inner)), self._take(table.probs, inner)
        near, here = xp.where(above, 1 - near, near), xp.where(above, 1 - F, F)
        once, twice, square = (self._take(column, inner) for column in table.outward)
        sign = xp.where(above, xp.ones_like(t), -xp.ones_like(t))
        twice = twice + sign * t * (once - t * (2 * near + here) / 6)
        once = once - t * (near + here) / 2
        square = square - t * (near**2 + near * here + here**2) / 3
        for side, out in ((0, y < inside), (1, y > inside)):
            d, (_, mass, scale) = xp.where(out, xp.abs(y - inside), 0 * inside), self._tail(side)
            *_, first, second, squared = _beyond(d, mass, scale)
            twice = twice + (2 * side - 1) * (d * once - second)
            once, square = once - first, square - squared
        return Outward(once, twice, square)

    def _outline(self) -> Outline | None:
        return self.joined()._outline()

    def __getitem__(self, index: Any) -> Distribution:
        """An integer gives the single law of that row."""
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool) and -len(self) <= index < len(self):
            return self.table.law(int(self.law[index]))
        return super().__getitem__(index)

    def _describe(self) -> str:
        return f"{len(self.table)} laws, {self.table.knots.shape[0]} knots"


# ---- tails, a mass and a scale for each row --------------------------------------------------------------------------


def _proper(mass: Array, scale: Array) -> tuple[Array, Array, Array, Array]:
    """Whether a tail falls, whether it never does; its mass where it is either, its scale where it has one."""
    xp = namespace(scale)
    flat, falls = xp.isinf(scale), xp.isfinite(scale) & (scale > 0)
    return falls, flat, xp.where(falls | flat, mass, 0 * mass), xp.where(falls, scale, xp.ones_like(scale))


def _mass(excess: Array, mass: Array, scale: Array) -> Array:
    """mass * exp(-excess / scale)."""
    xp = namespace(excess)
    falls, _, mass, scale = _proper(mass, scale)
    zero = xp.zeros_like(excess)
    return mass * xp.exp(xp.where(falls, -xp.maximum(excess, zero) / scale, zero))


def _excess(p: Array, mass: Array, scale: Array) -> Array:
    """The excess beyond which a mass p is left: scale * log(mass / p)."""
    xp = namespace(p)
    _, flat, mass, scale = _proper(mass, scale)
    out = p < mass
    ratio = xp.where(out & (p > 0), p / xp.where(mass > 0, mass, xp.ones_like(mass)), xp.ones_like(p))
    far = xp.full_like(ratio, xp.inf)
    excess = xp.where(flat | (p <= 0), far, -scale * xp.log(ratio))
    return xp.where(out, excess, xp.zeros_like(excess))


def _beyond(d: Array, mass: Array, scale: Array) -> tuple[Array, ...]:
    """Six integrals of a tail T at a distance d beyond its end.

    E excess, E excess^2 / 2 and the integral of T^2 from there on; then, over the distance itself, the integral of T,
    of (d - x) T(x), and of T^2. Those of a mass that never falls count from its end.
    """
    xp = namespace(d)
    falls, flat, mass, scale = _proper(mass, scale)
    d = xp.where(falls | flat, d, xp.zeros_like(d))
    x = d / scale
    once, twice = mass * scale * -xp.expm1(-x), -xp.expm1(-2 * x)
    left, square = mass * xp.exp(-x), mass**2 * scale / 2
    smooth = left * scale, left * scale**2, square * xp.exp(-2 * x), once, scale * (mass * d - once), square * twice
    steps = -mass * d, mass * d**2 / 2, -(mass**2) * d, mass * d, mass * d**2 / 2, mass**2 * d
    none = xp.zeros_like(d)
    return tuple(xp.where(flat, step, xp.where(falls, value, none)) for step, value in zip(steps, smooth, strict=True))


# ---- prefix sums, each law by itself --------------------------------------------------------------------------------
