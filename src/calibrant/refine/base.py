"""What a refiner is, and the training rows that it learns from."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any

import numpy as np
from sklearn.model_selection import GroupKFold, KFold

from calibrant._arrays import Array, to_numpy
from calibrant._types import Features
from calibrant.distributions.base import Distribution
from calibrant.models.frames import rows_of
from calibrant.predictions import Prediction
from calibrant.refine.features import Encoder

Refinement = Callable[[Any, Any], Any]
"""What a fitted refiner is: a function of X and the prediction of the same rows that gives a better prediction."""


@dataclass(frozen=True, eq=False)
class TrainingRows:
    """X, the prediction of each row by a model that did not see it, and the label."""

    X: Features
    """The features as they were given: an array, a sparse matrix or a frame."""
    prediction: Prediction | Distribution
    """Out of fold: no row's model has seen the row."""
    y: Array
    """The labels, a numpy array."""
    sample_weight: Array | None = None
    groups: Array | None = None
    """Rows of one group stay together in every split."""
    seed: int = 0
    """For whatever is drawn."""
    encoder: Encoder | None = field(default=None, repr=False)
    """What makes numbers of X, if it is made already."""

    def __len__(self) -> int:
        return len(self.y)

    def __getitem__(self, index: Array) -> TrainingRows:
        """The rows of these numbers."""
        rows = TrainingRows(
            rows_of(self.X, index),
            self.prediction[index],
            self.y[index],
            None if self.sample_weight is None else self.sample_weight[index],
            None if self.groups is None else self.groups[index],
            self.seed,
            vars(self).get("features", self.encoder),  # the encoder of the matrix: some rows may lack a category
        )
        if "matrix" in vars(self):
            vars(rows)["matrix"] = self.matrix[index]
        return rows

    @cached_property
    def features(self) -> Encoder:
        """What makes one matrix of numbers of X and a prediction."""
        return Encoder.of(self.X) if self.encoder is None else self.encoder

    @cached_property
    def matrix(self) -> Array:
        """X and what the prediction says of itself, as numbers: one column each."""
        return self.features(self.X, self.prediction)

    @cached_property
    def centre(self) -> Array:
        """The middle of each row's prediction."""
        return to_numpy(self.prediction.centre_rows()).astype(np.float64)

    @cached_property
    def spread(self) -> Array | None:
        """The spread of each row's prediction; None where it has none."""
        spread = self.prediction.spread_rows()
        return None if spread is None else to_numpy(spread).astype(np.float64)

    def folds(self, count: int) -> list[tuple[Array, Array]]:
        """The rows to learn from and the rows to judge by, for each of several folds; groups stay together.

        Args:
            count: How many folds there should be.
        """
        if self.units < 2:
            what = "row" if self.groups is None else "group"
            raise ValueError(f"a refiner learns from at least two {what}s, got {self.units}")
        splitter = KFold if self.groups is None else GroupKFold
        folds = splitter(min(count, self.units), shuffle=True, random_state=self.seed)
        return list(folds.split(self.y, groups=self.groups))

    @property
    def units(self) -> int:
        """What folds can hold apart: the groups, or the rows where there are none."""
        return len(self) if self.groups is None else len(np.unique(self.groups))

    def weighed(self) -> TrainingRows:
        """The rows that have a weight, of mean 1: rows without one teach nothing, and only ratios of weights count."""
        if self.sample_weight is None:
            return self
        heavy = np.flatnonzero(self.sample_weight)
        total = float(np.sum(self.sample_weight))
        if not total > 0:
            raise ValueError(
                f"sample_weight must have a positive sum over the rows that teach a refiner, got {total:g}"
            )
        rows = self if len(heavy) == len(self) else self[heavy]
        return replace(rows, sample_weight=self.sample_weight[heavy] * (len(heavy) / total))

    def sampled(self, most: int) -> TrainingRows:
        """These rows, or so many of them at random.

        Args:
            most: The most rows to keep.
        """
        if len(self) <= most:
            return self
        return self[np.sort(np.random.default_rng(self.seed).choice(len(self), most, replace=False))]


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
