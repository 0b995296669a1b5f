"""Scorers for model search: `GridSearchCV(..., scoring=neg_crps)`. Larger is better, as scikit-learn has it."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant import metrics
from calibrant.distributions.base import Distribution


def neg_crps(estimator: Any, X: Any, y: Any) -> float:
    """Minus the mean CRPS of the predicted laws."""
    return -float(metrics.crps(_law_of(estimator, X), _labels(y)))


def neg_nll(estimator: Any, X: Any, y: Any) -> float:
    """The mean log density of the labels; -inf where a law has none at some label."""
    return -float(metrics.nll(_law_of(estimator, X), _labels(y)))


def neg_interval_score(estimator: Any, X: Any, y: Any, coverage: float = 0.9) -> float:
    """Minus the mean interval score of the centred interval; `functools.partial` sets another coverage."""
    return -float(metrics.interval_score(_law_of(estimator, X), _labels(y), coverage))


def _law_of(estimator: Any, X: Any) -> Distribution:
    """The law that an estimator predicts; a pipeline's last step and the best of a search are found inside."""
    if hasattr(estimator, "predict_distribution"):
        return estimator.predict_distribution(X)  # type: ignore[no-any-return]
    if hasattr(estimator, "best_estimator_"):
        return _law_of(estimator.best_estimator_, X)
    if hasattr(estimator, "steps"):
        return _law_of(estimator[-1], estimator[:-1].transform(X))
    raise TypeError(
        f"the scorer needs a model with predict_distribution, such as CalibratedRegressor, got {estimator!r}"
    )


def _labels(y: Any) -> Any:
    return np.asarray(y, dtype=np.float64)
