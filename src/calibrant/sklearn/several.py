"""Several labels: what `CalibratedRegressor` does where y has columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.multioutput import MultiOutputRegressor
from sklearn.utils import get_tags

from calibrant._arrays import Array, first_and_count, floats, to_numpy
from calibrant._words import count, singular_if_one, warn_user
from calibrant.models.frames import is_frame, like_input, rows_of
from calibrant.models.multioutput import as_several, predictions_of
from calibrant.models.outputs import named
from calibrant.predictions import concatenate
from calibrant.refine.names import refiner_named
from calibrant.refine.rows import TrainingRows
from calibrant.several import Several
from calibrant.several.columns import label_columns
from calibrant.sklearn.folds import at_most_folds, folds_of, units
from calibrant.sklearn.meta_estimator import Adapter, Routed, fitted, is_frozen

FOLDS = 5
"""Of the training rows: each is predicted by a copy of the model that did not see it."""


class SeveralModel:
    """A fitted model of several labels, and what refines the prediction of each."""

    def __init__(self, model: Any, names: tuple[str, ...], adapter: Adapter, refinements: Sequence[Any]) -> None:
        self.model = model
        self.names = names
        self.adapter = adapter
        self.refinements = refinements
        """One for each label; None leaves its prediction as it is."""

    def predict_forecast(self, X: Any) -> Several:
        """The refined prediction of each label."""
        return refined(self.refinements, X, predictions_by_label(self.model, X, self.names, self.adapter))

    @property
    def league_(self) -> dict[str, Any]:
        """The leagues in which the refinements were chosen, by label."""
        found = {name: getattr(each, "league", None) for name, each in zip(self.names, self.refinements, strict=True)}
        if any(league is None for league in found.values()):
            raise AttributeError("there is no league: the refiner was named, or there were too few rows")
        return found


def fit_several(
    estimator: Any,
    X: Any,
    Y: np.ndarray[Any, Any],
    names: tuple[str, ...],
    adapter: Adapter,
    refine: Any,
    routed: Routed,
    random: Any,
) -> tuple[SeveralModel, np.ndarray[Any, Any], Several, np.ndarray[Any, Any]]:
    """The model and its refinements; and the numbers, refined predictions and labels of rows, by models new to them."""
    estimator, count = multioutput(estimator), len(Y)
    if is_frozen(estimator):
        model, seen, predictions = estimator, np.arange(count), predictions_by_label(estimator, X, names, adapter)
    else:
        folds = folds_of(at_most_folds(FOLDS, units(np.arange(count), routed.groups)), X, Y, routed.split, random)
        parts = []
        for train, test in folds:
            copy = fitted(estimator, rows_of(X, train), Y[train], routed.rows(train, count).fit)
            parts.append(predictions_by_label(copy, rows_of(X, test), names, adapter).predictions)
        model = fitted(estimator, X, Y, routed.fit)
        held = np.concatenate([test for _, test in folds])
        seen, order = np.sort(held), np.argsort(held, kind="stable")
        predictions = Several(names, tuple(concatenate(each)[order] for each in zip(*parts, strict=True)))
    held_out, X, Y, seed = routed.rows(seen, count), rows_of(X, seen), Y[seen], int(random.randint(2**31 - 1))
    refinements = [
        None
        if refine is None
        else refiner_named(refine).fit(
            TrainingRows(X, each, Y[:, j], held_out.sample_weight, held_out.groups, seed).weighed()
        )
        for j, each in enumerate(predictions.predictions)
    ]
    return SeveralModel(model, names, adapter, refinements), seen, refined(refinements, X, predictions), Y


def predictions_by_label(model: Any, X: Any, names: tuple[str, ...], adapter: Adapter) -> Several:
    """What a fitted model predicts of each label, as the adapter says."""
    if adapter is None:
        return predictions_of(model, X, names).ordered(names)
    if adapter == "point":
        return as_several(named(model), model.predict(X), names)
    if not callable(adapter):
        raise TypeError(f"adapter must be None, 'point' or a function of a model and X, got {adapter!r}")
    return as_several(named(adapter), adapter(model, X), names).ordered(names)


def refined(refinements: Sequence[Any], X: Any, predictions: Several) -> Several:
    """The predictions, each by its refinement."""
    pairs = zip(refinements, predictions.predictions, strict=True)
    return Several(predictions.names, tuple(each if known is None else known(X, each) for known, each in pairs))


def multioutput(estimator: Any) -> Any:
    """The estimator; one that takes a single label in scikit-learn's `MultiOutputRegressor`, a copy for each label."""
    if isinstance(estimator, (list, tuple)):
        raise TypeError("a list of models is an ensemble for one label: for several labels give one model")
    known = isinstance(estimator, BaseEstimator) and not is_frozen(estimator)
    return MultiOutputRegressor(estimator) if known and not get_tags(estimator).target_tags.multi_output else estimator


def is_several(y: Any) -> bool:
    """Whether y has more than one column."""
    if is_frame(y):
        return len(label_columns(y)[1]) > 1
    shape: tuple[int, ...] = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
    return len(shape) == 2 and shape[-1] > 1


def label_matrix(y: Any, *, missing: str) -> tuple[tuple[str, ...], np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """The names of the labels, Y of shape (n, d), and the rows that have all labels."""
    names, columns = label_columns(y)
    names = [f"y{j}" for j in range(len(columns))] if names is None else names
    Y = np.stack([np.asarray(to_numpy(column)) for column in columns], axis=1)
    gaps = np.isnan(Y) if Y.dtype.kind == "f" else np.zeros(Y.shape, dtype=bool)
    if gaps.any():
        first, number = first_and_count(gaps)
        which = next(name for j, name in enumerate(names) if gaps[first, j])
        lack = "lacks" if number == 1 else "lack"
        where = f"label {which!r} is missing in row {first} ({number} of {count(len(Y), 'row')} {lack} a label)"
        if missing != "drop":
            raise ValueError(f"{where}: missing='drop' leaves such rows out")
        warn_user(f"{where}: {singular_if_one(number, 'they are')} left out")
    labelled = np.flatnonzero(~gaps.any(axis=1))
    floats("y", Y[labelled], ndim=2)  # the rows that stay hold finite numbers
    return tuple(names), Y.astype(np.float64), labelled


def labels_by_name(labels: Any, names: Sequence[str]) -> dict[str, Any]:
    """What kind of number each label is: one kind for all, a dict by name, or a list."""
    if isinstance(labels, Mapping):
        unknown = [name for name in labels if name not in names]
        if unknown:
            raise ValueError(f"labels has {unknown[0]!r}, which is none of the labels {', '.join(map(repr, names))}")
        return {name: labels.get(name) for name in names}
    if isinstance(labels, (list, tuple)):
        if len(labels) != len(names):
            raise ValueError(f"labels must have one kind for each of the {len(names)} labels, got {len(labels)}")
        return dict(zip(names, labels, strict=True))
    return dict.fromkeys(names, labels)


def columns_by_label(X: Any, heads: Sequence[str], names: Sequence[str], values: Array) -> Any:
    """An (n, k, d) array as it is; for a frame X a frame with the columns `head_name`, label by label."""
    if not is_frame(X):
        return values
    columns = [f"{head}_{name}" for name in names for head in heads]
    return like_input(X, columns, np.swapaxes(values, 1, 2).reshape(len(values), -1))
