"""Scores that are curved in y: the probability integral transform, and any of your own."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.interpolators.support import Logits
from calibrant.scores.base import Score
from calibrant.scores.transforms.curves import ByFunctions, LogitCDF


@dataclass(frozen=True)
class CDFScore(Score):
    """phi(F, y) = F(y), carried as its logit, log F(y) - log(1 - F(y)).

    F(y) itself rounds to 1 where a label lies eight standard deviations out; its logit does not. The interpolators see
    the logits: Linear interpolates in F(y), as the paper does, and NAF in the logit.
    """

    expects: ClassVar[tuple[type, ...]] = (Distribution,)
    support = Logits()
    centre: ClassVar[float | None] = 0.0

    def transform(self, prediction: Distribution) -> LogitCDF:
        """logit F(y)."""
        return LogitCDF(prediction)


class MonotoneScore(Score):
    """Any score that increases strictly in y. A new one needs three functions; mean, std and crps come from a table.

    >>> import numpy as np
    >>> class AsinhScore(MonotoneScore):  # of labels of both signs and many sizes
    ...     def score(self, prediction, y):
    ...         return np.arcsinh(y) - np.arcsinh(prediction.values)
    ...
    ...     def inverse(self, prediction, s):
    ...         return np.sinh(s + np.arcsinh(prediction.values))
    ...
    ...     def log_slope(self, prediction, y):
    ...         return -np.log1p(y**2) / 2
    """

    @abstractmethod
    def score(self, prediction: Any, y: Array) -> Array:
        """phi(f(x_i), y_i), one value per row.

        Args:
            prediction: The prediction of each row.
            y: The labels: one number per row.
        """

    @abstractmethod
    def inverse(self, prediction: Any, s: Array) -> Array:
        """The y_i with phi(f(x_i), y_i) = s_i.

        Args:
            prediction: The prediction of each row.
            s: Scores, one per row.
        """

    @abstractmethod
    def log_slope(self, prediction: Any, y: Array) -> Array:
        """log of the derivative of phi(f(x_i), y) in y, at y_i.

        Args:
            prediction: The prediction of each row.
            y: The labels: one number per row.
        """

    def transform(self, prediction: Any) -> ByFunctions:
        """The three functions, as a map."""
        return ByFunctions(prediction, self.score, self.inverse, self.log_slope)
