"""Logarithms of straight lines."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, device_like, namespace
from calibrant.scores.charts.base import Chart


@dataclass(frozen=True, eq=False)
class LogLine(Chart):
    """s = log((y - loc) / scale) above loc, and -inf below."""

    loc: Array
    scale: Array

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.loc.shape)

    @property
    def standard(self) -> tuple[Array, Array, Hashable, Chart] | None:
        """log z, of all rows."""
        zero, one = (device_like(end, self.loc) for end in (0.0, 1.0))
        return (self.loc, self.scale, "log", LogLine(zero, one)) if self.shape else None

    def __call__(self, y: Array) -> Array:
        return self._log(self._above(y) / self._lift(self.scale))

    def inverse(self, s: Array) -> Array:
        xp = namespace(s)
        with np.errstate(over="ignore"):
            y = self._lift(self.loc) + self._lift(self.scale) * xp.exp(s)
        # every y below loc has the score -inf, so the least of them is where q's mass at -inf belongs
        return xp.where(s == -xp.inf, xp.full_like(y, -xp.inf), y)

    def log_slope(self, y: Array) -> Array:
        return -self._log(self._above(y))

    def _above(self, y: Array) -> Array:
        above = y - self._lift(self.loc)
        return namespace(above).maximum(above, namespace(above).zeros_like(above))

    def _log(self, ratio: Array) -> Array:
        with np.errstate(divide="ignore"):  # log 0 is -inf
            return namespace(ratio).log(ratio)
