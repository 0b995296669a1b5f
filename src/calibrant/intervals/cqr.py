"""Conformalized quantile regression."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, namespace
from calibrant.intervals.broadcast import broadcast_rows
from calibrant.predictions import Interval, Quantiles
from calibrant.predictions.point import as_prediction
from calibrant.scores.nonconformity import Nonconformity
from calibrant.scores.transforms.base import Affine, Transform


@dataclass(frozen=True)
class CQR(Nonconformity):
    """max(l - y, y - u), of an Interval [l, u] or the outermost Quantiles; negative inside.

    Romano, Patterson and Candes (2019), Conformalized quantile regression.

    >>> from calibrant import Interval
    >>> CQR().value(Interval([0.0, 0.0], [4.0, 4.0]), [1.0, 5.0])
    array([-1.,  1.])
    """

    @property
    def unit_free(self) -> bool:
        """It has the unit of y."""
        return False

    def value(self, prediction: Interval | Quantiles, y: Array) -> Array:
        """max(l - y, y - u)."""
        prediction, y = broadcast_rows("y", prediction, y)
        lower, upper = _bounds(prediction)
        return namespace(y).maximum(lower - y, y - upper)

    def minimiser(self, prediction: Interval | Quantiles) -> Array:
        """(l + u) / 2."""
        lower, upper = _bounds(as_prediction(prediction))
        return lower + (upper - lower) / 2

    def level_set(self, prediction: Interval | Quantiles, t: float | Array) -> tuple[Array, Array]:
        """[l - t, u + t], empty where -2 t > u - l."""
        prediction, t = broadcast_rows("t", prediction, t)
        lower, upper = _bounds(prediction)
        return lower - t, upper + t

    def log_slope(self, prediction: Interval | Quantiles, y: Array) -> Array:
        """log 1."""
        _, y = broadcast_rows("y", prediction, y)
        return namespace(y).zeros_like(y)

    def branches(self, prediction: Interval | Quantiles) -> tuple[Transform, Transform, Array]:
        """y - l and y - u, straight lines."""
        lower, upper = _bounds(prediction)
        one = namespace(lower).ones_like(lower)
        return Affine(lower, one), Affine(upper, one), self.minimiser(prediction)


def _bounds(prediction: Any) -> tuple[Array, Array]:
    if isinstance(prediction, Interval):
        return prediction.lower, prediction.upper
    if isinstance(prediction, Quantiles):
        return prediction.values[:, 0], prediction.values[:, -1]
    raise TypeError(f"CQR takes an Interval or Quantiles, got {prediction!r}")
