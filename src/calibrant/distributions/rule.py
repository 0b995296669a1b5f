"""Integrals of H(y) = q(map(y)) for a batch whose rows share q but not the map.

With Y(s) the inverse of a row's map, E g(Y) is the integral of g(Y(s)) against dq(s). q is rough (it bends or jumps at
every score) but shared; Y is smooth but a row's own. So the line of scores is cut into cells, Y is interpolated in each
by the polynomial through a few nodes, and q is integrated against these polynomials exactly, once for all rows: that is
a quadrature rule of q. The work a row is a few hundred values of Y, whatever the number of scores.

With c any point, F = H(y), S = 1 - F and M, Q the integrals of (Y - c) against dq and d(q^2) between two scores:

    the integral of F   from a to y:  (y - c) F(y)   - (a - c) F(a)   - M
    the integral of F^2 from a to y:  (y - c) F(y)^2 - (a - c) F(a)^2 - Q

and the same, mirrored, for S.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._kept import keep
from calibrant._search import distinct
from calibrant.distributions.base import Distribution
from calibrant.distributions.maps import Increasing

NODES = 8
_NEAR = np.array([0, 1, 2, 3, 4, 5, 6, 7, 8.5, 10.5, 13.5, 18, 24, 34])
_FAR = np.concatenate(
    [_NEAR, [36, 39, 42, 45, 50, 56, 63, 71, 80, 90, 102, 115, 130, 147, 167, 190, 217, 249, 300, 340]]
)
_BLOCK = 2**14  # stretches of q integrated at a time

_x, _w = np.polynomial.legendre.leggauss(NODES)
_LAGRANGE = np.linalg.inv(np.vander(_x, increasing=True))  # from powers of x to the nodes' polynomials
AT_ENDS = np.stack([np.array([-1.0, 1.0])[k] ** np.arange(NODES) @ _LAGRANGE for k in (0, 1)])
"""What makes the value at either end of a cell of the values at its nodes."""


class Weights(NamedTuple):
    """What integrates a function, given at the nodes of a cell, against dq, d(q^2) and -d((1 - q)^2)."""

    once: Array
    lower: Array
    upper: Array


@dataclass(frozen=True, eq=False)
class Rule:
    """The rule of one law: cells (edges[k], edges[k + 1]], nodes in them, and weights over whole cells and parts."""

    edges: Array
    nodes: Array
    """(cells, NODES)."""
    points: Array
    """The edges and the bends of q together."""
    cell: Array
    """Of the stretch after each point."""
    first: Array
    """The point at which each cell starts."""
    along: tuple[Array, Array]
    """(points, NODES), for dq and its square: the weights up to a point, or less those from it on, see `split`."""
    ends: tuple[Array, Array]
    """(2, NODES): the weights of the mass at and beyond the first and the last edge."""
    whole: Weights
    """(cells, NODES)."""
    split: int
    """The cell from which on the weights are summed from above, with 1 - q in the place of q."""

    @classmethod
    def of(cls, q: Distribution, edges: Array) -> Rule:
        """The rule of a single law with these cells: see `cells`."""
        xp = namespace(edges)
        middle = q._ppf_logit(device_like([0.0], edges))
        split = int(clip(xp.searchsorted(edges, middle, side="left"), 1, edges.shape[0] - 2)[0])
        nodes = edges[:-1, None] + (edges[1:] - edges[:-1])[:, None] * device_like((_x + 1) / 2, edges)
        breaks = q._breaks() if q.like is not None else device_like(q._breaks(), edges)
        breaks = breaks[(breaks > edges[0]) & (breaks < edges[-1])]
        points = distinct(xp.sort(concatenate([edges, breaks])))
        cell = clip(xp.searchsorted(edges, points, side="right") - 1, 0, edges.shape[0] - 2)
        first = xp.searchsorted(points, edges, side="left")
        stretches = _stretches(q, edges, points[:-1], points[1:], cell[:-1], split)
        below, above = q._infinite_mass()
        low, high = q._cdf(edges[:1]), q._sf(edges[-1:])
        bottom, top = _basis(edges[:1], edges, cell[:1]), _basis(edges[-1:], edges, cell[-1:])
        ends = (
            concatenate([(low - below) * bottom, (high - above) * top]),
            concatenate([(low**2 - below**2) * bottom, (high**2 - above**2) * top]),
        )
        at, along, whole = int(first[split]), [], []
        for pieces, end in zip(stretches, ends, strict=True):
            up = xp.cumulative_sum(concatenate([end[:1, :], pieces[:at, :]]), axis=0)
            down = -xp.flip(
                xp.cumulative_sum(concatenate([end[1:, :], xp.flip(pieces[at:, :], axis=0)]), axis=0), axis=0
            )
            along.append(concatenate([up[:-1, :], down]))
            low_cells, high_cells = xp.take(up, first[: split + 1], axis=0), xp.take(down, first[split:] - at, axis=0)
            cells = [low_cells[1:, :] - low_cells[:-1, :], high_cells[1:, :] - high_cells[:-1, :]]
            # what is at and beyond the outermost edges belongs to the outermost cells
            cells = [cells[0][:1, :] + end[:1, :], cells[0][1:, :], cells[1][:-1, :], cells[1][-1:, :] + end[1:, :]]
            whole.append(concatenate(cells))
        half = device_like(np.arange(nodes.shape[0]) >= split, edges)[:, None] > 0
        return cls(
            edges, nodes, points, cell, first, (along[0], along[1]), ends, _both(whole[0], whole[1], half), split
        )

    def part(self, q: Distribution, s: Array) -> tuple[Array, Weights]:
        """The cell of each s, (n, k), and the weights from the start of that cell to s, (n, k, NODES)."""
        xp = namespace(s)
        flat = xp.reshape(s, (-1,))
        inside = clip(flat, self.edges[0], self.edges[-1])
        at = clip(xp.searchsorted(self.points, inside, side="right") - 1, 0, self.points.shape[0] - 2)
        cell = xp.take(self.cell, at)
        begin = xp.take(self.first, cell)
        last = _stretches(q, self.edges, xp.take(self.points, at), inside, cell, self.split)
        # the mass on an outermost edge counts from there on, that beyond the last edge beyond it
        on, over = (flat >= self.edges[0]) & (cell == 0), flat > self.edges[-1]
        parts = []
        for table, end, ends in zip(self.along, last, self.ends, strict=True):
            part = xp.take(table, at, axis=0) - xp.take(table, begin, axis=0) + end
            part = xp.where((flat >= self.edges[0])[:, None], part, xp.zeros_like(part))
            part = part + xp.where(on[:, None], ends[:1, :], xp.zeros_like(ends[:1, :]))
            parts.append(part + xp.where(over[:, None], ends[1:, :], xp.zeros_like(ends[1:, :])))
        weights = _both(parts[0], parts[1], (cell >= self.split)[:, None])
        return xp.reshape(cell, s.shape), Weights(*(xp.reshape(each, (*s.shape, NODES)) for each in weights))


def _both(once: Array, own: Array, upper_half: Array) -> Weights:
    """d(q^2) + -d((1 - q)^2) = 2 dq: each half has summed the one that is small there."""
    xp, other = namespace(once), 2 * once - own
    return Weights(once, xp.where(upper_half, other, own), xp.where(upper_half, own, other))


def scores_along(q: Distribution, like: Array, *, far: bool) -> Array:
    """Scores all along a single law, in order, by its levels; `far` reaches into heavy tails. Found once a law."""
    key = ("scores along", namespace(like).__name__, str(like.dtype), str(device(like)), far)
    return keep(q, key, lambda: _scores_along(q, like, _FAR if far else _NEAR))


def _scores_along(q: Distribution, like: Array, levels: Array) -> Array:
    s = q._ppf_logit(device_like(np.concatenate([-levels[:0:-1], levels]), like))
    xp = namespace(s)
    if any(q._infinite_mass()):  # then the finite part ends with the scores
        breaks = device_like(q._breaks(), like)
        s = concatenate([breaks[:1], s, breaks[-1:]])
    s = distinct(xp.sort(s[xp.isfinite(s)]))
    if s.shape[0] > 1:
        return s
    near = 4096 * float(xp.finfo(s.dtype).eps) * (1 + xp.abs(s))  # a single atom, on a stretch of no length to speak of
    return concatenate([s - near, s + near])


def cells(q: Distribution, chart: Increasing, like: Array, *, far: bool) -> Array:
    """The ends of the cells, by the levels of q, and divided where the map asks for shorter ones."""
    edges = scores_along(q, like, far=far)
    xp = namespace(edges)
    h = edges[1:] - edges[:-1]
    count = xp.clip(xp.ceil(h / chart.widest(edges[:-1] + h / 2)), 1, 16)
    cut = [edges[:1]]
    for k in range(1, 17):  # the k-th part of every cell that has one
        inner = edges[:-1] + h * (k / count)
        cut.append(xp.where(k == count, edges[1:], inner)[k <= count])
    edges = distinct(xp.sort(concatenate(cut)))
    if edges.shape[0] == 2:
        edges = concatenate([edges[:1], (edges[:1] + edges[1:]) / 2, edges[1:]])
    return edges


def _basis(s: Array, edges: Array, cell: Array) -> Array:
    """The value at s of the polynomials of its cell that are 1 at one node and 0 at the others."""
    xp = namespace(s)
    a, b = xp.take(edges, cell), xp.take(edges, cell + 1)
    x = 2 * (s - a) / (b - a) - 1
    powers = xp.stack([x**k for k in range(NODES)], axis=-1)
    return xp.sum(powers[..., :, None] * device_like(_LAGRANGE, s), axis=-2)


def _stretches(q: Distribution, edges: Array, start: Array, end: Array, cell: Array, split: int) -> tuple[Array, Array]:
    """The weights of dq and of d(q^2), or -d((1 - q)^2) above the middle, over (start, end] inside a cell.

    By parts: the integral of p dq is p q at the ends, less that of p' q, which is exact where q is a straight line.
    """
    xp = namespace(edges)
    parts = []
    for low in range(0, max(1, start.shape[0]), _BLOCK):
        rows = slice(low, min(low + _BLOCK, start.shape[0]))
        a, b, k = start[rows], end[rows], cell[rows]
        left, right = xp.take(edges, k), xp.take(edges, k + 1)
        h, width = b - a, right - left
        t = a[:, None] + h[:, None] * device_like((_x + 1) / 2, edges)
        x = 2 * (t - left[:, None]) / width[:, None] - 1
        # p'(x) dx/ds at the points t, for each of the nodes' polynomials: (stretches, points, NODES)
        slopes = device_like(np.arange(1, NODES)[:, None] * _LAGRANGE[1:], edges)
        powers = xp.stack([x**j for j in range(NODES - 1)], axis=-1)
        derivative = powers @ slopes * (2 / width)[:, None, None]
        weighted = derivative * (h[:, None] * device_like(_w / 2, edges))[..., None]
        upper = (k >= split)[:, None]
        inner = xp.where(upper, -q._sf(t), q._cdf(t))
        ends = [xp.where(upper[:, 0], -q._sf(e), q._cdf(e)) for e in (a, b)]
        pa, pb = (_basis(e, edges, k) for e in (a, b))
        sign = xp.where(upper, -xp.ones_like(h[:, None]), xp.ones_like(h[:, None]))
        once = pb * ends[1][:, None] - pa * ends[0][:, None] - xp.sum(weighted * inner[..., None], axis=1)
        own = (
            pb * (ends[1] ** 2)[:, None]
            - pa * (ends[0] ** 2)[:, None]
            - xp.sum(weighted * (inner**2)[..., None], axis=1)
        )
        parts.append((once, sign * own))
    return concatenate([part[0] for part in parts]), concatenate([part[1] for part in parts])
