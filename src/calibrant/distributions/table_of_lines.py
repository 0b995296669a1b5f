"""Many CDFs of straight lines in one table, with what is read off them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, concatenate, device_like, to_numpy
from calibrant._kept import kept
from calibrant.distributions.integrals import Outward
from calibrant.distributions.piecewise import PiecewiseLinear

Numbers = NDArray[np.float64]
Counts = NDArray[np.int64]


class _Slopes(NamedTuple):
    """From each knot to the next."""

    slope: Array
    log_slope: Array
    inverse: Array


class _FromEnds(NamedTuple):
    """From either end of a law to each of its knots."""

    lower: Array
    lower2: Array
    lower_square: Array
    upper: Array
    upper2: Array
    upper_square: Array


@dataclass(frozen=True, eq=False, repr=False)
class TableOfLines:
    """Law g runs straight through (knots[i], probs[i]) for first[g] <= i < first[g + 1]; a repeated knot is a jump.

    What lies beyond its end knots is an exponential tail of mean excess left[g] or right[g], as in `PiecewiseLinear`.
    """

    knots: Array
    probs: Array
    first: Counts
    left: Array
    right: Array

    @classmethod
    def of(cls, laws: Sequence[PiecewiseLinear]) -> TableOfLines:
        """The table of single laws."""
        knots, probs = (np.concatenate([to_numpy(getattr(law, name)) for law in laws]) for name in ("knots", "probs"))
        first = np.cumsum([0, *(law.knots.shape[0] for law in laws)])
        ends = (np.asarray([getattr(law, side) for law in laws], np.float64) for side in ("left", "right"))
        at, up, left, right = (device_like(part, laws[0].knots) for part in (knots, probs, *ends))
        return cls(at, up, first, left, right)

    def followed_by(self, other: TableOfLines) -> TableOfLines:
        """The laws of two tables."""
        columns = [(getattr(self, name), getattr(other, name)) for name in ("knots", "probs", "left", "right")]
        knots, probs, left, right = map(concatenate, columns)
        return TableOfLines(knots, probs, np.concatenate([self.first, self.first[-1] + other.first[1:]]), left, right)

    @property
    def shape(self) -> tuple[int, ...]:
        """That of one value: what is worked out for the table is kept for it."""
        return ()

    def __len__(self) -> int:
        return len(self.first) - 1

    def law(self, g: int) -> PiecewiseLinear:
        """Law g by itself."""
        part = slice(int(self.first[g]), int(self.first[g + 1]))
        return PiecewiseLinear(self.knots[part], self.probs[part], float(self.left[g]), float(self.right[g]))

    @kept
    def slopes(self) -> _Slopes:
        """What the CDF and its inverse read off, prepared once."""
        knots, probs = self._numbers(self.knots, self.probs)
        h, rise = np.diff(knots, append=knots[-1]), np.diff(probs, append=probs[-1])
        h[self.first[1:] - 1] = rise[self.first[1:] - 1] = 0.0
        wide = h > np.finfo(to_numpy(self.knots).dtype).smallest_normal
        slope = np.divide(rise, h, out=np.zeros_like(h), where=wide)
        log_slope = np.log(slope, out=np.full_like(h, -np.inf), where=slope > 0)
        inverse = np.divide(h, rise, out=np.zeros_like(h), where=rise > 0)
        return _Slopes(*self._here(slope, log_slope, inverse))

    @kept
    def integrals(self) -> _FromEnds:
        """What moments and scores read off."""
        knots, probs, left, right = self._numbers(self.knots, self.probs, self.left, self.right)
        begin, end = self.first[:-1], self.first[1:] - 1
        low = _prefix(knots, probs, self.first, probs[begin], left)
        back = self.first[-1] - self.first[::-1]
        high = _prefix(-knots[::-1], 1 - probs[::-1], back, 1 - probs[end][::-1], right[::-1])
        return _FromEnds(*self._here(*low, *(column[::-1].copy() for column in high)))

    @property
    def middle(self) -> Counts:
        """The middle knot of each law, as a place in the table."""
        return np.asarray((self.first[:-1] + self.first[1:]) // 2)

    @kept
    def outward(self) -> Outward:
        """The integrals from the middle of each law to each of its knots."""
        knots, probs = self._numbers(self.knots, self.probs)
        counts = np.diff(self.first)
        places, middle = np.arange(len(knots)), np.repeat(self.middle, counts)
        up, down = places >= middle, np.flip(places <= middle)
        above, below = self.first[1:] - self.middle, 1 + self.middle - self.first[:-1]
        columns = np.zeros((3, len(knots)))
        columns[:, np.flip(down)] = np.flip(_outward(np.flip(-knots)[down], np.flip(probs)[down], below[::-1]), axis=1)
        columns[1] *= -1  # twice is an integral towards larger y
        columns[:, up] = _outward(knots[up], 1 - probs[up], above)
        return Outward(*self._here(*columns))

    @staticmethod
    def _numbers(*columns: Array) -> list[Numbers]:
        return [to_numpy(column).astype(np.float64) for column in columns]

    def _here(self, *columns: Numbers) -> list[Array]:
        return [device_like(column, self.knots) for column in columns]


def _prefix(
    knots: Numbers, probs: Numbers, first: Counts, mass: Numbers, scale: Numbers
) -> tuple[Numbers, Numbers, Numbers]:
    """Integrals of F, of the integral of F, and of F^2 from the lower end of each law to each of its knots."""
    begin = first[:-1]
    scale = np.where((mass > 0) & np.isfinite(scale), scale, 0.0)  # an infinite end is left out
    h, Fa, Fb = np.diff(knots, prepend=knots[0]), np.concatenate([probs[:1], probs[:-1]]), probs
    h[begin] = 0.0

    def summed(terms: Numbers, start: Numbers) -> Numbers:
        terms[begin] = start
        return sums_within(terms, first)

    once = summed(h * (Fa + Fb) / 2, mass * scale)
    before = np.concatenate([once[:1], once[:-1]])
    twice = summed(h * before + h**2 * (2 * Fa + Fb) / 6, mass * scale**2)
    return once, twice, summed(h * (Fa**2 + Fa * Fb + Fb**2) / 3, mass**2 * scale / 2)


def _outward(knots: Numbers, rest: Numbers, counts: Counts) -> Numbers:
    """`Outward` at the knots of parts that begin at the middle, with what is left beyond each, 1 - F."""
    first = np.cumsum([0, *counts])
    h, near = np.diff(knots, prepend=knots[0]), np.concatenate([rest[:1], rest[:-1]])
    h[first[:-1]] = 0.0
    once = -sums_within(h * (near + rest) / 2, first)
    before = np.concatenate([once[:1], once[:-1]])
    twice = sums_within(h * before - h**2 * (2 * near + rest) / 6, first)
    return np.stack([once, twice, -sums_within(h * (near**2 + near * rest + rest**2) / 3, first)])


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
