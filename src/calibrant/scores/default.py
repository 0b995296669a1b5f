"""The score that calibrates a kind of prediction where none is named."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from calibrant.forecast import PredictionLike
from calibrant.scores.base import ChartScore, Score

S = TypeVar("S", bound=type[ChartScore])

_DEFAULTS: dict[type, type[ChartScore]] = {}


def default_for(kind: type) -> Callable[[S], S]:
    """A decorator of the score that a kind of prediction gets; the kinds lie below scores and cannot name them.

    A kind of your own lies above both: it names its score by its method `default_score`, and needs none of this.
    """

    def note(score: S) -> S:
        _DEFAULTS[kind] = score
        return score

    return note


def default_score(prediction: PredictionLike) -> Score:
    """The score that fits the kind of prediction; a kind of your own gives it by a method `default_score`.

    >>> from calibrant import Point
    >>> default_score(Point([1.0]))
    ResidualScore()
    """
    own = prediction.default_score() if hasattr(prediction, "default_score") else None
    if own is not None:
        if isinstance(own, type) or not isinstance(own, Score):
            raise TypeError(f"{type(prediction).__name__}.default_score must give a Score object, got {own!r}")
        return own
    for kind in type(prediction).__mro__:
        if kind in _DEFAULTS:
            return _DEFAULTS[kind]()
    raise TypeError(f"there is no default score for {type(prediction).__name__}: pass one")
