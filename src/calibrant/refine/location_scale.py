"""A location and a scale, learned from the residuals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant._arrays import Array
from calibrant.distributions import Distribution, Normal
from calibrant.refine.base import Refiner, TrainingRows
from calibrant.refine.boosting import MOST, SHALLOW, boosted, crossed, predicted
from calibrant.refine.features import Features
from calibrant.refine.spread import Shrinkage

_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEAST = 0.05
"""Of the median error: what is added before the logarithm, so that an error of 0 is no -inf."""
_SCALE: dict[str, Any] = {**SHALLOW, "loss": "absolute_error"}


@dataclass(frozen=True)
class ResidualLocationScale(Refiner):
    """Normal(f + alpha m(x, f), s(x, f)): boosted mean m and scale s of the out-of-fold residual r = y - f.

    m is fitted to r and log s to log |r - alpha m|. Both are evaluated by models that did not see the row: the step
    alpha, one of 0, 1/4, ..., 1, by the mean absolute error, and the scale is shrunk towards a common one by
    likelihood, see `Shrinkage`. So where residuals do not depend on x, the prediction stays the same.
    """

    def fit(self, rows: TrainingRows) -> LocationScaleRefinement:
        """Ten fits to judge by, two to keep."""
        return self.with_scores(rows)[0]

    def with_scores(self, rows: TrainingRows) -> tuple[LocationScaleRefinement, TrainingRows, Array]:
        """What was learned, the rows that taught it, and their out-of-fold scores (y - location) / scale.

        Args:
            rows: The training rows to learn from.
        """
        rows = rows.sampled(MOST)
        r, weight = rows.y - rows.centre, rows.sample_weight
        location = crossed(rows, r)
        step = min(_STEPS, key=lambda alpha: float(np.average(np.abs(r - alpha * location), weights=weight)))
        errors = r - step * location
        least = _LEAST * float(np.median(np.abs(errors)))
        target = np.log(np.abs(errors) + max(least, np.finfo(np.float64).tiny))
        spread = np.exp(crossed(rows, target, **_SCALE))
        shrinkage = Shrinkage.of(spread, errors, weight, powers=True)
        fitted = LocationScaleRefinement(
            rows.features,
            boosted(rows, r) if step else None,
            step,
            boosted(rows, target, **_SCALE) if shrinkage.factor else None,
            shrinkage,
        )
        return fitted, rows, errors / shrinkage(spread)


@dataclass(frozen=True)
class LocationScaleRefinement:
    """(X, prediction) -> Normal."""

    features: Features
    location: HistGradientBoostingRegressor | None
    step: float
    scale: HistGradientBoostingRegressor | None
    shrinkage: Shrinkage

    def __call__(self, X: Any, prediction: Any) -> Distribution:
        """The distribution of each row."""
        return Normal(*self.loc_scale(self.features(X, prediction)))

    def loc_scale(self, matrix: Array) -> tuple[Array, Array]:
        """The location and the scale of each row of a matrix of X and the prediction."""
        location = matrix[:, 0]
        if self.location is not None:
            location = location + self.step * predicted(self.location, matrix)
        log_scale = np.zeros(len(matrix)) if self.scale is None else predicted(self.scale, matrix)
        return location, self.shrinkage(np.exp(log_scale))
