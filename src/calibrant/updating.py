"""More scores for a calibrator: those of new rows, by `update`, or those of other calibrators, by `merge`."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._arguments import check_known
from calibrant._arrays import Array, Rng, concatenate, namespace, to_numpy
from calibrant.calibration import Calibrated, calibrated, finite_scores, labelled_rows
from calibrant.interpolators.by_group import Apart, ByGroup, Groups
from calibrant.interpolators.history import History
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.steps import Naive, Random
from calibrant.predictions.point import as_prediction

ADDING = (Linear, Naive, Random, ByGroup, Apart)
"""Interpolators whose q depends on which scores there are, and on nothing else."""


def updated(
    old: Calibrated, prediction: Any, y: Any, *,
    by: Any = None, weights: Any = None, bound: Any = None, rng: Rng = None, refit: bool = False,
) -> Calibrated:  # fmt: skip
    """A calibrator of the scores of `fit` and of these rows."""
    history = known_history(old)
    if not refit and type(old.interpolator) not in ADDING:
        name = type(old.interpolator).__name__
        raise TypeError(f"{name} fits q to all scores at once and cannot add to it: pass refit=True to fit it again")
    history.check(by, weights)
    history = history.then(*scores_of(old, prediction, y, by=by, weights=weights, bound=bound, rng=rng))
    return calibrated(old.score, old.interpolator, old.form, old.labels, history, rng)


def scores_of(
    old: Calibrated, prediction: Any, y: Any, *, by: Any = None, weights: Any = None, bound: Any = None, rng: Rng = None
) -> tuple[Array, Any, Any]:
    """The scores of new rows; and the groups and weights of those that have a label."""
    if hasattr(y, "calibrated_by"):
        raise TypeError(f"labels of which some were not seen, {type(y).__name__}, come in fit alone: fit on all rows")
    prediction = as_prediction(prediction)
    prediction.check_form(old.form)
    check_known(prediction, old.labels, by, weights, bound)
    prediction, y, by, weights = labelled_rows(old.labels, prediction, y, by, weights, bound, rng)
    scores = finite_scores(old.score, prediction, y)
    old.score.support.check(scores)
    return scores, by, weights


def known_history(old: Calibrated) -> History:
    """Its scores, if it knows them."""
    if old.history is None:
        raise TypeError(
            "this calibrator does not know its scores, as those of censored labels do not: fit it again on all rows"
        )
    return old.history


def merged(first: Calibrated, *others: Calibrated) -> Calibrated:
    """What all of them would be as one fit, whatever their order.

    Their score must be the same to the last number: where `fit` learns one, such as a floor, fix it beforehand
    (`ZScore(floor=0.01)`). Labels that are drawn, such as counts, are as one fit draws them if the draws go by row ids,
    as `calibrant.batches` has them.

    >>> from calibrant import Calibrator
    >>> fit = Calibrator().fit
    >>> merged(fit([0.0, 1.0], [0.5, 3.0]), fit([2.0, 2.0], [1.0, 3.0])).q.knots
    array([-1. ,  0.5,  1. ,  2. ])
    """
    histories = [_history_alike(first, each) for each in (first, *others)]
    own = histories[0]
    scores = concatenate([each.scores for each in histories])
    keys = [to_numpy(scores)]  # by score, then by weight or group: the same for the same rows in any parts
    weights = groups = None
    if own.weights is not None:
        weights = replace(own.weights, values=np.concatenate([each.weights.values for each in histories]))  # type: ignore[union-attr]
        keys.insert(0, weights.values)
    if own.groups is not None:
        groups = Groups.of([label for each in histories for label in each.groups.rows()])  # type: ignore[union-attr]
        keys.insert(0, groups.numbers)
    order = np.lexsort(keys)
    history = History(
        namespace(scores).take(scores, namespace(scores).asarray(order), axis=0),
        None if weights is None else weights[order],
        None,
        sum(each.floored for each in histories),
        None if groups is None else replace(groups, numbers=groups.numbers[order]),
    )
    return calibrated(first.score, first.interpolator, first.form, first.labels, history, None)


def _history_alike(first: Calibrated, other: Any) -> History:
    """The scores of another calibrator, which must have been calibrated as the first one was."""
    if not isinstance(other, Calibrated):
        raise TypeError(f"merge takes what Calibrator.fit gives, got {type(other).__name__}")
    for name in ("score", "interpolator", "labels", "form"):
        own, its = getattr(first, name), getattr(other, name)
        if own != its:
            fixed = ": fix what fit learns beforehand" if name == "score" and type(own) is type(its) else ""
            raise ValueError(f"calibrators of another {name} cannot be merged: {own!r} and {its!r}{fixed}")
    if type(other.interpolator) not in ADDING:
        raise TypeError(f"{type(other.interpolator).__name__} fits q to all scores at once: it cannot be merged")
    history, ours = known_history(other), known_history(first)
    if history.forget is not None:
        raise TypeError(f"parts have no order of time, so {history.forget!r} cannot be merged")
    if type(history.weights) is not type(ours.weights) or (history.groups is None) != (ours.groups is None):
        raise ValueError("calibrators with and without weights= or by= cannot be merged")
    return history
