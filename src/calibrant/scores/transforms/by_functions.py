"""Any increasing map, given by functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, namespace
from calibrant.scores.transforms.base import Transform


@dataclass(frozen=True, eq=False)
class ByFunctions(Transform):
    """Any increasing map, given by three functions of (prediction, y or s), with one value per row."""

    prediction: Any
    score: Callable[[Any, Array], Array]
    unscore: Callable[[Any, Array], Array]
    slope: Callable[[Any, Array], Array]

    @property
    def shape(self) -> tuple[int, ...]:
        return (len(self.prediction),)

    def __call__(self, y: Array) -> Array:
        return self._columnwise(self.score, y)

    def with_slope(self, y: Array) -> tuple[Array, Array]:
        return self(y), self._columnwise(self.slope, y)

    def log_slope(self, y: Array) -> Array:
        return self._columnwise(self.slope, y)

    def inverse(self, s: Array) -> Array:
        return self._columnwise(self.unscore, s)

    def _columnwise(self, function: Callable[[Any, Array], Array], argument: Array) -> Array:
        """The function of (n, k) values, from one of one value per row: each row of the prediction repeated k times."""
        xp = namespace(argument)
        rows, columns = len(self.prediction), argument.shape[1]
        flat = xp.reshape(xp.broadcast_to(argument, (rows, columns)), (-1,))
        repeated = self.prediction[np.repeat(np.arange(rows), columns)] if columns != 1 else self.prediction
        with np.errstate(all="ignore"):  # at the ends of its range a score may be infinite
            return xp.reshape(function(repeated, flat), (rows, columns))
