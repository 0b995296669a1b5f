"""Several labels: what `CalibratedRegressor` does where y has columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor, RegressorChain

from calibrant._arrays import Array
from calibrant.models.frames import is_frame, like_input, rows_of
from calibrant.models.multioutput import as_several, predictions_of
from calibrant.models.outputs import named
from calibrant.several import Several
from calibrant.sklearn.meta_estimator import Adapter, Routed
from calibrant.sklearn.work import Budget

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True)
class SeveralModel:
    """What predicts several labels: a `Refined` for each, or one frozen model of all."""

    names: tuple[str, ...]
    models: tuple[Any, ...]
    adapter: Adapter = None
    """How a frozen model of all labels predicts."""

    def steps(self, count: int) -> int:
        """About how many fits it takes to learn from so many rows."""
        return sum(int(model.steps(count)) for model in self.models)

    def learned(self, X: Any, Y: Numbers, routed: Routed, work: Budget) -> tuple[SeveralModel, Numbers, Several]:
        """A fitted copy of each `Refined`; the rows that these held out, and their refined predictions of them."""
        copies, found, seen = [], [], np.arange(0)
        for j, model in enumerate(self.models):
            if isinstance(model.estimator, MultiOutputRegressor):
                model = clone(model).set_params(estimator=model.estimator.estimator)
            elif isinstance(model.estimator, RegressorChain):
                raise TypeError(
                    "several labels are learned one by one: give the chain's own model, or freeze a fitted chain"
                )
            copy = clone(model)
            seen, stacked = copy.learn(X, Y[:, j], routed, work.part(1 / (len(self.models) - j)))
            copies.append(copy)
            found.append(stacked if copy.refinement_ is None else copy.refinement_(rows_of(X, seen), stacked))
        return replace(self, models=tuple(copies)), seen, Several(self.names, tuple(found))

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


def columns_by_label(X: Any, heads: Sequence[str], names: Sequence[str], values: Array) -> Any:
    """An (n, k, d) array as it is; for a frame X a frame with the columns `head_name`, label by label."""
    if not is_frame(X):
        return values
    columns = [f"{head}_{name}" for name in names for head in heads]
    return like_input(X, columns, np.swapaxes(values, 1, 2).reshape(len(values), -1))
