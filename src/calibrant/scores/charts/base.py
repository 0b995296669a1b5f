"""A chart: the increasing map y -> s that a score lays over the real line for each row of a prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import cast

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant._batch import first_array


class Chart(ABC):
    """An increasing map of the real line for each row; arguments are (n, k) or (1, k) against n rows."""

    @property
    @abstractmethod
    def shape(self) -> tuple[int, ...]:
        """(n,) for one map a row, () for a single map."""

    @abstractmethod
    def __call__(self, y: Array) -> Array:
        """The score of y."""

    @abstractmethod
    def inverse(self, s: Array) -> Array:
        """The y whose score is s."""

    @abstractmethod
    def log_slope(self, y: Array) -> Array:
        """The log derivative of the score in y."""

    def left(self, y: Array) -> Array:
        """The score from the left, which differs where it jumps."""
        return self(y)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        """The score and its log derivative, where that is faster than one after the other."""
        return self(y), self.log_slope(y)

    def inverse_with_width(self, s: Array) -> tuple[Array, Array]:
        """The y of many increasing scores, (1, k) or (n, k), and dy/ds there, both (n, k)."""
        y = self.inverse(s)
        with np.errstate(all="ignore"):
            return y, namespace(y).exp(-self.log_slope(y))

    @property
    def standard(self) -> tuple[Array, Array, Hashable, Chart] | None:
        """loc, scale, key and G, where each row's map is G((y - loc) / scale) with one G for all rows; None otherwise.

        Two maps with equal keys have the same G.
        """
        return None

    @property
    def bends(self) -> Array | None:
        """The scores at which the inverse bends: (m,) in all rows, or (n, m); None where it is smooth."""
        return None

    @property
    def range(self) -> tuple[float, float]:
        """The scores it can take."""
        return -float("inf"), float("inf")

    @property
    def like(self) -> Array:
        """One of its arrays, which tells namespace, dtype and device."""
        return cast(Array, first_array(self))

    def _lift(self, parameter: Array) -> Array:
        return parameter[:, None, ...] if self.shape else parameter
