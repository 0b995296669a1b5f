"""A quadrature rule for any stretch of scores: weights at given nodes that integrate polynomials against dq exactly.

The moments of q over a stretch (a, b] are those of the whole pieces of q between a and b, about some point in between,
and of the part of a piece at either end. The sums over whole pieces are kept for every level of a binary tree: the
pieces between two points u < v are those from u up to T and from T up to v, T the one multiple of the highest power of
two in between. So nothing is ever taken off a sum, and a stretch of any length has the moments of its own few scores.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import reduce
from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, device_like, namespace, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.distributions.tails import beyond

NODES = 6
"""Nodes of a stretch, both of its ends among them."""
_PIECES = 2048  # of q, at least, so that each is as good as a cubic
_MOST = 2**15  # pieces, about: where q has more bends a piece holds several, and is taken to be straight
_WILD = 50.0  # times the mass of a stretch: what the weights of nodes that lie badly come to
_TAILS = np.concatenate([-np.arange(344.0, 30, -1), np.arange(31.0, 345)])  # logits: a tail is e times less at each
_FAR = 1e50  # units of q: beyond these powers overflow

_x, _w = np.polynomial.legendre.leggauss(5)
_x, _w = (_x + 1) / 2, _w / 2
_INSIDE = tuple(((float(x) + 1) / 2, float(w) / 2) for x, w in zip(*np.polynomial.legendre.leggauss(3), strict=True))

Floats = np.ndarray[Any, np.dtype[np.float64]]


class Place(NamedTuple):
    """Some scores: the piece of q that each lies in and how far along it, and q and 1 - q there."""

    s: Array
    piece: Array
    along: Array
    F: Array
    S: Array

    def part(self, index: Any) -> Place:
        """Some of these."""
        return Place(*(column[index] for column in self))


@dataclass(frozen=True, eq=False)
class StretchRule:
    """Moments of one law q, in double precision: see the head of this file."""

    points: Array
    F: Array
    S: Array
    rise: Array
    """Of q in the piece after each point, without the jump at its end."""
    bent: Array
    """(points, 2): how q rises along a piece, r(t) = t + t (1 - t) (c + d (1 - 2 t))."""
    sums: Array
    """(3, levels * points, NODES): for dq, d(q^2) and -d((1 - q)^2), in units of `unit`."""
    unit: float

    @classmethod
    def of(cls, q: Distribution, like: Array, *, far: bool = False) -> StretchRule:
        """The tables of a single law, beside an array; `far` into its tails, for maps that make much of them."""
        breaks = q._breaks() if q.like is not None else device_like(q._breaks(), like)
        if far:
            breaks = concatenate([breaks, beyond(breaks, q._ppf_logit(device_like(_TAILS, breaks)))])

        def at(method: str, s: Floats) -> Floats:
            own = device_like(np.reshape(s, (-1,)), breaks)
            return np.reshape(to_numpy(getattr(q, method)(own)).astype(np.float64), s.shape)

        points, fine, unit = _points(to_numpy(breaks).astype(np.float64))
        below, above = _beside(points)
        F, S, left = at("_cdf", above), at("_sf", above), at("_cdf_left", below)
        upper = F[:-1] > 0.5

        def risen(start: Floats, h: Floats, t: Floats, piece: Any) -> Floats:
            """From the start of a piece, of the tail that is the smaller one, at shares of the way from `start`."""
            s = start[:, None] + h[:, None] * t
            return np.where(upper[piece, None], S[piece, None] - at("_sf", s), at("_cdf", s) - F[piece, None])

        jump = F[1:] - left[1:]
        rise = np.maximum(np.where(upper, S[:-1] - S[1:], F[1:] - F[:-1]) - jump, 0.0)
        starts = np.searchsorted(fine, points)
        some = (rise > 0) & (np.diff(starts) == 1)  # a piece with bends inside is taken to be straight
        quarters = risen(points[:-1], np.diff(points), np.asarray([0.25, 0.75]), np.arange(points.size - 1))
        low, high = (quarters / np.where(some, rise, 1.0)[:, None]).T
        c, d = (low + high - 1) * 8 / 3, (low - high + 0.5) * 16 / 3
        bent = np.where(some[:, None], np.stack([c, d], axis=1), 0.0)
        piece = np.repeat(np.arange(points.size - 1), np.diff(starts))
        sums = _tree(points / unit, fine / unit, starts, risen(fine[:-1], np.diff(fine), _x, piece), rise + jump, F, S)
        tables = (points, F, S, np.append(rise, 0.0), np.concatenate([bent, np.zeros((1, 2))]), sums)
        wide = namespace(like).zeros((), dtype=namespace(like).float64, device=device(like))
        xs, ys, zs, rises, bends, added = (device_like(table, wide) for table in tables)
        return cls(xs, ys, zs, rises, bends, added, unit)

    def at(self, s: Array) -> Place:
        """See `Place`."""
        xp = namespace(s)
        s = xp.astype(s, xp.float64)
        i = xp.searchsorted(self.points, xp.reshape(s, (-1,)), side="right") - 1
        i = xp.reshape(clip(i, 0, self.points.shape[0] - 2), s.shape)
        low, high = _take(self.points, i), _take(self.points, i + 1)
        t = (xp.minimum(xp.maximum(s, low), high) - low) / (high - low)
        bent, rise = _take(self.bent, i), _take(self.rise, i)
        r = t + t * (1 - t) * (bent[..., 0] + bent[..., 1] * (1 - 2 * t))
        risen = rise * xp.minimum(xp.maximum(r, xp.zeros_like(r)), xp.ones_like(r))
        return Place(s, i, t, _take(self.F, i) + risen, _take(self.S, i) - risen)

    def weights(self, start: Place, stop: Place, inner: list[Array], *, squares: bool) -> list[list[Array]]:
        """Weights at both ends and at the nodes between: for dq alone, or for d(q^2) and for -d((1 - q)^2)."""
        xp = namespace(start.s)
        same = start.piece == stop.piece
        u = start.piece + 1
        v = xp.maximum(stop.piece, u)
        level, top = _border(u, v)
        origin = _take(self.points, top)
        one, zero = xp.ones_like(start.s), xp.zeros_like(start.s)
        # the start of the stretch up to its first point, or all of it if it has none; the jump there; what is left
        parts = self._part(start.piece, start.along, xp.where(same, stop.along, one))
        point, F, S = (_take(column, u) for column in (self.points, self.F, self.S))
        rise = _take(self.rise, start.piece)
        before = _take(self.F, start.piece) + rise, _take(self.S, start.piece) - rise
        jump = xp.where(F > 0.5, before[1] - S, F - before[0])
        jump = xp.where(same | (jump < 0), zero, jump)
        parts.append((point, jump, (before[0] + F) / 2, (before[1] + S) / 2))
        parts += self._part(stop.piece, zero, xp.where(same, zero, stop.along))
        places = [(at - origin) / self.unit for at, *_ in parts]
        nodes = [(xp.astype(s, xp.float64) - origin) / self.unit for s in (start.s, *inner, stop.s)]
        index = [level * self.points.shape[0] + point for point in (u, v)]
        weights = []
        for which in (1, 2) if squares else (0,):
            sums = reduce(lambda a, b: a + b, (_take(self.sums[which, ...], each) for each in index))
            moments = [xp.where(u != v, sums[..., power], zero) for power in range(NODES)]
            for place, (_, mass, F, S) in zip(places, parts, strict=True):
                term = mass if which == 0 else 2 * mass * (F if which == 1 else S)
                moments[0] = moments[0] + term
                for power in range(1, NODES):
                    term = term * place
                    moments[power] = moments[power] + term
            weights.append(_solved(nodes, moments))
        return weights

    def _part(self, piece: Array, low: Array, high: Array) -> list[tuple[Array, Array, Array, Array]]:
        """A part of a piece as a few atoms: where, how much, and q and 1 - q there."""
        start, end, rise, bent, F, S = (
            _take(column, index)
            for column, index in (
                (self.points, piece),
                (self.points, piece + 1),
                (self.rise, piece),
                (self.bent, piece),
                (self.F, piece),
                (self.S, piece),
            )
        )
        c, d, h = bent[..., 0], bent[..., 1], high - low
        atoms = []
        for share, weight in _INSIDE:
            t = low + h * share
            back, both = 1 - 2 * t, t * (1 - t)
            risen = rise * (t + both * (c + d * back))
            mass = weight * h * rise * (1 + c * back + d * (1 - 6 * both))
            atoms.append((start + t * (end - start), mass, F + risen, S - risen))
        return atoms


def _take(column: Array, index: Array) -> Array:
    xp = namespace(column)
    return xp.reshape(xp.take(column, xp.reshape(index, (-1,)), axis=0), (*index.shape, *column.shape[1:]))


def _border(u: Array, v: Array) -> tuple[Array, Array]:
    """The level of the tree at which u and v part, and the point between its halves; u itself where v is u."""
    xp = namespace(u)
    apart = xp.bitwise_xor(u, v)
    size = xp.astype(xp.maximum(apart, xp.ones_like(apart)), xp.float64)
    level = xp.astype(xp.floor(xp.log2(size)), apart.dtype)
    return level, xp.where(u == v, u, xp.bitwise_left_shift(xp.bitwise_right_shift(v, level), level))


def _points(breaks: Floats) -> tuple[Floats, Floats, float]:
    """The ends of the pieces; these and all bends of q; and their unit.

    Bends in order, more points where they are few and fewer where they are many, and one beyond them on either side.
    """
    points = np.unique(breaks[np.isfinite(breaks)])
    middle = points[points.size // 2]
    unit = float(np.median(np.abs(points - middle))) or float(np.ptp(points)) or abs(float(middle)) or 1.0
    points = points[np.abs(points - middle) <= _FAR * unit]
    low, high = np.maximum(unit, 64 * np.spacing(np.abs(points[[0, -1]])))  # an outlier is no end that rounding reaches
    points = np.concatenate([[points[0] - low], points, [points[-1] + high]])
    parts = -(-_PIECES // points.size)
    inner = points[:-1, None] + np.diff(points)[:, None] * (np.arange(parts) / parts)
    fine = np.unique(np.append(inner, points[-1]))
    return np.unique(np.append(fine[:: 1 + fine.size // _MOST], fine[-1])), fine, unit


def _beside(points: Floats) -> tuple[Floats, Floats]:
    """A few ulp below and above each point: where q is a law of a law, its jumps are off by a rounding."""
    gap, ulps = np.diff(points, prepend=-np.inf, append=np.inf) / 3, 8 * np.spacing(np.abs(points))
    return points - np.minimum(ulps, gap[:-1]), points + np.minimum(ulps, gap[1:])


def _tree(p: Floats, fine: Floats, starts: Any, risen: Floats, whole: Floats, F: Floats, S: Floats) -> Floats:
    """Sums of the moments of whole pieces, from each point to the point between the halves of its node of the tree.

    `risen` is by how much q rose from the start of a piece to the nodes in it, `whole` to its end with the jump there.
    """
    count = p.size
    levels = max(1, (count - 1).bit_length())
    h, piece, F, S = np.diff(fine), np.repeat(np.arange(count - 1), np.diff(starts)), F[:-1], S[:-1]
    F0, S0 = F[piece, None], S[piece, None]
    # the same of q^2 and -(1 - q)^2
    inner = np.stack([risen, risen * (2 * F0 + risen), risen * (2 * S0 - risen)]) * (_w * h[:, None])
    outer = np.stack([whole, whole * (2 * F + whole), whole * (2 * S - whole)])
    nodes = fine[:-1, None] + h[:, None] * _x
    sums = np.zeros((3, levels, count, NODES))
    index = np.arange(count - 1)
    for level in range(levels):
        size = 2**level
        origin = p[np.minimum((index >> (level + 1) << (level + 1)) + size, count - 1)]
        blocks = np.zeros((3, NODES, -(-count // (2 * size)) * 2 * size))
        end, x, power_of_x = p[1:] - origin, nodes - origin[piece, None], np.ones_like(nodes)
        blocks[:, 0, : count - 1] = outer
        for power in range(1, NODES):  # by parts, as in calibrant.distributions.rule
            less = power * np.add.reduceat(np.sum(power_of_x * inner, axis=-1), starts[:-1], axis=-1)
            blocks[:, power, : count - 1] = end**power * outer - less
            power_of_x = power_of_x * x
        halves = blocks.reshape(3, NODES, -1, 2, size)
        halves[..., 0, :] = np.cumsum(halves[..., 0, ::-1], axis=-1)[..., ::-1]
        halves[..., 1, 1:] = np.cumsum(halves[..., 1, :-1], axis=-1)
        halves[..., 1, 0] = 0.0
        sums[:, level] = np.moveaxis(blocks[..., :count], 1, 2)
    return sums.reshape(3, levels * count, NODES)


def _solved(x: list[Array], moments: list[Array]) -> list[Array]:
    """The weights w with sum w_j x_j^k = m_k, by Bjoerck and Pereyra; at the ends only where the nodes lie badly."""
    xp, last, f = namespace(x[0]), NODES - 1, list(moments)
    mass, finite = moments[0], reduce(lambda a, b: a & b, (xp.isfinite(node) for node in x))
    apart = reduce(lambda a, b: a & b, (x[i + 1] > x[i] for i in range(last)), finite)
    long = finite & (x[-1] > x[0])
    ends = [xp.where(long, node, xp.full_like(mass, float(k))) for k, node in enumerate((x[0], x[-1]))]
    share = (moments[1] - ends[0] * mass) / (ends[1] - ends[0])
    share = xp.where(long, xp.minimum(xp.maximum(share, xp.zeros_like(mass)), mass), mass / 2)
    # an end that is infinitely far holds nothing
    share = xp.where(xp.isinf(x[0]), mass, xp.where(xp.isinf(x[-1]), xp.zeros_like(mass), share))
    x = [xp.where(apart, node, xp.full_like(mass, float(k))) for k, node in enumerate(x)]
    with np.errstate(all="ignore"):
        for k in range(last):
            for i in range(last, k, -1):
                f[i] = f[i] - x[k] * f[i - 1]
        for k in range(last - 1, -1, -1):
            for i in range(k + 1, last + 1):
                f[i] = f[i] / (x[i] - x[i - k - 1])
            for i in range(k, last):
                f[i] = f[i] - f[i + 1]
    good = reduce(lambda a, b: a & b, (xp.abs(weight) <= _WILD * mass for weight in f), apart)
    f[0], f[-1] = xp.where(good, f[0], mass - share), xp.where(good, f[-1], share)
    f[1:-1] = [xp.where(good, weight, xp.zeros_like(mass)) for weight in f[1:-1]]
    return f
