"""q under covariate shift: one weighted distribution, and one number per row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._arrays import (
    Array,
    clip,
    concatenate,
    device_like,
    first_and_count,
    floats,
    namespace,
    refuse,
    to_numpy,
)
from calibrant._batch import shared
from calibrant._special import logit, safe_log, sigmoid
from calibrant._words import count, the_first, warn_user
from calibrant.distributions.base import Distribution, drawn_in
from calibrant.distributions.context import Context
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.pulled import ByRow, Increasing, Pull, no_rows_yet
from calibrant.distributions.table import ONCE, MassTable

_LARGEST_RATIO = 1e30  # a row of a larger one has all of its mass in the tails, as has one of this


@dataclass(frozen=True, eq=False, repr=False)
class ReweightedRows(ByRow):
    """q_x = (1 - p_x) F_w + p_x tails, p_x = w(x) / (N + w(x)), for rows with likelihood ratios w(x).

    `base` is q of a row with ratio 1, and N = `total` is the sum of the calibration weights in the same unit. Another
    ratio moves mass between the scores and the tails and changes no shape, so that q_x is a function of the base's F:

        q_x = s F + d                with s = (N + 1) / (N + w), d = (w - 1) / 2 / (N + w), for low <= F <= high,

    and straight from there to (0, 0) and (1, 1). Its table is the base's with the heights bent so.
    """

    base: Distribution
    ratio: Array
    total: float = shared()
    low: float = shared()
    """The level at which the lower tail of `base` ends."""
    high: float = shared()
    """The level at which its upper tail starts."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.ratio.shape)

    @property
    def like(self) -> Array:
        return self.ratio

    @property
    def _line(self) -> tuple[Array, Array, Array, Array]:
        """s and d, and the slopes of the lower and the upper tail, as columns."""
        w, N = self.ratio[:, None], self.total
        s, d = (N + 1) / (N + w), (w - 1) / 2 / (N + w)
        first, last = (namespace(w).maximum((s * mass + d) / mass, 0 * w) for mass in (self.low, 1 - self.high))
        return s, d, first, last

    def _bend(self, F: Array) -> Array:
        """s F + d; below `low` and above `high` straight to (0, 0) and (1, 1)."""
        xp, (s, d, first, last) = namespace(F), self._line
        return xp.where(self.low > F, first * F, xp.where(self.high < F, 1 - last * (1 - F), s * F + d))

    def _mirrored(self, S: Array) -> Array:
        """The same for 1 - F: the middle of the line is its own mirror image."""
        xp, (s, d, first, last) = namespace(S), self._line
        return xp.where(1 - self.high > S, last * S, xp.where(1 - self.low < S, 1 - first * (1 - S), s * S + d))

    def _cdf(self, y: Array) -> Array:
        return self._bend(self.base._cdf(y))

    def _cdf_left(self, y: Array) -> Array:
        return self._bend(self.base._cdf_left(y))

    def _sf(self, y: Array) -> Array:
        return self._mirrored(self.base._sf(y))

    def _ppf(self, p: Array) -> Array:
        xp, (s, d, first, last) = namespace(p), self._line
        level = xp.where(p < first * self.low, _divided(p, first, self.low), (p - d) / s)
        upper = 1 - p < last * (1 - self.high)
        level = xp.where(upper, 1 - _divided(1 - p, last, 1 - self.high), level)
        return self.base._ppf(clip(level, 0.0, 1.0))

    def _ppf_logit(self, s: Array) -> Array:
        """In the upper tail from the mass beyond, sigmoid(-s), which does not round to 0."""
        last, rest = self._line[3], sigmoid(-s)
        tail = self.base._ppf_logit(-logit(_divided(rest, last, 1 - self.high)))
        return namespace(s).where(rest < last * (1 - self.high), tail, self._ppf(sigmoid(s)))

    def _logpdf(self, y: Array) -> Array:
        xp, F, (s, _, first, last) = namespace(y), self.base._cdf(y), self._line
        slope = xp.where(self.low > F, first, xp.where(self.high <= F, last, s))
        return self.base._logpdf(y) + safe_log(slope)

    def _table(self, count: int) -> MassTable:
        """With the ends of the tails among the places of the base."""
        law = self._in_double
        xp, base = namespace(law.ratio), law.base
        ends = drawn_in(base._ppf(device_like([[self.low, self.high]], law.ratio)))
        places = base._table(count).to(law.ratio).places
        rows = max(places.shape[0], ends.shape[0])
        both = concatenate([xp.broadcast_to(part, (rows, part.shape[1])) for part in (places, ends)], axis=1)
        places = xp.sort(both, axis=1)
        return MassTable.through(base, places, base._integrals(places, ONCE)).bent(law._bend, law._mirrored)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        """The levels 0 and 1 stay what they are, so that clipping is the base's own."""
        return replace(self, base=self.base._clip(lower, upper))

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """H: `base` pulled back."""
        return replace(self, base=pull(self.base, map))

    def _describe(self) -> str:
        return f"{self.base!r}, worth {self.total:.4g} equal rows"


@dataclass(frozen=True, eq=False, repr=False)
class Reweighted(Forwarding, ByRow):
    """A weighted q before it meets its rows, which say their likelihood ratios. On its own it answers for ratio 1."""

    base: Distribution
    unit: float = shared()
    """The ratio, as it was given, that counts as 1: sum of w^2 / sum of w of the calibration rows."""
    total: float = shared()
    low: float = shared()
    high: float = shared()

    @property
    def _other(self) -> Distribution:
        return self.base

    def for_rows(self, context: Context) -> Distribution:
        """Those of rows with these ratios; one for all where no tail takes mass from the scores."""
        ratio = ratios_of(context, self.base.like, self.unit)
        if self.low == 0:
            return self.base
        alone = ratio > self.total  # p_x > 1/2
        if bool(namespace(ratio).any(alone)):
            first, number = first_and_count(alone)
            which = f"weights of {count(number, 'row')}, {the_first(number, first)}, are"
            theirs = ("their distributions are", "them")
            if number == 1:
                which, theirs = f"the weight of row {first} is", ("its distribution is", "it")
            warn_user(
                f"{which} larger than those of all calibration rows together: {theirs[0]} mostly tails, since nearly no"
                f" calibration rows are like {theirs[1]}"
            )
        return ReweightedRows(self.base, ratio, self.total, self.low, self.high)

    def pulled(self, map: Increasing, pull: Pull) -> Distribution:
        """No H: there is one for each row, once the rows are known."""
        raise no_rows_yet("a weighted q")

    def _describe(self) -> str:
        return f"{self.base!r}, worth {self.total:.4g} equal rows"


def ratios_of(context: Context, like: Array, unit: float) -> Array:
    """The likelihood ratios of the rows in a unit, beside `like`: not negative, and given."""
    if context.by is not None:
        raise TypeError("q was weighted by likelihood ratios and takes no by=")
    if context.weights is None:
        raise TypeError("q was weighted by likelihood ratios: pass weights=, those of the new rows, too")
    ratios = floats("weights", context.weights, ndim=1)
    refuse("weights", ratios < 0, "is negative")
    with np.errstate(over="ignore"):
        return device_like(np.minimum(to_numpy(ratios) / unit, _LARGEST_RATIO), like)


def _divided(p: Array, slope: Array, most: float) -> Array:
    """p / slope, at most `most`: a tail without mass, of slope 0, is passed at once."""
    xp = namespace(p)
    level = xp.where(slope > 0, p / xp.where(slope > 0, slope, xp.ones_like(slope)), xp.full_like(p + slope, most))
    return xp.minimum(level, device_like(most, level))
