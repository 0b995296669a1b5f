"""A distribution with bounds: what lies beyond them piles up on them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, namespace, to_numpy
from calibrant._special import safe_log, safe_sqrt
from calibrant.distributions.base import Distribution, Moments, log_density
from calibrant.distributions.forwarding import OfBase
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable

_HARDLY = 1e-15
_DIGITS = 1e-9  # of a variance: what a difference of sums may lose


@dataclass(frozen=True, eq=False, repr=False)
class Clipped(OfBase):
    """The distribution of min(max(Y, lower), upper), Y ~ base: its CDF is the base's between the bounds.

    All integrals are differences of the base's, so that a clipped distribution has moments also where the base has
    none. The bounds are two numbers, or two arrays with one number per row.
    """

    base: Distribution
    lower: Any
    upper: Any

    def __post_init__(self) -> None:
        """Numbers in order, or one of each per row."""
        shapes = [tuple(getattr(bound, "shape", ())) for bound in (self.lower, self.upper)]
        if any(shapes):
            if shapes != [self.shape] * 2:
                raise ValueError(f"bounds of the shapes {shapes[0]} and {shapes[1]} do not go with {self.shape}")
        elif not self.lower < self.upper:
            raise ValueError(f"clip needs lower < upper, got {self.lower} and {self.upper}")

    @property
    def _bounds(self) -> tuple[Any, Any]:
        """Ready to meet arguments."""
        if isinstance(self.lower, float):
            return self.lower, self.upper
        return self.lower[:, None], self.upper[:, None]

    def _inside(self, y: Array) -> Array:
        return clip(y, *self._bounds)

    def _cdf(self, y: Array) -> Array:
        return within(y, self.base._cdf(self._inside(y)), *self._bounds)

    def _cdf_left(self, y: Array) -> Array:
        return within(y, self.base._cdf_left(self._inside(y)), *self._bounds, left=True)

    def _sf(self, y: Array) -> Array:
        return within(y, self.base._sf(self._inside(y)), *self._bounds, below=1.0)

    def _logpdf(self, y: Array) -> Array:
        """Of counts, a bound has the mass beyond it too."""
        xp, (low, high) = namespace(y), self._bounds
        density = log_density(self.base, self._inside(y), self.lattice)
        if self.lattice is not None:
            density = xp.where((y == low) | (y == high), safe_log(self._cdf(y) - self._cdf_left(y)), density)
        return xp.where((y < low) | (y > high), -np.inf, density)

    def _ppf(self, p: Array) -> Array:
        return self._inside(self.base._ppf(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._inside(self.base._ppf_logit(s))

    @property
    def lattice(self) -> tuple[float, float] | None:
        """The base's, if the bounds are points of it."""
        if (lattice := self.base.lattice) is None:
            return None
        bounds = np.concatenate([np.ravel(to_numpy(end)) for end in (self.lower, self.upper)])
        off = np.remainder(bounds[np.isfinite(bounds)] - lattice[0], lattice[1])
        return None if np.any(off != 0) else lattice

    def at_bound(self, y: Array) -> Array:
        """Which labels, one per row, lie on a bound or beyond it."""
        beyond: Array = (y <= self.lower) | (y >= self.upper)
        return beyond

    # ---- integrals -------------------------------------------------------------------------------------------------

    def _ends(self) -> tuple[Array, Array, Array, Array]:
        """The bounds as columns, 0 where there is none, and where there is none."""
        xp, zero = namespace(self.like), device_like(np.zeros((*(self.shape or (1,)), 1)), self.like)
        low, high = (zero + bound for bound in self._bounds)
        no_low, no_high = xp.isinf(low), xp.isinf(high)
        return xp.where(no_low, zero, low), xp.where(no_high, zero, high), no_low, no_high

    def _moments(self) -> Moments:
        """Differences, in double precision; from the table where the base has no such moment, or no digits are left."""
        if self._in_parts:
            return cast(Moments, self._by_parts("_moments"))
        double = self._in_double
        found, good = double._differences()
        rest = ~(good[0] & good[1] & good[2])
        if anywhere(rest):
            table = Distribution._moments(double[rest] if self.shape else double)
            for values, known, own in zip(found, good, table, strict=True):
                values[rest] = namespace(rest).where(known[rest], values[rest], own)
        return Moments(*(self._at_home(part if self.shape else part[0]) for part in found))

    def _differences(self) -> tuple[list[Array], list[Array]]:
        """The moments, and where each has digits.

        With A = once(a): of Z = max(Y, a), E Z = E Y + A and E (Z - a)^2 = E (Y - a)^2 - 2 twice(a); so at b.
        """
        (a, b, no_low, no_high), base = self._ends(), self.base
        no_high = no_high | (base._sf(b) <= 0)  # so far out that differences have no digits
        xp, zero, kinds = namespace(a), 0 * a, (ONCE, TWICE, SQUARE)
        A, A2, AQ = (xp.where(no_low, zero, base._integrals(a, which)) for which in kinds)
        B, B2, BQ = (base._integrals(b, which) for which in kinds)
        top, good = [b - B, 2 * B2 - B**2, b - 2 * B + BQ], [zero == 0] * 3  # of min(Y, b)
        if anywhere(no_low | no_high):
            own = [base._lift(part) + zero for part in base._all_moments]
            top = [xp.where(no_high, *pair) for pair in zip((own[0], own[1] ** 2, own[2]), top, strict=True)]
            good = [~(no_low | no_high) | xp.isfinite(part) for part in own]
        with np.errstate(invalid="ignore"):  # where the base has no moments
            less = A * (2 * (top[0] - a) + A)
            found = [top[0] + A, top[1] - 2 * A2 - less, top[2] + 2 * A - AQ]
        size = xp.where(no_high, xp.abs(top[1]), xp.abs(B2) + B**2) + xp.abs(less)
        nothing = (~no_high & (base._cdf_left(b) <= 0)) | (~no_low & (base._cdf(a) >= 1))  # all mass is on one bound
        good[1] = nothing | (good[1] & (float(xp.finfo(a.dtype).eps) * size <= _DIGITS * found[1]))
        found[1] = xp.where(nothing, zero, safe_sqrt(xp.where(good[1], found[1], zero)))
        return [part[:, 0] for part in found], [part[:, 0] for part in good]

    @property
    def _in_parts(self) -> bool:
        """Not where the base has a closed crps."""
        return self._many and type(self.base)._crps is Distribution._crps

    def _integrals(self, y: Array, which: int) -> Array:
        a, b, no_low, no_high = self._ends()
        xp, wide = namespace(y), y if self.shape else namespace(y).reshape(y, (1, -1))
        inside, zero = self._inside(wide), 0 * a
        over = xp.where(no_high, 0.0, clip(wide - b, 0.0, np.inf))
        value = self.base._integrals(inside, which) - xp.where(no_low, zero, self.base._integrals(a, which))
        if which == TWICE:
            first = xp.where(no_low, zero, self.base._integrals(a, ONCE))
            last = self.base._integrals(b, ONCE)
            value = value - (inside - a) * first + over * (last - first) + over**2 / 2
        else:
            value = value + over
        return value if self.shape else xp.reshape(value, y.shape)

    def _table(self, count: int) -> MassTable:
        """The base's, with the bounds among its places; one that hardly any mass lies beyond is none."""
        double, (a, b, no_low, no_high) = self._in_double, self._in_double._ends()
        xp, base, infinite = namespace(a), double.base, np.inf + 0 * a
        low = xp.where(no_low | (base._cdf(a) < _HARDLY), -infinite, a)
        high = xp.where(no_high | (base._cdf_left(b) > 1 - _HARDLY), infinite, b)
        bounds = concatenate([low, high], axis=1)
        table = base._table(count).to(a).with_places(base, xp.where(xp.isinf(bounds), np.nan, bounds))
        return table.clipped(low, high)


def within(y: Array, F: Array, low: Any, high: Any, *, below: float = 0.0, left: bool = False) -> Array:
    """F at y, from the left or not, which is 0 below the bounds and 1 above them; with `below` = 1, 1 - F at y."""
    xp, (under, over) = namespace(y), (y <= low, y > high) if left else (y < low, y >= high)
    return xp.where(under, below, xp.where(over, 1 - below, F))
