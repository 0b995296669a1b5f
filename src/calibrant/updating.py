"""More scores for a calibrator: those of new rows, by `update`, or those of other calibrators, by `merge`."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import Any

import numpy as np

from calibrant._arrays import Array, Rng, concatenate, namespace, to_numpy
from calibrant._missing import labelled
from calibrant.calibration import Calibrated, finite_scores, spread
from calibrant.distributions.base import Distribution
from calibrant.distributions.context import Context
from calibrant.guarantee import Guarantee
from calibrant.interpolators.by_group import Apart, ByGroup
from calibrant.interpolators.history import Groups, History
from calibrant.interpolators.in_context import interpolate
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naive import Naive
from calibrant.interpolators.random import Random
from calibrant.interpolators.weights import CalibrationWeights, Weights
from calibrant.predictions import as_prediction, with_labels

MERGING = (Linear, Naive, Random, ByGroup, Apart)
"""Interpolators whose q depends on which scores there are, and on nothing else."""


class Updated(Calibrated):
    """A calibrator after `update`: q and the guarantee are made when they are first asked for.

    So a thousand updates, with no prediction between them, cost no more than merging the scores.
    """

    @classmethod
    def after(cls, before: Calibrated, history: History) -> Updated:
        """The same score, interpolator, form and labels, with these scores."""
        new = object.__new__(cls)
        kept = {name: getattr(before, name) for name in ("score", "interpolator", "form", "labels")}
        vars(new).update(kept, history=history)
        return new

    @cached_property
    def _made(self) -> tuple[Distribution, Guarantee]:
        return _made(self, kept_history(self))

    @cached_property
    def q(self) -> Distribution:
        """The distribution of all scores."""
        return self._made[0]

    @cached_property
    def guarantee(self) -> Guarantee:
        """What it promises."""
        return self._made[1]

    def settled(self) -> Calibrated:
        """The same, all of it made."""
        return Calibrated(**{field.name: getattr(self, field.name) for field in fields(self)})


def updated(
    calibrated: Calibrated,
    prediction: Any,
    y: Any,
    *,
    by: Any = None,
    weights: Weights = None,
    bound: Any = None,
    rng: Rng = None,
    refit: bool = False,
) -> Calibrated:
    """A calibrator of the scores of `fit` and of these rows."""
    history = kept_history(calibrated)
    merging = type(calibrated.interpolator) in MERGING
    if not (merging or refit):
        name = type(calibrated.interpolator).__name__
        raise TypeError(f"{name} fits q to all scores at once and cannot add to it: pass refit=True to fit it again")
    history.check(weights, by)
    scores, weights, by = scores_of(calibrated, prediction, y, weights=weights, by=by, bound=bound, rng=rng)
    history = history.then(scores, weights, by)
    new = Updated.after(calibrated, history)
    if merging:
        return new
    q, guarantee = _made(new, history, rng)
    return Calibrated(new.score, q, guarantee, new.interpolator, new.form, new.labels, history)


def scores_of(
    calibrated: Calibrated,
    prediction: Any,
    y: Any,
    *,
    weights: Weights = None,
    by: Any = None,
    bound: Any = None,
    rng: Rng = None,
) -> tuple[Array, Any, Any]:
    """The scores of new rows, by what was learned in `fit`; and the weights and groups of those that have a label."""
    if hasattr(y, "calibrated_by"):
        raise TypeError(f"labels that were not all seen, {type(y).__name__}, come in fit alone: fit again on all rows")
    prediction, y, weights, by, bound = labelled(as_prediction(prediction), y, weights, by, bound)
    prediction, y = with_labels(prediction, y)
    prediction.check_form(calibrated.form)
    Context(y.shape[0], by, weights)  # it checks them
    prediction, y = spread(calibrated.labels, prediction, y, bound, rng)
    scores = finite_scores(calibrated.score, prediction, y)
    calibrated.score.support.check(scores)
    return scores, weights, by


def _made(calibrated: Calibrated, history: History, rng: Rng = None) -> tuple[Distribution, Guarantee]:
    """q and what it promises."""
    support = calibrated.score.support
    q, guarantee, _ = interpolate(calibrated.interpolator, history.scores, history.context(rng), support=support)
    return q, guarantee.noting(floored=history.floored, drawn=getattr(calibrated.labels, "draws", False))


def kept_history(calibrated: Calibrated) -> History:
    """Its scores, if it knows them."""
    if calibrated.history is None:
        raise TypeError(
            "this calibrator does not know its scores, as those of censored labels do not: fit it again on all rows"
        )
    return calibrated.history


def merged(*shards: Calibrated) -> Calibrated:
    """What all of them would be as one fit, whatever their order.

    Their score must be the same to the last number: where `fit` learns one, such as a floor, fix it beforehand
    (`ZScore(floor=0.01)`). Labels that are drawn, such as counts, are as one fit draws them if the draws go by row ids,
    as `calibrant.batches` has them.

    >>> from calibrant import Calibrator
    >>> fit = Calibrator().fit
    >>> merged(fit([0.0, 1.0], [0.5, 3.0]), fit([2.0, 2.0], [1.0, 3.0])).q.knots
    array([-1. ,  0.5,  1. ,  2. ])
    """
    first = shards[0]
    histories = [_history_of(first, shard) for shard in shards]
    scores = concatenate([history.scores for history in histories])
    weights, groups = _weights(histories), _groups(histories)
    order = _order(to_numpy(scores), weights, groups)
    taken = namespace(scores).take(scores, namespace(scores).asarray(order), axis=0)
    history = History(
        taken,
        None if weights is None else replace(weights, values=weights.values[order]),
        None,
        sum(history.floored for history in histories),
        None if groups is None else Groups(groups.labels, groups.numbers[order]),
    )
    return Updated.after(first, history)


def _history_of(first: Calibrated, shard: Any) -> History:
    """The scores of a shard, which must have been calibrated as the first one was."""
    if not isinstance(shard, Calibrated):
        raise TypeError(f"merge takes what Calibrator.fit gives, got {type(shard).__name__}")
    for name in ("score", "interpolator", "labels", "form"):
        own, its = getattr(first, name), getattr(shard, name)
        if own != its:
            fixed = ": fix what fit learns beforehand" if name == "score" and type(own) is type(its) else ""
            raise ValueError(f"calibrators of another {name} cannot be merged: {own!r} and {its!r}{fixed}")
    if type(shard.interpolator) not in MERGING:
        raise TypeError(f"{type(shard.interpolator).__name__} fits q to all scores at once: it cannot be merged")
    history, own = kept_history(shard), kept_history(first)
    if history.forget is not None:
        raise TypeError(f"shards have no order of time, so {history.forget!r} cannot be merged")
    if type(history.weights) is not type(own.weights) or (history.groups is None) != (own.groups is None):
        raise ValueError("calibrators with and without weights= or by= cannot be merged")
    return history


def _weights(histories: list[History]) -> CalibrationWeights | None:
    first, *_ = kinds = [history.weights for history in histories]
    if first is None:
        return None
    return replace(first, values=np.concatenate([each.values for each in kinds if each is not None]))


def _groups(histories: list[History]) -> Groups | None:
    if histories[0].groups is None:
        return None
    return Groups.of([label for history in histories if history.groups is not None for label in history.groups.rows()])


def _order(scores: Any, weights: CalibrationWeights | None, groups: Groups | None) -> Any:
    """By score, then by weight, then by group: the same for the same rows, in whatever shards they came."""
    keys = [scores]
    if weights is not None:
        keys.insert(0, weights.values)
    if groups is not None:
        keys.insert(0, groups.numbers)
    return np.lexsort(keys)
