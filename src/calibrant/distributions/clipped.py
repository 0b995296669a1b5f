"""A distribution censored at bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace, to_numpy
from calibrant.distributions.base import Distribution, Moments, log_density
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable

_DIGITS = 1e-9  # of a variance: what a difference of sums may lose
_FAR = 36.0  # the logit of what stands for the end of a side without a bound


@dataclass(frozen=True, eq=False, repr=False)
class Clipped(Distribution):
    """The distribution of min(max(Y, lower), upper), Y ~ base: its CDF is the base's between the bounds.

    All integrals are differences of the base's, so that a clipped distribution has moments also where the base has
    none. The bounds are two numbers, or two arrays with one number per row.
    """

    base: Distribution
    lower: Any
    upper: Any

    @property
    def shape(self) -> tuple[int, ...]:
        return self.base.shape

    @property
    def like(self) -> Array:
        return self.base.like

    @property
    def _block(self) -> int:
        return self.base._block

    @property
    def _by_row(self) -> bool:
        return not isinstance(self.lower, float)

    @property
    def _bounds(self) -> tuple[Any, Any]:
        """Ready to meet arguments."""
        return (self.lower[:, None], self.upper[:, None]) if self._by_row else (self.lower, self.upper)

    def _inside(self, y: Array) -> Array:
        return clip(y, *self._bounds)

    def _cdf(self, y: Array) -> Array:
        low, high = self._bounds
        return _chosen(y < low, y >= high, self.base._cdf(self._inside(y)), 0.0, 1.0)

    def _cdf_left(self, y: Array) -> Array:
        low, high = self._bounds
        return _chosen(y <= low, y > high, self.base._cdf_left(self._inside(y)), 0.0, 1.0)

    def _sf(self, y: Array) -> Array:
        low, high = self._bounds
        return _chosen(y < low, y >= high, self.base._sf(self._inside(y)), 1.0, 0.0)

    def _logpdf(self, y: Array) -> Array:
        """Of counts, a bound has the mass beyond it too."""
        low, high = self._bounds
        density = log_density(self.base, self._inside(y), self.lattice)
        if self.lattice is not None:
            mass = self._cdf(y) - self._cdf_left(y)
            xp = namespace(mass)
            end = (y == low) | (y == high)
            density = xp.where(end, xp.log(xp.where(end & (mass > 0), mass, xp.ones_like(mass))), density)
            density = xp.where(end & (mass <= 0), xp.full_like(density, -np.inf), density)
        return _chosen(y < low, y > high, density, -np.inf, -np.inf)

    def _ppf(self, p: Array) -> Array:
        return self._inside(self.base._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._inside(self.base._ppf_logit(s))

    @property
    def lattice(self) -> tuple[float, float] | None:
        """The base's, if the bounds are points of it."""
        lattice = self.base.lattice
        if lattice is None:
            return None
        for bound in (np.atleast_1d(to_numpy(end)) for end in (self.lower, self.upper)):
            finite = bound[np.isfinite(bound)]
            if np.any(np.remainder(finite - lattice[0], lattice[1]) != 0):
                return None
        return lattice

    def _pit(self, y: Array, u: Array) -> Array:
        """Drawn over the whole jump at a bound; the base's own in between, also of counts."""
        xp, (low, high) = namespace(y), self._bounds
        return xp.where((y > low) & (y < high), self.base._pit(self._inside(y), u), super()._pit(y, u))

    def at_bound(self, y: Array) -> Array:
        """Which labels, one per row, lie on a bound or beyond it."""
        beyond: Array = (y <= self.lower) | (y >= self.upper)
        return beyond

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _ends(self) -> tuple[Array, Array, Array, Array]:
        """The bounds as columns, (n, 1), a far quantile where there is none; and where that is, on either side."""
        s = device_like([[-_FAR, _FAR]], self.like)
        far = self.base._ppf_logit(s)
        xp = namespace(far)
        low, high = (xp.zeros_like(far[:, :1]) + bound for bound in self._bounds)
        no_low, no_high = xp.isinf(low), xp.isinf(high)
        finite = [xp.where(xp.isfinite(end), end, xp.zeros_like(end)) for end in (far[:, :1], far[:, 1:])]
        low = xp.where(no_low, xp.minimum(finite[0], high), low)
        return low, xp.where(no_high, xp.maximum(finite[1], low), high), no_low, no_high

    def _moments(self) -> Moments:
        """In double precision: they are differences."""
        law = self._in_double
        return Moments(*(self._at_home(part) for part in law._differences()))

    def _differences(self) -> Moments:
        a, b, no_low, no_high = self._ends()
        xp, zero = namespace(a), namespace(a).zeros_like(a)
        once, twice, square = ([self.base._integrals(end, which) for end in (a, b)] for which in (ONCE, TWICE, SQUARE))
        for part in (once, twice, square):  # without a lower bound they begin at -inf
            part[0] = xp.where(no_low, zero, part[0])
        rise = once[1] - once[0]
        mean = b - rise
        variance = 2 * (twice[1] - twice[0] - (b - a) * once[0]) - rise**2  # about b, and from there about the mean
        shift = b - 2 * once[1] + square[1] + 2 * once[0] - square[0]
        std = xp.sqrt(xp.maximum(variance, zero))
        alone = (self.base._cdf_left(b) <= 0) | (self.base._cdf(a) >= 1)  # all mass on one bound: no difference of sums
        std = xp.where(alone & ~no_low & ~no_high, zero, std)
        rounding = float(xp.finfo(b.dtype).eps) * (xp.abs(twice[1]) + rise**2)
        lost = ~alone & (rounding > _DIGITS * variance)
        if anywhere(lost):  # by an outlier far below: from places in between
            std = xp.where(lost & ~no_low & ~no_high, self._own_table.moments[1][:, None], std)
        if anywhere(no_low | no_high):  # a tail that is left counts as far as it reaches
            own = self.base.remember("_kept_moments", self.base._moments)
            own_mean, own_std, own_shift = (self.base._lift(part) + zero for part in own)
            exact = xp.isfinite(own_mean) & no_high
            mean = xp.where(exact, own_mean + once[0], mean)
            whole = exact & xp.isfinite(own_std) & ~no_low  # E (Z - a)^2 = E (Y - a)^2 - E ((a - Y)+)^2
            about = own_std**2 + (own_mean - a) ** 2 - 2 * twice[0] - (mean - a) ** 2
            std = xp.where(whole, xp.sqrt(xp.maximum(xp.where(whole, about, zero), zero)), std)
            below = no_low & (xp.isnan(own_mean) | (own_mean == -np.inf))
            above = no_high & (xp.isnan(own_mean) | (own_mean == np.inf))
            inf = xp.full_like(mean, np.inf)
            mean = xp.where(below & above, np.nan * inf, xp.where(above, inf, xp.where(below, -inf, mean)))
            ends = device_like([[-np.inf, np.inf]], self.like)
            infinite = (self.base._cdf(ends)[:, :1] > 0) & no_low
            infinite = infinite | ((self.base._cdf_left(ends)[:, 1:] < 1) & no_high)
            there = no_high & xp.isfinite(own_shift)
            shift = xp.where(there, own_shift + 2 * once[0] - square[0], shift)
            shift = xp.where(infinite, inf, shift)
            no_second = xp.isinf(own_std) & ((no_low & (own_mean != np.inf)) | (no_high & (own_mean != -np.inf)))
            std = xp.where(infinite | below | above | no_second, inf, std)
        found = (mean, std, shift)
        return Moments(*(part[:, 0] if self.shape else part[0, 0] for part in found))

    def _integrals(self, y: Array, which: int) -> Array:
        a, b, no_low, _ = self._ends()
        xp, wide = namespace(y), y if self.shape else namespace(y).reshape(y, (1, -1))
        inside = (
            clip(wide, a, b) if not anywhere(no_low) else xp.minimum(xp.where(no_low, wide, xp.maximum(wide, a)), b)
        )
        over, zero = xp.maximum(wide - b, 0 * wide), 0 * a
        at, start = self.base._integrals(inside, which), self.base._integrals(a, which)
        value = at - xp.where(no_low, zero, start)
        if which == TWICE:
            first, last = (self.base._integrals(end, ONCE) for end in (a, b))
            first = xp.where(no_low, zero, first)
            value = value - (inside - a) * first + over * (last - first) + over**2 / 2
        else:
            value = value + over
        return value if self.shape else xp.reshape(value, y.shape)

    def _table(self, count: int) -> MassTable:
        """The base's places between the bounds, and these."""
        law = self._in_double
        a, b, *_ = law._ends()
        return law.base._table(count).within(concatenate([a, b], axis=1), law)

    def _clip(self, lower: Any, upper: Any) -> Distribution:
        """One pair of bounds, where they leave something between them."""
        if self._by_row or not isinstance(lower, float):
            xp, zero = namespace(self.like), device_like(np.zeros(len(self)), self.like)
            low, high, first, last = (zero + bound for bound in (lower, upper, self.lower, self.upper))
            if anywhere((low > last) | (high < first)):
                return Clipped(self, low, high)
            return self.base._clip(xp.maximum(low, first), xp.minimum(high, last))
        if lower < self.upper and upper > self.lower:
            return self.base._clip(max(lower, self.lower), min(upper, self.upper))
        return Clipped(self, lower, upper)

    def _describe(self) -> str:
        bounds = "bounds by row" if self._by_row else f"[{self.lower:g}, {self.upper:g}]"
        return f"{self.base!r} to {bounds}"


def _chosen(low: Array, high: Array, inside: Array, below: float, above: float) -> Array:
    xp = namespace(inside)
    return xp.where(low, xp.full_like(inside, below), xp.where(high, xp.full_like(inside, above), inside))
