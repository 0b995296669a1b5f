"""The one scheme by which a distribution without closed forms is integrated: a table of places and masses."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, concatenate, detached, device_like, namespace
from calibrant._batch import moved_floats
from calibrant._search import count_up_to, gather, gatherer
from calibrant._special import safe_sqrt

PLACES, FINE = 513, 2049
"""Places of a row, and of a single distribution that all rows share. Odd, so that the median is one of them."""
REACH, _BULK = 36.0, 3.0  # logits of the outermost places; up to _BULK or so they are evenly spaced
GAUSS = 0.5 - 0.5 / 3**0.5, 0.5 + 0.5 / 3**0.5
"""The places in (0, 1) whose mean value is the mean of a cubic."""
_TAIL = 1e-9  # of the mass: where less lies above a cell, an area has no digits left
_NARROW = 1e-10  # of the middle half of a row: a cell in which a merged table sees an atom
_NONE = 1e-13  # of the mass: at infinity, less than this is rounding
_HARDLY = 1e-3  # a power so little above 1 has no mean, and above 2 no std: rounding must not decide
_OUTER = 8  # places from the end between which the power of a tail is read off

ONCE, TWICE, SQUARE = 1, 2, 3
"""Which integral up to y is asked for: of F, of that integral again, of F^2."""


def logit_levels(count: int) -> np.ndarray[Any, Any]:
    """Logits of levels: even steps in the bulk, growing ones in the tails, out to +-36, a mass of 2e-16."""
    return np.asarray(_BULK * np.sinh(np.linspace(-1, 1, count) * np.arcsinh(REACH / _BULK)))


@dataclass(frozen=True, eq=False)
class MassTable:
    """Each row is K places with the mass on each and between each two; F runs straight in between, but for a bulge.

    A bulge is the area under F over a cell less that of the trapezoid. Beyond the outermost places the rest of the mass
    falls as a power of the distance, which the outermost cells tell; mass at -inf and +inf is apart. All arrays are
    (n, K), (n, K - 1) or (n, 1); what all rows share has one row. Mean, std and the integrals of F are sums.
    """

    places: Array
    atoms: Array
    masses: Array
    bulges: Array
    tails: tuple[Array, Array]
    infinite: tuple[Array, Array]

    # ---- how tables are made ---------------------------------------------------------------------------------------

    @classmethod
    def through(cls, distribution: Any, places: Array, area: Array | None = None) -> MassTable:
        """Of a distribution at some places, (n, K) or (1, K), in increasing order.

        `area` is its integral of F at the places, where that is known in closed form; else two points inside each
        cell tell how F bulges (Gauss-Legendre). What depends on parameters with gradients has their gradients.
        """
        places = detached(places)
        if places.shape[1] == 1:  # a single atom
            places = concatenate([places, places], axis=1)
            area = None if area is None else concatenate([area, area], axis=1)
        left, right, upper, lower = found = heights(distribution, places)
        a, h = places[:, :-1], steps(places)
        trapezoid, nodes = (right[:, :-1] + left[:, 1:]) / 2, [a + h * x for x in GAUSS]
        if area is None:
            bulges = h * (sum(distribution._cdf(node) for node in nodes) / 2 - trapezoid)
        else:  # far up in the tail areas have no digits, but 1 - F has
            smooth = h * ((lower[:, :-1] + upper[:, 1:]) / 2 - sum(distribution._sf(node) for node in nodes) / 2)
            bulges = namespace(places).where(lower[:, :-1] < _TAIL, smooth, steps(area) - h * trapezoid)
        return cls.of_heights(places, found, bulges, mass_at_infinity(distribution, places))

    @classmethod
    def of_heights(
        cls, places: Array, at_places: Sequence[Array], bulges: Array, infinite: tuple[Array, Array]
    ) -> MassTable:
        """From `heights`: masses from the smaller of F and 1 - F."""
        xp, (left, right, upper, lower) = namespace(places), at_places
        atoms = xp.where(right < 0.5, right - left, upper - lower)
        rise = xp.where(right[:, :-1] < 0.5, left[:, 1:] - right[:, :-1], lower[:, :-1] - upper[:, 1:])
        most = steps(places) * xp.abs(rise) / 2  # of an F that rises
        low, high = (clip(tail, 0.0, np.inf) for tail in (left[:, :1] - infinite[0], lower[:, -1:] - infinite[1]))
        return cls(places, atoms, rise, clip(bulges, -most, most), (low, high), infinite)

    def moved(self, places: Array, widths: Array | None) -> MassTable:
        """The table of y(S), y increasing: the images of the places, and dy/ds there; None where cells are straight."""
        xp, step = namespace(places), self._widths
        slope = steps(places) / xp.where(step > 0, step, 1.0)
        bulges = self.bulges * slope
        if widths is not None:  # y is a cubic in s: over a cell its mean is off the middle by step * (w_a - w_b) / 12
            w, most = xp.where(xp.isnan(widths), np.inf, widths), 3 * slope
            bulges = bulges + self.masses * step / 12 * (xp.minimum(w[:, 1:], most) - xp.minimum(w[:, :-1], most))
        return replace(self, places=places, bulges=bulges)

    def with_places(self, distribution: Any, own: Array) -> MassTable:
        """The table of the same `distribution` with more places, (n, k) or (1, k); only the cells they split change.

        A NaN is no place: a cell far out is split for it, without width, so that the others stay as they are.
        """
        xp = namespace(own)
        own = xp.where(xp.isnan(own), self.places[:, min(_OUTER + 1, self.places.shape[1] - 1), None], own)
        new, bulges = xp.ones_like(own), concatenate([self.bulges, 0 * self.bulges[:, :1]], axis=1)
        old = (self.places, *self._heights, self._up_to(ONCE), bulges, 0 * bulges)
        more = (own, *heights(distribution, own), distribution._integrals(own, ONCE), 0 * new, new)
        both = [side_by_side(pair) for pair in zip(old, more, strict=True)]
        order = xp.argsort(both[0], axis=1, stable=True)  # where places tie, heights still rise
        places, left, right, upper, lower, area, bulges, new = map(gatherer(both[0], order), both)
        trapezoid = steps(places) * (right[:, :-1] + left[:, 1:]) / 2
        bulges = xp.where(new[:, :-1] + new[:, 1:] > 0, steps(area) - trapezoid, bulges[:, :-1])
        return MassTable.of_heights(places, (left, right, upper, lower), bulges, self.infinite)

    def clipped(self, low: Array, high: Array) -> MassTable:
        """The table of min(max(Y, low), high), both (n, 1): bounds are among the places, or infinite."""
        xp, places = namespace(low), clip(self.places, low, high)
        bulges, ends = xp.where(steps(places) > 0, self.bulges, 0.0), []
        for bound, tail, far in zip((low, high), self.tails, self.infinite, strict=True):
            free = xp.isinf(bound)
            ends.append((xp.where(free, tail, 0.0), xp.where(free, far, 0.0), xp.where(free, 0.0, tail + far)))
        (p, below, first), (q, above, last) = ends
        atoms = self.atoms + side_by_side([first, 0 * places[:, 2:], last])
        return MassTable(places, atoms, self.masses, bulges, (p, q), (below, above))

    def to(self, like: Array) -> MassTable:
        """The same in the home of `like`."""
        return moved_floats(self, like)

    def scaled(self, loc: Array, scale: Array) -> MassTable:
        """The table of loc + scale * Y, both (n, 1)."""
        return replace(self, places=loc + scale * self.places, bulges=scale * self.bulges)

    def bent(self, bend: Any, mirrored: Any) -> MassTable:
        """With bend(F) in the place of F, and mirrored(1 - F) in that of 1 - F."""
        left, right, upper, lower = self._heights
        bent, infinite = (bend(left), bend(right), mirrored(upper), mirrored(lower)), self.infinite
        bare = MassTable.of_heights(self.places, bent, self.bulges, (bend(infinite[0]), mirrored(infinite[1])))
        xp, some = namespace(self.places), self.masses > 0
        slope = xp.where(some, bare.masses / xp.where(some, self.masses, 1.0), 0.0)
        return replace(bare, bulges=self.bulges * slope)

    def with_ends(self, core: Array, masses: tuple[Array, Array], ends: tuple[Array, Array]) -> MassTable:
        """With the share `core` of its own mass, and these at a lower and an upper end, which may be infinite.

        A place beyond an end has no mass, and moves there.
        """
        xp, between = namespace(self.places), clip(self.places, *ends)
        columns = []
        for mass, end, far, outer in zip(masses, ends, self.infinite, (between[:, :1], between[:, -1:]), strict=True):
            finite = xp.isfinite(end)
            own = xp.where(finite, mass, 0.0)
            columns.append((xp.where(finite, end, outer), own, core * far + (mass - own)))
        (first, low, below), (last, high, above) = columns
        inner, bulges = (side_by_side([0 * core, core * part, 0 * core]) for part in (self.masses, self.bulges))
        places, atoms = side_by_side([first, between, last]), side_by_side([low, core * self.atoms, high])
        p, q = (core * tail for tail in self.tails)
        return MassTable(places, atoms, inner, bulges, (p, q), (below, above))

    @classmethod
    def merged(cls, tables: Sequence[MassTable], weights: Sequence[float]) -> MassTable:
        """The mixture of tables: their places in order, their atoms, and the sums of their densities in between.

        The mass of a table's tail lies on its own outermost place: a merged table is for what differs in between.
        """
        xp, columns = namespace(tables[0].places), []
        for table, weight in zip(tables, weights, strict=True):
            h, zero, last = table._widths, 0 * table.masses[:, :1], table.masses.shape[1]
            middle = table.places[:, last - last // 4, None] - table.places[:, last // 4, None]
            narrow = h <= _NARROW * middle  # what lies there is an atom
            inverse = xp.where(narrow, 0.0, weight / xp.where(narrow, 1.0, h))
            steep = xp.where(narrow, table.masses, 0.0)
            tails = side_by_side([table.tails[0], 0 * table.atoms[:, 2:], table.tails[1]])
            atoms = weight * (table.atoms + tails + side_by_side([zero, steep]))
            rates = [steps(side_by_side([zero, part * inverse, zero])) for part in (table.masses, table.bulges)]
            columns.append((table.places, atoms, *rates))
        rows = max(part.shape[0] for own in columns for part in own)
        both = [side_by_side(parts, rows) for parts in zip(*columns, strict=True)]
        order = xp.argsort(both[0], axis=1)
        places, atoms, *changes = map(gatherer(both[0], order), both)
        h, half = steps(places), places.shape[1] // 2
        rates = []
        for change in changes:  # added up from both ends inwards: what is left of a peak must not reach a far tail
            below, above = xp.cumulative_sum(change[:, :half], axis=1), _from_above(change[:, half + 1 :])
            rates.append(h * concatenate([below, -above], axis=1))
        low, high = (sum(w * table.infinite[side] for w, table in zip(weights, tables, strict=True)) for side in (0, 1))
        none = 0 * places[:, :1]
        return cls(places, atoms, clip(rates[0], 0.0, np.inf), rates[1], (none, none), (low + none, high + none))

    # ---- heights ---------------------------------------------------------------------------------------------------

    @cached_property
    def _right(self) -> Array:
        """F at the places."""
        return self._left + self.atoms

    @cached_property
    def _left(self) -> Array:
        """F at the places, from the left."""
        xp, start = namespace(self.places), self.infinite[0] + self.tails[0]
        return side_by_side([start, start + xp.cumulative_sum(self.atoms[:, :-1] + self.masses, axis=1)])

    @cached_property
    def _above(self) -> Array:
        """1 - F at the places, summed from above."""
        end = self.infinite[1] + self.tails[1]
        return side_by_side([end + _from_above(self.atoms[:, 1:] + self.masses), end])

    @property
    def _heights(self) -> tuple[Array, Array, Array, Array]:
        return self._left, self._right, self._above + self.atoms, self._above

    @cached_property
    def _widths(self) -> Array:
        return steps(self.places)

    @cached_property
    def _curved(self) -> Array:
        """1.2 bulge^2 / width: what the square of the bulge adds."""
        xp, h = namespace(self.places), self._widths
        return 1.2 * self.bulges**2 / xp.where(h > 0, h, 1.0)

    @cached_property
    def _excess(self) -> tuple[tuple[Array, Array], tuple[Array, Array]]:
        """E (D - d)+ and E ((D - d)+)^2 of each tail, d the distance of its place from the middle one; inf if none."""
        xp, last = namespace(self.places), self.places.shape[1] - 1
        middle, found = self.places[:, (last + 1) // 2, None], []
        for side, (end, mass) in enumerate(((0, self._left), (last, self._above))):
            inner = max(last - _OUTER, 0) if side else min(_OUTER, last)
            p, q = self.tails[side], mass[:, inner, None] - self.infinite[side]
            d, e = (xp.abs(self.places[:, k, None] - middle) for k in (end, inner))
            falls = (p > 0) & (q > p) & (d > e) & (e > 0)
            safe = ((p, 1.0), (q, 8.0), (d, 2.0), (e, 1.0))  # a power of 3, so that gradients stay numbers
            p, q, d, e = (xp.where(falls, part, 0 * d + other) for part, other in safe)
            power, inf = xp.log(q / p) / xp.log(d / e), xp.full_like(d, np.inf)
            with np.errstate(divide="ignore"):
                first = xp.where(power > 1 + _HARDLY, p * d / (power - 1), inf)
                second = xp.where(power > 2 + _HARDLY, 2 * p * d**2 / ((power - 1) * (power - 2)), inf)
            parts = (xp.where(falls, part, 0.0) for part in (first, second))
            once, twice = (xp.where(self.infinite[side] > 0, inf, part) for part in parts)
            found.append((once, twice))
        return found[0], found[1]

    # ---- sums ------------------------------------------------------------------------------------------------------

    @cached_property
    def moments(self) -> tuple[Array, Array, Array]:
        """Mean, std, and what makes crps(y) = 2 (integral of F up to y) - y + this; each (n,)."""
        xp, (p, q), ((low, low2), (high, high2)) = namespace(self.places), self.tails, self._excess
        l1, l2, h1, h2 = (xp.where(xp.isinf(part), 0.0, part) for part in (low, low2, high, high2))
        middle = self.places[:, self.places.shape[1] // 2, None]
        y, B, none = self.places - middle, self.bulges, xp.zeros_like(self.masses[:, :1])
        halves = self.atoms + side_by_side([none, self.masses / 2]) + side_by_side([self.masses / 2, none])
        mean = _sum(halves, y) - _sum(None, B) + p * y[:, :1] - l1 + q * y[:, -1:] + h1
        y = y - mean
        a, b, first, last = y[:, :-1], y[:, 1:], y[:, :1], y[:, -1:]
        thirds = self.atoms + (halves - self.atoms) * (2 / 3)
        second = _sum(thirds, y * y) + _sum(self.masses / 3, a * b) - _sum(None, (a + b) * B)
        second = second + p * first**2 + q * last**2 + 2 * xp.abs(first) * l1 + 2 * xp.abs(last) * h1 + l2 + h2
        std = safe_sqrt(second)
        std = xp.where(xp.isinf(low2 + high2), np.inf, std)
        with np.errstate(invalid="ignore"):
            mean = xp.where(xp.isinf(low + high), high - low, middle + mean)
        return mean[:, 0], std[:, 0], (self.inner_shift - 2 * l1)[:, 0]

    @property
    def inner_shift(self) -> Array:
        """crps(m) - 2 (integral of F up to m) + m at the middle place m, (n, 1), if nothing lay beyond the places.

        It is the same for any other m.
        """
        xp, half = namespace(self.places), self.places.shape[1] // 2
        F, G, h, B = self._right[:, :half], self._left[:, 1 : half + 1], self._widths, self.bulges
        S, T = 1 - self._right[:, half:-1], 1 - self._left[:, half + 1 :]
        below = _sum((F * F + F * G + G * G) / 3 - (F + G), h[:, :half]) + _sum(F + G - 2, B[:, :half])
        above = _sum((S * S + S * T + T * T) / 3, h[:, half:]) - _sum(S + T, B[:, half:])
        shift = below + above + _sum(None, self._curved) + self.places[:, half, None]
        broken = (self.infinite[0] > 0) | (self.infinite[1] > 0)
        return xp.where(broken, np.inf, shift)

    def _up_to(self, which: int) -> Array:
        """An integral up to each place."""
        if which not in self._sums:
            self._sums[which] = self._cumulated(which)
        return self._sums[which]

    @cached_property
    def _sums(self) -> dict[int, Array]:
        """What `_up_to` has found."""
        return {}

    def _cumulated(self, which: int) -> Array:
        xp, h, B, F, G = namespace(self.places), self._widths, self.bulges, self._right[:, :-1], self._left[:, 1:]
        low, low2 = (xp.where(xp.isinf(part), 0.0, part) for part in self._excess[0])
        if which == ONCE:
            start, terms = low, h * ((F + G) / 2) + B
        elif which == TWICE:
            start, terms = low2 / 2, h * self._up_to(ONCE)[:, :-1] + h * h * ((2 * F + G) / 6) + h * B / 2
        else:
            start, terms = 0 * low, h * ((F * F + F * G + G * G) / 3) + (F + G) * B + self._curved
        return side_by_side([start, start + xp.cumulative_sum(terms, axis=1)])

    def integral(self, y: Array, which: int) -> Array:
        """The integral `which` up to y, (n, k)."""
        xp, count = namespace(self.places), self.places.shape[1]
        rows = max(self.places.shape[0], self.masses.shape[0], y.shape[0])
        y = xp.broadcast_to(y, (rows, y.shape[1]))
        first, last = self.places[:, :1], self.places[:, -1:]
        at = clip(y, first, last)
        j = clip(count_up_to(self.places, at) - 1, 0, count - 2)
        a, h, B = (gather(part, j) for part in (self.places, self._widths, self.bulges))
        F, m = gather(self._right, j), gather(self.masses, j)
        x = clip((at - a) / xp.where(h > 0, h, 1.0), 0.0, 1.0)
        t = x * h
        value = gather(self._up_to(which), j)
        (below, above) = self.infinite
        over, under = clip(y - last, 0.0, np.inf), clip(first - y, 0.0, np.inf)
        if which == ONCE:
            value = value + t * (F + m * x / 2) + B * x * x * (3 - 2 * x)
            return value + (1 - above) * over - below * under
        if which == SQUARE:
            cross = F * (x**2 / 2 - x**3 / 3) + m * (x**3 / 3 - x**4 / 4)
            value = value + t * (F * F + F * m * x + m * m * x * x / 3) + 12 * B * cross
            value = value + 30 * gather(self._curved, j) * (x**3 / 3 - x**4 / 2 + x**5 / 5)
            return value + (1 - above) ** 2 * over - below**2 * under
        once = gather(self._up_to(ONCE), j)
        value = value + t * once + t * t * (F / 2 + m * x / 6) + B * h * (x**3 - x**4 / 2)
        once = once + t * (F + m * x / 2) + B * x * x * (3 - 2 * x)
        return value + over * once + (1 - above) * over**2 / 2 - under * once + below * under**2 / 2


def mass_at_infinity(distribution: Any, places: Array) -> tuple[Array, Array]:
    """The mass at -inf and at +inf."""
    xp, far = namespace(places), device_like([[-np.inf, np.inf]], places)
    low, high = distribution._cdf(far)[:, :1], 1 - distribution._cdf_left(far)[:, 1:]
    low, high = (xp.where(mass > _NONE, mass, 0.0) for mass in (low, high))
    return low, high


def heights(distribution: Any, places: Array) -> tuple[Array, Array, Array, Array]:
    """F at the places from the left and from the right, and 1 - F from the left and from the right."""
    left, right, lower = distribution._cdf_left(places), distribution._cdf(places), distribution._sf(places)
    return left, right, lower + (right - left), lower


def _sum(weights: Array | None, values: Array) -> Array:
    """The weighted sum of each row, (n, 1); all rows may share the weights, or have none."""
    xp = namespace(values)
    if weights is None:
        return xp.sum(values, axis=1, keepdims=True)
    return xp.vecdot(values, weights, axis=-1)[:, None]  # row by row, unlike a product of matrices


def steps(columns: Array) -> Array:
    """The differences of each column and the next."""
    return columns[:, 1:] - columns[:, :-1]


def _from_above(columns: Array) -> Array:
    """The sums of each column and those after it."""
    xp = namespace(columns)
    return xp.flip(xp.cumulative_sum(xp.flip(columns, axis=1), axis=1), axis=1)


def side_by_side(parts: Sequence[Array], rows: int = 1) -> Array:
    """Columns side by side, with as many rows as the longest."""
    rows, xp = max(rows, *(part.shape[0] for part in parts)), namespace(parts[0])
    return concatenate([xp.broadcast_to(part, (rows, part.shape[1])) for part in parts], axis=1)
