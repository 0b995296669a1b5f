"""A batch whose CDFs are those of another, bent by a broken line for each row."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from calibrant._arrays import Array, clip, concatenate, namespace
from calibrant._special import logit, safe_log, sigmoid
from calibrant.distributions.base import Distribution, drawn_in
from calibrant.distributions.pulled import ByRow, Pull
from calibrant.distributions.table import ONCE, MassTable, side_by_side


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

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        """The levels 0 and 1 stay what they are, so that clipping is the base's own."""
        return replace(self, base=self.base._clip(lower, upper))

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """H: `base` pulled back."""
        return replace(self, base=pull(self.base, map))


def _divided(mass: Array, width: Array) -> Array:
    """mass / width; over no width the mass, which is then 0 or passed at once."""
    xp = namespace(width)
    return mass / xp.where(width > 0, width, 1.0)


class Truncated(Bent):
    """The base without its lowest `below` and its highest `above`: low and high are 0.

    Its table is made of its own quantiles, which lie closer to its ends than the base's.
    """

    def _table(self, count: int) -> MassTable:
        return Distribution._table(self, count)
