"""H = q pulled back through broken lines, as quantile predictions lay them over the line."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, concatenate, namespace
from calibrant._search import gather
from calibrant.distributions.base import Distribution, Moments, drawn_in
from calibrant.distributions.maps import Broken
from calibrant.distributions.pulled import Pulled
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable


@dataclass(frozen=True, eq=False, repr=False)
class PulledBroken(Pulled):
    """H(y) = q(map(y)) for a broken line with K knots a row: exact, a sum over K + 1 pieces of integrals of q.

    On a piece dy = ds / slope, so an integral of H over it is one of q, divided by the slope.
    """

    map: Broken
    q: Distribution

    @property
    def _block(self) -> int:
        return self.q._block

    def _integrals(self, y: Array, which: int) -> Array:
        if which != TWICE:
            value: Array = self._once(y, which, self._at_levels(which))[0]
            return value
        s, at2, here2 = self.map(y), self._at_levels(TWICE), self.q._integrals(self.map(y), TWICE)
        at = self._at_levels(ONCE)
        _, total, w, passed = self._once(y, ONCE, at)
        levels, width = self._levels, 1 / self.map.slopes
        h, v = levels[:, 1:] - levels[:, :-1], width[:, 1:-1]
        inner = v * h * total[:, :-1] + v**2 * (at2[:, 1:] - at2[:, :-1] - h * at[:, :-1])
        total2 = _cumulated(width[:, :1] ** 2 * at2[:, :1], inner)
        t = passed(levels, s)
        value = passed(total2) + w * t * passed(total) + w**2 * (here2 - passed(at2) - t * passed(at))
        return value

    def _once(self, y: Array, which: int, at: Array) -> Any:
        """The integral of F or F^2 up to y, and what it is made of: that up to each knot, dy/ds at y, the last knot."""
        line, s = self.map, self.map(y)
        xp, width = namespace(s), 1 / line.slopes
        total = _cumulated(width[:, :1] * at[:, :1], width[:, 1:-1] * (at[:, 1:] - at[:, :-1]))
        piece = line.piece(line.levels, s)
        last, none = xp.maximum(piece - 1, 0 * piece), piece == 0
        w = gather(width, piece)

        def passed(column: Array, less_than: Array | None = None) -> Array:
            """A column at the last knot passed, or how much a value exceeds it; 0 before the first knot."""
            value = gather(column, last)
            return xp.where(none, xp.zeros_like(value), value if less_than is None else less_than - value)

        return passed(total) + w * (self.q._integrals(s, which) - passed(at)), total, w, passed

    @property
    def _levels(self) -> Array:
        return self.map.levels

    def _at_levels(self, which: int) -> Array:
        """An integral of q up to the levels: (1, K), where all rows share them and q."""
        return self.q._integrals(self._levels, which)

    def _q_moments(self) -> list[Array]:
        found = self.q.remember("_kept_moments", self.q._moments)
        return [part[:, None] if self.q.shape else part for part in found]

    def _mean_and_shift(self, L: Array, Q: Array) -> tuple[Array, Array, Array]:
        """From the first knot v on: E (Y - v) is an integral of 1 - q above it less one of q below; and that part."""
        xp, line, a = namespace(self.map.values), self.map, self._levels
        w, (mean, _, shift) = 1 / line.slopes, self._q_moments()
        with np.errstate(invalid="ignore"):  # a q without a mean
            ahead = mean - a[:, -1:] + L[:, -1:]
            # the integral of 1 - q over each piece from the first knot on
            once = concatenate([a[:, 1:] - a[:, :-1] - (L[:, 1:] - L[:, :-1]), ahead], axis=1)
            off = xp.sum(w[:, 1:] * once, axis=1) - w[:, 0] * L[:, 0]
            D = L - Q  # the integral of q (1 - q)
            gini = w[:, 0] * D[:, 0] + xp.sum(w[:, 1:-1] * (D[:, 1:] - D[:, :-1]), axis=1)
            gini = gini + w[:, -1] * ((mean - shift) - D[:, -1:])[:, 0]
            mean = line.values[:, 0] + off
        return mean, xp.where(xp.isfinite(off), mean - gini, xp.full_like(off, np.inf)), once

    def _crps(self, y: Array) -> Array:
        """Without the std, which takes as long as all else."""
        L, Q = self._at_levels(ONCE), self._at_levels(SQUARE)
        once: Array = self._once(y, ONCE, L)[0]
        return 2 * once - y + self._mean_and_shift(L, Q)[1][:, None]

    def _moments(self) -> Moments:
        """E (Y - v)^2 is an integral of (y - v) (1 - q) above the first knot v, and of (v - y) q below it."""
        xp, line, a = namespace(self.map.values), self.map, self._levels
        L, T, Q = (self._at_levels(which) for which in (ONCE, TWICE, SQUARE))
        mean, shift, once = self._mean_and_shift(L, Q)
        w, values, (q_mean, q_std, _) = 1 / line.slopes, line.values, self._q_moments()
        off, h, last = mean - values[:, 0], a[:, 1:] - a[:, :-1], a[:, -1:]
        with np.errstate(invalid="ignore"):
            twice = h**2 / 2 - h * L[:, 1:] + T[:, 1:] - T[:, :-1]  # of (s - a) (1 - q) over each piece
            twice = concatenate([twice, (q_std**2 + (q_mean - last) ** 2) / 2 - T[:, -1:]], axis=1)
            second = xp.sum(w[:, 1:] * (values - values[:, :1]) * once + w[:, 1:] ** 2 * twice, axis=1)
            variance = 2 * (second + w[:, 0] ** 2 * T[:, 0]) - off**2
        zero = xp.zeros_like(off)
        variance = xp.where(xp.isfinite(off), variance, xp.full_like(off, np.inf))
        variance = xp.where((q_std == 0)[:, 0] if self.q.shape else zero + q_std == 0, zero, variance)  # a single atom
        return Moments(mean, xp.sqrt(xp.maximum(variance, zero)), shift)

    def _table(self, count: int) -> MassTable:
        table = self._q_table(count)
        return table.moved(drawn_in(self._in_double.map.inverse(table.places)), None)


def _cumulated(start: Array, terms: Array) -> Array:
    return namespace(terms).cumulative_sum(concatenate([start, terms], axis=1), axis=1)
