"""What a refiner is: it learns on training rows how to make a prediction better."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any

from calibrant.refine.rows import TrainingRows

Refinement = Callable[[Any, Any], Any]
"""What a fitted refiner is: a function of X and the prediction of the same rows that gives a better prediction."""


class Refiner(ABC):
    """A rule that learns from training rows and their out-of-fold predictions how to make a prediction better.

    `fit` gets `TrainingRows`: X, the prediction of each row by a model that did not see it, and the label. It returns a
    function (X, prediction) -> prediction. Calibration rows are never shown to it, so whatever it learned, the
    calibrated distribution keeps its guarantee.

    To write your own, give `fit`, and check it with `calibrant.testing.check_refiner`. What it returns should pickle: a
    function of a module, a `functools.partial`, or an object with `__call__`.

    >>> import numpy as np
    >>> from functools import partial
    >>> from calibrant import Point
    >>> def shifted(X, prediction, by):
    ...     return Point(prediction.centre_rows() + by)
    >>> class Shift(Refiner):
    ...     def fit(self, rows):
    ...         return partial(shifted, by=np.median(rows.y - rows.centre))
    >>> rows = TrainingRows(X=np.zeros((3, 1)), prediction=Point([1.0, 2.0, 3.0]), y=np.array([1.5, 2.5, 3.5]))
    >>> Shift().fit(rows)(np.zeros((1, 1)), Point([10.0])).values
    array([10.5])
    """

    @abstractmethod
    def fit(self, rows: TrainingRows) -> Refinement:
        """Learn from training rows; what is returned maps X and a prediction of its rows to a better one.

        Args:
            rows: The training rows with their out-of-fold predictions.
        """
