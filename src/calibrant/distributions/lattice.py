"""A continuous law collapsed onto a lattice: what a calibrated law of Y + step * U says of Y."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

from calibrant._arguments import one_number
from calibrant._arrays import Array, anywhere, device_like, namespace
from calibrant._special import logit, safe_log, sigmoid
from calibrant.distributions.base import Distribution
from calibrant.distributions.discrete import Discrete
from calibrant.distributions.integrals import PartialMoments, Squares

_HEAVY = 8.0  # how much farther out the quantile at logit 36 lies than that at 18, where what is beyond counts


NEAR = 1e-6  # of a step: how far from a point of the lattice a label may be, as rounding leaves it


def off_lattice(y: Array, origin: float, step: float) -> Array:
    """Where y is no point origin + step * k, k whole."""
    xp = namespace(y)
    places = (y - origin) / step
    return xp.abs(places - xp.round(places)) > NEAR + 4 * float(xp.finfo(y.dtype).eps) * xp.abs(places)


@dataclass(frozen=True, eq=False, repr=False)
class Lattice(Discrete):
    """The law of Y = lower + step * floor((Y' - lower) / step), Y' ~ law: P(Y <= y) = P(Y' < y + step).

    The mass below `lower` sits on it. With `lower` None the lattice has no end; its points are the multiples of `step`.

    >>> from calibrant import Normal
    >>> Lattice(Normal([1.5, 3.0], [1.0, 2.0])).interval(0.8)
    (array([0., 0.]), array([2., 5.]))
    """

    law: Distribution
    step: float = field(default=1.0, metadata={"shared": True})
    lower: float | None = field(default=0.0, metadata={"shared": True})

    def __post_init__(self) -> None:
        if not isinstance(self.law, Distribution):
            raise TypeError(f"Lattice.law must be a Distribution, got {self.law!r}")
        step = one_number("Lattice.step", self.step)
        if not 0 < step < math.inf:
            raise ValueError(f"Lattice.step must be positive and finite, got {self.step!r}")
        object.__setattr__(self, "step", step)
        if self.lower is not None:
            lower = one_number("Lattice.lower", self.lower)
            if not math.isfinite(lower):
                raise ValueError(f"Lattice.lower must be finite or None, got {self.lower!r}")
            object.__setattr__(self, "lower", lower)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.law.shape

    @property
    def like(self) -> Array:
        return self.law.like

    @property
    def origin(self) -> float:
        return 0.0 if self.lower is None else self.lower

    @property
    def points(self) -> tuple[float, float | None]:
        """What its points are: from one to the next, and the first."""
        return self.step, self.lower

    def _ends(self) -> tuple[Any, Any]:
        return -math.inf if self.lower is None else 0.0, math.inf

    def _from_first(self, k: Array, value: Array, before: float) -> Array:
        """`value`, or `before` for points below the first."""
        if self.lower is None:
            return value
        xp = namespace(value)
        return xp.where(k < 0, xp.full_like(value, before), value)

    def _below(self, k: Array) -> Array:
        return self._from_first(k, self.law._cdf_left(self._place(k + 1)), 0.0)

    def _above(self, k: Array) -> Array:
        y = self._place(k + 1)
        left, right = self.law._cdf_sides(y)
        return self._from_first(k, self.law._sf(y) + (right - left), 1.0)

    def _log_below(self, k: Array) -> Array:
        """As far out as the law reaches; beside an atom of the law on the lattice, log of P(Y' < y)."""
        y = self._place(k + 1)
        left, right = self.law._cdf_sides(y)
        xp = namespace(left)
        return self._from_first(k, xp.where(left < right, safe_log(left), self.law._logcdf(y)), -math.inf)

    def _log_above(self, k: Array) -> Array:
        y = self._place(k + 1)
        left, right = self.law._cdf_sides(y)
        xp = namespace(left)
        return self._from_first(k, xp.where(left < right, safe_log(1 - left), self.law._logsf(y)), 0.0)

    def _log_mass(self, k: Array) -> Array:
        """log(F(b) - F(a)) over the cell [a, b), from the logarithms of the tail that it lies in: nothing cancels."""
        F0, F1 = self._log_below(k - 1), self._log_below(k)
        S0, S1 = self._log_above(k - 1), self._log_above(k)
        xp = namespace(F1)
        upper = S0 < F1
        large, small = xp.where(upper, S0, F1), xp.where(upper, S1, F0)
        some = xp.isfinite(large) & (small < large)
        gap = xp.where(some, small - xp.where(some, large, xp.zeros_like(large)), -xp.ones_like(large))
        mass = large + xp.log(-xp.expm1(gap))
        return xp.where(some, mass, xp.full_like(mass, -xp.inf))

    def _index(self, p: Array) -> Array:
        """From the law's quantile; a step back or forth where rounding, or an atom on the lattice, asks for it."""
        xp = namespace(p)
        k = self._cell(self.law._ppf(p))
        inner = xp.isfinite(k) & (p > 0) & (p < 1)
        k = xp.where(inner & (self._at_point(self._below, k, 0.0, 1.0) < p), k + 1, k)
        back = self._from_first(k - 1, self._at_point(self._below, k - 1, 0.0, 1.0), 0.0)
        return xp.where(inner & (back >= p), k - 1, k)

    def _index_logit(self, s: Array) -> Array:
        xp, y = namespace(s), self.law._ppf_logit(s)
        k = self._cell(y)
        edge = xp.isfinite(y) & (self._place(k + 1) == y)  # where an atom of the law belongs to the next cell
        if not anywhere(edge):
            return k
        short = xp.where(s <= 0, self._below(k) < sigmoid(s), self._above(k) > sigmoid(-s))
        return xp.where(edge & short, k + 1, k)

    def _quantiles(self, p: Array) -> Array:
        """The law's own, which all rows may share, and where these lie close beside a point, one by one."""
        xp, y = namespace(p), self.law._quantiles(p)
        x = (y - self.origin) / self.step
        doubt = xp.any(xp.abs(x - xp.round(x)) <= 1e-6 * (1 + xp.abs(x)))
        return super()._quantiles(p) if bool(doubt) or self.law.is_discrete else self._place(self._cell(y))

    def _cell(self, y: Array) -> Array:
        """The k of the smallest point with P(Y <= point) >= H'(y): the cell (k, k + 1] that y lies in."""
        xp = namespace(y)
        k = xp.ceil((y - self.origin) / self.step) - 1
        return k if self.lower is None else xp.maximum(k, xp.zeros_like(k))

    def _finite_index(self, s: Array) -> Array:
        below, above = self._infinite_mass()
        if isinstance(below, float) and isinstance(above, float) and below == above == 0.0:
            return self._index_logit(s)
        xp = namespace(s)
        low, high = (logit(self._column(mass, s) + 1e-9) for mass in (below, above))
        return self._index_logit(xp.minimum(xp.maximum(s + 0 * low, low), -high))

    def _infinite_mass(self) -> tuple[Any, Any]:
        below, above = self.law._infinite_mass()
        return below if self.lower is None else 0.0, above

    def _pit(self, y: Array, u: Array) -> Array:
        """H'(y + step * u): uniform where H' is calibrated for Y + step * U."""
        k, t = self._position(y)
        return self.law._cdf(self._place(k + namespace(y).where(t > 0, namespace(y).ones_like(t), u)))

    def _bends_at(self) -> Array | None:
        outline = self.law._outline()
        if outline is None:
            return None
        k = (outline.y - self.origin) / self.step - 1
        return k if k.ndim == 2 else k[None, :] + 0 * self._range()[0]

    def _beyond(self, points: Array) -> tuple[Any, Any]:
        """The law's own integrals, which differ from sums by less than a step times the mass out there."""
        some_infinite = any(not isinstance(mass, float) or mass > 0 for mass in self._infinite_mass())
        s = device_like([[-36.0, -18.0, 0.0, 18.0, 36.0]], self.like)
        q = self.law._ppf_logit(s if self.shape else s[0, :])
        xp = namespace(q)
        far = [xp.abs(q[..., i] - q[..., 2]) > _HEAVY * xp.abs(q[..., j] - q[..., 2]) for i, j in ((0, 1), (4, 3))]
        if some_infinite or not any(bool(xp.any(side)) for side in far):
            return None, None
        ends = [self._place(end + 1) for end in (points[:, :1], points[:, -1:])]
        ends = [xp.astype(end, self.like.dtype) for end in ends]
        parts = [(self.law._partial_moments(end), self.law._squares(end)) for end in ends]
        (low, low_square), (high, high_square) = parts
        below = (low.lower / self.step, low.lower2 / self.step**2, low_square.lower / self.step)
        above = (high.upper / self.step, high.upper2 / self.step**2, high_square.upper / self.step)
        kept = tuple(self._settled(part) for part in above)
        if self.lower is not None:
            return None, kept
        return tuple(self._settled(part) for part in below), kept

    @staticmethod
    def _settled(part: Array) -> Array:
        """An integral that does not exist is a number so large that its sums are infinite."""
        xp = namespace(part)
        return xp.where(xp.isfinite(part), part, xp.full_like(part, 1e308))

    def _partial_moments(self, y: Array) -> PartialMoments:
        return PartialMoments(*(_infinite(part) for part in super()._partial_moments(y)))

    def _squares(self, y: Array) -> Squares:
        return Squares(*(_infinite(part) for part in super()._squares(y)))

    def _describe(self) -> str:
        start = "" if self.lower is None else f" from {self.lower:g}"
        return f"{self.law!r} in steps of {self.step:g}{start}"


def _infinite(part: Array) -> Array:
    xp = namespace(part)
    return xp.where(xp.abs(part) > 1e290, xp.full_like(part, xp.inf), part)
