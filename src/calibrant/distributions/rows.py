"""Integrals of H(y) = q(chart(y)) for a batch whose rows share q but not the chart.

With Y(s) the inverse of a row's chart, an integral of H over y is one of q(s) Y'(s) over s. q is rough (it bends at
every score) but shared; Y' is smooth but a row's own. So the line of scores is cut into cells, Y' is interpolated in
each cell by the polynomial through a few nodes, and q is integrated against these polynomials exactly, once for all
rows. The work a row does not depend on the number of scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._batch import take_rows
from calibrant._search import gather
from calibrant.distributions.base import Distribution, PartialMoments, Squares, moments_beyond, squares_beyond
from calibrant.distributions.exact_rows import ExactRows
from calibrant.distributions.quadrature import far_out

if TYPE_CHECKING:
    from calibrant.scores.charts import Chart

_NODES = 6  # a cell
_INNER = 64  # cells over the inner 99.8% of q
_TAIL = np.concatenate(
    [np.arange(7.0, 24.0), np.arange(24.0, 84.0, 3.0), np.arange(84.0, 310.0, 15.0)]
)  # logits of the cells beyond
_BLOCK = 2**19  # function values held at a time

_x, _w = np.polynomial.legendre.leggauss(_NODES)
_X, _W = (_x + 1) / 2, _w / 2
_LAGRANGE = np.linalg.inv(np.vander(_x, increasing=True))  # from powers of x to the nodes' polynomials


class _Moments(NamedTuple):
    """The integrals of F, 1 - F, F^2 and (1 - F)^2 against the nodes' polynomials, along the points of q."""

    F: Array
    S: Array
    F2: Array
    S2: Array


@dataclass(frozen=True, eq=False)
class SmoothRows:
    """Partial moments and squares of each row, to about 1e-8; rows too rough for that are left to `ExactRows`."""

    chart: Chart
    q: Distribution

    def partial_moments(self, y: Array) -> PartialMoments:
        """See `PartialMoments`."""
        return PartialMoments(*self._in_blocks(y, self._moments_of, ExactRows.partial_moments))

    def squares(self, y: Array) -> Squares:
        """See `Squares`."""
        return Squares(*self._in_blocks(y, self._squares_of, ExactRows.squares))

    def _in_blocks(self, y: Array, integrate: Array, exactly: Array) -> list[Array]:
        xp = namespace(y)
        (rows,) = self.chart.shape
        y = xp.broadcast_to(y, (rows, y.shape[1]))
        size = max(1, _BLOCK // (self._nodes.shape[1] + 4 * _NODES * y.shape[1]))
        parts = []
        for start in range(0, max(rows, 1), size):
            block = slice(start, min(start + size, rows))
            chart, values = take_rows(self.chart, block), y[block, ...]
            nodes = self._at_nodes(chart, values.shape[0])
            rough = self._rough(chart, nodes)
            results = integrate(chart, nodes, values)
            if bool(xp.any(rough)):
                index = xp.nonzero(rough)[0]
                exact = exactly(ExactRows(take_rows(chart, index), self.q), xp.take(values, index, axis=0))
                results = [_replaced(result, rough, new) for result, new in zip(results, exact, strict=True)]
            parts.append(results)
        return [concatenate(column) for column in zip(*parts, strict=True)]

    # ---- shared by all rows ----------------------------------------------------------------------------------------

    @cached_property
    def _edges(self) -> Array:
        """The ends of the cells: even over the bulk of q, by its quantiles beyond, and as fine as the chart asks."""
        like = self.chart._like
        q = self.q if self.q._like is not None else self.q.to(like)
        levels = device_like(np.concatenate([-_TAIL[::-1], _TAIL]), like)
        breaks, tails = q._breaks(), q._ppf_logit(levels)
        xp = namespace(tails)
        tails = tails[xp.isfinite(tails)]
        if any(q._infinite_mass()):  # then the finite part ends with the scores
            tails = concatenate([device_like(breaks[:1], like), tails, device_like(breaks[-1:], like)])
        ends = [q._ppf(device_like(p, like)) for p in (0.001, 0.999)]
        ends = [xp.where(xp.isfinite(end), end, tail) for end, tail in zip(ends, (tails[0], tails[-1]), strict=True)]
        inner = ends[0] + (ends[1] - ends[0]) * device_like(np.arange(_INNER + 1) / _INNER, like)
        grid = device_like(self.chart.grid(), like)
        first, last = xp.minimum(tails[0], inner[0]), xp.maximum(tails[-1], inner[-1])
        grid = grid[(grid > first) & (grid < last)]
        edges = _unique(xp.sort(concatenate([tails, inner, grid])))
        if edges.shape[0] > 1:
            return edges
        near = 1e-12 * (1 + xp.abs(edges))  # a single atom, in a cell of no length to speak of
        return concatenate([edges - near, edges + near])

    @cached_property
    def _nodes(self) -> Array:
        """The scores of all the nodes, as (1, cells * _NODES)."""
        edges = self._edges
        x = device_like(_X, edges)
        nodes = edges[:-1, None] + (edges[1:] - edges[:-1])[:, None] * x
        return namespace(nodes).reshape(nodes, (1, -1))

    @cached_property
    def _points(self) -> tuple[Array, Array, Array]:
        """The edges and the bends of q together, the cell after each point, and the point at which each cell starts."""
        edges = self._edges
        xp = namespace(edges)
        breaks = device_like(self.q._breaks(), edges) if self.q._like is None else self.q._breaks()
        breaks = breaks[(breaks > edges[0]) & (breaks < edges[-1])]
        points = _unique(xp.sort(concatenate([edges, breaks])))
        cell = clip(xp.searchsorted(edges, points, side="right") - 1, 0, edges.shape[0] - 2)
        return points, cell, xp.searchsorted(points, edges, side="left")

    def _polynomials(self, s: Array, cell: Array) -> Array:
        """The value at s of the polynomials of its cell that are 1 at one node and 0 at the others."""
        xp, edges = namespace(s), self._edges
        flat = xp.reshape(cell, (-1,))
        a, b = (xp.reshape(xp.take(edges, index), cell.shape) for index in (flat, flat + 1))
        x = 2 * (s - a) / (b - a) - 1
        powers = xp.stack([x**k for k in range(_NODES)], axis=-1)
        return powers @ device_like(_LAGRANGE, edges)

    def _stretch(self, start: Array, end: Array, cell: Array) -> _Moments:
        """The integrals over stretches of the line that lie in one piece of q and one cell."""
        xp = namespace(start)
        h = end - start
        t = start[..., None] + h[..., None] * device_like(_X, start)
        F, S = self.q._cdf(t), self.q._sf(t)
        basis = self._polynomials(t, xp.broadcast_to(cell[..., None], t.shape))
        weighted = basis * (h[..., None] * device_like(_W, start))[..., None]
        return _Moments(*(xp.sum(g[..., None] * weighted, axis=-2) for g in (F, S, F**2, S**2)))

    @cached_property
    def _along(self) -> _Moments:
        """The integrals up to every point: of F from the first edge, of 1 - F less those to the last edge.

        So each is summed from the end at which it is small, and its differences keep their digits there.
        """
        points, cell, _ = self._points
        F, S, F2, S2 = self._stretch(points[:-1], points[1:], cell[:-1])
        xp = namespace(points)
        start = xp.zeros((1, _NODES), dtype=points.dtype, device=device(points))

        def summed(pieces: Array) -> Array:
            return xp.cumulative_sum(concatenate([start, pieces]), axis=0)

        S, S2 = (-xp.flip(summed(xp.flip(pieces, axis=0)), axis=0) for pieces in (S, S2))
        return _Moments(summed(F), S, summed(F2), S2)

    @cached_property
    def _whole(self) -> _Moments:
        """The integrals over every cell."""
        xp, (_, _, first) = namespace(self._edges), self._points
        ends = (xp.take(column, first, axis=0) for column in self._along)
        return _Moments(*(end[1:, :] - end[:-1, :] for end in ends))

    # ---- a row's own -----------------------------------------------------------------------------------------------

    def _at_nodes(self, chart: Chart, rows: int) -> tuple[Array, Array]:
        """Y and Y' at the nodes of every cell."""
        xp, shape = namespace(self._nodes), (rows, self._edges.shape[0] - 1, _NODES)
        Y = xp.broadcast_to(chart.inverse(self._nodes), (rows, self._nodes.shape[1]))
        return xp.reshape(Y, shape), xp.reshape(xp.exp(-chart.log_slope(Y)), shape)

    def _rough(self, chart: Chart, nodes: tuple[Array, Array]) -> Array:
        """The rows whose Y' is off its polynomials, weighted as in mean and in variance.

        It is looked at halfway through each cell and at its ends, so that no bend hides beside the nodes.
        """
        xp, edges = namespace(self._edges), self._edges
        left, right = edges[None, :-1], edges[None, 1:]
        good = xp.ones(nodes[1].shape[:1], dtype=xp.bool, device=device(edges))
        for s, x, tolerance in ((left, -1.0, 1e-8), ((left + right) / 2, 0.0, 1e-9), (right, 1.0, 1e-8)):
            Y = xp.broadcast_to(chart.inverse(s), nodes[1].shape[:2])
            true = xp.exp(-chart.log_slope(Y))
            guess = nodes[1] @ device_like(x ** np.arange(_NODES) @ _LAGRANGE, edges)
            weight = (right - left) * self.q._cdf(s) * self.q._sf(s)
            arm = xp.abs(Y - Y[:, Y.shape[1] // 2][:, None])
            with np.errstate(over="ignore", invalid="ignore"):  # a tail too heavy for floats is rough
                for weights in (weight, weight * arm):
                    off, total = (xp.sum(weights * size, axis=1) for size in (xp.abs(guess - true), true))
                    good = good & (off <= tolerance * total)
        return ~good

    def _part(self, chart: Chart, y: Array) -> tuple[Array, _Moments]:
        """The cell of each y, and the integrals from the start of that cell to y."""
        xp = namespace(y)
        points, cells, first = self._points
        s = clip(xp.reshape(chart(y), (-1,)), points[0], points[-1])
        at = clip(xp.searchsorted(points, s, side="right") - 1, 0, points.shape[0] - 2)
        cell = xp.take(cells, at)
        begin = xp.take(first, cell)
        last = self._stretch(xp.take(points, at), s, cell)
        parts = (
            xp.take(along, at, axis=0) - xp.take(along, begin, axis=0) + end
            for along, end in zip(self._along, last, strict=True)
        )
        return xp.reshape(cell, y.shape), _Moments(*(xp.reshape(part, (*y.shape, _NODES)) for part in parts))

    def _squares_of(self, chart: Chart, nodes: tuple[Array, Array], y: Array) -> list[Array]:
        _, slope = nodes
        cell, part = self._part(chart, y)
        over, under = _beyond(chart, self._edges, y)
        lower = _sum(slope, cell, self._whole.F2, part.F2, upwards=True)
        upper = _sum(slope, cell, self._whole.S2, part.S2, upwards=False)
        return list(squares_beyond(Squares(lower, upper), over, under, self.q._infinite_mass()))

    def _moments_of(self, chart: Chart, nodes: tuple[Array, Array], y: Array) -> list[Array]:
        Y, slope = nodes
        cell, start = self._part(chart, y)
        over, under = _beyond(chart, self._edges, y)
        origin = Y[:, Y.shape[1] // 2, :1]
        arm = (Y - origin[:, :, None]) * slope
        inside = y - over + under
        lower = _sum(slope, cell, self._whole.F, start.F, upwards=True)
        lower2 = (inside - origin) * lower - _sum(arm, cell, self._whole.F, start.F, upwards=True)
        upper = _sum(slope, cell, self._whole.S, start.S, upwards=False)
        upper2 = _sum(arm, cell, self._whole.S, start.S, upwards=False) - (inside - origin) * upper
        infinite = self.q._infinite_mass()
        part = moments_beyond(PartialMoments(lower, lower2, upper, upper2), over, under, infinite)
        return list(part) if any(infinite) else self._settled(part, slope, arm)

    def _settled(self, part: PartialMoments, slope: Array, arm: Array) -> list[Array]:
        """The moments; infinite where the outermost cells, with next to no mass beyond them, still add to them."""
        xp, edges, middle = namespace(slope), self._edges, slope.shape[1] // 2
        low, high = far_out(self.q._cdf(edges[1:])), far_out(self.q._sf(edges[:-1]))
        results = []
        for moment, values, whole, left, far in (
            (part.lower, slope, self._whole.F, True, low),
            (part.lower2, arm, self._whole.F, True, low),
            (part.upper, slope, self._whole.S, False, high),
            (part.upper2, arm, self._whole.S, False, high),
        ):
            cells = xp.abs(xp.sum(values * whole, axis=-1))
            cells = cells if left else xp.flip(cells, axis=1)
            rising = xp.sum(cells[:, :far], axis=1) > 1e-6 * xp.sum(cells[:, :middle], axis=1)
            results.append(xp.where(rising[:, None], xp.full_like(moment, xp.inf), moment))
        return results


def _sum(values: Array, cell: Array, whole: _Moments, part: Array, *, upwards: bool) -> Array:
    """The integral from one end of the line to y: the cells that are whole, and the part of the one that y lies in."""
    xp = namespace(values)
    cells = xp.sum(values * whole, axis=-1)
    zero = xp.zeros_like(cells[:, :1])
    if upwards:
        before = xp.cumulative_sum(concatenate([zero, cells], axis=1), axis=1)
        weights = part
    else:
        before = xp.flip(xp.cumulative_sum(concatenate([zero, xp.flip(cells, axis=1)], axis=1), axis=1), axis=1)[:, 1:]
        flat = xp.take(whole, xp.reshape(cell, (-1,)), axis=0)
        weights = xp.reshape(flat, part.shape) - part
    own = xp.stack([gather(values[:, :, k], cell) for k in range(_NODES)], axis=-1)
    return gather(before, cell) + xp.sum(own * weights, axis=-1)


def _beyond(chart: Chart, edges: Array, y: Array) -> tuple[Array, Array]:
    """How far y lies above the last and below the first edge; no mass is left there."""
    xp = namespace(y)
    low, high = (chart.inverse(xp.reshape(edge, (1, 1))) for edge in (edges[0], edges[-1]))
    zero = xp.zeros_like(y)
    return xp.maximum(y - high, zero), xp.maximum(low - y, zero)


def _replaced(values: Array, where: Array, new: Array) -> Array:
    """`values` with the rows `where` taken from `new`, in order; an integral found to be infinite stays so."""
    xp = namespace(values)
    rank = xp.cumulative_sum(xp.astype(where, xp.int64)) - 1
    taken = xp.take(new, clip(rank, 0, new.shape[0] - 1), axis=0)
    return xp.where(where[:, None] & xp.isfinite(values), taken, values)


def _unique(points: Array) -> Array:
    return points[concatenate([points[1:] > points[:-1], points[-1:] == points[-1:]])]
