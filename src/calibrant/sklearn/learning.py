"""From training rows to what predicts, and its predictions of the rows that are held out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.utils.parallel import Parallel, delayed

from calibrant.models.frames import rows_of
from calibrant.predictions import concatenate
from calibrant.refine import refiner_named
from calibrant.refine.mean import Mean, teaches_a_mean
from calibrant.refine.spread import Spread
from calibrant.refine.stack import centre_of
from calibrant.refine.two_part import TwoPart
from calibrant.several import Several
from calibrant.sklearn.meta_estimator import Routed, fitted, is_blend
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.rows import Neighbours
from calibrant.sklearn.several import SeveralModel
from calibrant.sklearn.splits import units
from calibrant.sklearn.work import Bar, Budget

Numbers = np.ndarray[Any, Any]
Scored = tuple[Numbers, Any]
"""Rows, and what a model that did not see them predicts for them."""


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
