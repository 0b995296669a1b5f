"""Distributions of counts, and of other labels that lie on a lattice, such as prices in steps of 0.05."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._arguments import finite, keep, positive
from calibrant._arrays import Array, anywhere, clip, concatenate, detached, device_like, namespace
from calibrant._special import ndtri, ndtri_logit, sigmoid
from calibrant.distributions.base import ClosedMoments, Distribution, drawn_in, evenly_between
from calibrant.distributions.table import GAUSS, MassTable, mass_at_infinity, steps

NEAR = 1e-6  # of a step: how far from a point of the lattice a label may be, as rounding leaves it
_REACH = 32.0  # the logit of the outermost points of a table: 1e-14 of the mass lies beyond, and has two digits
_PARTS = 8  # even steps from one quantile to the next, where a row has too many points to take each


def check_lattice(whole: Any) -> None:
    """Make floats of the `step` and the `lower` of a frozen dataclass, if they are those of a lattice."""
    name = type(whole).__name__
    lower = None if whole.lower is None else finite(f"{name}.lower", whole.lower)
    keep(whole, step=positive(f"{name}.step", whole.step), lower=lower)


def position(y: Array, lattice: tuple[float, float]) -> tuple[Array, Array]:
    """k and the rest t in [0, 1), y = origin + step * (k + t); what is a point but for rounding is that point."""
    xp, (origin, step) = namespace(y), lattice
    x = y if lattice == (0.0, 1.0) else (y - origin) / step
    with np.errstate(invalid="ignore"):  # at -inf and inf
        near = xp.round(x)
        on = xp.abs(x - near) <= 4 * float(xp.finfo(x.dtype).eps) * (xp.abs(near) + (abs(origin / step) + 1))
        k = xp.where(on, near, xp.floor(x))
        t = x - k
    return k, xp.where((t > 0) & ~on, t, 0.0)


def off_lattice(y: Array, lattice: tuple[float, float]) -> Array:
    """Where y is no point of the lattice."""
    _, t = position(y, lattice)
    return (t > NEAR) & (t < 1 - NEAR)


class OnLattice(Distribution):
    """A distribution on the points origin + step * k, k whole.

    A subclass gives P(K <= k), P(K > k) and log P(K = k) for whole k from the first to the last, as floats in double
    precision, and a search for quantiles. What is integrated is a sum over all points where these are few, and over
    some hundreds of them where they are many, with an error of 2e-4 of the spread.
    """

    @abstractmethod
    def _below(self, k: Array) -> Array:
        """P(K <= k)."""

    @abstractmethod
    def _above(self, k: Array) -> Array:
        """P(K > k)."""

    @abstractmethod
    def _log_mass(self, k: Array) -> Array:
        """log P(K = k)."""

    def _ends(self) -> tuple[Any, Any]:
        """The first and the last k, ready to meet (n, k); they may be infinite."""
        return 0.0, math.inf

    @abstractmethod
    def _least(self, name: str, level: Array, enough: Callable[[Array], Array], end: Array) -> Array:
        """The smallest point that is enough, for `_ppf` or `_ppf_logit` at a level; at an `end` the first or last."""

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.like.shape)

    @property
    def lattice(self) -> tuple[float, float]:
        return 0.0, 1.0

    def _place(self, k: Array) -> Array:
        origin, step = self.lattice
        return origin + step * k

    # ---- probabilities ---------------------------------------------------------------------------------------------

    def _at_k(self, name: str, k: Array, known: Array) -> Array:
        """The method `name` in double precision, where its k is known."""
        xp = namespace(k)
        inner = xp.astype(xp.where(known, k, 0.0), xp.float64, copy=False)
        return xp.astype(getattr(self._in_double, name)(inner), k.dtype, copy=False)

    def _up_to(self, k: Array) -> Array:
        """P(K <= k) for any k."""
        return self._clamped("_below", k, 0.0, 1.0)

    def _beyond(self, k: Array) -> Array:
        """P(K > k) for any k."""
        return self._clamped("_above", k, 1.0, 0.0)

    def _clamped(self, name: str, k: Array, before: float, after: float) -> Array:
        xp, (first, last) = namespace(k), self._ends()
        low, high = (k < first) | (k == -math.inf), k >= last
        value = self._at_k(name, k, ~(low | high))
        return xp.where(low, before, xp.where(high, after, value))

    def _cdf(self, y: Array) -> Array:
        return self._up_to(position(y, self.lattice)[0])

    def _sf(self, y: Array) -> Array:
        return self._beyond(position(y, self.lattice)[0])

    def _cdf_left(self, y: Array) -> Array:
        k, t = position(y, self.lattice)
        return self._up_to(namespace(y).where(t > 0, k, k - 1))

    def _logpdf(self, y: Array) -> Array:
        """The log probability of a point."""
        (k, t), (first, last), xp = position(y, self.lattice), self._ends(), namespace(y)
        known = (t == 0) & (k >= first) & (k <= last) & xp.isfinite(k)
        return xp.where(known, self._at_k("_log_mass", k, known), -math.inf)

    # ---- quantiles -------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        """The smallest point with P(K <= k) >= p."""
        return self._least("_ppf", p, lambda k: self._up_to(k) >= p, (p <= 0) | (p >= 1))

    def _ppf_logit(self, s: Array) -> Array:
        """The same at sigmoid(s); for s > 0 the smallest with P(K > k) <= sigmoid(-s)."""
        xp, low, high = namespace(s), sigmoid(s), sigmoid(-s)

        def enough(k: Array) -> Array:
            return xp.where(s <= 0, self._up_to(k) >= low, self._beyond(k) <= high)

        return self._least("_ppf_logit", s, enough, xp.isinf(s))

    # ---- sums ------------------------------------------------------------------------------------------------------

    def _table(self, count: int) -> MassTable:
        """Of all points; where there are many, of two thirds of `count`, and of two more between each two."""
        own = self._in_double
        k = own._points(2 * count // (3 * _PARTS) * _PARTS + 1)
        xp, F, gap = namespace(k), own._up_to(k), steps(k)
        before, bulges = F[:, :-1], 0 * gap  # of equal points, the first one has the mass
        if anywhere(gap > 1):
            before = xp.where(gap > 0, own._up_to(k[:, 1:] - 1), before)
        if anywhere(gap > 2):
            low, high = (own._up_to(xp.floor(k[:, :-1] + x * gap)) for x in GAUSS)
            bulges = own.lattice[1] * gap * (low + high - F[:, :-1] - before) / 2
        left = concatenate([own._up_to(k[:, :1] - 1), before], axis=1)
        return MassTable.of_heights(own._place(k), (left, F, 1 - left, 1 - F), bulges, own._infinite)

    def _points(self, most: int) -> Array:
        """All k of each row up to `most`; of a longer one so many, evenly between one quantile and the next."""
        ends = self._near_quantiles(2)
        xp, low, high = namespace(ends), ends[:, :1], ends[:, -1:]
        longest = int(xp.max(high - low)) if low.shape[0] else 1
        k = xp.maximum(high + device_like(np.arange(1 - min(max(longest + 1, 2), most), 1)[None, :], low), low)
        if longest < most:
            return k
        quantiles = clip(self._near_quantiles((most - 1) // _PARTS + 1), low, high)
        return xp.where(high - low < most, k, xp.floor(evenly_between(quantiles, _PARTS)))

    def _near_quantiles(self, count: int) -> Array:
        """The k of so many quantiles, or near them, in increasing order, as far out as the finite mass reaches."""
        s = device_like(np.sinh(np.linspace(-1, 1, count) * np.arcsinh(_REACH))[None, :], self.like)
        below, above = self._infinite
        if not anywhere(below + above > 0):
            return detached(position(self._places(s), self.lattice)[0])
        p, q = (mass * (1 + 1e-9) + (1 - below - above) * sigmoid(t) for mass, t in ((below, s), (above, -s)))
        places = drawn_in(self._ppf_logit(namespace(s).log(p) - namespace(s).log(q)))
        return detached(position(places, self.lattice)[0])

    @property
    def _infinite(self) -> tuple[Array, Array]:
        """The mass at -inf and at +inf."""
        return self.remember("_kept_infinite", lambda: mass_at_infinity(self, device_like(0.0, self.like)))


class CountFamily(ClosedMoments, OnLattice):
    """One whose mean and standard deviation are known: the search for its quantiles begins there."""

    def _least(self, name: str, level: Array, enough: Callable[[Array], Array], end: Array) -> Array:
        """From mean + std * z in growing steps to either side, then by halves."""
        xp = namespace(level)
        z = ndtri(level) if name == "_ppf" else ndtri_logit(level)
        mean, std = (detached(self._lift(part)) + xp.zeros_like(z) for part in self._mean_std())
        first, last = (end + xp.zeros_like(z) for end in self._ends())
        guess = clip(xp.where(end, z, xp.floor(mean + std * clip(z, -40.0, 40.0))), first, last)
        low = high = xp.where(end, 0.0, guess)
        step = xp.ceil(std / 4) + 1
        while anywhere(far := ~end & (((low >= first) & enough(low)) | ((high < last) & ~enough(high)))):
            low, high = xp.where(far, xp.maximum(low - step, first - 1), low), xp.where(far, high + step, high)
            step = 2 * step
        return self._place(xp.where(end, guess, halved(low, xp.minimum(high, last), enough)))


def halved(low: Array, high: Array, enough: Callable[[Array], Array]) -> Array:
    """The least whole k in (low, high] that is enough, where `high` is."""
    xp = namespace(low)
    while anywhere(((middle := xp.floor(low / 2 + high / 2)) > low) & (middle < high)):
        found = enough(middle)
        low, high = xp.where(found, low, middle), xp.where(found, middle, high)
    return high
