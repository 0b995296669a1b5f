"""What the methods of one job share: the model, its out-of-fold predictions, the refiners fitted on them."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, TypeVar

import numpy as np
from sklearn.model_selection import KFold

from calibrant.models import prediction_of
from calibrant.predictions import concatenate
from calibrant.refine.base import Refinement
from calibrant.refine.mean import Cascade
from calibrant.refine.names import refiner_named
from calibrant.refine.rows import TrainingRows
from studies.tabular.cut import Cut, Floats

T = TypeVar("T")

BUILT_ON = {"cascade": ("location-scale",), "mean": ("cascade", "quantiles")}
"""Refiners that learn from what others have learned: their parts are fitted once, and count in the time of both."""


def timed(act: Callable[[], T]) -> tuple[T, float]:
    """What it gives, and the seconds of one core it took: other jobs on the machine do not lengthen them."""
    start = time.process_time()
    return act(), time.process_time() - start


@dataclass(frozen=True, eq=False)
class Bench:
    """One split of one table, and one kind of model."""

    cut: Cut
    make: Callable[[int], Any]
    """A new model, of a seed."""
    folds: int
    seed: int
    _fitted: dict[str, tuple[Refinement, float]] = field(default_factory=dict)

    @cached_property
    def _model(self) -> tuple[Any, float]:
        return timed(lambda: self.make(self.seed).fit(self.cut.X_train, self.cut.y_train))

    @property
    def model(self) -> Any:
        """Fitted on the training rows."""
        return self._model[0]

    @property
    def model_seconds(self) -> float:
        """What that took."""
        return self._model[1]

    @cached_property
    def _out_of_fold(self) -> tuple[TrainingRows, float]:
        return timed(self._crossed)

    def _crossed(self) -> TrainingRows:
        X, y = self.cut.X_train, self.cut.y_train
        folds = list(KFold(self.folds, shuffle=True, random_state=self.seed).split(X))
        parts = [prediction_of(self.make(self.seed).fit(X[train], y[train]), X[test]) for train, test in folds]
        order = np.argsort(np.concatenate([test for _, test in folds]), kind="stable")
        return TrainingRows(X, concatenate(parts)[order], y, seed=self.seed)

    @property
    def rows(self) -> TrainingRows:
        """The training rows, each with the prediction of a model that did not see it."""
        return self._out_of_fold[0]

    @property
    def residuals(self) -> Floats:
        """Out of fold, of the training rows."""
        return np.asarray(self.rows.y - self.rows.centre, dtype=np.float64)

    @property
    def learning_seconds(self) -> float:
        """The time of the model and of its out-of-fold predictions."""
        return self.model_seconds + self._out_of_fold[1]

    @cached_property
    def of_calibration(self) -> Any:
        """The model's prediction of the calibration rows."""
        return prediction_of(self.model, self.cut.X_cal)

    @cached_property
    def _of_test(self) -> tuple[Any, float]:
        return timed(lambda: prediction_of(self.model, self.cut.X_test))

    @property
    def of_test(self) -> Any:
        """The model's prediction of the test rows."""
        return self._of_test[0]

    @property
    def test_seconds(self) -> float:
        """What that took."""
        return self._of_test[1]

    @cached_property
    def point_cal(self) -> Floats:
        """The model's own points."""
        return np.asarray(self.model.predict(self.cut.X_cal), dtype=np.float64)

    @cached_property
    def point_test(self) -> Floats:
        """The model's own points."""
        return np.asarray(self.model.predict(self.cut.X_test), dtype=np.float64)

    @property
    def has_spread(self) -> bool:
        """Whether the model itself says how sure it is."""
        return self.of_calibration.spread_rows() is not None

    def refined(self, name: str) -> tuple[Refinement, float]:
        """The refiner of a name, fitted on the training rows, and what that takes by itself."""
        if name not in self._fitted:
            rows = self.rows  # not timed here
            before = sum(self.refined(part)[1] for part in BUILT_ON.get(name, ()))
            refinement, seconds = timed(lambda: refiner_named(Cascade() if name == "cascade" else name).fit(rows))
            self._fitted[name] = refinement, before + seconds
        return self._fitted[name]
