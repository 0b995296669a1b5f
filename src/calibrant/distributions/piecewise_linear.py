"""Piecewise linear CDFs between two tails: the q of naive and linear interpolation.

`Lines` holds one or several CDFs. `PiecewiseLinear` is one of them, or a batch in which each row has one: that of its
group.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, fields
from functools import cached_property, partial
from typing import Any, ClassVar, NamedTuple

import numpy as np
from array_api_compat import device
from numpy.typing import NDArray

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace, to_numpy
from calibrant._batch import shared
from calibrant._search import Finder
from calibrant._special import safe_log, sigmoid
from calibrant.distributions.base import Distribution, Moments, bent_places
from calibrant.distributions.parameters import check_bends
from calibrant.distributions.table import ONCE, SQUARE, TWICE

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


class KnotTail(NamedTuple):
    """The lower or the upper tails: in each field one number per distribution."""

    end: Numbers
    """The knot beyond which it lies."""
    mass: Numbers
    scale: Numbers
    """The mean excess; 1 where there is no mass."""


class KnotColumns(NamedTuple):
    """Computed once, one entry per knot: for the piece from this knot to the next; flat after the last knot."""

    double: tuple[Numbers, Numbers]
    """Knots and probs in double precision."""
    tails: tuple[KnotTail, KnotTail]
    """Below and above."""
    slope: Array
    log_slope: Array
    """The log density; at the last knot that of the tail."""
    inverse: Array
    """1 / slope; 0 where the CDF is flat or jumps."""
    following: Array
    """The next knot."""
    sums: dict[int, Array]
    """The integrals up to the knot; an infinite lower end is left out, so that the rest stays finite."""


@dataclass(frozen=True, eq=False, repr=False)
class Lines:
    """The CDF of distribution g is linear between (knots[i], probs[i]), first[g] <= i < first[g + 1].

    Two equal knots are a jump. The mass beyond the first and last knot is in exponential tails of mean excess left[g]
    and right[g]; if that is infinite, the mass sits at -inf or +inf.
    """

    knots: Array
    probs: Array
    first: Counts
    left: Array
    right: Array
    shape: ClassVar[
        tuple[int, ...]
    ] = ()  # as of a single distribution: moved to another device or dtype once, for all rows

    def __post_init__(self) -> None:
        """Each distribution has knots; knots and probs do not decrease; a tail with mass has a mean excess above 0."""
        knots, probs, first, number = to_numpy(self.knots), to_numpy(self.probs), self.first, len(self)
        left, right = to_numpy(self.left), to_numpy(self.right)
        if (
            knots.ndim != 1
            or knots.shape != probs.shape
            or len({knots.dtype, probs.dtype, left.dtype, right.dtype}) > 1
        ):
            raise ValueError(f"{knots.size} knots of {knots.dtype} do not go with {probs.size} probs of {probs.dtype}")
        if number < 1 or first[0] != 0 or first[-1] != knots.size or (first[1:] <= first[:-1]).any():
            raise ValueError(f"its distributions must share its {knots.size} knots, one after the other")
        if not left.size == right.size == number:
            raise ValueError(f"{number} distributions do not go with {left.size} and {right.size} tails")
        check_bends(knots, probs, first)
        if (
            not ((left >= 0) & (right >= 0)).all()
            or ((left == 0) & (probs[first[:-1]] > 0) | (right == 0) & (probs[first[1:] - 1] < 1)).any()
        ):
            raise ValueError("a tail that has mass needs a mean excess above 0")

    @classmethod
    def of(cls, parts: Sequence[PiecewiseLinear | Lines]) -> Lines:
        """The distributions of all parts, one after the other."""
        lines = [part if isinstance(part, Lines) else part.lines for part in parts]
        names = "knots", "probs", "left", "right"
        knots, probs, left, right = (concatenate([getattr(each, name) for each in lines]) for name in names)
        first = np.cumsum(np.concatenate([[0], *(np.diff(each.first) for each in lines)]))
        return cls(knots, probs, first, left, right)

    def __len__(self) -> int:
        return len(self.first) - 1

    def __getstate__(self) -> dict[str, Any]:
        """Only the fields: cached columns, many times their size, are computed again after unpickling."""
        return {part.name: self.__dict__[part.name] for part in fields(self)}

    def one(self, g: int) -> PiecewiseLinear:
        """Distribution g by itself."""
        part = slice(int(self.first[g]), int(self.first[g + 1]))
        return PiecewiseLinear.through(self.knots[part], self.probs[part], float(self.left[g]), float(self.right[g]))

    # ---- computed once, in double precision -------------------------------------------------------------------------

    @cached_property
    def finders(self) -> tuple[Finder, Finder]:
        """For a single distribution: they count the knots, or the probs, before a value; the first one is left out."""
        return Finder(self.knots[1:]), Finder(self.probs[1:])

    @cached_property
    def columns(self) -> KnotColumns:
        """Everything that evaluations look up."""
        double = partial(np.asarray, dtype=np.float64)
        knots, probs, left, right = map(double, map(to_numpy, (self.knots, self.probs, self.left, self.right)))
        begin, last = self.first[:-1], self.first[1:] - 1
        low, high = probs[begin], 1 - probs[last]
        lower = KnotTail(knots[begin], low, np.where(low > 0, left, 1.0))
        upper = KnotTail(knots[last], high, np.where(high > 0, right, 1.0))
        h, rise = np.diff(knots, append=knots[-1]), np.diff(probs, append=probs[-1])
        h[last] = rise[last] = 0.0
        slope = np.divide(rise, h, out=np.zeros_like(h), where=h > 0)
        inverse = np.divide(h, rise, out=np.zeros_like(h), where=rise > 0)
        height = slope.copy()
        height[last] = upper.mass / upper.scale
        log_slope = np.log(height, out=np.full_like(height, -np.inf), where=height > 0)
        scale = np.where(np.isinf(lower.scale), 0.0, lower.scale)
        following, h, Fa = h + knots, np.roll(h, 1), np.roll(probs, 1)  # h, Fa: of the piece up to each knot
        once = sums_within(h * (Fa + probs) / 2, low * scale, self.first)
        twice = sums_within(h * np.roll(once, 1) + h**2 * (2 * Fa + probs) / 6, low * scale**2, self.first)
        square = sums_within(h * (Fa**2 + Fa * probs + probs**2) / 3, low**2 * scale / 2, self.first)
        own = slope, log_slope, inverse, following, once, twice, square
        home = list(map(partial(device_like, like=self.knots), own))
        sums = {ONCE: home[4], TWICE: home[5], SQUARE: home[6]}
        return KnotColumns((knots, probs), (lower, upper), home[0], home[1], home[2], home[3], sums)

    @cached_property
    def moments(self) -> Moments:
        """Mean, std and shift of each distribution, computed relative to its middle knot."""
        begin, (knots, probs), (lower, upper) = self.first[:-1], self.columns.double, self.columns.tails
        middle = knots[(begin + self.first[1:]) // 2]
        b, Fb = knots - np.repeat(middle, np.diff(self.first)), probs
        a, Fa = np.roll(b, 1), np.roll(Fb, 1)
        a[begin], Fa[begin] = b[begin], Fb[begin]
        both = Fa * (1 - Fb) + Fb * (1 - Fa) + 2 * (Fa * (1 - Fa) + Fb * (1 - Fb))
        terms = (Fb - Fa) * (a + b) / 2, (Fb - Fa) * (a * a + a * b + b * b) / 3, (b - a) * both / 6
        mean, second, gini = np.add.reduceat(np.stack(terms), begin, axis=1)
        low, high = np.isinf(lower.scale), np.isinf(upper.scale)
        for side, infinite, tail in ((-1, low, lower), (1, high, upper)):
            scale, mass = np.where(infinite, 0.0, tail.scale), np.where(infinite, 0.0, tail.mass)
            far = tail.end - middle + side * scale
            mean, second = mean + mass * far, second + mass * (far * far + scale * scale)
            gini = gini + mass * scale * (1 - mass / 2)
        either, std = low | high, np.sqrt(np.maximum(second - mean**2, 0.0))
        ends = np.where(low, np.where(high, np.nan, -np.inf), np.inf)
        shift = np.where(either, np.inf, middle + mean - gini)
        return Moments(np.where(either, ends, middle + mean), np.where(either, np.inf, std), shift)


@dataclass(frozen=True, eq=False, repr=False)
class PiecewiseLinear(Distribution):
    """Row i is distribution `group[i]` of `lines`; a single one without `group`. Mean, std and CRPS are exact.

    >>> q = PiecewiseLinear.through(np.array([0.0, 1.0, 3.0]), np.array([0.0, 0.5, 1.0]))
    >>> float(q.mean()), float(q.cdf(2.0))
    (1.25, 0.75)
    """

    lines: Lines = shared()
    group: Counts | None = None

    def __post_init__(self) -> None:
        """Each row has one of the lines; without rows there is one."""
        number = len(self.lines)
        if self.group is None:
            if number != 1:
                raise ValueError(f"a single distribution is one line, got {number}")
        elif self.group.size and not 0 <= self.group.min() <= self.group.max() < number:
            raise ValueError(f"its rows must be of its {number} lines, got {self.group.min()} to {self.group.max()}")

    @classmethod
    def through(cls, knots: Array, probs: Array, left: float = math.inf, right: float = math.inf) -> PiecewiseLinear:
        """The single distribution through these points, with tails of these mean excesses.

        Args:
            knots: Where the CDF bends, in increasing order; two equal ones are a jump.
            probs: The CDF at the knots, rising.
            left: The mean excess of the exponential tail below the first knot; infinite for mass at -inf.
            right: The mean excess of the exponential tail above the last knot; infinite for mass at +inf.
        """
        left_, right_ = device_like([float(left)], knots), device_like([float(right)], knots)
        return cls(Lines(knots, probs, np.asarray([0, knots.shape[0]]), left_, right_))

    @property
    def shape(self) -> tuple[int, ...]:
        return () if self.group is None else (self.group.shape[0],)

    @property
    def like(self) -> Array:
        return self.lines.knots

    @property
    def knots(self) -> Array:
        """The knots of all distributions, one after the other."""
        return self.lines.knots

    @property
    def probs(self) -> Array:
        """The CDF at the knots."""
        return self.lines.probs

    # ---- where a value lies ----------------------------------------------------------------------------------------

    def _flat(self, y: Array) -> tuple[Array, Any, tuple[int, ...]]:
        """All values, flattened; which distribution each belongs to (None if there is one); the shape of the result."""
        xp, shape = namespace(y), y.shape if self.group is None else (self.group.shape[0], y.shape[1])
        if self.group is None:
            return xp.reshape(y, (-1,)), None, shape
        return xp.reshape(xp.broadcast_to(y, shape), (-1,)), np.repeat(self.group, y.shape[1]), shape

    def _of(self, column: Any, groups: Any, like: Array) -> Any:
        """The entry of `column` for the distribution of each value; a plain number if there is one distribution."""
        if groups is None:
            return float(column[0])
        xp = namespace(like)
        own: Any = xp.asarray(column[groups], device=device(like))
        return own if column.dtype.kind == "i" else xp.astype(own, like.dtype, copy=False)

    def _inside(self, y: Array, groups: Any, *, left: bool = False) -> tuple[Array, Array]:
        """The index of the last knot <= y (with `left`, < y), and the distance of y from it.

        The first knot if there is none. A y beyond the first or last knot is moved to it.
        """
        low, high = self.lines.columns.tails
        inside = clip(y, self._of(low.end, groups, y), self._of(high.end, groups, y))
        if groups is None:
            found = self.lines.finders[0].count(inside, left=left)
        else:
            found = self._among(0, inside, groups, left=left)
        return found, inside - namespace(y).take(self.lines.knots, found)

    def _among(self, which: int, values: Array, groups: Any, *, left: bool) -> Any:
        """The index of the last knot (`which` 0) or prob (1) <= value in the value's distribution; `left`: < value."""
        xp, column = namespace(values), (self.lines.knots, self.lines.probs)[which]
        low, high = (self._of(end, groups, values) for end in (self.lines.first[:-1] + 1, self.lines.first[1:]))
        for _ in range(int(np.diff(self.lines.first)[self.group].max(initial=1)).bit_length()):
            middle = (low + high) // 2
            entry = xp.take(column, clip(middle, 0, column.shape[0] - 1))
            on = (entry < values if left else entry <= values) & (low < high)
            low, high = xp.where(on, middle + 1, low), xp.where(on, high, middle)
        return low - 1

    def _beyond(self, y: Array, groups: Any) -> Iterator[tuple[int, Array, Array, Any, Any]]:
        """For each tail with some y in it: side (0, 1), mask of these y, their distances, its mass and mean excess."""
        for side, (ends, masses, scales) in enumerate(self.lines.columns.tails):
            end = self._of(ends, groups, y)
            out = y > end if side else y < end
            if anywhere(out):
                own = None if groups is None else groups[to_numpy(out)]
                end, mass, scale = (self._of(column, own, y) for column in (ends, masses, scales))
                yield side, out, y[out] - end if side else end - y[out], mass, scale

    # ---- cdf, sf, ppf and logpdf -----------------------------------------------------------------------------------

    def _cdf(self, y: Array) -> Array:
        return self._share(y)

    def _cdf_left(self, y: Array) -> Array:
        return self._share(y, left=True)

    def _sf(self, y: Array) -> Array:
        return self._share(y, above=True)

    def _share(self, y: Array, *, left: bool = False, above: bool = False) -> Array:
        """F, or with `left` P(Y < y), or with `above` 1 - F, accurate in the upper tail."""
        xp, (flat, groups, shape) = namespace(y), self._flat(y)
        a, t = self._inside(flat, groups, left=left)
        F = xp.take(self.lines.probs, a) + xp.take(self.lines.columns.slope, a) * t
        F = 1 - F if above else F
        for side, out, d, mass, scale in self._beyond(flat, groups):
            with np.errstate(invalid="ignore"):
                steps = d / scale
            rest = mass * xp.exp(-xp.where(xp.isnan(steps), 0.0, steps))  # an infinite scale: at infinity
            rest = rest if left == bool(side) else xp.where(xp.isinf(d), 0.0, rest)
            F[out] = rest if above == bool(side) else 1 - rest
        return xp.reshape(F, shape)

    def _ppf(self, p: Array) -> Array:
        return self._quantile(p, 1 - p)

    def _ppf_logit(self, s: Array) -> Array:
        return self._quantile(sigmoid(s), sigmoid(-s))

    def _quantile(self, p: Array, rest: Array) -> Array:
        """Quantiles at levels p; in the upper tail computed from rest = 1 - p, which does not round to 0."""
        xp, lines, (flat, groups, shape), (above, *_) = namespace(p), self.lines, self._flat(p), self._flat(rest)
        a = lines.finders[1].count(flat, left=True) if groups is None else self._among(1, flat, groups, left=True)
        step = (flat - xp.take(lines.probs, a)) * xp.take(lines.columns.inverse, a)
        y = xp.minimum(xp.take(lines.knots, a) + step, xp.take(lines.columns.following, a))
        for side, (ends, masses, scales) in enumerate(lines.columns.tails):
            mass = self._of(masses, groups, flat)
            out = (above < mass) & (flat > 1 - mass) if side else flat < mass
            if anywhere(out):
                own = None if groups is None else groups[to_numpy(out)]
                end, mass, scale = (self._of(column, own, flat) for column in (ends, masses, scales))
                with np.errstate(divide="ignore", invalid="ignore"):
                    far = scale * xp.log(mass / (above if side else flat)[out])
                far = xp.where(xp.isnan(far), xp.inf, far)
                y[out] = end + far if side else end - far
        return xp.reshape(y, shape)

    def _logpdf(self, y: Array) -> Array:
        xp, (flat, groups, shape) = namespace(y), self._flat(y)
        density = xp.take(self.lines.columns.log_slope, self._inside(flat, groups)[0])
        if not isinstance(density, np.ndarray):
            density = density + 0 * flat  # so that torch finds a gradient, which is 0
        for _, out, d, mass, scale in self._beyond(flat, groups):
            density[out] = safe_log(mass / scale + xp.zeros_like(d)) - d / scale
        return xp.reshape(density, shape)

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _integrals(self, y: Array, which: int) -> Array:
        xp, columns, (flat, groups, shape) = namespace(y), self.lines.columns, self._flat(y)
        a, t = self._inside(flat, groups)
        Fa = xp.take(self.lines.probs, a)
        F, value, once = Fa + xp.take(columns.slope, a) * t, xp.take(columns.sums[which], a), Fa
        if which == ONCE:
            value = value + t * (Fa + F) / 2
        elif which == SQUARE:
            value = value + t * (Fa * Fa + Fa * F + F * F) / 3
        else:
            once = xp.take(columns.sums[ONCE], a)
            value = value + t * once + t * t * (2 * Fa + F) / 6
        for side, out, d, mass, scale in self._beyond(flat, groups):
            single, double, twice = _lengths(d, scale)
            if which == ONCE:
                more = side * d - mass * single
            elif which == SQUARE:
                more = side * (d - 2 * mass * single) + (2 * side - 1) * mass**2 * double
            else:
                more = side * d * d / 2 + (2 * side - 1) * (d * once[out] - mass * twice)
            value[out] = value[out] + more
        return xp.reshape(value, shape)

    def _moments(self) -> Moments:
        place: Any = 0 if self.group is None else self.group
        return Moments(*(device_like(part[place], self.lines.knots) for part in self.lines.moments))

    def _crps(self, y: Array) -> Array:
        place: Any = 0 if self.group is None else self.group[:, None]
        return 2 * self._integrals(y, ONCE) - y + device_like(self.lines.moments.shift[place], self.lines.knots)

    def _places(self, s: Array) -> Array:
        """For a single distribution the knots are among them."""
        return super()._places(s) if self.shape else bent_places(self, s, self.knots)

    @property
    def has_atoms_only(self) -> bool:
        """Whether all mass of a single distribution is on atoms, which may be at -inf and +inf."""
        knots, probs = self.knots, self.probs
        sloped = (knots[1:] > knots[:-1]) & (probs[1:] > probs[:-1])
        tailed = any(mass[0] > 0 and np.isfinite(scale[0]) for _, mass, scale in self.lines.columns.tails)
        return not (tailed or anywhere(sloped))


def _lengths(d: Array, scale: Any) -> tuple[Array, Array, Array]:
    """The integrals over t from 0 to d of exp(-t / scale), of its square, and of the first of these integrals."""
    xp, scale = namespace(d), scale + namespace(d).zeros_like(d)
    falls = xp.isfinite(scale)
    scale = xp.where(falls, scale, 1.0)
    once = xp.where(falls, -scale * xp.expm1(-d / scale), d)
    square = xp.where(falls, -scale / 2 * xp.expm1(-2 * d / scale), d)
    return once, square, xp.where(falls, scale * (d - once), d * d / 2)


def sums_within(terms: Numbers, start: Numbers, first: Counts) -> Numbers:
    """Cumulative sums, computed within each part alone, so that no part adds rounding errors to another.

    `start` replaces the first term of each part.

    >>> sums_within(np.array([0.0, 2.0, 0.0, 20.0, 30.0]), np.array([1.0, 10.0]), np.array([0, 2, 5]))
    array([ 1.,  3., 10., 30., 60.])
    """
    terms[first[:-1]] = start
    sums = np.empty_like(terms)
    for a, b in itertools.pairwise(first):
        np.cumsum(terms[a:b], out=sums[a:b])
    return sums
