"""Logarithms of straight lines."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass

import numpy as np

from calibrant._arrays import Array, clip, device_like, namespace
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
        with np.errstate(over="ignore"):
            return self._lift(self.loc) + self._lift(self.scale) * namespace(s).exp(s)

    def log_slope(self, y: Array) -> Array:
        return -self._log(self._above(y))

    def breaks(self) -> Array:
        """loc, where mass that q has at -inf comes to lie."""
        return None if self.shape else self.loc[None]

    def _above(self, y: Array) -> Array:
        return clip(y - self._lift(self.loc), 0.0, None)

    def _log(self, ratio: Array) -> Array:
        with np.errstate(divide="ignore"):  # log 0 is -inf
            return namespace(ratio).log(ratio)
