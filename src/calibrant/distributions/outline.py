"""A CDF by points: what mixtures of laws that bend at many points are integrated from."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from calibrant._arrays import Array, clip, concatenate, namespace

_MOST = 700.0  # the sinh of which is a float


class Outline(NamedTuple):
    """Points of each CDF in order of y, (n, m), or of a single one, (m,); what all rows share may be (m,) in both."""

    y: Array
    left: Array
    """The CDF from the left at y."""
    right: Array
    """The CDF at y."""
    rest: Array
    """1 - the CDF at y, with digits of its own where it is small."""
    bend: Array
    """Its second derivative from each point to the next one, (m - 1,): 0 where it runs straight."""

    def bulge(self) -> Array:
        """By how much the integral of the CDF from each point to the next one exceeds that of a straight line."""
        gap = self.y[..., 1:] - self.y[..., :-1]
        return -self.bend * gap * gap * gap / 12  # not its cube, which floats may not hold

    def of_rows(self, rows: int, count: int) -> Outline:
        """One for each of so many rows, with so many points: the last one several times, if there are fewer."""
        xp, more = namespace(self.y), count - self.y.shape[-1]
        y, left, right, rest, bend = (xp.broadcast_to(part, (rows, part.shape[-1])) for part in self)
        last = [xp.broadcast_to(part[:, -1:], (rows, more)) for part in (y, right, right, rest)]
        columns = zip((y, left, right, rest, bend), (*last, xp.zeros_like(last[0])), strict=True)
        return Outline(*(concatenate([part, end], axis=1) for part, end in columns))


def bends(y: Array, bulge: Array) -> Array:
    """The second derivatives that make the CDF bulge by so much."""
    xp = namespace(y)
    gap = y[..., 1:] - y[..., :-1]
    wide = gap > 0
    gap = xp.where(wide, gap, xp.ones_like(gap))
    return xp.where(wide, -12 * bulge / gap / gap / gap, xp.zeros_like(gap))


def within_floats(y: Array) -> Array:
    """Kept where distances are still floats."""
    most = float(namespace(y).finfo(y.dtype).max) / 4
    return clip(y, -most, most)


def stretched(y: Array, centre: Array, spread: Array) -> Array:
    """asinh((y - centre) / spread): equal steps are lengths around the centre, and ratios far away from it."""
    with np.errstate(over="ignore"):
        return clip(namespace(y).asinh((y - centre) / spread), -_MOST, _MOST)
