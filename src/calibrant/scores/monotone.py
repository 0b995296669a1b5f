"""Scores of any shape that increase strictly in y."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant._arrays import Array
from calibrant.scores.base import ChartScore
from calibrant.scores.charts.monotone import Monotone


class MonotoneScore(ChartScore):
    """Any score that increases strictly in y. A new one needs three functions; mean, std and crps come by quadrature.

    >>> import numpy as np
    >>> class LogRatio(MonotoneScore):  # of positive labels
    ...     def score(self, prediction, y):
    ...         return np.log(y / prediction.values)
    ...
    ...     def inverse(self, prediction, s):
    ...         return prediction.values * np.exp(s)
    ...
    ...     def log_slope(self, prediction, y):
    ...         return -np.log(y)
    """

    @abstractmethod
    def score(self, prediction: Any, y: Array) -> Array:
        """phi(f(x_i), y_i), one value a row."""

    @abstractmethod
    def inverse(self, prediction: Any, s: Array) -> Array:
        """The y_i with phi(f(x_i), y_i) = s_i."""

    @abstractmethod
    def log_slope(self, prediction: Any, y: Array) -> Array:
        """log of the derivative of phi(f(x_i), y) in y, at y_i."""

    def chart(self, prediction: Any) -> Monotone:
        """The three functions, as a map."""
        return Monotone(prediction, self.score, self.inverse, self.log_slope)
