"""CDFs bent by a broken line for each row, as likelihood ratios bend q under covariate shift."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
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
from calibrant._words import about, count, the_first, warn_user
from calibrant.distributions.base import Context, Distribution, drawn_in
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.pulled import ByRow, Pull, no_rows_yet
from calibrant.distributions.table import ONCE, MassTable, side_by_side

_LARGEST_RATIO = 1e30  # a row of a larger one has all of its mass in the tails, as has one of this


@dataclass(frozen=True, eq=False, repr=False)
class Bent(ByRow):
    """F = bend(G), G the CDF of `base`: straight from (0, 0) over (below, low) and (1 - above, 1 - high) to (1, 1).

    So its lowest `low` are what the base has in its lowest `below`, and its highest `high` what the base has in its
    highest `above`. Its table is the base's with the heights bent.
    """

    base: Distribution
    below: Array
    above: Array
    low: Array
    high: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.low.shape)

    def _line(self, *, mirrored: bool = False) -> tuple[Array, ...]:
        """below, low, high and the slopes, as columns, and 1 - above; `mirrored`, those of 1 - F over 1 - G."""
        below, above, low, high = (part[:, None] for part in (self.below, self.above, self.low, self.high))
        if mirrored:
            below, above, low, high = above, below, high, low
        slopes = _divided(low, below), _divided(1 - low - high, 1 - below - above), _divided(high, above)
        return below, low, high, 1 - above, *slopes

    def _bend(self, G: Array, *, mirrored: bool = False) -> Array:
        xp, (below, low, high, most, first, slope, last) = namespace(G), self._line(mirrored=mirrored)
        middle = clip(low + slope * (G - below), low, 1 - high)
        return xp.where(below > G, first * G, xp.where(most < G, 1 - last * (1 - G), middle))

    def _level(self, p: Array, *, mirrored: bool = False) -> Array:
        """The G at which bend(G) is p."""
        xp, (below, low, high, _, first, slope, last) = namespace(p), self._line(mirrored=mirrored)
        level = xp.where(1 - p < high, 1 - _divided(1 - p, last), below + _divided(p - low, slope))
        return clip(xp.where(p < low, _divided(p, first), level), 0.0, 1.0)

    def _cdf(self, y: Array) -> Array:
        return self._bend(self.base._cdf(y))

    def _cdf_left(self, y: Array) -> Array:
        return self._bend(self.base._cdf_left(y))

    def _sf(self, y: Array) -> Array:
        return self._bend(self.base._sf(y), mirrored=True)

    def _ppf(self, p: Array) -> Array:
        return self.base._ppf(self._level(p))

    def _ppf_logit(self, s: Array) -> Array:
        """By the mass below and the mass above, of which neither rounds to 0."""
        below, above = self._level(sigmoid(s)), self._level(sigmoid(-s), mirrored=True)
        return self.base._ppf_logit(safe_log(below) - safe_log(above))

    def _logpdf(self, y: Array) -> Array:
        xp, (below, _, _, _, first, slope, last) = namespace(y), self._line()
        over = self.base._sf(y) <= self._lift(self.above)
        own = xp.where(below > self.base._cdf(y), first, xp.where(over, last, slope))
        return self.base._logpdf(y) + safe_log(own)

    def _table(self, count: int) -> MassTable:
        """With the bends among the places of the base."""
        distribution, xp = self._in_double, namespace(self.low)
        bends = concatenate([logit(distribution.below)[:, None], -logit(distribution.above)[:, None]], axis=1)
        own = distribution.base._table(count).to(distribution.low).places
        places = xp.sort(side_by_side([own, drawn_in(distribution.base._ppf_logit(bends))]), axis=1)
        table = MassTable.through(distribution.base, places, distribution.base._integrals(places, ONCE))
        return table.bent(distribution._bend, partial(distribution._bend, mirrored=True))


def _divided(mass: Array, width: Array) -> Array:
    """mass / width; over no width the mass, which is then 0 or passed at once."""
    xp = namespace(width)
    return mass / xp.where(width > 0, width, 1.0)


class Truncated(Bent):
    """The base without its lowest `below` and its highest `above`: low and high are 0."""

    _table = Distribution._table  # of its own quantiles, which lie closer to its ends than the base's


@dataclass(frozen=True, eq=False, repr=False)
class Reweighted(Forwarding, ByRow):
    """q_x = (1 - p_x) F_w + p_x tails, p_x = w(x) / (N + w(x)), for rows with likelihood ratios w(x).

    `base` is q of a row with ratio 1, and what this answers before it meets its rows. N = `total` is the sum of the
    calibration weights in the same unit. Another ratio moves mass between the scores and the tails and changes no
    shape, so that q_x is a function of the base's F:

        q_x = ((N + 1) F + (w - 1) / 2) / (N + w)    for low <= F <= high,

    and straight from there to (0, 0) and (1, 1).
    """

    base: Distribution
    unit: float = shared()
    """The ratio, as it was given, that counts as 1: sum of w^2 / sum of w of the calibration rows."""
    total: float = shared()
    low: float = shared()
    """The level at which the lower tail of `base` ends."""
    high: float = shared()
    """The level at which its upper tail starts."""

    def __post_init__(self) -> None:
        """0 < low <= high < 1, or no tails: 0 and 1."""
        if not (0 < self.low <= self.high < 1 or (self.low, self.high) == (0, 1)):
            ends = f"{self.low} and {self.high}"
            raise ValueError(f"its tails must end inside (0, 1), in order, or it has none, got {ends}")

    def for_rows(self, context: Context) -> Distribution:
        """Those of rows with these ratios; one for all where no tail takes mass from the scores."""
        w, N = ratios_of(context, self.base.like, self.unit), self.total
        if self.low == 0:
            return self.base
        if bool(namespace(w).any(w > N)):  # p_x > 1/2
            first, number = first_and_count(w > N)
            warn_user(
                f"weights of {count(number, 'row')}, {the_first(number, first)}, are larger than those of all"
                " calibration rows together: such a distribution is mostly tails, since nearly no calibration rows are"
                " like its row"
            )
        tails = [device_like(mass, w) + 0 * w for mass in (self.low, 1 - self.high)]
        own = [clip(((N + 1) * mass + (w - 1) / 2) / (N + w), 0.0, np.inf) for mass in tails]
        return Bent(self.base, *tails, *own)

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """No H: there is one for each row, once the rows are known."""
        raise no_rows_yet("a weighted q")


def ratios_of(context: Context, like: Array, unit: float) -> Array:
    """The likelihood ratios of the rows in a unit, in the home of `like`: not negative, and given."""
    if context.by is not None:
        raise about("by", TypeError("q was weighted by likelihood ratios and takes no by="))
    if context.weights is None:
        raise about(
            "weights", TypeError("q was weighted by likelihood ratios: pass weights=, those of the new rows, too")
        )
    ratios = floats("weights", context.weights, ndim=1)
    refuse("weights", ratios < 0, "is negative")
    with np.errstate(over="ignore"):
        return device_like(np.minimum(to_numpy(ratios) / unit, _LARGEST_RATIO), like)
