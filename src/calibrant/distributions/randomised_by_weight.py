"""Random interpolation of weighted scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arguments import generator
from calibrant._arrays import Array, clip, device_like, namespace
from calibrant._batch import shared
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.distributions.randomised import Randomised, Unrealised
from calibrant.distributions.ratios import ratios_of


@dataclass(frozen=True, eq=False, repr=False)
class RandomisedByWeight(Randomised):
    """(sum of w_i over s_i < u + U (w(x) + sum of w_i over s_i = u)) / (N + w(x)), N the sum of all w_i.

    `atoms` have masses in proportion to the weights. Else it is `Randomised`, whose weights are all 1.
    """

    ratio: Array  # type: ignore[misc]  # mypy takes shared(), above it, for a default
    total: float = shared()

    def _ranks(self, y: Array) -> tuple[Array, Array]:
        """The weights below y, and those at y."""
        left, right = self.atoms._cdf_sides(y)
        return self.total * left, self.total * (right - left)

    def _own(self) -> Array:
        return self._lift(self.ratio)

    def _size(self) -> Array:
        return self.total + self._lift(self.ratio)

    def _ppf(self, p: Array) -> Array:
        xp = namespace(p)
        level = (p * self._size() - self._lift(self.uniform) * self._own()) / self.total
        y = self.atoms._ppf(clip(level, 0.0, 1.0))
        y = xp.where(level <= 0, self._lift(self.lower), y)
        return xp.where(level > 1, self._lift(self.upper), y)

    def _weights(self) -> tuple[Array, Array, Array]:
        size = self.total + self.ratio
        return self.total / size, self.uniform * self.ratio / size, (1 - self.uniform) * self.ratio / size


@dataclass(frozen=True, eq=False, repr=False)
class UnrealisedByWeight(Unrealised):
    """Random's q of weighted scores before it meets its rows, all of which count as one calibration row does."""

    total: float = shared()

    def for_rows(self, context: Context) -> Distribution:
        """One uniform for each row."""
        return self._rows(self._ratios(context), generator(context.rng).random(context.rows))

    def _ratios(self, context: Context) -> Array:
        Distribution.for_rows(self, context)
        return device_like(np.ones(context.rows), self.atoms.like)

    def _rows(self, ratio: Array, uniform: Array) -> Distribution:
        like = self.atoms.like
        lower, upper = (device_like(np.full(len(uniform), end), like) for end in (self.lower, self.upper))
        return RandomisedByWeight(self.atoms, lower, upper, device_like(uniform, like), self.count, ratio, self.total)

    @property
    def _row(self) -> Distribution:
        """The row of U = 1/2 and ratio 1."""
        return self._rows(device_like([1.0], self.atoms.like), np.asarray([0.5]))


@dataclass(frozen=True, eq=False, repr=False)
class UnrealisedByRatio(UnrealisedByWeight):
    """The same for rows that say their likelihood ratios."""

    unit: float = shared()
    """The ratio, as it was given, that counts as 1."""

    def _ratios(self, context: Context) -> Array:
        return ratios_of(context, self.atoms.like, self.unit)
