"""Laws on a lattice: counts, and prices in steps of 0.05."""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from calibrant._arrays import Array, concatenate, detached, device_like, namespace, rows, to_numpy
from calibrant._batch import take_rows
from calibrant._special import ndtri, ndtri_logit, safe_log, sigmoid
from calibrant.distributions.from_ends import FromEnds
from calibrant.distributions.integrals import PartialMoments, Squares
from calibrant.distributions.line_table import LineTable

_EVERY = 2**14  # points of a row up to which each is summed
_PANELS, _PARTS = 60, 512  # of a wider row: stretches from one quantile to another, and even steps in each
_AT_ONCE = 2**20  # values of the CDF held at a time
_FAR = 1e-280  # probabilities below it are worked out as logarithms


class Discrete(FromEnds):
    """A law on the points origin + step * k, k whole.

    A subclass gives P(K <= k), P(K > k) and log P(K = k) for whole k, as floats, and where the points begin and end.
    Quantiles are searched for. Mean, std and CRPS are sums: over every point where a row has at most 16,384 of them;
    of a wider row over some 30,000 points, between which the CDF is smooth, or straight but where `_bends_at` says so
    (relative error below 1e-7). The logpdf is -inf, as there is no density: see `logpmf`.
    """

    _reach: ClassVar[float] = 36.0
    """The logit of the outermost quantiles that are summed to: beyond lies 2e-16 of the mass."""

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
        """The first and the last k of each row: numbers, or arrays of the shape of the law; they may be infinite."""

    def _bends_at(self) -> Array | None:
        """The k, not whole, (n, m), at which the CDF of wide rows bends; None where it is smooth."""
        return None

    # ---- points -----------------------------------------------------------------------------------------------------

    @property
    def lattice(self) -> tuple[float, float]:
        return self.origin, self.step

    @property
    def is_discrete(self) -> bool:
        return True

    def _place(self, k: Array) -> Array:
        return k if (self.origin, self.step) == (0.0, 1.0) else self.origin + self.step * k

    def _position(self, y: Array) -> tuple[Array, Array]:
        """k and the rest t in [0, 1), y = origin + step * (k + t); what is a point but for rounding is that point."""
        xp = namespace(y)
        x = (y - self.origin) / self.step
        finite = xp.where(xp.isfinite(x), x, xp.zeros_like(x))
        near = xp.round(finite)
        slack = 4 * float(xp.finfo(x.dtype).eps) * (xp.abs(near) + abs(self.origin / self.step) + 1)
        on = xp.abs(finite - near) <= slack
        k = xp.where(on, near, xp.floor(finite))
        return xp.where(xp.isfinite(x), k, x), xp.where(on, xp.zeros_like(x), finite - k)

    # ---- the law ----------------------------------------------------------------------------------------------------

    def _at_point(self, function: Callable[[Array], Array], k: Array, low: float, high: float) -> Array:
        """function(k) at whole k; `low` at -inf, `high` at inf."""
        xp = namespace(k)
        finite = xp.isfinite(k)
        value = function(xp.where(finite, k, xp.zeros_like(k)))
        ends = xp.where(k < 0, xp.full_like(value, low), xp.full_like(value, high))
        return xp.where(finite, value, ends)

    def _cdf(self, y: Array) -> Array:
        return self._at_point(self._below, self._position(y)[0], 0.0, 1.0)

    def _sf(self, y: Array) -> Array:
        return self._at_point(self._above, self._position(y)[0], 1.0, 0.0)

    def _cdf_left(self, y: Array) -> Array:
        k, t = self._position(y)
        return self._at_point(self._below, namespace(k).where(t > 0, k, k - 1), 0.0, 1.0)

    def _logcdf(self, y: Array) -> Array:
        return self._at_point(self._log_below, self._position(y)[0], -math.inf, 0.0)

    def _logsf(self, y: Array) -> Array:
        return self._at_point(self._log_above, self._position(y)[0], 0.0, -math.inf)

    def _log_below(self, k: Array) -> Array:
        return self._log_tail(self._below(k), k, -1.0)

    def _log_above(self, k: Array) -> Array:
        return self._log_tail(self._above(k), k + 1, 1.0)

    def _log_tail(self, mass: Array, k: Array, way: float) -> Array:
        """log of the mass from k on; where floats cannot hold it, from the masses of k and the two points beyond.

        With r = P(k + 1) / P(k) and d its decrease to the next ratio, it is P(k) / (1 - r) * (1 - d r / (1 - r)^2).
        """
        xp = namespace(mass)
        far = mass < _FAR
        if not bool(xp.any(far)):
            return xp.log(mass)
        at, second, third = (self._log_mass(k + way * i) for i in range(3))
        zero = xp.zeros_like(at)
        some, more, most = (xp.isfinite(each) for each in (at, second, third))
        at, second, third = (xp.where(xp.isfinite(each), each, zero) for each in (at, second, third))
        ratio = xp.where(some & more, xp.exp(xp.where(some & more, second - at, zero)), zero)
        following = xp.where(more & most, xp.exp(xp.where(more & most, third - second, zero)), zero)
        good = some & (ratio < 1)
        ratio = xp.where(good, ratio, xp.zeros_like(ratio))
        bend = (ratio - following) * ratio / (1 - ratio) ** 2
        bend = xp.where(good & (bend < 0.5) & (bend > 0), bend, xp.zeros_like(bend))
        deep = xp.where(good, at, xp.full_like(mass, -xp.inf)) - xp.log1p(-ratio) + xp.log1p(-bend)
        return xp.where(far, deep, safe_log(xp.where(far, xp.ones_like(mass), mass)))

    def _logpdf(self, y: Array) -> Array:
        """There is no density."""
        return namespace(y).full_like(self._cdf(y), -np.inf)

    def _logpmf(self, y: Array) -> Array:
        k, t = self._position(y)
        mass = self._at_point(self._log_mass, k, -math.inf, -math.inf)
        return namespace(k).where(t > 0, namespace(k).full_like(mass, -np.inf), mass)

    # ---- quantiles --------------------------------------------------------------------------------------------------

    def _ppf(self, p: Array) -> Array:
        return self._place(self._index(p))

    def _ppf_logit(self, s: Array) -> Array:
        return self._place(self._index_logit(s))

    def _index(self, p: Array) -> Array:
        """The smallest k with P(K <= k) >= p."""
        xp = namespace(p)
        inner = xp.where((p > 0) & (p < 1), p, xp.full_like(p, 0.5))
        k = self._searched(lambda k: self._below(k) >= inner, ndtri(inner))
        return self._with_ends(k, p <= 0, p >= 1)

    def _index_logit(self, s: Array) -> Array:
        """The same at p = sigmoid(s); for s > 0 the smallest k with P(K > k) <= sigmoid(-s)."""
        xp = namespace(s)
        inner = xp.where(xp.isfinite(s), s, xp.zeros_like(s))
        low, high = sigmoid(inner), sigmoid(-inner)
        k = self._searched(
            lambda k: xp.where(inner <= 0, self._below(k) >= low, self._above(k) <= high), ndtri_logit(inner)
        )
        return self._with_ends(k, s == -xp.inf, s == xp.inf)

    def _with_ends(self, k: Array, low: Array, high: Array) -> Array:
        xp = namespace(k)
        first, last = (self._column(end, k) for end in self._ends())
        return xp.where(low, first, xp.where(high, last, k))

    def _column(self, value: Any, like: Array) -> Array:
        """A number of all rows, or one a row, ready to meet (n, k)."""
        if getattr(value, "ndim", 0) == 0:
            return device_like(float(value), like)
        return self._lift(value)

    def _searched(self, enough: Callable[[Array], Array], z: Array) -> Array:
        """The smallest k that is enough, from a bracket around mean + std * z, which doubles, then halves."""
        xp = namespace(z)
        mean, std = (detached(self._lift(part)) for part in (self._mean(), self._std()))
        mean, std = ((part - shift) / self.step for part, shift in ((mean, self.origin), (std, 0.0)))
        first, last = (self._column(end, z) for end in self._ends())
        a = xp.floor(mean + std * z)
        a = xp.minimum(xp.maximum(a, first - 1), last)
        width = xp.ceil(std / 4) + 1 + 0 * a
        b = a
        for _ in range(1100):  # as floats go, a thousand doublings reach everything
            short = ~enough(b) & (b < last)
            if not bool(xp.any(short)):
                break
            b = xp.where(short, xp.minimum(b + width, last), b)
            width = xp.where(short, 2 * width, width)
        width = xp.ceil(std / 4) + 1 + 0 * a
        for _ in range(1100):
            over = enough(a) & (a >= first)
            if not bool(xp.any(over)):
                break
            a = xp.where(over, xp.maximum(a - width, first - 1), a)
            width = xp.where(over, 2 * width, width)
        while bool(xp.any(b - a > 1)):
            middle = xp.floor(a + (b - a) / 2)
            inside = (middle > a) & (middle < b)
            if not bool(xp.any(inside)):  # beyond 2^53, whole floats lie farther apart
                break
            good = enough(middle)
            b = xp.where(inside & good, middle, b)
            a = xp.where(inside & ~good, middle, a)
        return b

    # ---- sums -------------------------------------------------------------------------------------------------------

    def _partial_moments(self, y: Array) -> PartialMoments:
        lower, lower2, _, upper, upper2, _ = self._integrated(y, _stairs)
        return PartialMoments(lower, lower2, upper, upper2)

    def _squares(self, y: Array) -> Squares:
        found = self._integrated(y, _stairs)
        return Squares(found[2], found[5])

    def _integrated(self, y: Array, read: Callable[..., tuple[Array, ...]]) -> tuple[Array, ...]:
        """The integrals of F, of these and of F^2 up to y, and those of 1 - F from y on, some rows at a time."""
        if not self.shape:
            shape = y.shape
            found = self._of_rows(namespace(y).reshape(y, (1, -1)), read)
            return tuple(namespace(y).reshape(part, shape) for part in found)
        y = namespace(y).broadcast_to(y, (len(self), y.shape[-1]))
        low, high = (to_numpy(end)[:, 0] for end in self._range())
        counts = np.minimum(high - low + 2, _EVERY)
        if len(self) * counts.max(initial=1.0) <= _AT_ONCE:
            return self._of_rows(y, read)
        order = np.argsort(counts, kind="stable")
        parts, start = [], 0
        while start < order.size:  # rows of like width together
            most = counts[order[start]] if counts[order[start]] == _EVERY else 2 * counts[order[start]]
            size = max(1, int(_AT_ONCE // (2 * _PANELS * _PARTS if most >= _EVERY else most)))
            some = order[start : start + size]
            some = some[counts[some] <= most]
            parts.append(take_rows(self, some)._of_rows(rows(y, some), read))
            start += some.size
        inverse = np.empty_like(order)
        inverse[order] = np.arange(order.size)
        return tuple(rows(concatenate(column), inverse) for column in zip(*parts, strict=True))

    def _of_rows(self, y: Array, read: Callable[..., tuple[Array, ...]]) -> tuple[Array, ...]:
        low, high = self._range()
        xp, every = namespace(y), high - low + 2 <= _EVERY
        count = int(to_numpy(xp.max(high - low))) + 2 if low.shape[0] else 2
        points = xp.minimum(low - 1 + device_like(np.arange(min(count, _EVERY)), low), high)
        if count <= _EVERY:
            return self._through(points, y, read)
        exact = self._through(points, y, read) if bool(xp.any(every)) else None
        wide = self._of_wide_rows(y, read, low, high)
        return wide if exact is None else tuple(xp.where(every, *pair) for pair in zip(exact, wide, strict=True))

    def _of_wide_rows(self, y: Array, read: Callable[..., tuple[Array, ...]], low: Array, high: Array) -> Any:
        """Over some of the points; where the CDF is smooth, over half of them too, as errors go with h^2."""
        xp = namespace(low)
        levels = device_like(np.linspace(-self._reach, self._reach, _PANELS + 1)[None, :], self.like)
        q = detached(self._finite_index(levels))
        share = device_like(np.arange(_PARTS) / _PARTS, q)
        between = xp.floor(q[:, :-1, None] + (q[:, 1:] - q[:, :-1])[..., None] * share)
        between = xp.reshape(between, (q.shape[0], -1))
        bends = self._bends_at()
        if bends is not None:
            bends = xp.floor(detached(bends))
            near = [xp.minimum(xp.maximum(bends + i, low), high) for i in (-1, 0, 1)]
            return self._through(xp.sort(concatenate([low - 1, between, high, *near], axis=1), axis=1), y, read)
        fine, coarse = (
            self._through(concatenate([low - 1, between[:, ::every], high], axis=1), y, read) for every in (1, 2)
        )
        return tuple((4 * one - two) / 3 for one, two in zip(fine, coarse, strict=True))

    def _through(self, points: Array, y: Array, read: Callable[..., tuple[Array, ...]]) -> tuple[Array, ...]:
        """From the CDF at these points, between which it runs straight."""
        xp = namespace(y)
        F, S = (xp.astype(part(points), xp.float64) for part in (self._below, self._above))
        points = xp.astype(points, xp.float64)
        low, high = self._beyond(points)
        below, above = (
            LineTable.through(points, F, low),
            LineTable.through(xp.flip(-points, axis=1), xp.flip(S, axis=1), high),
        )
        k, t = (xp.astype(part, xp.float64) for part in self._position(y))
        powers = (self.step, self.step**2, self.step) * 2
        return tuple(power * part for power, part in zip(powers, read(below, above, k, t), strict=True))

    def _beyond(self, points: Array) -> tuple[Any, Any]:
        """The integrals before the first point and after the last, for tails so heavy that these count."""
        return None, None

    def _range(self) -> tuple[Array, Array]:
        """The k of the outermost quantiles, (n, 1), or (1, 1) of a single law."""
        reach = device_like([[-self._reach, self._reach]], self.like)
        found = detached(self._finite_index(reach))
        return found[:, :1], found[:, 1:]

    def _finite_index(self, s: Array) -> Array:
        """Quantiles at sigmoid(s), as far as the finite mass reaches."""
        return self._index_logit(s)


def _stairs(below: LineTable, above: LineTable, k: Array, t: Array) -> tuple[Array, ...]:
    """Integrals of F from the left up to k + t, and of 1 - F, seen from the right, up to -k + (1 - t)."""
    return *_stair(below, k, t), *_stair(above, -k, 1 - t)


def _stair(line: LineTable, k: Array, t: Array) -> tuple[Array, Array, Array]:
    """Integrals of the stairs that are values[j] from j to j + 1, up to k + t: of them, of that, of their squares.

    The line through (j, values[j]) has integrals that differ from sums over j < k by known amounts: with v its value
    at k, sum = once - v / 2, the sum of sums = twice - once / 2 + v / 12, the sum of squares = square - v^2 / 2 +
    rises / 6.
    """
    at = line.at(k)
    v, once = at.value, at.once - at.value / 2
    twice, square = at.twice - at.once / 2 + v / 12, at.square - v**2 / 2 + at.rises / 6
    return once + t * v, twice + t * once + t**2 * v / 2, square + t * v**2


def straight(below: LineTable, above: LineTable, k: Array, t: Array) -> tuple[Array, ...]:
    """Integrals up to k + t of the lines themselves, drawn through (j + 1, F(j)), and of 1 - F from there on."""
    return *below.at(k + t - 1)[1:4], *above.at(1 - k - t)[1:4]
