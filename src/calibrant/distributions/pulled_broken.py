"""H = q pulled back through broken lines, as quantile predictions lay them over the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, concatenate, namespace
from calibrant._search import gather
from calibrant._special import safe_sqrt
from calibrant.distributions.base import Moments, drawn_in
from calibrant.distributions.pulled import Pulled
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable, side_by_side, steps


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


def _summed(terms: Array) -> Array:
    return namespace(terms).cumulative_sum(terms, axis=1)


def _from_0(columns: Array) -> Array:
    return concatenate([namespace(columns).zeros_like(columns[:, :1]), columns], axis=1)
