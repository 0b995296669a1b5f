"""Calibration in shards: one calibrator of the scores of several, the same bits as one fit on all rows."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from calibrant._arrays import concatenate, namespace, to_numpy
from calibrant.calibration import Calibrated
from calibrant.interpolators.history import Groups, History
from calibrant.interpolators.weights import CalibrationWeights
from calibrant.updating import MERGING, Updated, kept_history


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
    histories = [_history(first, shard) for shard in shards]
    scores = concatenate([history.scores for history in histories])
    weights, groups = _weights(histories), _groups(histories)
    order = _in_order(to_numpy(scores), weights, groups)
    taken = namespace(scores).take(scores, namespace(scores).asarray(order), axis=0)
    history = History(
        taken,
        None if weights is None else replace(weights, values=weights.values[order]),
        None,
        sum(history.floored for history in histories),
        None if groups is None else Groups(groups.labels, groups.numbers[order]),
    )
    return Updated.after(first, history)


def _history(first: Calibrated, shard: Any) -> History:
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


def _in_order(scores: Any, weights: CalibrationWeights | None, groups: Groups | None) -> Any:
    """By score, then by weight, then by group: the same for the same rows, in whatever shards they came."""
    keys = [scores]
    if weights is not None:
        keys.insert(0, weights.values)
    if groups is not None:
        keys.insert(0, groups.numbers)
    return np.lexsort(keys)
