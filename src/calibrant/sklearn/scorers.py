"""Scorers for model search: `GridSearchCV(..., scoring=neg_crps)`. Larger is better, as scikit-learn has it.

`sample_weight` weighs the rows of the mean.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from sklearn.utils import column_or_1d

from calibrant._arguments import unit
from calibrant._arrays import Array, to_numpy
from calibrant._types import ArrayLike, Features
from calibrant.distributions.base import Distribution
from calibrant.metrics.scores import interval_score_rows, nll_rows
from calibrant.models import prediction_of


def neg_crps(estimator: Any, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """Minus the mean CRPS of the predicted distributions.

    Args:
        estimator: A fitted `CalibratedRegressor`, or another model whose prediction is a distribution.
        X: The features: an array or a data frame, one line per row.
        y: The labels: one number per row.
        sample_weight: A weight for each row of the mean; equal by default.
    """
    return -_mean(_distribution_of(estimator, X).crps(column_or_1d(y, dtype=np.float64)), sample_weight)


def neg_nll(estimator: Any, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None) -> float:
    """The mean log density of the labels, of counts their log probability; -inf where a label has none.

    Args:
        estimator: A fitted `CalibratedRegressor`, or another model whose prediction is a distribution.
        X: The features: an array or a data frame, one line per row.
        y: The labels: one number per row.
        sample_weight: A weight for each row of the mean; equal by default.
    """
    return -_mean(nll_rows(_distribution_of(estimator, X), column_or_1d(y, dtype=np.float64)), sample_weight)


def neg_interval_score(
    estimator: Any, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None, *, coverage: float = 0.9
) -> float:
    """Minus the mean interval score of the centred interval; `functools.partial` sets another coverage.

    Args:
        estimator: A fitted `CalibratedRegressor`, or another model whose prediction is a distribution.
        X: The features: an array or a data frame, one line per row.
        y: The labels: one number per row.
        sample_weight: A weight for each row of the mean; equal by default.
        coverage: The probability of the centred interval, between 0 and 1.
    """
    H = _distribution_of(estimator, X)
    return -_mean(interval_score_rows(H, column_or_1d(y, dtype=np.float64), unit("coverage", coverage)), sample_weight)


def _mean(rows: Array, weight: Any) -> float:
    return float(np.average(to_numpy(rows), weights=None if weight is None else np.asarray(weight)))


def _distribution_of(estimator: Any, X: Any) -> Distribution:
    """The distribution that an estimator predicts; a pipeline's last step and the best of a search are found inside."""
    distribution = prediction_of(estimator, X)
    if not isinstance(distribution, Distribution):
        raise TypeError(
            f"the scorer needs a model with predict_distribution, such as CalibratedRegressor, got {estimator!r}"
        )
    return distribution
