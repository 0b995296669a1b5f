"""A calibrator that goes on learning: the scores of new rows join those of `fit`."""

from __future__ import annotations

from dataclasses import fields, replace
from functools import cached_property
from typing import Any

from calibrant._arguments import one_each
from calibrant._arrays import Array, Rng
from calibrant._missing import labelled
from calibrant.calibration import Calibrated, finite_scores, spread
from calibrant.distributions.base import Distribution
from calibrant.guarantee import Guarantee
from calibrant.interpolators.by_group import Apart, ByGroup
from calibrant.interpolators.history import History
from calibrant.interpolators.in_context import interpolate
from calibrant.interpolators.linear import Linear
from calibrant.interpolators.naive import Naive
from calibrant.interpolators.random import Random
from calibrant.interpolators.support import REAL_LINE
from calibrant.interpolators.weights import Weights
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
        """The law of all scores."""
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
    given, y = with_labels(prediction, y)
    given.check_form(calibrated.form)
    for name, each in (("weights", weights), ("by", by)):
        if each is not None:
            one_each("the prediction", len(given), name, each)
    prediction, y = spread(calibrated.labels, given, y, bound, rng)
    scores = finite_scores(calibrated.score, prediction, y)
    getattr(calibrated.score, "support", REAL_LINE).check(scores)
    return scores, weights, by


def _made(calibrated: Calibrated, history: History, rng: Rng = None) -> tuple[Distribution, Guarantee]:
    """q and what it promises."""
    support = getattr(calibrated.score, "support", REAL_LINE)
    q, guarantee, _ = interpolate(calibrated.interpolator, history.scores, history.context(rng), support=support)
    return q, replace(guarantee, floored=history.floored, drawn=getattr(calibrated.labels, "draws", False))


def kept_history(calibrated: Calibrated) -> History:
    """Its scores, if it knows them."""
    if calibrated.history is None:
        raise TypeError(
            "this calibrator does not know its scores, as those of censored labels do not: fit it again on all rows"
        )
    return calibrated.history
