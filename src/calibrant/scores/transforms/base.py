"""A transform: an increasing map y -> s for each row."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import cast

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant._batch import first_array


class Transform(ABC):
    """An increasing map of the real line for each row; arguments are (n, k) or (1, k) against n rows."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for one map per row, () for a single map."""

    @abstractmethod
    def with_slope(self, y: Array) -> tuple[Array, Array]:
        """s(y) and log s'(y)."""

    @abstractmethod
    def inverse(self, s: Array) -> Array:
        """The y with s(y) = s."""

    def __call__(self, y: Array) -> Array:
        """s(y)."""
        return self.with_slope(y)[0]

    def log_slope(self, y: Array) -> Array:
        """log s'(y)."""
        return self.with_slope(y)[1]

    def left(self, y: Array) -> Array:
        """s(y) from the left, which differs where s jumps."""
        return self(y)

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        """The y of many increasing s, (1, k) or (n, k), and dy/ds there, both (n, k)."""
        y = self.inverse(s)
        with np.errstate(all="ignore"):
            return y, namespace(y).exp(-self.log_slope(y))

    @property
    def standard(self) -> tuple[Array, Array, Transform] | None:
        """loc, scale and G where each row's map is G((y - loc) / scale) with one G for all rows; None otherwise."""
        return None

    @property
    def bends(self) -> Array | None:
        """The s at which the inverse bends: (1, m) for all rows, or (n, m); None where it is smooth."""
        return None

    @property
    def like(self) -> Array:
        """One of its arrays, which tells namespace, dtype and device."""
        return cast(Array, first_array(self))

    def _lift(self, parameter: Array) -> Array:
        return parameter[:, None, ...] if self.shape else parameter
