"""scikit-learn, and every class that inherits from one of its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted, validate_data

from calibrant._arrays import Array
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.labels.transformed import Function, mapped, through
from calibrant.models import generic
from calibrant.models.dispatch import prediction_of
from calibrant.models.outputs import column, named, quantiles
from calibrant.predictions import Point, Rates, Samples

_BLOCK = 2_000
"""Rows of draws that are filled at once, such that they stay in the processor's cache."""


def adapt(model: Any, X: Any) -> Any:
    """By the first class in the model's ancestry that predicts more than its `predict` says, else as any model."""
    for kind in type(model).__mro__:
        if kind.__name__ in _KINDS and kind.__module__.startswith("sklearn."):
            return _KINDS[kind.__name__](model, X)
    return prediction_of(model.best_estimator_, X) if hasattr(model, "best_estimator_") else generic.adapt(model, X)


def _pipeline(model: Any, X: Any) -> Any:
    return prediction_of(model[-1], model[:-1].transform(X) if len(model) > 1 else X)


def _transformed_target(model: Any, X: Any) -> Any:
    """What its regressor predicts, transformed back: points by its own `predict`, quantiles and draws one by one.

    A distribution is transformed back exactly where the transformation is a pair of functions.
    """
    if not hasattr(model, "regressor_"):
        return generic.adapt(model, X)  # which says that it is not fitted
    inner = prediction_of(model.regressor_, X)
    if model.func is None and model.transformer is None:
        return inner
    if isinstance(inner, Point):
        return generic.adapt(model, X)

    def back(values: Array, name: str) -> Array:
        del name
        flat = model.transformer_.inverse_transform(np.reshape(values, (-1, 1)))
        return np.reshape(np.asarray(flat, np.float64), values.shape)

    def of_distribution(distribution: Distribution) -> Distribution:
        if model.func is None or model.inverse_func is None:
            raise TypeError("it is known by its values alone")
        return through(Function((model.func, model.inverse_func)), distribution)

    try:
        low, high = back(np.sort(np.asarray(inner.centre_rows()))[[0, -1]] + np.asarray([0.0, 1e-3]), "")
        if low > high:
            raise TypeError("it turns the order round")
        return mapped(inner, back, of_distribution)
    except TypeError as error:
        warn_user(f"{named(model)} is taken as a point, without the spread of {inner!r}: {error}")
        return generic.adapt(model, X)


def _forest(model: Any, X: Any) -> Samples:
    """The value of the leaf that X falls into, in each tree; X is validated once, not once per tree."""
    leaves = model.apply(X)
    _one_target(model, model.n_outputs_)
    values = [tree.tree_.value[:, 0, 0] for tree in model.estimators_]
    draws = np.empty(leaves.shape)
    for start in range(0, len(draws), _BLOCK):
        some = slice(start, start + _BLOCK)
        for k, value in enumerate(values):
            draws[some, k] = value[leaves[some, k]]
        draws[some].sort(axis=1)  # while the block is in the cache
    return Samples(draws)


def _bagging(model: Any, X: Any) -> Samples:
    check_is_fitted(model)
    X = validate_data(model, X, accept_sparse=["csr", "csc"], dtype=None, ensure_all_finite=False, reset=False)
    parts = zip(model.estimators_, model.estimators_features_, strict=True)
    draws: list[Array] = [column(named(model), member.predict(X[:, features])) for member, features in parts]
    return Samples(np.stack(draws, axis=1))


def _one_target(model: Any, count: int) -> None:
    if count > 1:
        raise ValueError(
            f"{named(model)} must predict one target, got {count}: predictions_of takes several, or calibrate them one"
            " by one"
        )


def _quantile_loss(level: str) -> Callable[[Any, Any], Any]:
    """`Quantiles` of the level that the attribute `level` holds, if the loss is the pinball loss."""

    def adapt(model: Any, X: Any) -> Any:
        if model.loss == "poisson":
            return _rates(model, X)
        if model.loss != "quantile":
            return generic.adapt(model, X)
        return quantiles(named(model), [float(getattr(model, level))], model.predict(X))

    return adapt


def _dummy(model: Any, X: Any) -> Any:
    """Not `Normal`: the standard deviation that a dummy returns is 0."""
    if model.strategy == "quantile" and 0 < model.quantile < 1:
        return quantiles(named(model), [float(model.quantile)], model.predict(X))
    return Point(column(named(model), model.predict(X)))


def _rates(model: Any, X: Any) -> Rates:
    return Rates(column(named(model), model.predict(X)))


_KINDS: dict[str, Callable[[Any, Any], Any]] = {
    "BaggingRegressor": _bagging,
    "DummyRegressor": _dummy,
    "ExtraTreesRegressor": _forest,
    "FrozenEstimator": lambda model, X: prediction_of(model.estimator, X),
    "GradientBoostingRegressor": _quantile_loss("alpha"),
    "HistGradientBoostingRegressor": _quantile_loss("quantile"),
    "Pipeline": _pipeline,
    "PoissonRegressor": _rates,
    "QuantileRegressor": lambda model, X: quantiles(named(model), [float(model.quantile)], model.predict(X)),
    "RandomForestRegressor": _forest,
    "TransformedTargetRegressor": _transformed_target,
}
