"""H = q pulled back through an increasing map: H(y) = q(map(y))."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, concatenate, detached, device_like, namespace
from calibrant._search import gather
from calibrant._special import safe_sqrt
from calibrant.distributions.base import Distribution, Moments, drawn_in
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable, side_by_side, steps


@dataclass(frozen=True, eq=False, repr=False)
class Pulled(Distribution):
    """H(y) = q(map(y)), one increasing map for each row or a single one: a `Transform`.

    Its table is that of q with the places moved: masses stay, and the slope of the map gives the bulges.
    """

    map: Any
    q: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.map.shape) or self.q.shape

    def _cdf(self, y: Array) -> Array:
        return self.q._cdf(self.map(y))

    def _sf(self, y: Array) -> Array:
        return self.q._sf(self.map(y))

    def _cdf_left(self, y: Array) -> Array:
        return self.q._cdf_left(self.map.left(y))

    def _ppf(self, p: Array) -> Array:
        y: Array = self.map.inverse(self.q._ppf(p))
        return y

    def _ppf_logit(self, s: Array) -> Array:
        y: Array = self.map.inverse(self.q._ppf_logit(s))
        return y

    def _logpdf(self, y: Array) -> Array:
        s, slope = self.map.with_slope(y)
        xp, outside = namespace(s), namespace(s).isinf(s)  # beyond the support of the forecast there is no density
        slope = xp.where(outside, 0.0, slope)
        density = self.q._logpdf(xp.where(outside, 0.0, s))
        return xp.where(outside, -xp.inf, density + slope)

    def _table(self, count: int) -> MassTable:
        table = self._q_table(count)
        with np.errstate(all="ignore"):
            places, widths = self._in_double.map.inverse_with_width(table.places)
            return table.moved(drawn_in(places), widths)

    def _q_table(self, count: int) -> MassTable:
        """That of q, with the bends of the map among its places."""
        distribution = self._in_double
        table, map = distribution.q._shared_table(count), distribution.map
        if map.like is not None:
            table = table.to(map.like)
        bends = map.bends
        if bends is None:
            return table
        return table.with_places(distribution.q, detached(bends if bends.ndim == 2 else bends[None, :]))


@dataclass(frozen=True, eq=False, repr=False)
class PulledBroken(Pulled):
    """H(y) = q(map(y)) for a `BrokenLine` with K knots in each row: exact, a sum over K + 1 pieces of integrals of q.

    On a piece dy = ds / slope, so an integral of H over it is one of q, divided by the slope.
    """

    @property
    def _widths(self) -> Any:
        """dy/ds on every piece."""
        return self.remember("_kept_widths", lambda: 1 / self.map.slopes)

    def _at_levels(self, which: int) -> Array:
        """An integral of q up to each level: (1, K), where all rows share them and q."""
        return self.q._integrals(self.map.levels, which)

    def _integrals(self, y: Array, which: int) -> Array:
        """That of H up to the last knot passed, and of q from there, in units of y. Before the first knot all are 0."""
        line: Any = self.map
        s: Array = line(y)
        piece, widths, here = line.piece(line.levels, s), self._widths, self.q._integrals(s, which)
        A, w, v = _from_0(self._at_levels(SQUARE if which == SQUARE else ONCE)), gather(widths, piece), widths[:, :-1]
        once = _from_0(_summed(v * steps(A)))
        if which != TWICE:
            return gather(once, piece) + w * (here - gather(A, piece))
        levels, T = _from_0(line.levels), _from_0(self._at_levels(TWICE))
        h, t = steps(levels), s - gather(levels, piece)
        twice = _from_0(_summed(v * h * once[:, :-1] + v**2 * (steps(T) - h * A[:, :-1])))
        own = here - gather(T, piece) - t * gather(A, piece)
        return gather(twice, piece) + w * t * gather(once, piece) + w**2 * own

    def _q_moments(self) -> list[Array]:
        found = self.q._all_moments
        return [self.q._lift(part) + 0 * self.map.levels[:, :1] for part in found]

    def _mean_and_shift(self, L: Array, Q: Array) -> tuple[Array, Array, Array]:
        """From the first knot v on: E (Y - v) is an integral of 1 - q above it less one of q below; and that part."""
        xp, line, w = namespace(self.map.values), self.map, self._widths
        mean, _, shift = self._q_moments()
        with np.errstate(invalid="ignore"):  # a q without a mean
            once = steps(side_by_side([line.levels - L, mean]))  # of 1 - q over each piece from the first knot on
            off = xp.vecdot(w[:, 1:], once) - w[:, 0] * L[:, 0]
            gini = xp.vecdot(w, steps(_from_0(side_by_side([L - Q, mean - shift]))))  # of q (1 - q)
            mean = line.values[:, 0] + off
        return mean, xp.where(xp.isfinite(off), mean - gini, np.inf), once

    def _crps(self, y: Array) -> Array:
        """Without the std, which takes as long as all else."""
        shift = self._mean_and_shift(self._at_levels(ONCE), self._at_levels(SQUARE))[1]
        return 2 * self._integrals(y, ONCE) - y + shift[:, None]

    def _moments(self) -> Moments:
        """E (Y - v)^2 is an integral of (y - v) (1 - q) above the first knot v, and of (v - y) q below it."""
        xp, line, a = namespace(self.map.values), self.map, self.map.levels
        L, T, Q = (self._at_levels(which) for which in (ONCE, TWICE, SQUARE))
        mean, shift, once = self._mean_and_shift(L, Q)
        w, values, (q_mean, q_std, _) = self._widths, line.values, self._q_moments()
        off, h, last = mean - values[:, 0], steps(a), a[:, -1:]
        with np.errstate(invalid="ignore"):
            twice = h**2 / 2 - h * L[:, 1:] + steps(T)  # of (s - a) (1 - q) over each piece
            twice = side_by_side([twice, (q_std**2 + (q_mean - last) ** 2) / 2 - T[:, -1:]])
            second = xp.sum(w[:, 1:] * (values - values[:, :1]) * once + w[:, 1:] ** 2 * twice, axis=1)
            variance = 2 * (second + w[:, 0] ** 2 * T[:, 0]) - off**2
        variance = xp.where(xp.isfinite(off), variance, np.inf)
        variance = xp.where(q_std[:, 0] == 0, 0.0, variance)  # a single atom
        return Moments(mean, safe_sqrt(variance), shift)

    def _table(self, count: int) -> MassTable:
        table = self._q_table(count)
        return table.moved(drawn_in(self._in_double.map.inverse(table.places)), None)


def landed(H: Pulled) -> Distribution:
    """Mass of q at -inf or +inf lies where the map has such a value, if that is a finite place."""
    q, map = H.q, H.map
    far = device_like([[-np.inf, np.inf]] if H.shape else [-np.inf, np.inf], q.like if map.like is None else map.like)
    F, F_left = (detached(part) for part in (q._cdf(far), q._cdf_left(far)))
    lost = anywhere(F[..., 0] > 0), anywhere(F_left[..., 1] < 1)
    if not any(lost):
        return H
    xp, ends = namespace(far), detached(map.inverse(far))
    low, high = (xp.broadcast_to(ends[..., side], H.shape) for side in (0, 1))
    low = low if lost[0] else xp.full_like(low, -np.inf)
    high = high if lost[1] else xp.full_like(high, np.inf)
    if not anywhere(xp.isfinite(low) | xp.isfinite(high)):
        return H
    return H._clip(low, high) if H.shape else H._clip(float(low), float(high))


Pull = Callable[[Distribution, Any], Distribution]
"""What pulls a distribution back through a map."""


class ByRow(Distribution):
    """One made of another, shared one and of some numbers for each row: what is pulled back, or clipped, is `base`."""

    base: Distribution

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """H: this, with what it is made of pulled back by `pull` through a map for each row."""
        return replace(self, base=pull(self.base, map))  # type: ignore[type-var]

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        """Levels stay what they are."""
        return replace(self, base=self.base._clip(lower, upper))  # type: ignore[type-var]


def no_rows_yet(name: str) -> TypeError:
    """What is wrong with pulling back a q that has not met its rows."""
    return TypeError(f"{name} has no distribution before it meets its rows: pull back q.for_rows(context) in its place")


def _summed(terms: Array) -> Array:
    return namespace(terms).cumulative_sum(terms, axis=1)


def _from_0(columns: Array) -> Array:
    return concatenate([namespace(columns).zeros_like(columns[:, :1]), columns], axis=1)
