"""The outline of a law that is curved between the points at which it is known to bend.

Between two points of an outline a CDF is a straight line that bulges. By how much is integrated by two nodes of
Gauss-Legendre; all else is of fourth order in the length of a piece, so pieces are cut until that is small.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from array_api_compat import device

from calibrant._arrays import Array, clip, concatenate, detached, device_like, namespace, to_numpy
from calibrant._kept import keep
from calibrant.distributions.base import Distribution, handed_in
from calibrant.distributions.outline import Outline, bends, stretched, within_floats

NO_MASS = 1e-10
"""A probability whose square does not count, but in a heavy tail."""
_BULGE = 1e-6  # of the spread of a law: how much a piece may bulge; and more far out, by the root of the distance
_SKEWED = 1e-7  # the same for the difference of its halves: what has more is no parabola, and may bend inside
_CROSSED = 1e-8  # the same for what it bulges by times its rise
_SETTLED = 1e-14  # the same for the squared mass of a tail times its length: what has more is followed farther out
_TAIL = np.concatenate([np.arange(24.0, 40, 2), np.geomspace(40, 340, 24)])  # the logits there
_ROUNDS, _PARTS = 8, 8  # of cutting, and into how many parts at a time
_MOST = 2**13  # points of a law
_NODES = np.array([0.5 - 0.5 / np.sqrt(3), 0.5 + 0.5 / np.sqrt(3)])


class _Knots(NamedTuple):
    """Points of each row, (n, m); n is 1 for a single law."""

    y: Array
    left: Array
    right: Array
    rest: Array

    def before(self) -> Array:
        """1 - the CDF from the left."""
        return self.rest + (self.right - self.left)


class _Size(NamedTuple):
    """What lengths are measured by in each row, (n, 1)."""

    centre: Array
    spread: Array


def outline_of_one(law: Distribution) -> Outline:
    """Of a single law, through its breaks; found once."""
    return keep(law, "outline", lambda: _through_breaks(law))


def _through_breaks(law: Distribution) -> Outline:
    y = law._breaks()
    sides = law._cdf_left(y), law._cdf(y), law._sf(y)
    inside = (sides[1] > NO_MASS) & (sides[2] > NO_MASS)
    return outlined(law, *(part[inside] for part in (within_floats(y), *sides)))


def outlined(law: Distribution, y: Array, left: Array, right: Array, rest: Array) -> Outline:
    """Through points in order, (n, m) or (m,), among them all at which the CDF or its slope jumps."""
    xp, one = namespace(y), not law.shape
    columns = (part + xp.zeros_like(y) for part in (y, left, right, rest))
    points = _Knots(*(part[None, :] if one else part for part in columns))
    with np.errstate(all="ignore"):  # far out in a heavy tail
        size = _measured(law, points)
        points, heavy = _followed(law, points, size)
        fresh = np.arange(points.y.shape[1] - 1)
        bulge, parts = _bulges(law, points, fresh, size, heavy=heavy)
        for _ in range(_ROUNDS):
            most = to_numpy(xp.max(parts, axis=0)) if parts.shape[0] else np.ones(0, dtype=np.int64)
            if not np.any(most > 1) or np.sum(most) + points.y.shape[1] > _MOST:
                break
            points, bulge, fresh = _cut(law, points, bulge, fresh, parts, most, size)
            found, parts = _bulges(law, points, fresh, size, heavy=heavy)
            bulge = _replaced(bulge, fresh, found)
        outline = Outline(*points, bends(points.y, bulge))
    return Outline(*(part[0, :] for part in outline)) if one else outline


def _ask(law: Distribution, name: str, value: Array) -> Array:
    """A method of the law at (n, k) values."""
    found: Array = getattr(law, name)(value) if law.shape else getattr(law, name)(value[0, :])[None, :]
    return found


def _columns(table: Array, index: Any) -> Array:
    return namespace(table).take(table, namespace(table).asarray(index, device=device(table)), axis=1)


def _replaced(table: Array, index: Any, columns: Array) -> Array:
    """The table with some columns in the place of its own."""
    where = np.arange(table.shape[1])
    where[index] = table.shape[1] + np.arange(len(index))
    return _columns(concatenate([table, columns], axis=1), where)


def _measured(law: Distribution, points: _Knots) -> _Size:
    """The median, and the length of the inner half; the middle point and the whole where these are none."""
    y, xp = points.y, namespace(points.y)
    levels = device_like([[0.25, 0.5, 0.75]], y)
    quantiles = _ask(law, "_ppf", levels) + xp.zeros_like(y[:, :1])
    low, centre, high = (quantiles[:, k : k + 1] for k in range(3))
    good = xp.isfinite(high - low) & (high > low)
    middle = y.shape[1] // 2
    return _Size(
        xp.where(xp.isfinite(centre), centre, y[:, middle : middle + 1]),
        xp.where(good, high - low, y[:, -1:] - y[:, :1]),
    )


def _followed(law: Distribution, points: _Knots, size: _Size) -> tuple[_Knots, bool]:
    """With points farther out in rows whose tails still count there; and whether there are such rows."""
    xp, heavy = namespace(points.y), False
    for side, infinite in enumerate(law._infinite_mass()):
        # what lies beyond the first point, or the last one
        y, left, right, rest = (part[:, -1:] if side else part[:, :1] for part in points)
        near = (right, rest) if side else (left, rest + (right - left))
        reach = near[side] ** 2 * xp.abs(y - size.centre)
        on = (reach > _SETTLED * size.spread) & (infinite + xp.zeros_like(y[:, 0]) == 0)[:, None]
        if not bool(xp.any(on)):
            continue
        heavy = True
        levels = device_like((_TAIL if side else -_TAIL[::-1])[None, :], y)
        far = within_floats(_ask(law, "_ppf_logit", levels) + xp.zeros_like(y))
        new = on & ((far > y) if side else (far < y))
        far = xp.where(new, far, y)
        F, S = (xp.where(new, _ask(law, name, far), end) for name, end in zip(("_cdf", "_sf"), near, strict=True))
        tail = _Knots(far, F, F, S)
        both = (points, tail) if side else (tail, points)
        points = _Knots(*(concatenate(column, axis=1) for column in zip(*both, strict=True)))
    return points, heavy


def _bulges(law: Distribution, points: _Knots, pieces: Any, size: _Size, *, heavy: bool) -> tuple[Array, Array]:
    """By how much each of some pieces bulges, and into how many parts to cut it."""
    xp = namespace(points.y)
    a, b = _columns(points.y, pieces), _columns(points.y, pieces + 1)
    start, end = _columns(points.right, pieces), _columns(points.left, pieces + 1)
    h, rise = b - a, end - start
    nodes = concatenate([a + h * x for x in _NODES], axis=1)
    F = _ask(law, "_cdf", nodes)
    if heavy:  # where 1 - F has digits of its own, it is -(1 - F) that rises
        above, rest, before = start > 0.5, _columns(points.rest, pieces), _columns(points.before(), pieces + 1)
        start, rise = xp.where(above, -rest, start), xp.where(above, rest - before, rise)
        F = xp.where(concatenate([above, above], axis=1), -_ask(law, "_sf", nodes), F)
    over = [part - (start + rise * x) for part, x in zip((F[:, : h.shape[1]], F[:, h.shape[1] :]), _NODES, strict=True)]
    return h * (over[0] + over[1]) / 2, _parts(size, *map(detached, (a, b, h, rise, *over)))


def _parts(size: _Size, a: Array, b: Array, h: Array, rise: Array, first: Array, second: Array) -> Array:
    """Into how many parts to cut each piece, which lies so far above a straight line at either node."""
    xp, spread = namespace(h), detached(size.spread)
    bent, skewed = h * (xp.abs(first) + xp.abs(second)) / 2, h * xp.abs(first - second) / 2
    distance = xp.minimum(xp.abs(a - detached(size.centre)), xp.abs(b - detached(size.centre))) / spread
    wide = xp.maximum(bent / _BULGE, skewed / _SKEWED) / spread / (1 + distance) ** 0.5
    crossed = bent * rise / (_CROSSED * spread)
    parts = xp.ones_like(h)
    if not bool(xp.any((wide > 1) | (crossed > 1))):
        return parts
    wanted = xp.maximum(wide ** (1 / 3), crossed**0.25)
    return clip(xp.ceil(xp.where(xp.isfinite(wanted), wanted, parts) - 0.2), 1, _PARTS)


def _cut(
    law: Distribution, points: _Knots, bulge: Array, pieces: Any, parts: Array, most: Any, size: _Size
) -> tuple[_Knots, Array, Any]:
    """With points between, and which pieces are new; where a row needs fewer of them, its parts end before the last."""
    xp, count = namespace(points.y), points.y.shape[1]
    each = np.ones(count, dtype=np.int64)
    each[pieces] = most
    place = np.repeat(np.arange(count), each)  # in the old points
    step = np.arange(place.size) - np.repeat(np.cumsum(each) - each, each)
    new = np.flatnonzero(step)
    column = np.full(count, -1)
    column[pieces] = np.arange(len(pieces))
    t = device_like(step[new][None, :], points.y) / _columns(parts, column[place[new]])
    t = xp.minimum(t, xp.ones_like(t))
    a, b = _columns(points.y, place[new]), _columns(points.y, place[new] + 1)
    y = _between(a, b, t, size)
    ended = _columns(points.left, place[new] + 1), _columns(points.before(), place[new] + 1)
    F, S = (xp.where(t < 1, _ask(law, name, y), end) for name, end in zip(("_cdf", "_sf"), ended, strict=True))
    inner = _Knots(y, F, F, S)
    points = _Knots(*(_replaced(_columns(old, place), new, column) for old, column in zip(points, inner, strict=True)))
    return points, _columns(bulge, place[:-1]), np.flatnonzero(each[place[:-1]] > 1)


def _between(a: Array, b: Array, t: Array, size: _Size) -> Array:
    """The share t of the way: by equal steps around the centre, by equal ratios far away from it."""
    xp = namespace(a)
    start, end = (stretched(part, size.centre, size.spread) for part in (a, b))
    y = xp.where(t < 1, size.centre + size.spread * xp.sinh(start + (end - start) * t), b)
    return xp.minimum(xp.maximum(y, a), b)


handed_in["outline"] = outline_of_one
