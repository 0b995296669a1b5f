"""Integrals of laws without closed forms: Gauss-Legendre between the points where the law bends.

A single law is tabulated once, at its bends, and read off by cubic Hermite interpolation (the integrand is known at
the ends of each piece, so the error is of fourth order in the length of a piece). A batch whose rows share q but not
the chart is integrated row by row, in blocks of bounded memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import take_rows
from calibrant.distributions.base import Distribution, PartialMoments, Squares

if TYPE_CHECKING:
    from calibrant.charts import Chart
    from calibrant.distributions.pullback import PullBack

_BLOCK = 2**20  # function values held at a time by the row-by-row integration
_COARSE, _FINE = 256, 6144  # pieces: of Gauss-Legendre alone, of Gauss-Legendre and Hermite interpolation


def as_pull_back(law: Distribution) -> PullBack:
    """Any law as the standard logistic law pulled back through its own logit CDF, to integrate it by quadrature."""
    from calibrant.charts import LogitCDF
    from calibrant.distributions.logistic import StandardLogistic
    from calibrant.distributions.pullback import PullBack

    return PullBack(LogitCDF(law), StandardLogistic())


def _refined(points: Array, count: int) -> Array:
    """Sorted points, each once, with as many more between any two as make `count` in all."""
    xp = namespace(points)
    points = points[concatenate([points[1:] > points[:-1], points[-1:] == points[-1:]])]
    pieces = points.shape[0] - 1
    if not 0 < pieces < count:
        return points
    share = device_like(np.arange(-(-count // pieces)) / -(-count // pieces), points)
    inner = points[:-1, None] + (points[1:] - points[:-1])[:, None] * share
    return concatenate([xp.reshape(inner, (-1,)), points[-1:]])


def _gauss_legendre(count: int, like: Array) -> tuple[Array, Array]:
    """Nodes and weights on [0, 1]."""
    x, w = np.polynomial.legendre.leggauss(count)
    return device_like((x + 1) / 2, like), device_like(w / 2, like)


@dataclass(frozen=True, eq=False)
class Table:
    """Integrals of a single law from either end, at `edges`; in between the law is smooth."""

    edges: Array
    F: tuple[Array, Array]  # at the left and at the right end of each piece
    S: tuple[Array, Array]
    moments: PartialMoments
    second: Squares

    @classmethod
    def of(cls, law: Distribution) -> Table:
        """Tabulate a law between its `_breaks`, which must reach far enough into both tails."""
        edges = _refined(law._breaks(), _FINE)
        xp = namespace(edges)
        h = edges[1:] - edges[:-1]
        x, w = _gauss_legendre(5, edges)
        nodes = edges[:-1, None] + h[:, None] * x
        F, S = law._cdf(nodes), law._sf(nodes)
        lower, lower2, lower_square = _sums(xp, F, h, w, 1 - x)
        upper, upper2, upper_square = (
            xp.flip(column) + 0  # laid out anew: numpy would copy a reversed view at every take
            for column in _sums(xp, xp.flip(S, axis=0), xp.flip(h), w, x)
        )
        left, right = edges[:-1], edges[1:]
        return cls(
            edges,
            (law._cdf(left), law._cdf_left(right)),
            (law._sf(left), 1 - law._cdf_left(right)),
            PartialMoments(lower, lower2, upper, upper2),
            Squares(lower_square, upper_square),
        )

    def partial_moments(self, y: Array) -> PartialMoments:
        """See `PartialMoments`; beyond the edges the law has no mass left."""
        xp, at = namespace(y), self._interpolation(y)
        moments = self.moments
        lower = at(moments.lower, self.F[0], self.F[1])
        upper = at(moments.upper, -self.S[0], -self.S[1])
        lower2 = at(moments.lower2, moments.lower[:-1], moments.lower[1:])
        upper2 = at(moments.upper2, -moments.upper[:-1], -moments.upper[1:])
        zero = xp.zeros_like(y)
        over = xp.maximum(y - self.edges[-1], zero)
        under = xp.maximum(self.edges[0] - y, zero)
        return PartialMoments(
            lower + over,
            lower2 + over * lower + over**2 / 2,
            upper + under,
            upper2 + under * upper + under**2 / 2,
        )

    def squares(self, y: Array) -> Squares:
        """See `Squares`."""
        xp, at = namespace(y), self._interpolation(y)
        lower = at(self.second.lower, self.F[0] ** 2, self.F[1] ** 2)
        upper = at(self.second.upper, -(self.S[0] ** 2), -(self.S[1] ** 2))
        zero = xp.zeros_like(y)
        return Squares(lower + xp.maximum(y - self.edges[-1], zero), upper + xp.maximum(self.edges[0] - y, zero))

    def _interpolation(self, y: Array) -> Callable[[Array, Array, Array], Array]:
        """The function that reads a column, with its slopes at both ends of each piece, off at y."""
        xp = namespace(y)
        flat = clip(xp.reshape(y, (-1,)), self.edges[0], self.edges[-1])
        i = clip(xp.searchsorted(self.edges, flat, side="right") - 1, 0, self.edges.shape[0] - 2)
        a, b = xp.take(self.edges, i), xp.take(self.edges, i + 1)
        h = b - a
        t = (flat - a) / h

        def at(values: Array, slope_left: Array, slope_right: Array) -> Array:
            """Cubic Hermite interpolation."""
            va, vb = xp.take(values, i), xp.take(values, i + 1)
            da, db = h * xp.take(slope_left, i), h * xp.take(slope_right, i)
            rise = vb - va
            value = va + t * (da + t * (3 * rise - 2 * da - db + t * (da + db - 2 * rise)))
            return xp.reshape(value, y.shape)

        return at


def _sums(xp: Array, F: Array, h: Array, w: Array, arm: Array) -> tuple[Array, Array, Array]:
    """Prefix sums of the integrals of F, of that integral, and of F^2, over pieces of length h."""
    zero = xp.zeros_like(h[:1])
    first = xp.cumulative_sum(concatenate([zero, h * xp.sum(F * w, axis=1)]))
    moment = h**2 * xp.sum(F * w * arm, axis=1)
    second = xp.cumulative_sum(concatenate([zero, h * first[:-1] + moment]))
    square = xp.cumulative_sum(concatenate([zero, h * xp.sum(F**2 * w, axis=1)]))
    return first, second, square


@dataclass(frozen=True, eq=False)
class Rowwise:
    """Integrals of H(y) = q(chart(y)) for each row of the chart, between the bends of q."""

    chart: Chart
    q: Distribution

    def partial_moments(self, y: Array) -> PartialMoments:
        """See `PartialMoments`."""
        return PartialMoments(*self._blocks(y, 0)[:4])

    def squares(self, y: Array) -> Squares:
        """See `Squares`."""
        return Squares(*self._blocks(y, 4)[:2])

    def _blocks(self, y: Array, which: int) -> list[Array]:
        xp = namespace(self.chart._like)
        (rows,) = self.chart.shape
        y = xp.broadcast_to(y, (rows, y.shape[1]))
        cuts = self._cuts()
        size = max(1, _BLOCK // (5 * (cuts.shape[0] + y.shape[1])))
        parts = []
        for start in range(0, max(rows, 1), size):
            block = slice(start, start + size)
            parts.append(self._integrate(take_rows(self.chart, block), cuts, y[block, :], which))
        return [concatenate(column) for column in zip(*parts, strict=True)]

    def _cuts(self) -> Array:
        """The bends of q, and more points between them where they are few."""
        cuts = self.q._breaks()
        return _refined(device_like(cuts, self.chart._like) if self.q._like is None else cuts, _COARSE)

    def _integrate(self, chart: Chart, cuts: Array, y: Array, which: int) -> tuple[Array, ...]:
        """Sum Gauss-Legendre over the whole pieces on either side of y, and over the two parts of its own piece."""
        from calibrant.charts import gather

        xp, q = namespace(y), self.q
        edges = chart.inverse(cuts[None, :])
        edges = xp.broadcast_to(edges, (y.shape[0], cuts.shape[0]))
        count = cuts.shape[0]
        piece = xp.searchsorted(cuts, xp.reshape(chart(y), (-1,)), side="right") - 1
        piece = xp.reshape(clip(piece, 0, count - 2), y.shape)
        inside = clip(y, edges[:, :1], edges[:, -1:])
        a, b = gather(edges, piece), gather(edges, piece + 1)
        x, w = _gauss_legendre(5, y)

        def values(low: Array, high: Array) -> tuple[Array, Array, Array]:
            h = high - low
            nodes = xp.reshape(low[..., None] + h[..., None] * x, (low.shape[0], -1))
            s = chart(nodes)
            shape = (*low.shape, x.shape[0])
            return h, xp.reshape(q._cdf(s), shape), xp.reshape(q._sf(s), shape)

        whole, below, above = values(edges[:, :-1], edges[:, 1:]), values(a, inside), values(inside, b)
        zero = xp.zeros_like(y)
        over, under = xp.maximum(y - edges[:, -1:], zero), xp.maximum(edges[:, :1] - y, zero)
        if which:
            F2 = _prefix(xp, whole[0] * xp.sum(whole[1] ** 2 * w, axis=-1))
            S2 = _suffix(xp, whole[0] * xp.sum(whole[2] ** 2 * w, axis=-1))
            lower = gather(F2, piece) + below[0] * xp.sum(below[1] ** 2 * w, axis=-1)
            upper = gather(S2, piece + 1) + above[0] * xp.sum(above[2] ** 2 * w, axis=-1)
            return lower + over, upper + under
        lower, lower2 = _moments(xp, gather, piece, w, 1 - x, whole[0], whole[1], below[0], below[1], _prefix)
        backwards = count - 2 - piece
        flipped = xp.flip(whole[0], axis=1), xp.flip(whole[2], axis=1)
        upper, upper2 = _moments(xp, gather, backwards, w, x, *flipped, above[0], above[2], _prefix)
        return (
            lower + over,
            lower2 + over * lower + over**2 / 2,
            upper + under,
            upper2 + under * upper + under**2 / 2,
        )


def _moments(
    xp: Array,
    gather: Array,
    piece: Array,
    w: Array,
    arm: Array,
    h: Array,
    F: Array,
    t: Array,
    Ft: Array,
    prefix: Array,
) -> tuple[Array, Array]:
    """The integral of F up to a point in `piece`, and the integral of that integral."""
    first = prefix(xp, h * xp.sum(F * w, axis=-1))
    second = prefix(xp, h * first[:, :-1] + h**2 * xp.sum(F * w * arm, axis=-1))
    at, at2 = gather(first, piece), gather(second, piece)
    return at + t * xp.sum(Ft * w, axis=-1), at2 + t * at + t**2 * xp.sum(Ft * w * arm, axis=-1)


def _prefix(xp: Array, terms: Array) -> Array:
    return xp.cumulative_sum(concatenate([xp.zeros_like(terms[:, :1]), terms], axis=1), axis=1)


def _suffix(xp: Array, terms: Array) -> Array:
    return xp.flip(_prefix(xp, xp.flip(terms, axis=1)), axis=1)
