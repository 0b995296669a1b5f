"""More scores for a calibrator: those of new rows, or those of other calibrators."""

from __future__ import annotations

from dataclasses import replace
from typing import Any, TypeVar

from calibrant._arrays import Array
from calibrant._types import Draws
from calibrant._words import about
from calibrant.interpolators.history import ADDING, History, interpolate
from calibrant.predictions.point import as_prediction, labelled_rows
from calibrant.scores.base import finite_scores

T = TypeVar("T", bound=Any)


def scores_of(
    calibrated: Any,
    prediction: Any,
    y: Any,
    *,
    by: Any = None,
    weights: Any = None,
    bound: Any = None,
    rng: Draws = None,
) -> tuple[Array, Any, Any]:
    """The scores of new rows; and the groups and weights of those that have a label."""
    if hasattr(y, "calibrated_by"):
        raise TypeError(f"labels of which some were not seen, {type(y).__name__}, come in fit alone: fit on all rows")
    prediction = as_prediction(prediction)
    prediction.check_form(calibrated.form)
    prediction, y, by, weights = labelled_rows(calibrated.labels, prediction, y, by, weights, bound, rng)
    scores = finite_scores(calibrated.score, prediction, y)
    calibrated.score.support.check(scores)
    return scores, by, weights


def known_history(calibrated: Any) -> History:
    """Its scores, if it knows them."""
    if calibrated.history is None:
        raise TypeError(
            "this calibrator does not know its scores, as those of censored labels do not: fit it again on all rows"
        )
    return calibrated.history  # type: ignore[no-any-return]


def refitted(old: T, history: History, rng: Draws) -> T:
    """The same with the q of these scores."""
    q, guarantee, _ = interpolate(old.interpolator, history, old.score.support, rng, drawn=old.guarantee.drawn)
    return replace(old, q=q, guarantee=guarantee, history=history)


def check_alike(first: Any, other: Any) -> None:
    """Raise unless another calibrator can be merged with the first one."""
    if type(other) is not type(first):
        raise TypeError(f"merge takes what Calibrator.fit gives, got {type(other).__name__}")
    for name in ("score", "interpolator", "labels", "form"):
        own, its = getattr(first, name), getattr(other, name)
        if own != its:
            fixed = ": fix what fit learns beforehand" if name == "score" and type(own) is type(its) else ""
            raise ValueError(f"calibrators of another {name} cannot be merged: {own!r} and {its!r}{fixed}")
    check_adding(first, "cannot be merged")


def check_adding(calibrated: Any, problem: str) -> None:
    """Raise unless q depends on which scores there are, and on nothing else."""
    if type(calibrated.interpolator) not in ADDING:
        raise about(
            "refit", TypeError(f"{type(calibrated.interpolator).__name__} fits q to all scores at once and {problem}")
        )
