"""One transform after another."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant.scores.transforms.base import Transform
from calibrant.scores.transforms.lines import Affine, BrokenLine


@dataclass(frozen=True, eq=False)
class Composed(Transform):
    """s = then(first(y)); `then` may be one map for all rows."""

    first: Transform
    then: Transform

    @property
    def shape(self) -> tuple[int, ...]:
        return self.first.shape

    def __call__(self, y: Array) -> Array:
        return self.then(self.first(y))

    def left(self, y: Array) -> Array:
        return self.then.left(self.first.left(y))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        middle, slope = self.first.with_slope(y)
        s, then_slope = self.then.with_slope(middle)
        return s, slope + then_slope

    def inverse(self, s: Array) -> Array:
        return self.first.inverse(self.then.inverse(s))

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        middle, then_width = self.then.inverse_with_width(s)
        y, width = self.first.inverse_with_width(middle)
        return y, width * then_width

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """One map of all rows after the row's line."""
        if self.then.shape or not self.shape or not isinstance(self.first, Affine):
            return None
        return self.first.loc, self.first.scale, self.then

    @property
    def bends(self) -> Array | None:
        first, then = self.first.bends, self.then.bends
        if first is None:
            return then
        first = self.then(first)
        if then is None:
            return first
        xp, rows = namespace(first), max(first.shape[0], then.shape[0])
        return concatenate([xp.broadcast_to(part, (rows, part.shape[1])) for part in (first, then)], axis=1)


@dataclass(frozen=True, eq=False)
class Logarithm(Transform):
    """s = log(y), and -inf for y <= 0."""

    @property
    def shape(self) -> tuple[int, ...]:
        return ()

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp = namespace(y)
        with np.errstate(divide="ignore"):  # log 0 is -inf
            s = xp.log(xp.maximum(y, xp.zeros_like(y)))
        return s, -s

    def inverse(self, s: Array) -> Array:
        xp = namespace(s)
        with np.errstate(over="ignore"):
            y = xp.exp(s)
        # every y <= 0 has the score -inf, so the least of them is where q's mass at -inf belongs
        return xp.where(s == -xp.inf, xp.full_like(y, -xp.inf), y)


def compose(first: Transform, then: Transform) -> Transform:
    """s = then(first(y)), as a line or a broken line where it is one."""
    if isinstance(first, Affine) and isinstance(then, Affine):
        return Affine(first.loc + then.loc * first.scale, first.scale * then.scale)
    if isinstance(first, Affine) and isinstance(then, BrokenLine):
        loc, scale = first.loc[:, None], first.scale[:, None]
        return BrokenLine(loc + scale * then.values, then.levels, then.slopes / scale)
    if isinstance(first, BrokenLine) and isinstance(then, Affine):
        return BrokenLine(first.values, then(first.levels), first.slopes / then._lift(then.scale))
    return Composed(first, then)


def shifted(transform: Transform, origin: float, unit: float = 1.0) -> Transform:
    """(s - origin) / unit."""
    if origin == 0 and unit == 1:
        return transform
    return compose(transform, Affine(*(device_like(number, transform.like) for number in (origin, unit))))
