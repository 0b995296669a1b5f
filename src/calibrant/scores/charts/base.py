"""A chart: the increasing map y -> s that a score lays over the real line for each row of a prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Hashable
from typing import cast

import numpy as np

from calibrant._arrays import Array, concatenate, device_like, namespace
from calibrant._batch import first_array

_BETWEEN = 8  # places from one score to the next


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

    @property
    def standard(self) -> tuple[Array, Array, Hashable, Chart] | None:
        """loc, scale, key and G, where each row's map is G((y - loc) / scale) with one G for all rows; None otherwise.

        Two maps with equal keys have the same G. A map that is itself such a G has none.
        """
        return None

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        """The score and its log derivative, where that is faster than one after the other."""
        return self(y), self.log_slope(y)

    def inverse_at(self, s: Array) -> Array:
        """The same for many increasing scores that all rows share, (1, k), where that is faster."""
        return self.inverse(s)

    @property
    def solved(self) -> bool:
        """Whether the inverse has to be solved for, so that the map itself is the cheaper one by far."""
        return False

    @property
    def steep(self) -> bool:
        """Whether the inverse grows so fast that what lies far out in the tails of q counts, as exp does."""
        return False

    def breaks(self) -> Array | None:
        """The y at which the map of a single row bends; None where it is smooth."""
        return None

    def places(self, s: Array) -> Array:
        """Places in each row, (n, m), between which the map is smooth, as far as scores like these reach."""
        share = device_like(np.arange(_BETWEEN) / _BETWEEN, s)
        between = s[:, :-1, None] + (s[:, 1:] - s[:, :-1])[..., None] * share
        between = namespace(s).reshape(between, (s.shape[0], -1))
        return self.inverse_at(concatenate([between, s[:, -1:]], axis=1))

    def widest(self, s: Array) -> Array:
        """How long a stretch of scores around s may be for the inverse to be as good as a polynomial on it."""
        return namespace(s).full_like(s, namespace(s).inf)

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
