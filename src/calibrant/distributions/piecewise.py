"""A CDF drawn through points with straight lines, between two tails: what naive and linear interpolation give."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace, single_precision
from calibrant._batch import shared
from calibrant._kept import keep, kept
from calibrant._search import Finder
from calibrant._special import sigmoid
from calibrant.distributions.exponential_tail import (
    moments_in_tail,
    squares_in_tail,
    tail_excess,
    tail_integrals,
    tail_mass,
)
from calibrant.distributions.integrals import FromMiddle, Outward, PartialMoments, Squares, double, in_double
from calibrant.distributions.integrated import Integrated
from calibrant.distributions.outline import Outline


@dataclass(frozen=True)
class _Tables:
    """What the methods read off, prepared once.

    The piece j = #{knots <= y} starts at `start[j]` with probability `level[j]` and rises with `slope[j]`; the pieces
    0 and N lie beyond the ends and are flat here. The rest are prefix sums: integrals from an end of the law to a
    knot, all of them sums of positive terms.
    """

    start: Array
    level: Array
    slope: Array
    log_slope: Array
    lower: Array
    lower2: Array
    lower_square: Array
    upper: Array
    upper2: Array
    upper_square: Array
    crps: Array


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseLinear(FromMiddle, Integrated):
    """The single law whose CDF runs straight through (knots[i], probs[i]); a repeated knot is a jump.

    Below the first knot lies the mass probs[0], above the last 1 - probs[-1], each as an exponential tail with mean
    excess `left` or `right`; with an infinite mean excess the mass sits at -inf or +inf. Everything is exact, from
    prefix sums, with one binary search a value.
    """

    knots: Array = shared()
    probs: Array = shared()
    left: float = field(default=math.inf, metadata={"shared": True})
    right: float = field(default=math.inf, metadata={"shared": True})
    _tables: _Tables = field(init=False)
    _find: Finder = field(init=False)
    _find_probs: Finder = field(init=False)
    _ends: tuple[float, float, float, float] = field(init=False)

    def __post_init__(self) -> None:
        knots, probs = self.knots, self.probs
        ends = float(knots[0]), float(knots[-1]), float(probs[0]), 1 - float(probs[-1])
        object.__setattr__(self, "_ends", ends)
        object.__setattr__(self, "_find", Finder(knots))
        object.__setattr__(self, "_find_probs", Finder(probs))
        object.__setattr__(self, "_tables", _tabulate(knots, probs, self._tail(0), self._tail(1)))

    def __reduce__(self) -> tuple[Any, ...]:
        # what is worked out from the knots, twelve times their size, is made anew rather than sent
        return type(self), (self.knots, self.probs, self.left, self.right)

    def _tail(self, side: int) -> tuple[float, float]:
        """The mass beyond an end and its mean excess; a tail without mass has none."""
        mass = self._ends[2 + side]
        return mass, (self.left, self.right)[side] if mass > 0 else 0.0

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    @property
    def like(self) -> Array:
        return self.knots

    def _piece(self, y: Array) -> tuple[Array, Array, Array]:
        """For each y, kept between the end knots: itself, the knot at or below it, the knot above it."""
        count = self.knots.shape[0]
        inside = clip(y, self._ends[0], self._ends[1])
        above = clip(self._find.up_to(inside), min(1, count - 1), count - 1)
        return inside, clip(above - 1, 0, count - 1), above

    def _cdf(self, y: Array) -> Array:
        return self._distribution(y, self._find.up_to, namespace(y).less)

    def _cdf_left(self, y: Array) -> Array:
        return self._distribution(y, self._find.below, namespace(y).less_equal)

    def _distribution(self, y: Array, find: Callable[[Array], Array], before: Callable[[Array, Array], Array]) -> Array:
        xp, shape = namespace(y), y.shape
        y = xp.reshape(y, (-1,))
        first, last, *_ = self._ends
        inside = clip(y, first, last)
        j = find(inside)
        table = self._tables
        inside = inside - xp.take(table.start, j)
        F = xp.take(table.level, j) + xp.take(table.slope, j) * inside
        low = before(y, xp.zeros_like(y[:1]) + first)
        if anywhere(low):
            F[low] = tail_mass(first - y[low], *self._tail(0))
        high = y > last
        if anywhere(high):
            F[high] = 1 - self._above(y[high])
        return xp.reshape(F, shape)

    def _sf(self, y: Array) -> Array:
        xp = namespace(y)
        S = xp.reshape(1 - self._cdf(y), (-1,))
        flat = xp.reshape(y, (-1,))
        high = flat > self._ends[1]
        if anywhere(high):
            S[high] = self._above(flat[high])
        return xp.reshape(S, y.shape)

    def _above(self, y: Array) -> Array:
        """The mass above y, for y beyond the last knot; none lies above +inf, though some may lie there."""
        xp = namespace(y)
        return xp.where(xp.isinf(y), xp.zeros_like(y), tail_mass(y - self._ends[1], *self._tail(1)))

    def _ppf(self, p: Array) -> Array:
        xp, shape = namespace(p), p.shape
        p = xp.reshape(p, (-1,))
        first, last, *_ = self._ends
        count = self.knots.shape[0]
        j = self._find_probs.below(p)
        start, level, inverse, end = (xp.take(column, j) for column in self._inverse)
        y = xp.minimum(start + (p - level) * inverse, end)
        low = j == 0
        if anywhere(low):
            y[low] = first - tail_excess(p[low], *self._tail(0))
        high = j == count
        if anywhere(high):
            y[high] = last + tail_excess(1 - p[high], *self._tail(1))
        return xp.reshape(y, shape)

    @kept
    def _inverse(self) -> tuple[Array, Array, Array, Array]:
        """Of the piece j = #{probs < p}: its first knot, the probability there, 1 / slope, and its last knot."""
        xp, knots, probs = namespace(self.knots), self.knots, self.probs
        rise = probs[1:] - probs[:-1]
        inverse = xp.where(rise > 0, (knots[1:] - knots[:-1]) / xp.where(rise > 0, rise, xp.ones_like(rise)), 0 * rise)
        flat = xp.zeros_like(knots[:1])
        columns = [knots[:1], knots], [probs[:1], probs], [flat, inverse, flat], [knots, knots[-1:]]
        return tuple(concatenate(column) for column in columns)  # type: ignore[return-value]

    def _ppf_logit(self, s: Array) -> Array:
        """The quantile; in the upper tail from the mass beyond, sigmoid(-s), which does not round to 0."""
        xp = namespace(s)
        y = self._ppf(sigmoid(s))
        rest, (mass, scale) = sigmoid(-s), self._tail(1)
        if mass == 0 or math.isinf(scale):
            return y
        return xp.where(rest < mass, self._ends[1] + tail_excess(rest, mass, scale), y)

    def _logpdf(self, y: Array) -> Array:
        xp, shape = namespace(y), y.shape
        y = xp.reshape(y, (-1,))
        first, last, *_ = self._ends
        density = xp.take(self._tables.log_slope, self._find.up_to(y)) + 0 * y  # 0 * y: a gradient of 0, not none
        for side, out, excess in ((0, y < first, first - y), (1, y >= last, y - last)):
            if anywhere(out):
                mass, scale = self._tail(side)
                proper = mass > 0 and math.isfinite(scale)
                tail = math.log(mass / scale) - excess[out] / scale if proper else -xp.inf * xp.ones_like(y[out])
                density[out] = tail
        return xp.reshape(density, shape)

    def _partial_moments(self, y: Array) -> PartialMoments:
        xp, shape = namespace(y), y.shape
        y = xp.reshape(y, (-1,))
        inside, a, b = self._piece(y)
        t, r = inside - xp.take(self.knots, a), xp.take(self.knots, b) - inside
        Fa, Fb, F = xp.take(self.probs, a), xp.take(self.probs, b), self._cdf_inside(inside, a)
        table, Sb, S = self._tables, 1 - Fb, 1 - F
        lower_a, upper_b = xp.take(table.lower, a), xp.take(table.upper, b)
        lower = lower_a + t * (Fa + F) / 2
        lower2 = xp.take(table.lower2, a) + t * lower_a + t**2 * (2 * Fa + F) / 6
        upper = upper_b + r * (Sb + S) / 2
        upper2 = xp.take(table.upper2, b) + r * upper_b + r**2 * (2 * Sb + S) / 6
        zero = xp.zeros_like(y)
        d, e = xp.maximum(inside - y, zero), xp.maximum(y - inside, zero)
        lower, lower2, upper, upper2 = moments_in_tail(d, self._tail(0), lower, lower2, upper, upper2)
        upper, upper2, lower, lower2 = moments_in_tail(e, self._tail(1), upper, upper2, lower, lower2)
        return PartialMoments(*(xp.reshape(m, shape) for m in (lower, lower2, upper, upper2)))

    def _squares(self, y: Array) -> Squares:
        xp, shape = namespace(y), y.shape
        y = xp.reshape(y, (-1,))
        inside, a, b = self._piece(y)
        Fa = xp.take(self.probs, a)
        F = self._cdf_inside(inside, a)
        lower = xp.take(self._tables.lower_square, a) + (inside - xp.take(self.knots, a)) * (Fa**2 + Fa * F + F**2) / 3
        Sb, S = 1 - xp.take(self.probs, b), 1 - F
        upper = xp.take(self._tables.upper_square, b) + (xp.take(self.knots, b) - inside) * (Sb**2 + Sb * S + S**2) / 3
        for side, out in ((0, y < inside), (1, y > inside)):
            if anywhere(out):
                near, far = squares_in_tail(xp.abs(y[out] - inside[out]), *self._tail(side))
                (lower, upper)[side][out] += near
                (upper, lower)[side][out] += far
        return Squares(xp.reshape(lower, shape), xp.reshape(upper, shape))

    def _crps(self, y: Array) -> Array:
        """Its derivative in y is 2 F - 1, so on a piece it is a parabola, taken from the nearer knot."""
        xp, shape = namespace(y), y.shape
        if any(self._infinite_mass()):
            return xp.full_like(y, xp.inf)
        y = xp.reshape(y, (-1,))
        inside, a, near = self._piece(y)
        slope = xp.take(self._tables.slope, a + 1)
        left, right = inside - xp.take(self.knots, a), inside - xp.take(self.knots, near)
        closer = left <= -right
        near = xp.where(closer, a, near)
        t = xp.where(closer, left, right)
        del a, left, right, closer
        crps = xp.take(self._tables.crps, near) + t * ((2 * xp.take(self.probs, near) - 1) + slope * t)
        for side, out in ((0, y < inside), (1, y > inside)):
            if anywhere(out):
                excess, (mass, scale) = xp.abs(y[out] - inside[out]), self._tail(side)
                lost = mass * scale * -xp.expm1(-excess / scale) if mass > 0 else 0.0
                crps[out] = crps[out] + (excess - 2 * lost)
        return xp.reshape(crps, shape)

    def _cdf_inside(self, inside: Array, a: Array) -> Array:
        xp = namespace(inside)
        return xp.take(self.probs, a) + xp.take(self._tables.slope, a + 1) * (inside - xp.take(self.knots, a))

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = self._tail(0), self._tail(1)
        return below[0] if math.isinf(below[1]) else 0.0, above[0] if math.isinf(above[1]) else 0.0

    @property
    def bends_often(self) -> bool:
        return True

    def _breaks(self) -> Array:
        """The knots, and steps into the exponential tails until a 1e-17th of their mass is left."""
        xp = namespace(self.knots)
        first, last, *_ = self._ends
        steps = xp.asarray(_TAIL_STEPS, dtype=self.knots.dtype, device=array_api_compat.device(self.knots))
        parts = [self.knots]
        if 0 < self._tail(0)[1] < math.inf:
            parts.insert(0, xp.flip(first - self.left * steps))
        if 0 < self._tail(1)[1] < math.inf:
            parts.append(last + self.right * steps)
        return concatenate(parts)

    @property
    def is_discrete(self) -> bool:
        """Whether all of its mass sits on atoms."""
        sloped = (self.knots[1:] > self.knots[:-1]) & (self.probs[1:] > self.probs[:-1])
        tailed = any(mass > 0 and math.isfinite(scale) for mass, scale in (self._tail(0), self._tail(1)))
        return not (tailed or bool(namespace(self.knots).any(sloped)))

    def _std(self) -> Array:
        """In a unit in which squares neither vanish nor overflow."""
        spread = self._ends[1] - self._ends[0]
        if not 0 < spread < 1e-100:
            return super()._std()
        unit = 2.0 ** (math.frexp(spread)[1] - 1)
        return unit * PiecewiseLinear(self.knots / unit, self.probs, self.left / unit, self.right / unit)._std()

    # ---- from the middle outwards ----------------------------------------------------------------------------------

    def _middle(self) -> float:
        return float(self.knots[self.knots.shape[0] // 2])

    def _reach(self) -> tuple[Any, Any]:
        first, last, *_ = self._ends
        (_, left), (_, right) = self._tail(0), self._tail(1)
        return (
            first - _TAIL_REACH * left if math.isfinite(left) else first,
            last + _TAIL_REACH * right if math.isfinite(right) else last,
        )

    def _from_ends(self, y: Array) -> tuple[PartialMoments, Squares]:
        return self._partial_moments(y), self._squares(y)

    def _moments_within(self, y: Array, lower: Array, upper: Array) -> PartialMoments:
        return in_double(super(PiecewiseLinear, self._wide)._moments_within, y, lower, upper)

    def _squares_within(self, y: Array, lower: Array, upper: Array) -> Squares:
        return in_double(super(PiecewiseLinear, self._wide)._squares_within, y, lower, upper)

    @property
    def _wide(self) -> PiecewiseLinear:
        """The same in double precision: between two bounds that are close, single precision leaves no digit."""
        return keep(self, "in double", lambda: self.to(double(self.knots))) if single_precision(self.knots) else self

    @kept
    def _outward_at_knots(self) -> Outward:
        """At every knot."""
        xp, middle = namespace(self.knots), self.knots.shape[0] // 2
        knots, probs = (xp.astype(column, xp.float64) for column in (self.knots, self.probs))
        h, Fa, Fb = knots[1:] - knots[:-1], probs[:-1], probs[1:]
        up = _sums_outward(h[middle:], 1 - Fa[middle:], 1 - Fb[middle:])
        down = _sums_outward(*(xp.flip(part[:middle]) for part in (h, Fb, Fa)))
        down = down[0], -down[1], down[2]  # twice is an integral towards larger y
        both = (concatenate([xp.flip(low[1:]), high]) for low, high in zip(down, up, strict=True))
        return Outward(*(xp.astype(column, self.knots.dtype) for column in both))

    def _outward(self, y: Array) -> Outward:
        xp, shape = namespace(y), y.shape
        y = xp.reshape(y, (-1,))
        inside, a, b = self._piece(y)
        F = self._cdf_inside(inside, a)
        above = inside >= self._middle()
        # the end of the piece that is nearer to the middle, which of two knots is the last one
        inner = xp.where(above, clip(a, self.knots.shape[0] // 2, self.knots.shape[0]), b)
        t = xp.abs(inside - xp.take(self.knots, inner))
        near = xp.take(self.probs, inner)
        near, here = xp.where(above, 1 - near, near), xp.where(above, 1 - F, F)
        at = Outward(*(xp.take(column, inner) for column in self._outward_at_knots))
        once = at.once - t * (near + here) / 2
        twice = at.twice + xp.where(above, t, -t) * at.once + xp.where(above, -t, t) * t * (2 * near + here) / 6
        square = at.square - t * (near**2 + near * here + here**2) / 3
        for side, out in ((0, y < inside), (1, y > inside)):
            if anywhere(out):
                d, sign = xp.abs(y[out] - inside[out]), 2 * side - 1
                first, second, squared = tail_integrals(d, *self._tail(side))
                twice[out] = twice[out] + sign * (d * once[out] - second)
                once[out] = once[out] - first
                square[out] = square[out] - squared
        return Outward(*(xp.reshape(column, shape) for column in (once, twice, square)))

    def _outline(self) -> Outline:
        """The knots, and steps into the tails."""
        xp = namespace(self.knots)
        # a repeated knot is a jump, from the first to the last of them
        apart, end = self.knots[1:] > self.knots[:-1], self.knots[:1] == self.knots[:1]
        first, last = concatenate([end, apart]), concatenate([apart, end])
        y, left, right = self.knots[last], self.probs[first], self.probs[last]
        above, bend = 1 - right, xp.zeros_like(y[1:])
        for side in (0, 1):
            mass, scale = self._tail(side)
            if mass > 0 and math.isfinite(scale):
                # what bulges has an error of mass^2 times step^4
                parts = np.arange(1, 1 + math.ceil((mass / 0.007) ** 0.5))[::-1]
                steps = _OUTLINE_STEPS[:, None] - np.diff(_OUTLINE_STEPS, prepend=0.0)[:, None] * (parts - 1) / len(
                    parts
                )
                steps = device_like(steps.reshape(-1), self.knots)
                rest = mass * xp.exp(-concatenate([xp.zeros_like(steps[:1]), steps]))
                h = scale * concatenate([steps[:1], steps[1:] - steps[:-1]])
                bulge = scale * (rest[:-1] - rest[1:]) - h * (rest[:-1] + rest[1:]) / 2
                curve = -12 * bulge / h**3
                if side == 0:
                    far, F = xp.flip(self._ends[0] - scale * steps), xp.flip(rest[1:])
                    y, left, right = concatenate([far, y]), concatenate([F, left]), concatenate([F, right])
                    above = concatenate([1 - F, above])
                    bend = concatenate([xp.flip(curve), bend])
                else:
                    far, F = self._ends[1] + scale * steps, 1 - rest[1:]
                    y, left, right = concatenate([y, far]), concatenate([left, F]), concatenate([right, F])
                    above = concatenate([above, rest[1:]])
                    bend = concatenate([bend, -curve])
        return Outline(y, left, right, above, bend)

    def _describe(self) -> str:
        said = {0: "none", 1: "none"}
        for side in said:
            mass, scale = self._tail(side)
            if mass > 0:
                said[side] = "infinite" if math.isinf(scale) else f"exponential({scale:.3g})"
        tails = said[0] if said[0] == said[1] else f"{said[0]}/{said[1]}"
        return f"{self.knots.shape[0]} knots, tails={tails}"


_TAIL_STEPS = [0.5 * k for k in range(1, 81)]
_TAIL_REACH = 745.0  # mean excesses, beyond which exp is 0
_OUTLINE_STEPS = np.concatenate([np.arange(1, 17) / 4, 4 + np.arange(1, 9) / 2, 8 + np.arange(1, 17)])


def _sums_outward(h: Array, near: Array, far: Array) -> tuple[Array, Array, Array]:
    """`Outward` at every knot from the middle on, over pieces of length h with these values at their ends."""
    xp = namespace(h)
    zero = xp.zeros_like(h[:1]) if h.shape[0] else xp.zeros((1,), dtype=h.dtype, device=array_api_compat.device(h))
    once = -xp.cumulative_sum(concatenate([zero, h * (near + far) / 2]))
    twice = xp.cumulative_sum(concatenate([zero, h * once[:-1] - h**2 * (2 * near + far) / 6]))
    square = -xp.cumulative_sum(concatenate([zero, h * (near**2 + near * far + far**2) / 3]))
    return once, twice, square


def _tabulate(knots: Array, probs: Array, low: tuple[float, float], high: tuple[float, float]) -> _Tables:
    """The integrals from each end to each knot; an infinite end is left out, so that the rest stays finite."""
    xp = namespace(knots)
    h, Fa, Fb = knots[1:] - knots[:-1], probs[:-1], probs[1:]
    # a gap of subnormal width is a jump: its slope would be infinite
    wide = h > float(xp.finfo(h.dtype).smallest_normal)
    slope = xp.where(wide, (Fb - Fa) / xp.where(wide, h, xp.ones_like(h)), xp.zeros_like(h))
    rising = slope > 0
    log_slope = xp.where(rising, xp.log(xp.where(rising, slope, xp.ones_like(h))), xp.full_like(h, -xp.inf))
    flat = xp.zeros_like(knots[:1])
    lower, lower2, lower_square = _prefix(xp, h, Fa, Fb, *low)
    backwards = xp.flip(h), xp.flip(1 - Fb), xp.flip(1 - Fa)
    # + 0 lays the flipped columns out anew: numpy would copy a reversed view at every take
    upper, upper2, upper_square = (xp.flip(column) + 0 for column in _prefix(xp, *backwards, *high))
    return _Tables(
        concatenate([knots[:1], knots]),
        concatenate([probs[:1], probs]),
        concatenate([flat, slope, flat]),
        concatenate([flat - xp.inf, log_slope, flat - xp.inf]),
        lower,
        lower2,
        lower_square,
        upper,
        upper2,
        upper_square,
        lower_square + upper_square,
    )


def _prefix(xp: Any, h: Array, Fa: Array, Fb: Array, mass: float, scale: float) -> tuple[Array, Array, Array]:
    """Integrals of F, of the integral of F, and of F^2 from the lower end to each knot."""
    start = 0.0 if math.isinf(scale) else mass * scale
    h64, a64, b64 = (xp.astype(column, xp.float64) for column in (h, Fa, Fb))
    first = _cumulated(xp, h64 * (a64 + b64) / 2, start)
    start2 = 0.0 if math.isinf(scale) else mass * scale**2
    second = _cumulated(xp, h64 * first[:-1] + h64**2 * (2 * a64 + b64) / 6, start2)
    square = _cumulated(xp, h64 * (a64**2 + a64 * b64 + b64**2) / 3, start * mass / 2)
    return tuple(xp.astype(column, h.dtype) for column in (first, second, square))


def _cumulated(xp: Any, terms: Array, start: float) -> Array:
    head = xp.full((1,), start, dtype=terms.dtype, device=array_api_compat.device(terms))
    return xp.cumulative_sum(concatenate([head, terms]))  # type: ignore[no-any-return]
