"""Several labels: what `CalibratedRegressor` does where y has columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor, RegressorChain

from calibrant._arrays import Array, first_and_count, floats, to_numpy
from calibrant._words import count
from calibrant.models.frames import is_frame, like_input, rows_of
from calibrant.models.multioutput import as_several, predictions_of
from calibrant.models.outputs import named
from calibrant.several import Several
from calibrant.several.columns import label_columns
from calibrant.sklearn.meta_estimator import Adapter, Routed
from calibrant.sklearn.work import Work


@dataclass(frozen=True)
class SeveralModel:
    """What predicts several labels: a `Refined` for each, or one frozen model of all."""

    names: tuple[str, ...]
    models: tuple[Any, ...]
    adapter: Adapter = None
    """How a frozen model of all labels predicts."""

    @classmethod
    def frozen(cls, estimator: Any, names: tuple[str, ...], adapter: Adapter) -> SeveralModel:
        """A model that is fitted already, or one for each label."""
        return cls(names, (estimator,), adapter)

    @classmethod
    def learned(
        cls, refined: Any, names: tuple[str, ...], X: Any, Y: np.ndarray[Any, Any], routed: Routed, work: Work
    ) -> tuple[SeveralModel, np.ndarray[Any, Any], Several]:
        """A fitted copy of a `Refined` for each label; the rows it held out, and its predictions of these."""
        if isinstance(refined.estimator, MultiOutputRegressor):
            refined = clone(refined).set_params(estimator=refined.estimator.estimator)
        elif isinstance(refined.estimator, RegressorChain):
            raise TypeError(
                "several labels are learned one by one: give the chain's own model, or freeze a fitted chain"
            )
        copies, found = [], []
        for j in range(len(names)):
            copy = clone(refined)
            seen, stacked = copy.learn(X, Y[:, j], routed, work.part(1 / (len(names) - j)))
            copies.append(copy)
            found.append(stacked if copy.refinement_ is None else copy.refinement_(rows_of(X, seen), stacked))
        return cls(names, tuple(copies)), seen, Several(names, tuple(found))

    def predict_forecast(self, X: Any) -> Several:
        """The prediction of each label."""
        if len(self.models) < len(self.names):
            return predictions_by_label(self.models[0], X, self.names, self.adapter)
        return Several(self.names, tuple(model.predict_forecast(X) for model in self.models))

    @property
    def weights_(self) -> dict[str, dict[str, float]]:
        """The weight of each model, by label and name."""
        return {
            name: getattr(model, "weights_", {type(model).__name__: 1.0})
            for name, model in zip(self.names, self.models * len(self.names), strict=False)
        }


def predictions_by_label(model: Any, X: Any, names: tuple[str, ...], adapter: Adapter) -> Several:
    """What a fitted model predicts of each label, as the adapter says."""
    if adapter is None:
        return predictions_of(model, X, names).ordered(names)
    if adapter == "point":
        return as_several(named(model), model.predict(X), names)
    if not callable(adapter):
        raise TypeError(f"adapter must be None, 'point' or a function of a model and X, got {adapter!r}")
    return as_several(named(adapter), adapter(model, X), names).ordered(names)


def is_several(y: Any) -> bool:
    """Whether y has more than one column."""
    if is_frame(y):
        return len(label_columns(y)[1]) > 1
    shape: tuple[int, ...] = np.shape(y) if isinstance(y, (list, tuple)) else getattr(y, "shape", ())
    return len(shape) == 2 and shape[-1] > 1


def label_matrix(y: Any) -> tuple[tuple[str, ...], np.ndarray[Any, Any]]:
    """The names of the labels, and Y of shape (n, d)."""
    names, columns = label_columns(y)
    names = [f"y{j}" for j in range(len(columns))] if names is None else names
    Y = np.stack([np.asarray(to_numpy(column)) for column in columns], axis=1)
    gaps = np.isnan(Y) if Y.dtype.kind == "f" else np.zeros(Y.shape, dtype=bool)
    if gaps.any():
        first, number = first_and_count(gaps)
        which = next(name for j, name in enumerate(names) if gaps[first, j])
        lack = "lacks" if number == 1 else "lack"
        raise ValueError(
            f"label {which!r} is missing in row {first} ({number} of {count(len(Y), 'row')} {lack} a label): leave such"
            " rows out"
        )
    floats("y", Y, ndim=2)
    return tuple(names), Y.astype(np.float64)


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
