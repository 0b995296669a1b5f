"""From training rows to what predicts, and its predictions of the rows that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.multioutput import MultiOutputRegressor, RegressorChain
from sklearn.utils.parallel import Parallel, delayed

from calibrant.models.frames import rows_of
from calibrant.models.multioutput import as_several, predictions_of
from calibrant.models.outputs import named
from calibrant.predictions import concatenate
from calibrant.refine import refiner_named
from calibrant.refine.combined import Mean, TwoPart, teaches_a_mean
from calibrant.refine.spread import Spread
from calibrant.refine.stack import centre_of
from calibrant.several import Several
from calibrant.sklearn.meta_estimator import Adapter, Routed, fitted, is_blend
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.rows import Neighbours
from calibrant.sklearn.splits import units
from calibrant.sklearn.work import Bar, Budget

Numbers = np.ndarray[Any, Any]
Scored = tuple[Numbers, Any]
"""Rows, and what a model that did not see them predicts for them."""


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
        if len(self.models) == len(self.names):
            return Several(self.names, tuple(model.predict_forecast(X) for model in self.models))
        model, adapter = self.models[0], self.adapter
        if adapter is None:
            return predictions_of(model, X, self.names).ordered(self.names)
        if adapter == "point":
            return as_several(named(model), model.predict(X), self.names)
        if not callable(adapter):
            raise TypeError(f"adapter must be None, 'point' or a function of a model and X, got {adapter!r}")
        return as_several(named(adapter), adapter(model, X), self.names).ordered(self.names)

    @property
    def weights_(self) -> dict[str, dict[str, float]]:
        """The weight of each model, by label and name."""
        return {
            name: getattr(model, "weights_", {type(model).__name__: 1.0})
            for name, model in zip(self.names, self.models * len(self.names), strict=False)
        }


def learn(
    predictor: Any,
    X: Any,
    y: Numbers,
    parts: Sequence[Numbers],
    routed: Routed,
    work: Budget,
    *,
    as_it_is: bool,
    n_jobs: int | None,
) -> tuple[list[Any], list[Scored]]:
    """A fitted copy of the predictor for each part of the rows; the last says for which models there is time.

    With one part also the rows that its own copies held out, and their predictions.

    Args:
        predictor: A `Refined`, a `SeveralModel`, or a model that is fitted as it is.
        X: What the models see of the rows.
        y: The labels.
        parts: The rows that train each copy.
        routed: What goes to the models' `fit`, and what to splitters.
        work: How far it is, and what there is time for.
        as_it_is: Whether to call its `fit`, with what is routed to it.
        n_jobs: How many parts are fitted at once.
    """
    *rest, last = parts
    here = n_jobs in (None, 1)

    def task(rows: Numbers, work: Budget) -> Any:
        own = work if here else replace(work, bar=Bar())  # other processes have no bar to move
        params = routed.rows(rows, len(y))
        return delayed(learned)(predictor, rows_of(X, rows), y[rows], params, None if as_it_is else own)

    ((model, seen, prediction),) = Parallel()([task(last, work.part(1 / len(parts)))])
    only = model.weights_ if isinstance(predictor, Refined) and is_blend(predictor.estimator) else None
    found = Parallel(n_jobs=n_jobs)(
        task(rows, work.part(1 / (len(rest) - (k if here else 0)), only)) for k, rows in enumerate(rest)
    )
    work.bar.finish()
    known = [] if rest or prediction is None else [(last[seen], prediction)]
    return [*(each for each, _, _ in found), model], known


def learned(model: Any, X: Any, y: Any, params: Routed, work: Budget | None) -> tuple[Any, Numbers | None, Any]:
    """A fitted copy of what predicts; of ours also the rows that its own copies held out, and their predictions."""
    if work is None:
        return fitted(model, X, y, params.fit), None, None
    if isinstance(model, SeveralModel):
        return model.learned(X, y, params, work)
    copy = clone(model)
    return copy, *copy.learn(X, y, params, work)


def of_one_kind(refiner: Any, y: Numbers, parts: list[Numbers], routed: Routed) -> Any:
    """The refiner, or what a mean does with few rows where one part has too few: all parts predict one kind."""
    if isinstance(refiner, TwoPart):
        above = [rows[y[rows] > refiner.at] for rows in parts]
        return replace(refiner, refiner=of_one_kind(refiner.refiner, y, above, routed))
    mean = refiner is not None and isinstance(refiner_named(refiner), Mean)
    if mean and not all(teaches_a_mean(units(rows, routed.copies), units(rows, routed.groups)) for rows in parts):
        return Spread()
    return refiner


def counted_once(rows: Numbers, groups: Any) -> Any:
    """The groups of these rows; else rows that were held out several times, of which each is a group."""
    if groups is not None:
        return groups[rows]
    return rows if len(np.unique(rows)) < len(rows) else None


def together(known: list[tuple[Numbers, Any]]) -> tuple[Numbers, Any]:
    """The rows of all folds, in order, and their predictions."""
    rows = np.concatenate([rows for rows, _ in known])
    order = np.argsort(rows, kind="stable")
    return rows[order], concatenate([prediction for _, prediction in known])[order]


def neighbours_of(y: Any, known: list[tuple[Numbers, Any]]) -> Neighbours:
    """How alike errors are, in the order of the table, of models that did not see the rows."""
    errors = np.full(len(y), np.nan)
    for rows, prediction in known:
        first = prediction.predictions[0] if isinstance(prediction, Several) else prediction
        errors[rows] = first_label(y)[rows] - centre_of(first)
    return Neighbours.of(errors[np.isfinite(errors)])


def first_label(y: Numbers) -> Numbers:
    """The labels, or the first of several."""
    return y if y.ndim == 1 else y[:, 0]
