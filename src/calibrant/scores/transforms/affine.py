"""Straight lines."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant.scores.transforms.base import Transform


@dataclass(frozen=True, eq=False)
class Affine(Transform):
    """s = (y - loc) / scale."""

    loc: Array
    scale: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    def __call__(self, y: Array) -> Array:
        return (y - self._lift(self.loc)) / self._lift(self.scale)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        s = self(y)
        return s, namespace(s).zeros_like(s) - namespace(s).log(self._lift(self.scale))

    def inverse(self, s: Array) -> Array:
        return self._lift(self.loc) + self._lift(self.scale) * s
