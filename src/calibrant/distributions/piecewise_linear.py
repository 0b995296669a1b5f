"""CDFs drawn through points with straight lines, between two tails: what naive and linear interpolation give.

One class for a single distribution, which all rows share, and for many, of which each row has one: those of groups.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace, to_numpy
from calibrant._batch import shared
from calibrant._search import Finder
from calibrant._special import sigmoid
from calibrant.distributions.base import CLOSED, Distribution, Moments
from calibrant.distributions.exponential_tail import beyond, onwards, tail_excess, tail_mass
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable, logit_levels

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


class _Pieces(NamedTuple):
    """From each knot to the next of the same distribution; flat after its last one."""

    slope: Array
    log_slope: Array
    inverse: Array
    following: Array
    """The next knot."""


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """Distribution g runs straight through (knots[i], probs[i]), first[g] <= i < first[g + 1]; equal knots are a jump.

    Beyond its end knots lies the rest of its mass, as exponential tails of mean excess left[g] and right[g]; with an
    infinite mean excess the mass sits at -inf or +inf.
    """

    knots: Array
    probs: Array
    first: Counts
    left: Array
    right: Array

    @classmethod
    def of(cls, distributions: Sequence[PiecewiseLinear]) -> Lines:
        """Those of single distributions, one after the other."""
        parts = [each.lines for each in distributions]
        knots, probs, left, right = (
            concatenate([getattr(part, name) for part in parts]) for name in ("knots", "probs", "left", "right")
        )
        return cls(knots, probs, np.cumsum([0, *(part.knots.shape[0] for part in parts)]), left, right)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of one value: what is worked out for it is kept for all rows."""
        return ()

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getstate__(self) -> dict[str, Any]:
        """The fields: what is worked out from the knots, many times their size, is made anew rather than sent."""
        return {name: self.__dict__[name] for name in ("knots", "probs", "first", "left", "right")}

    def followed_by(self, other: Lines) -> Lines:
        """The distributions of both."""
        columns = [(getattr(self, name), getattr(other, name)) for name in ("knots", "probs", "left", "right")]
        knots, probs, left, right = map(concatenate, columns)
        return Lines(knots, probs, np.concatenate([self.first, self.first[-1] + other.first[1:]]), left, right)

    def one(self, g: int) -> PiecewiseLinear:
        """Distribution g by itself."""
        part = slice(int(self.first[g]), int(self.first[g + 1]))
        return PiecewiseLinear.through(self.knots[part], self.probs[part], float(self.left[g]), float(self.right[g]))

    # ---- what is worked out once, in double precision ---------------------------------------------------------------

    @cached_property
    def ends(self) -> tuple[Counts, Counts]:
        """The places of the first and the last knot of each."""
        return self.first[:-1], self.first[1:] - 1

    @cached_property
    def tails(self) -> tuple[tuple[Numbers, Numbers, Numbers], ...]:
        """Below and above: the end knot of each, the mass beyond it and its mean excess, 0 without mass."""
        knots, probs, *scales = self._numbers(self.knots, self.probs, self.left, self.right)
        found = []
        for side, (end, scale) in enumerate(zip(self.ends, scales, strict=True)):
            mass = 1 - probs[end] if side else probs[end]
            found.append((knots[end], mass, np.where(mass > 0, scale, 0.0)))
        return tuple(found)

    @cached_property
    def finders(self) -> tuple[Finder, Finder]:
        """Of a single distribution: how many knots, or probs, from the second on, lie before a value."""
        return Finder(self.knots[1:]), Finder(self.probs[1:])

    @cached_property
    def own_tails(self) -> tuple[tuple[float, float, float], ...]:
        """Those of a single distribution, as numbers."""
        return tuple((float(knot[0]), float(mass[0]), float(scale[0])) for knot, mass, scale in self.tails)

    @cached_property
    def pieces(self) -> _Pieces:
        """What CDF, density and quantiles read off."""
        knots, probs = self._numbers(self.knots, self.probs)
        h, rise = np.diff(knots, append=knots[-1]), np.diff(probs, append=probs[-1])
        h[self.ends[1]] = rise[self.ends[1]] = 0.0
        wide = h > np.finfo(to_numpy(self.knots).dtype).smallest_normal  # a narrower gap is a jump
        slope = np.divide(rise, h, out=np.zeros_like(h), where=wide)
        log_slope = np.log(slope, out=np.full_like(h, -np.inf), where=slope > 0)
        inverse = np.divide(h, rise, out=np.zeros_like(h), where=rise > 0)
        return _Pieces(*self._here(slope, log_slope, inverse, knots + h))

    @cached_property
    def sums(self) -> dict[int, Array]:
        """The integrals of F up to each knot; an infinite lower end is left out, so that the rest stays finite."""
        knots, probs = self._numbers(self.knots, self.probs)
        begin, (_, mass, scale) = self.ends[0], self.tails[0]
        scale = np.where(np.isfinite(scale), scale, 0.0)
        h, Fa, Fb = np.diff(knots, prepend=knots[0]), np.concatenate([probs[:1], probs[:-1]]), probs
        h[begin] = 0.0

        def summed(terms: Numbers, start: Numbers) -> Numbers:
            terms[begin] = start
            return sums_within(terms, self.first)

        once = summed(h * (Fa + Fb) / 2, mass * scale)
        before = np.concatenate([once[:1], once[:-1]])
        twice = summed(h * before + h**2 * (2 * Fa + Fb) / 6, mass * scale**2)
        square = summed(h * (Fa**2 + Fa * Fb + Fb**2) / 3, mass**2 * scale / 2)
        return dict(zip((ONCE, TWICE, SQUARE), self._here(once, twice, square), strict=True))

    @cached_property
    def moments(self) -> tuple[Numbers, Numbers, Numbers]:
        """Mean, std and shift of each, from its middle knot."""
        knots, probs = self._numbers(self.knots, self.probs)
        begin = self.ends[0]
        middle = knots[(self.first[:-1] + self.first[1:]) // 2]
        u = knots - np.repeat(middle, np.diff(self.first))
        a, Fa, b, Fb = np.roll(u, 1), np.roll(probs, 1), u, probs
        a[begin], Fa[begin] = u[begin], probs[begin]

        def summed(terms: Numbers) -> Numbers:
            return np.asarray(np.add.reduceat(terms, begin), np.float64)

        mean, second = summed((Fb - Fa) * (a + b)) / 2, summed((Fb - Fa) * (a * a + a * b + b * b)) / 3
        gini = summed((b - a) * (Fa * (1 - Fb) + Fb * (1 - Fa) + 2 * (Fa * (1 - Fa) + Fb * (1 - Fb)))) / 6
        lost = []
        for side, (end, mass, scale) in enumerate(self.tails):
            lost.append(np.isinf(scale))
            scale, mass = np.where(lost[side], 0.0, scale), np.where(lost[side], 0.0, mass)
            far = end - middle + (2 * side - 1) * scale
            mean, second = mean + mass * far, second + mass * (far * far + scale * scale)
            gini = gini + mass * scale * (1 - mass / 2)
        either, std = lost[0] | lost[1], np.sqrt(np.maximum(second - mean**2, 0.0))
        ends = np.where(lost[0], np.where(lost[1], np.nan, -np.inf), np.inf)
        shift = np.where(either, np.inf, middle + mean - gini)
        return np.where(either, ends, middle + mean), np.where(either, np.inf, std), shift

    @staticmethod
    def _numbers(*columns: Array) -> list[Numbers]:
        return [to_numpy(column).astype(np.float64) for column in columns]

    def _here(self, *columns: Numbers) -> list[Array]:
        return [device_like(column, self.knots) for column in columns]


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseLinear(Distribution):
    """Distribution `group[i]` of `lines` in row i; a single one without `group`. Everything is exact, from prefix sums.

    >>> q = PiecewiseLinear.through(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.5, 1.0]))
    >>> float(q.mean()), float(q.cdf(2.0))
    (1.25, 0.75)
    """

    lines: Lines = shared()
    group: Counts | None = None

    @classmethod
    def through(cls, knots: Array, probs: Array, left: float = math.inf, right: float = math.inf) -> PiecewiseLinear:
        """The single distribution through these points, with tails of these mean excesses."""
        ends = (device_like([float(end)], knots) for end in (left, right))
        return cls(Lines(knots, probs, np.asarray([0, knots.shape[0]]), *ends))

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.group is None else (self.group.shape[0],)

    @property
    def like(self) -> Array:
        return self.lines.knots

    @property
    def knots(self) -> Array:
        """All of them."""
        return self.lines.knots

    @property
    def probs(self) -> Array:
        """The CDF there."""
        return self.lines.probs

    @property
    def _block(self) -> int:
        return CLOSED

    def __getitem__(self, index: Any) -> Distribution:
        """An integer gives the single distribution of that row."""
        whole = isinstance(index, (int, np.integer)) and not isinstance(index, bool)
        if self.group is not None and whole and -len(self) <= index < len(self):
            return self.lines.one(int(self.group[index]))
        return super().__getitem__(index)

    # ---- where a value lies ----------------------------------------------------------------------------------------

    def _flat(self, values: Array) -> tuple[Array, Any]:
        """All values in one line, and the distribution of each; None where there is one."""
        xp = namespace(values)
        if self.group is None:
            return xp.reshape(values, (-1,)), None
        values = xp.broadcast_to(values, (*self.shape, values.shape[1]))
        return xp.reshape(values, (-1,)), np.repeat(self.group, values.shape[1])

    def _of(self, column: Any, groups: Any, like: Array) -> Array:
        """What each value's distribution has in a column."""
        xp = namespace(like)
        own = xp.asarray(column[groups], device=device(like))
        return own if column.dtype.kind == "i" else xp.astype(own, like.dtype, copy=False)

    def _tail(self, side: int, groups: Any, like: Array) -> tuple[Any, Any, Any]:
        """The end knot, the mass beyond it and its mean excess: numbers, where there is one distribution."""
        if groups is None:
            return self.lines.own_tails[side]
        knot, mass, scale = (self._of(column, groups, like) for column in self.lines.tails[side])
        return knot, mass, scale

    def _place(self, which: int, values: Array, groups: Any, *, equal: bool) -> Array:
        """The place of the last knot (0) or prob (1) of its own that is below a value, or equal to it if so asked.

        The first one, where none is.
        """
        if groups is None:
            finder = self.lines.finders[which]
            found: Array = finder.up_to(values) if equal else finder.below(values)
            return found
        xp, column = namespace(values), (self.lines.knots, self.lines.probs)[which]
        low, high = (self._of(end, groups, values) + 1 for end in self.lines.ends)
        for _ in range(int(np.diff(self.lines.first)[self.group].max(initial=1)).bit_length()):
            middle = (low + high) // 2
            entry = xp.take(column, clip(middle, 0, column.shape[0] - 1))
            on = (entry <= values if equal else entry < values) & (low < high)
            low, high = xp.where(on, middle + 1, low), xp.where(on, high, middle)
        return low - 1

    def _inside(self, y: Array, groups: Any, *, equal: bool = True) -> tuple[Array, Array, Array]:
        """Each y kept between its end knots, the place of the knot before it, and how far it is from there."""
        inside = clip(y, self._tail(0, groups, y)[0], self._tail(1, groups, y)[0])
        a = self._place(0, inside, groups, equal=equal)
        return inside, a, inside - namespace(y).take(self.lines.knots, a)

    def _beyond(self, value: Array, y: Array, groups: Any, side: int, out: Array, ask: Any) -> None:
        """Put ask(distance, mass, scale, value) into `value` where y is `out`."""
        if anywhere(out):
            own = None if groups is None else groups[to_numpy(out)]
            knot, mass, scale = self._tail(side, own, y)
            value[out] = ask((y[out] - knot) * (2 * side - 1), mass, scale, value[out])

    # ---- the four --------------------------------------------------------------------------------------------------

    def _cdf(self, y: Array) -> Array:
        return self._distribution(y, equal=True)

    def _cdf_left(self, y: Array) -> Array:
        return self._distribution(y, equal=False)

    def _distribution(self, y: Array, *, equal: bool) -> Array:
        xp, (flat, groups) = namespace(y), self._flat(y)
        inside, a, t = self._inside(flat, groups, equal=equal)
        F = xp.take(self.lines.probs, a) + xp.take(self.lines.pieces.slope, a) * t
        first = self._tail(0, groups, flat)[0]
        low, high = flat < first if equal else flat <= first, flat > inside
        self._beyond(F, flat, groups, 0, low, lambda d, *tail: _outside(d, *tail[:2], infinite=equal))
        self._beyond(F, flat, groups, 1, high, lambda d, *tail: 1 - _outside(d, *tail[:2], infinite=not equal))
        return self._shaped(F, y)

    def _sf(self, y: Array) -> Array:
        flat, groups = self._flat(y)
        S = namespace(y).reshape(1 - self._cdf(y), (-1,))
        last = self._tail(1, groups, flat)[0]
        self._beyond(S, flat, groups, 1, flat > last, lambda d, *tail: _outside(d, *tail[:2], infinite=False))
        return self._shaped(S, y)

    def _ppf(self, p: Array) -> Array:
        xp, lines, (flat, groups) = namespace(p), self.lines, self._flat(p)
        a = self._place(1, flat, groups, equal=False)
        step = (flat - xp.take(lines.probs, a)) * xp.take(lines.pieces.inverse, a)
        y = xp.minimum(xp.take(lines.knots, a) + step, xp.take(lines.pieces.following, a))
        low, high = (self._tail(side, groups, flat)[1] for side in (0, 1))
        for side, out, mass in ((0, flat <= low, flat), (1, flat > 1 - high, 1 - flat)):
            self._excess(y, mass, groups, side, out)
        return self._shaped(y, p)

    def _excess(self, y: Array, mass: Array, groups: Any, side: int, out: Array) -> None:
        """Put the place beyond which a mass is left into y, where it is `out`."""
        if anywhere(out):
            knot, *tail = self._tail(side, None if groups is None else groups[to_numpy(out)], y)
            y[out] = knot + (2 * side - 1) * tail_excess(mass[out], *tail)

    def _ppf_logit(self, s: Array) -> Array:
        """In the upper tail from the mass beyond, sigmoid(-s), which does not round to 0."""
        y, (flat, groups) = namespace(s).reshape(self._ppf(sigmoid(s)), (-1,)), self._flat(s)
        rest, (_, mass, scale) = sigmoid(-flat), self._tail(1, groups, flat)
        out = rest < mass
        if groups is not None or not math.isinf(scale):
            self._excess(y, rest, groups, 1, out)
        return self._shaped(y, s)

    def _logpdf(self, y: Array) -> Array:
        xp, (flat, groups) = namespace(y), self._flat(y)
        # 0 * y: a gradient of 0, not none
        density = xp.take(self.lines.pieces.log_slope, self._place(0, flat, groups, equal=True)) + 0 * flat
        first, last = (self._tail(side, groups, flat)[0] for side in (0, 1))
        for side, out in ((0, flat < first), (1, flat >= last)):
            self._beyond(density, flat, groups, side, out, _log_density)
        return self._shaped(density, y)

    def _shaped(self, flat: Array, y: Array) -> Array:
        return namespace(flat).reshape(flat, y.shape if self.group is None else (*self.shape, y.shape[1]))

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _integrals(self, y: Array, which: int) -> Array:
        xp, lines, (flat, groups) = namespace(y), self.lines, self._flat(y)
        inside, a, t = self._inside(flat, groups)
        Fa = xp.take(lines.probs, a)
        F = Fa + xp.take(lines.pieces.slope, a) * t
        value = xp.take(lines.sums[which], a)
        if which == ONCE:
            value = value + t * (Fa + F) / 2
        elif which == SQUARE:
            value = value + t * (Fa * Fa + Fa * F + F * F) / 3
        else:
            value = value + t * xp.take(lines.sums[ONCE], a) + t * t * (2 * Fa + F) / 6
        self._beyond(value, flat, groups, 0, flat < inside, lambda d, mass, scale, _: beyond(d, mass, scale, which))
        out = flat > inside
        start: Any = 0.0
        if which == TWICE:
            last = lines.ends[1][0 if groups is None else groups[to_numpy(out)]]
            start = device_like(to_numpy(lines.sums[ONCE])[last], value)
        self._beyond(
            value, flat, groups, 1, out, lambda d, mass, scale, here: here + onwards(d, mass, scale, which, start)
        )
        return self._shaped(value, y)

    def _moments(self) -> Moments:
        place = 0 if self.group is None else self.group
        return Moments(*(device_like(part[place], self.like) for part in self.lines.moments))

    def _table(self, count: int) -> MassTable:
        """Of a single one with all knots among the places where they are few, and exact bulges where they are many."""
        if self.group is not None:
            return super()._table(count)
        law = self._in_double
        levels, knots = device_like(logit_levels(count), law.knots), law.knots
        xp = namespace(knots)
        places = law._ppf_logit(levels)
        few = knots.shape[0] <= count
        places = xp.unique_values(concatenate([places[xp.isfinite(places)], knots if few else knots[:1], knots[-1:]]))[
            None, :
        ]
        return MassTable.through(law, places, law._integrals(places, ONCE))

    @property
    def has_atoms_only(self) -> bool:
        """Whether all mass of a single one sits on atoms, those at -inf and +inf included."""
        knots, probs = self.knots, self.probs
        sloped = (knots[1:] > knots[:-1]) & (probs[1:] > probs[:-1])
        tailed = any(mass[0] > 0 and np.isfinite(scale[0]) for _, mass, scale in self.lines.tails)
        return not (tailed or bool(namespace(knots).any(sloped)))

    def _describe(self) -> str:
        if self.group is not None:
            return f"{len(self.lines)} distributions, {self.knots.shape[0]} knots"
        said = [
            "none" if not mass[0] > 0 else "infinite" if np.isinf(scale[0]) else f"exponential({scale[0]:.3g})"
            for _, mass, scale in self.lines.tails
        ]
        return f"{self.knots.shape[0]} knots, tails={said[0] if said[0] == said[1] else '/'.join(said)}"


def _outside(d: Array, mass: Any, scale: Any, *, infinite: bool) -> Array:
    """The mass beyond a distance d, with or without what may lie at infinity."""
    xp, left = namespace(d), tail_mass(d, mass, scale)
    return left if infinite else xp.where(xp.isinf(d), xp.zeros_like(left), left)


def _log_density(d: Array, mass: Any, scale: Any, _: Array) -> Array:
    """log(mass / scale) - d / scale, where the tail falls."""
    xp = namespace(d)
    mass, scale = mass + 0 * d, scale + xp.zeros_like(d)
    falls = (mass > 0) & xp.isfinite(scale)
    mass, scale = (xp.where(falls, part, xp.ones_like(part)) for part in (mass, scale))
    return xp.where(falls, xp.log(mass / scale) - d / scale, xp.full_like(d, -xp.inf))


def sums_within(terms: Numbers, first: Counts) -> Numbers:
    """The sums of terms from the start of their part on: no part touches the digits of another.

    Parts of about the same length are added up side by side.

    >>> sums_within(np.array([1.0, 2.0, 10.0, 20.0, 30.0]), np.array([0, 2, 5]))
    array([ 1.,  3., 10., 30., 60.])
    """
    counts, sums = np.diff(first), np.empty_like(terms)
    size = np.frexp(counts)[1]
    for each in np.unique(size):
        which = np.flatnonzero(size == each)
        steps = np.arange(counts[which].max())
        places, own = first[which][:, None] + steps, steps < counts[which][:, None]
        block = np.where(own, terms[np.minimum(places, len(terms) - 1)], 0.0)
        sums[places[own]] = np.cumsum(block, axis=1)[own]
    return sums
