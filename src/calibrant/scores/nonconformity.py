"""Non-conformity a(f(x), y): how badly y fits the prediction. Small in the middle, larger on either side.

A non-conformity score is proper if it is continuous and strictly unimodal in y: it falls up to its minimiser
and rises from there on. Its level sets {y : a(f(x), y) <= t} are then intervals, of which
`calibrant.intervals` finds the right one, and `calibrant.scores.signed` turns it into a calibration score
(Theorem 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from functools import partial
from typing import Any, Self

from calibrant._arrays import Array, namespace
from calibrant._batch import no_rows
from calibrant.scores.transforms import ByFunctions, Transform


class Nonconformity(ABC):
    """a(f(x), y), strictly unimodal in y. To write your own, give four functions of one value a row.

    >>> import numpy as np
    >>> class SquaredResidual(Nonconformity):
    ...     def value(self, prediction, y):
    ...         return (y - prediction.values) ** 2
    ...
    ...     def minimiser(self, prediction):
    ...         return prediction.values
    ...
    ...     def level_set(self, prediction, t):
    ...         return prediction.values - np.sqrt(t), prediction.values + np.sqrt(t)
    ...
    ...     def log_slope(self, prediction, y):
    ...         return np.log(2 * np.abs(y - prediction.values))
    >>> from calibrant.intervals import check_nonconformity
    >>> check_nonconformity(SquaredResidual(), [1.0, 2.0], np.linspace(-3, 5, 30))
    """

    @property
    def unit_free(self) -> bool:
        """Whether the value stays the same when y changes its unit."""
        return True

    @abstractmethod
    def value(self, prediction: Any, y: Array) -> Array:
        """a(f(x_i), y_i).

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
        """

    @abstractmethod
    def minimiser(self, prediction: Any) -> Array:
        """The y with the smallest a(f(x_i), y).

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """

    @abstractmethod
    def level_set(self, prediction: Any, t: float | Array) -> tuple[Array, Array]:
        """The ends (lower, upper) of {y : a(f(x_i), y) <= t}, empty where lower > upper.

        t is one number for all rows, or one a row.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            t: The threshold: one number, or one per row.
        """

    @abstractmethod
    def log_slope(self, prediction: Any, y: Array) -> Array:
        """log |da/dy| at y_i.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
        """

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What `fit` keeps, and which calibration rows it mends, as `TransformScore.learn`: here itself, and none.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """
        return self, no_rows(prediction)

    def branches(self, prediction: Any) -> tuple[Transform, Transform, Array]:
        """-a below the minimiser and a above it, as increasing maps of y, and the minimiser.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """
        low, high = (
            ByFunctions(prediction, partial(self._signed, sign), partial(self._end, sign), self.log_slope)
            for sign in (-1, 1)
        )
        return low, high, self.minimiser(prediction)

    def _signed(self, sign: int, prediction: Any, y: Array) -> Array:
        return sign * self.value(prediction, y)

    def _end(self, sign: int, prediction: Any, u: Array) -> Array:
        """The end of the level set on one side; the minimiser for a level below the least one."""
        least = self.value(prediction, self.minimiser(prediction))
        return self.level_set(prediction, namespace(u).maximum(sign * u, least))[sign > 0]
