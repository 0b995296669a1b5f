"""H = q pulled back through a chart that is no straight line: H(y) = q(chart(y))."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant._batch import shared
from calibrant._search import gather
from calibrant.distributions.base import Distribution, Integrated, PartialMoments, Squares
from calibrant.distributions.quadrature import Table
from calibrant.distributions.rows import SmoothRows

if TYPE_CHECKING:
    from calibrant.distributions.piecewise import PiecewiseLinear
    from calibrant.scores.charts import BrokenLine, Chart


class Composed(Integrated):
    """What follows from H(y) = q(chart(y)) for any chart."""

    chart: Chart
    q: Distribution

    @property
    def shape(self) -> tuple[int, ...]:
        return self.chart.shape

    def _cdf(self, y: Array) -> Array:
        return self.q._cdf(self.chart(y))

    def _sf(self, y: Array) -> Array:
        return self.q._sf(self.chart(y))

    def _cdf_left(self, y: Array) -> Array:
        return self.q._cdf_left(self.chart(y))

    def _logcdf(self, y: Array) -> Array:
        return self.q._logcdf(self.chart(y))

    def _logsf(self, y: Array) -> Array:
        return self.q._logsf(self.chart(y))

    def _ppf(self, p: Array) -> Array:
        return self.chart.inverse(self.q._ppf(p))

    def _logpdf(self, y: Array) -> Array:
        s = self.chart(y)
        xp, outside = namespace(s), namespace(s).isinf(s)  # beyond the support of the forecast there is no density
        slope = xp.where(outside, xp.zeros_like(s), self.chart.log_slope(y))
        density = self.q._logpdf(xp.where(outside, xp.zeros_like(s), s))
        return xp.where(outside, xp.full_like(s, -xp.inf), density + slope)

    def _infinite_mass(self) -> tuple[float, float]:
        return self.q._infinite_mass()

    def _describe(self) -> str:
        return f"q={self.q!r}, chart={type(self.chart).__name__}"


@dataclass(frozen=True, eq=False, repr=False)
class PullBack(Composed):
    """H(y) = q(chart(y)) for any chart; mean, std and crps by Gauss-Legendre quadrature between the bends of q.

    A single law is tabulated once (relative error about 1e-10). In a batch each row is integrated by itself (about
    1e-8): in time that does not depend on n where the inverse of its chart is smooth, O(n) where it is not.
    """

    chart: Chart
    q: Distribution

    @cached_property
    def _integrals(self) -> Table | SmoothRows:
        return SmoothRows(self.chart, self.q) if self.shape else Table.of(self)

    def _partial_moments(self, y: Array) -> PartialMoments:
        part = self._integrals.partial_moments(y)
        if not any(self.q._infinite_mass()):
            return part
        (below, low, left), (above, high, right) = self._landed()
        return PartialMoments(
            part.lower + below * left,
            part.lower2 + below * left * (y - low + left / 2),
            part.upper + above * right,
            part.upper2 + above * right * (high - y + right / 2),
        )

    def _squares(self, y: Array) -> Squares:
        squares = self._integrals.squares(y)
        if not any(self.q._infinite_mass()):
            return squares
        (below, _, left), (above, _, right) = self._landed()
        return Squares(squares.lower + below**2 * left, squares.upper + above**2 * right)

    def _landed(self) -> list[tuple[float, Array, Array]]:
        """For the mass of q at -inf and +inf: how much, where the finite scores end, and how far beyond it lands.

        A chart of a bounded label (a logarithm, say) takes an infinite score back to a finite y.
        """
        xp = namespace(self._like)
        breaks = self.q._breaks()
        landed = []
        for mass, end, infinite in zip(
            self.q._infinite_mass(), (breaks[0], breaks[-1]), (-np.inf, np.inf), strict=True
        ):
            near, far = (
                self.chart.inverse(device_like(s, breaks)[(None,) * (2 * len(self.shape))]) for s in (end, infinite)
            )
            gap = xp.abs(far - near)
            landed.append((mass, near, xp.where(xp.isfinite(gap), gap, xp.zeros_like(gap))))
        return landed

    def _infinite_mass(self) -> tuple[float, float]:
        below, above = self.q._infinite_mass()
        if not (below or above):
            return below, above
        xp, like = namespace(self._like), self.q._breaks()
        ends = (device_like(end, like)[(None,) * (2 * len(self.shape))] for end in (-np.inf, np.inf))
        lands = (bool(xp.all(xp.isfinite(self.chart.inverse(end)))) for end in ends)
        below, above = (0.0 if landed else mass for landed, mass in zip(lands, (below, above), strict=True))
        return below, above

    def _breaks(self) -> Array:
        xp = namespace(self._like)
        mine = self.chart.inverse(self.q._breaks())
        own = self.chart.breaks()
        points = mine if own is None else concatenate([mine, device_like(own, mine)])
        return xp.sort(points[xp.isfinite(points)])


@dataclass(frozen=True, eq=False, repr=False)
class PiecewisePullBack(Composed):
    """H(y) = q(chart(y)) for a broken line with K knots a row: exact, a sum over K + 1 pieces of integrals of q.

    On a piece dy = ds / slope, so an integral of H over it is one of q, divided by the slope.
    """

    chart: BrokenLine
    q: Distribution

    def _partial_moments(self, y: Array) -> PartialMoments:
        chart, s = self.chart, self.chart(y)
        at_knots, at_s = self.q._partial_moments(chart.levels), self.q._partial_moments(s)
        below = _Pieces(chart, s, upwards=True)
        above = _Pieces(chart, s, upwards=False)
        lower, lower2 = below.twice(at_knots.lower, at_knots.lower2, at_s.lower, at_s.lower2)
        upper, upper2 = above.twice(at_knots.upper, at_knots.upper2, at_s.upper, at_s.upper2)
        return PartialMoments(lower, lower2, upper, upper2)

    def _squares(self, y: Array) -> Squares:
        chart, s = self.chart, self.chart(y)
        at_knots, at_s = self.q._squares(chart.levels), self.q._squares(s)
        lower = _Pieces(chart, s, upwards=True).once(at_knots.lower, at_s.lower)
        upper = _Pieces(chart, s, upwards=False).once(at_knots.upper, at_s.upper)
        return Squares(lower, upper)


@dataclass(frozen=True, eq=False, repr=False)
class MovedAtoms(Composed):
    """Atoms pulled back through one chart: the CDF compares scores, as fit did, so that ties stay ties; exact.

    An atom lies at the least float whose score is not below its own, so that cdf(ppf(p)) >= p.
    """

    chart: Chart
    q: PiecewiseLinear = shared()

    @cached_property
    def _moved(self) -> PiecewiseLinear:
        from calibrant.distributions.piecewise import PiecewiseLinear

        s = self.q.knots
        xp = namespace(s)
        y = self.chart.inverse(s)
        up, down = xp.full_like(y, xp.inf), xp.full_like(y, -xp.inf)
        for _ in range(64):
            low = self.chart(y) < s
            if not bool(xp.any(low)):
                break
            y = xp.where(low, xp.nextafter(y, up), y)
        for _ in range(64):
            below = xp.nextafter(y, down)
            high = self.chart(below) >= s
            if not bool(xp.any(high)):
                break
            y = xp.where(high, below, y)
        return PiecewiseLinear(y, self.q.probs)

    def _ppf(self, p: Array) -> Array:
        return self._moved._ppf(p)

    def _logpdf(self, y: Array) -> Array:
        return self._moved._logpdf(y)

    def _partial_moments(self, y: Array) -> PartialMoments:
        return self._moved._partial_moments(y)

    def _squares(self, y: Array) -> Squares:
        return self._moved._squares(y)

    def _breaks(self) -> Array:
        return self._moved.knots


class _Pieces:
    """Integrals over y as sums over the pieces of a broken line, from one end of the line up to the scores s."""

    def __init__(self, chart: BrokenLine, s: Array, *, upwards: bool) -> None:
        xp = namespace(s)
        self.xp, self.upwards = xp, upwards
        self.s = s
        self.levels = self._turn(chart.levels)
        self.width = 1 / self._turn(chart.slopes)  # dy / ds, piece by piece in the direction of integration
        count = chart.values.shape[-1]
        piece = chart._piece(chart.levels, s)
        self.piece = piece if upwards else count - piece
        self.knot = xp.clip(self.piece - 1, 0, count - 1)

    def _turn(self, table: Array) -> Array:
        return table if self.upwards else self.xp.flip(table, axis=1)

    def once(self, at_knots: Array, at_s: Array) -> Array:
        """The integral of a function of q, given its integral over s at the knots and at s."""
        xp, table = self.xp, self._turn(at_knots)
        inner = self.width[:, 1:-1] * (table[:, 1:] - table[:, :-1])
        total = xp.cumulative_sum(concatenate([self.width[:, :1] * table[:, :1], inner], axis=1), axis=1)
        return self._onwards(total, table, at_s)

    def _onwards(self, total: Array, table: Array, at_s: Array) -> Array:
        """The total at the last knot passed, and the piece from there."""
        return self._at_knot(total) + gather(self.width, self.piece) * (at_s - self._at_knot(table))

    def _at_knot(self, column: Array) -> Array:
        """A column at the last knot passed; 0 before the first, where the integrals start."""
        value = gather(column, self.knot)
        return self.xp.where(self.piece == 0, self.xp.zeros_like(value), value)

    def twice(self, at_knots: Array, at_knots2: Array, at_s: Array, at_s2: Array) -> tuple[Array, Array]:
        """The same, and the integral of that integral."""
        xp, table, table2 = self.xp, self._turn(at_knots), self._turn(at_knots2)
        width, h = self.width, xp.abs(self.levels[:, 1:] - self.levels[:, :-1])
        inner = width[:, 1:-1] * (table[:, 1:] - table[:, :-1])
        total = xp.cumulative_sum(concatenate([width[:, :1] * table[:, :1], inner], axis=1), axis=1)
        w = width[:, 1:-1]
        inner2 = w * h * total[:, :-1] + w**2 * (table2[:, 1:] - table2[:, :-1] - h * table[:, :-1])
        total2 = xp.cumulative_sum(concatenate([width[:, :1] ** 2 * table2[:, :1], inner2], axis=1), axis=1)
        t = self._at_knot(self.levels)
        t = xp.where(self.piece == 0, xp.zeros_like(at_s), xp.abs(self.s - t))
        w = gather(width, self.piece)
        ahead = at_s2 - self._at_knot(table2) - t * self._at_knot(table)
        second = self._at_knot(total2) + w * t * self._at_knot(total) + w**2 * ahead
        return self._onwards(total, table, at_s), second
