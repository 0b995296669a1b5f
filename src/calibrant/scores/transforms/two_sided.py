"""A transform in two branches, below and above a point of each row, between which it jumps."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, concatenate, namespace
from calibrant.scores.transforms.base import Transform


@dataclass(frozen=True, eq=False)
class TwoSided(Transform):
    """s = -g(-below(y)) for y < at, s = g(above(y)) from `at` on; g(v) = v + sqrt(v^2 + 1).

    The inverse of every s between the two branches is `at`.
    """

    below: Transform
    above: Transform
    at: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.at.shape)

    def left(self, y: Array) -> Array:
        """At `at` that of the lower branch."""
        return namespace(y).where(y == self._lift(self.at), -_g(-self.below(y))[0], self(y))

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        xp, low = namespace(y), y < self._lift(self.at)
        below = self.below.with_slope(y)
        above = below if self.above is self.below else self.above.with_slope(y)
        g, root = _g(xp.where(low, -below[0], above[0]))
        with np.errstate(invalid="ignore"):  # at -inf and inf
            return xp.where(low, -g, g), xp.log(g / root) + xp.where(low, below[1], above[1])

    def inverse(self, s: Array) -> Array:
        xp, at, size = namespace(s), self._lift(self.at), namespace(s).abs(s)
        with np.errstate(divide="ignore"):
            v = (size - 1) / 2 * (1 + 1 / size)  # (g - 1/g) / 2
        lower, upper = xp.minimum(self.below.inverse(-v), at), xp.maximum(self.above.inverse(v), at)
        return xp.where(s < 0, lower, xp.where(s > 0, upper, at))

    @property
    def bends(self) -> Array | None:
        """The two s at `at`."""
        at = self._lift(self.at)
        ends = concatenate([-_g(-self.below(at))[0], _g(self.above(at))[0]], axis=1)
        return ends[:1, :] if bool(namespace(ends).all(ends == ends[:1, :])) else ends


def _g(v: Array) -> tuple[Array, Array]:
    """g(v) = v + sqrt(v^2 + 1), and the root."""
    xp = namespace(v)
    root = xp.hypot(v, xp.ones_like(v))
    size = xp.abs(v) + root
    return xp.where(v < 0, 1 / size, size), root  # not by the sum, which cancels
