"""Models of several labels: the prediction of each."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calibrant._types import Features
from calibrant.distributions.base import Distribution
from calibrant.models.dispatch import prediction_of
from calibrant.models.outputs import named, numbers
from calibrant.predictions import Point, Prediction, Samples
from calibrant.several import Several


def predictions_of(model: Any, X: Features, names: Sequence[str] | None = None) -> Several:
    """f(X) for each label of a fitted model: draws of a forest's trees, else points.

    What `MultiOutputRegressor` wraps is asked label by label, as `calibrant.prediction_of` does. A callable may return
    a `Several`, a dict or a list of predictions, or an (n, d) array.

    Args:
        model: A fitted model that predicts several labels, or a function of X.
        X: The features of the rows to predict, in whatever form the model takes.
        names: The names of the labels, in order; y0, y1, ... by default.

    >>> predictions_of(lambda X: [[x, 2 * x] for x in X], [1.0, 2.0, 3.0], ["once", "twice"])
    Several(n=3, once=Point, twice=Point)
    """
    kinds = {kind.__name__ for kind in type(model).__mro__ if kind.__module__.startswith("sklearn.")}
    if "FrozenEstimator" in kinds:
        return predictions_of(model.estimator, X, names)
    if "Pipeline" in kinds:
        return predictions_of(model[-1], model[:-1].transform(X) if len(model) > 1 else X, names)
    if hasattr(model, "best_estimator_"):
        return predictions_of(model.best_estimator_, X, names)
    if "MultiOutputRegressor" in kinds:
        return Several.of([prediction_of(each, X) for each in model.estimators_], names)
    if kinds & {"RandomForestRegressor", "ExtraTreesRegressor"}:
        return Several.of(_trees(model, X), names)
    return as_several(named(model), model.predict(X) if hasattr(model, "predict") else model(X), names)


def as_several(name: str, output: Any, names: Sequence[str] | None = None) -> Several:
    """What a model or an adapter returned: a column of an array is a point for each row."""
    several = isinstance(output, (list, tuple)) and all(isinstance(each, (Prediction, Distribution)) for each in output)
    if several or isinstance(output, (Several, dict)):
        return Several.of(output, names)
    array = numbers(name, output)
    if array.ndim != 2:
        raise ValueError(f"{name} must predict a column for each label, got shape {tuple(array.shape)}")
    return Several.of([Point(array[:, j]) for j in range(array.shape[1])], names)


def _trees(model: Any, X: Any) -> list[Samples]:
    """The values of the leaves that X falls into, one draw per tree, for each label."""
    leaves = model.apply(X)
    values = [tree.tree_.value[:, :, 0] for tree in model.estimators_]
    draws = np.stack([value[leaves[:, k]] for k, value in enumerate(values)], axis=1)
    return [Samples(np.ascontiguousarray(draws[:, :, j])) for j in range(draws.shape[2])]
