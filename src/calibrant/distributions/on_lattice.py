"""Distributions of counts, and of other labels that lie on a lattice, such as prices in steps of 0.05."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._arrays import Array, anywhere, clip, concatenate, detached, device_like, namespace
from calibrant._special import ndtri, ndtri_logit, sigmoid
from calibrant.distributions.base import Distribution, Moments
from calibrant.distributions.table import MassTable

NEAR = 1e-6  # of a step: how far from a point of the lattice a label may be, as rounding leaves it
_REACH = 32.0  # the logit of the outermost points of a table: 1e-14 of the mass lies beyond, and has two digits
_PARTS = 8  # even steps from one quantile to the next, where a row has too many points to take each


def position(y: Array, lattice: tuple[float, float]) -> tuple[Array, Array]:
    """k and the rest t in [0, 1), y = origin + step * (k + t); what is a point but for rounding is that point."""
    xp, (origin, step) = namespace(y), lattice
    x = y if lattice == (0.0, 1.0) else (y - origin) / step
    with np.errstate(invalid="ignore"):  # at -inf and inf
        near = xp.round(x)
        on = xp.abs(x - near) <= 4 * float(xp.finfo(x.dtype).eps) * (xp.abs(near) + (abs(origin / step) + 1))
        k = xp.where(on, near, xp.floor(x))
        t = x - k
    return k, xp.where((t > 0) & ~on, t, xp.zeros_like(t))


def off_lattice(y: Array, origin: float, step: float) -> Array:
    """Where y is no point origin + step * k, k whole."""
    xp = namespace(y)
    x = (y - origin) / step
    return xp.abs(x - xp.round(x)) > NEAR + 4 * float(xp.finfo(y.dtype).eps) * xp.abs(x)


def from_zero(k: Array, before: float, function: Callable[[Array], Array]) -> Array:
    """function(k), but `before` for k < 0."""
    xp, none = namespace(k), k < 0
    value = function(xp.where(none, xp.zeros_like(k), k))
    return xp.where(none, before + xp.zeros_like(value), value)


class OnLattice(Distribution):
    """A distribution on the points origin + step * k, k whole.

    A subclass gives P(K <= k), P(K > k) and log P(K = k) for whole k, as floats in double precision, and where the
    points begin and end. Quantiles are searched for. What is integrated is a sum over all points where these are few,
    and over some hundreds of them where they are many, with an error of 5e-5 of the spread.
    """

    @property
    def origin(self) -> float:
        """The point k = 0."""
        return 0.0

    @property
    def step(self) -> float:
        """From one point to the next."""
        return 1.0

    @abstractmethod
    def _below(self, k: Array) -> Array:
        """P(K <= k)."""

    @abstractmethod
    def _above(self, k: Array) -> Array:
        """P(K > k)."""

    @abstractmethod
    def _log_mass(self, k: Array) -> Array:
        """log P(K = k)."""

    @abstractmethod
    def _ends(self) -> tuple[Any, Any]:
        """The first and the last k: numbers, or one for each row; they may be infinite."""

    def _mean_std(self) -> tuple[Array, Array] | None:
        """Mean and std where they have closed forms."""
        return None

    def _infinite(self) -> tuple[Any, Any]:
        """The mass at -inf and at +inf, ready to meet (n, k)."""
        return 0.0, 0.0

    # ---- what it says ----------------------------------------------------------------------------------------------

    @property
    def lattice(self) -> tuple[float, float]:
        return self.origin, self.step

    def _place(self, k: Array) -> Array:
        return k if self.lattice == (0.0, 1.0) else self.origin + self.step * k

    def _cdf(self, y: Array) -> Array:
        return self._at_k("_below", position(y, self.lattice)[0], lambda below, above: (below, 1.0))

    def _sf(self, y: Array) -> Array:
        return self._at_k("_above", position(y, self.lattice)[0], lambda below, above: (1 - below, 0.0))

    def _cdf_left(self, y: Array) -> Array:
        k, t = position(y, self.lattice)
        k = namespace(k).where(t > 0, k, k - 1)
        return self._at_k("_below", k, lambda below, above: (0.0, 1 - above))

    def _logpdf(self, y: Array) -> Array:
        """The log probability of a point."""
        k, t = position(y, self.lattice)
        mass = self._at_k("_log_mass", k, lambda below, above: (-np.inf, -np.inf))
        return namespace(k).where(t > 0, namespace(k).full_like(mass, -np.inf), mass)

    def _at_k(self, name: str, k: Array, ends: Callable[[Any, Any], tuple[Any, Any]] | None = None) -> Array:
        """A method at k, worked out in double precision; `ends` of the masses at -inf and +inf is what it is there."""
        xp, finite = namespace(k), namespace(k).isfinite(k)
        law, every = self._in_double, bool(xp.all(finite))
        inner = k if every else xp.where(finite, k, xp.zeros_like(k))
        value = getattr(law, name)(xp.astype(inner, xp.float64, copy=False))
        if not every and ends is not None:
            low, high = (end + xp.zeros_like(value) for end in ends(*law._infinite()))
            value = xp.where(finite, value, xp.where(k < 0, low, high))
        return xp.astype(value, k.dtype, copy=False)

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        """The smallest point with P(K <= k) >= p."""
        tiny, eps = (float(getattr(namespace(p).finfo(p.dtype), name)) for name in ("smallest_normal", "eps"))
        inner = clip(p, tiny, 1 - eps / 2)
        return self._least("_ppf", p, lambda k: self._at_k("_below", k) >= inner, p <= 0, p >= 1)

    def _ppf_logit(self, s: Array) -> Array:
        """The same at sigmoid(s); for s > 0 the smallest with P(K > k) <= sigmoid(-s)."""
        xp = namespace(s)
        tiny = float(xp.finfo(s.dtype).smallest_normal)
        low, high = (clip(sigmoid(part), tiny, 1.0) for part in (s, -s))

        def enough(k: Array) -> Array:
            return xp.where(s <= 0, self._at_k("_below", k) >= low, self._at_k("_above", k) <= high)

        return self._least("_ppf_logit", s, enough, s == -np.inf, s == np.inf)

    def _least(self, name: str, level: Array, enough: Callable[[Array], Array], none: Array, every: Array) -> Array:
        """The smallest point that is enough: from mean + std * z in growing steps to either side, then by halves."""
        xp = namespace(level)
        z = clip(ndtri(level) if name == "_ppf" else ndtri_logit(clip(level, -700.0, 700.0)), -40.0, 40.0)
        mean, std = (detached(self._lift(part)) / self.step for part in (self.mean(), self.std()))
        known = xp.isfinite(mean) & xp.isfinite(std)
        mean, std = (xp.where(known, part, 0 * z) for part in (mean - self.origin / self.step, std))
        first, last = (
            (self._lift(end) if getattr(end, "ndim", 0) else end) + xp.zeros_like(std) for end in self._ends()
        )
        low = high = xp.minimum(xp.maximum(xp.floor(mean + std * z), first), last)
        step = xp.ceil(std / 4) + 1
        while anywhere(far := (low >= first) & enough(low)):
            low, high = xp.where(far, xp.maximum(low - step, first - 1), low), xp.where(far, low, high)
            step = 2 * step
        while anywhere(far := (high < last) & ~enough(high)):
            low, high = xp.where(far, high, low), xp.where(far, high + step, high)
            step = 2 * step
        return self._place(xp.where(none, first, xp.where(every, last, halved(low, xp.minimum(high, last), enough))))

    # ---- sums ------------------------------------------------------------------------------------------------------

    def mean(self) -> Array:
        """The expectation."""
        closed = self._mean_std()
        return super().mean() if closed is None else closed[0]

    def std(self) -> Array:
        """The standard deviation."""
        closed = self._mean_std()
        return super().std() if closed is None else closed[1]

    def _moments(self) -> Moments:
        found, closed = super()._moments(), self._mean_std()
        return found if closed is None else Moments(*closed, found.shift)

    def _table(self, count: int) -> MassTable:
        """Of all points; where there are many, of two thirds of `count`, and of what lies in between."""
        law = self._in_double
        k = law._points(2 * count // (3 * _PARTS) * _PARTS + 1)
        xp, F, gap = namespace(k), law._below(k), k[:, 1:] - k[:, :-1]
        before = F[:, :-1]  # of equal points, the first one has the mass
        if anywhere(gap > 1):
            before = xp.where(gap > 0, law._below(k[:, 1:] - 1), before)
        F_left = concatenate([law._below(k[:, :1] - 1), before], axis=1)
        bulges = 0 * gap
        if anywhere(gap > 2):
            bulges = xp.where(gap > 2, law.step * law._bulges(k, gap, F, F_left), bulges)
        below, above = (mass + 0 * F[:, :1] for mass in law._infinite())
        return MassTable.of_heights(law._place(k), (F_left, F), (1 - F_left, 1 - F), bulges, (below, above))

    def _bulges(self, k: Array, gap: Array, F: Array, F_left: Array) -> Array:
        """The sum of the steps from each point to the next less a trapezoid: F is quadratic, as its masses tell."""
        del k
        mass = F - F_left
        return -(gap - 1) * (gap - 2) / 12 * (mass[:, 1:] - mass[:, :-1])

    def _points(self, most: int) -> Array:
        """All k of each row up to `most`; of a longer one about as many, evenly between one quantile and the next."""
        ends = self._near_quantiles(2)
        xp, low, high = namespace(ends), ends[:, :1], ends[:, -1:]
        wide = high - low >= most
        count = max(int(xp.max(xp.where(wide, 0 * low, high - low))) + 1, 2) if low.shape[0] else 2
        chosen = None
        if anywhere(wide):
            q = clip(self._near_quantiles((most - 1) // _PARTS + 1), low, high)
            share = device_like(np.arange(_PARTS) / _PARTS, q)
            between = xp.floor(q[:, :-1, None] + (q[:, 1:] - q[:, :-1])[..., None] * share)
            chosen = concatenate([xp.reshape(between, (q.shape[0], -1)), high], axis=1)
            count = chosen.shape[1]
        k = xp.maximum(high + device_like(np.arange(1 - count, 1)[None, :], low), low)
        return k if chosen is None else xp.where(wide, chosen, k)

    def _near_quantiles(self, count: int) -> Array:
        """The k of about so many quantiles, in increasing order, as far out as the finite mass reaches."""
        levels = np.sinh(np.linspace(-1, 1, count) * np.arcsinh(_REACH))
        s, (below, above) = device_like(levels[None, :], self.like), self._infinite()
        if not all(isinstance(mass, float) for mass in (below, above)):
            xp, rest = namespace(s), 1 - below - above
            p, q = (mass * (1 + 1e-9) + rest * sigmoid(t) for mass, t in ((below, s), (above, -s)))
            s = xp.log(p) - xp.log(q)
        return detached(position(self._places(s), self.lattice)[0])


def halved(low: Array, high: Array, enough: Callable[[Array], Array]) -> Array:
    """The least whole k in (low, high] that is enough, where `high` is."""
    xp = namespace(low)
    while anywhere(((middle := xp.floor(low / 2 + high / 2)) > low) & (middle < high)):
        found = enough(middle)
        low, high = xp.where(found, low, middle), xp.where(found, middle, high)
    return high
