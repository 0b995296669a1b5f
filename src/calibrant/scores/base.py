"""A calibration score phi(f(x), y): how large y is, seen from the prediction."""

from __future__ import annotations

import warnings
from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, TypeVar, runtime_checkable

import numpy as np

from calibrant._arrays import Array, count_true, detached, first_and_count, namespace
from calibrant._batch import no_rows
from calibrant._hints import kind_of
from calibrant._words import warn_user
from calibrant.interpolators.support import REAL_LINE, Support
from calibrant.predictions import as_prediction, with_labels
from calibrant.scores.pull_back import pull_back
from calibrant.scores.transforms import Affine, BrokenLine

if TYPE_CHECKING:
    from calibrant._types import ArrayLike
    from calibrant.distributions.base import Distribution
    from calibrant.forecast import PredictionLike
    from calibrant.scores.transforms import Transform

NARROW = 0.1
"""Of the median scale: a row below that is narrow."""
FAR = 3.0
"""Times the mean distance from the median score: a score beyond that is far out."""
MOST = 2 / 3
"""Of the sum of all distances: where narrow rows that are far out make as much, q has three times the spread."""
FEWEST = 20
"""Rows below which a single outlier of honest scores may look the same."""


@runtime_checkable
class Score(Protocol):
    """What `Calibrator` needs of a score. To write one, subclass `LocationScaleScore` or `MonotoneScore`.

    A score that cannot take every value says so by an attribute `support`, see `calibrant.interpolators.support`. One
    that must know something of all calibration predictions has a method `learn`, see `TransformScore.learn`; one whose
    unit is learned from the labels, which changes no order of scores, `scaled(prediction, y)`; one that has something
    to say of the calibration scores, `review(prediction, scores)`.
    """

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i, strictly increasing in y."""

    def pull_back(self, q: Distribution, prediction: PredictionLike) -> Distribution:
        """H[x_i](y) = q(phi(f(x_i), y)) for each row i."""


class TransformScore(ABC):
    """A score that makes a transform y -> phi(f(x_i), y) of each row of a prediction; the rest follows from that."""

    support: Support = REAL_LINE
    expects: ClassVar[tuple[type, ...]] = (object,)
    """The kinds of prediction it takes."""
    unit_free: ClassVar[bool] = True
    """Whether the score stays the same when y changes its unit."""
    remedy: ClassVar[str | None] = None
    """What to do about rows whose scale is far below the others'; None where no such rows are looked for."""
    _middle: ClassVar[float | None] = None

    @abstractmethod
    def transform(self, prediction: Any) -> Transform:
        """The map y -> phi(f(x_i), y) of each row i."""

    def middle(self, prediction: Any) -> float:
        """The score of a label in the middle of the prediction, from which `calibrant.intervals.Centred` measures."""
        if self._middle is None:
            raise TypeError(f"no middle is known for {type(self).__name__}: pass Centred a centre")
        return self._middle

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What `Calibrator.fit` keeps of the score, and which calibration rows it had to mend: here itself, and none.

        Called once, with the calibration predictions and not the labels. What it returns scores the calibration rows
        and all later ones. If it mends a row by what it learned, the guarantee counts that row and is approximate.
        """
        return self, no_rows(prediction)

    def review(self, prediction: Any, scores: Array) -> None:
        """Warn where a few rows make most of the spread of q; `Calibrator.fit` calls it.

        Such a q is still calibrated on average, and its inner quantiles are sound. But its mean, its std and its tails
        are those of a few rows, stretched by the scale of every other row.

        Two things must meet. Scores beyond 3 times the mean distance from the median score make two thirds of the sum
        of these distances; and so do those among them whose row has a scale below a tenth of the median. Heavy tails
        alone do the first, and honest scales that differ a lot the second; scores that do not depend on the scale
        hardly ever do both. Nothing depends on the unit of y. The scale is that of a line, or of a broken line above
        all its knots.
        """
        xp, n = namespace(scores), scores.shape[0]
        if self.remedy is None or n < FEWEST:
            return
        distance = xp.abs(scores - upper_median(scores))
        total = float(xp.sum(distance))
        far = distance > FAR * total / n
        if not xp.sum(distance[far]) > MOST * total:  # most often the end: no scale was asked for
            return
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # what it says of rows without a width was said when they were scored
            lines = self.transform_of(prediction)
        if not isinstance(lines, (Affine, BrokenLine)):
            return
        scale = detached(lines.scale if isinstance(lines, Affine) else 1 / lines.slopes[:, -1])
        typical = float(upper_median(scale))
        dominant = far & (scale < NARROW * typical)
        share = float(xp.sum(distance[dominant])) / total
        if not share > MOST:
            return
        first, count = first_and_count(dominant)
        times = typical / float(xp.max(scale[dominant]))
        rules, its, score = ("rules", "its", "score makes") if count == 1 else ("rule", "their", "scores make")
        name = type(self).__name__
        warn_user(
            f"{name}: {count:,} of {n:,} calibration rows, the first is row {first}, {rules} the law of all: {its}"
            f" scale is {times:,.0f} times smaller than the median one, and {its} {score} {int(1000 * share) / 10:.3g}%"
            " of the spread of q, which decides the mean, the std and the tails of every calibrated law;"
            f" {self.remedy.format(name=name, floor=NARROW * typical)}, or calibrate the errors themselves,"
            " ResidualScore() on Point predictions (adapter='point' in CalibratedRegressor), or let CalibratedRegressor"
            " learn the scale on training rows (refine='spread')"
        )

    def expected(self, prediction: Any) -> Any:
        """The prediction, if it is of a kind that the score takes."""
        prediction = as_prediction(prediction)
        if not isinstance(prediction, self.expects):
            names = " or ".join(kind.__name__ for kind in self.expects)
            own = type(self).__name__
            raise TypeError(f"{own} takes {names}, got {prediction!r}{kind_of(prediction, own, names)}")
        return prediction

    def transform_of(self, prediction: Any) -> Transform:
        """The transform of a prediction of the expected kind."""
        return self.transform(self.expected(prediction))

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i."""
        prediction, y = with_labels(prediction, y)
        return self.transform_of(prediction)(y[:, None])[:, 0]

    def pull_back(self, q: Distribution, prediction: PredictionLike) -> Distribution:
        """H[x_i](y) = q(phi(f(x_i), y)) for each row i."""
        return pull_back(q, self.transform_of(prediction))


def learned(score: Score, prediction: Any, y: Array) -> tuple[Score, int]:
    """What `fit` keeps of a score, and how many calibration rows it had to mend; one without `learn` stays."""
    kept, mended = score.learn(prediction) if hasattr(score, "learn") else (score, no_rows(prediction))
    return kept.scaled(prediction, y) if hasattr(kept, "scaled") else kept, count_true(mended)


def upper_median(values: Array) -> Array:
    """The upper median: in O(n) on numpy, whose sort of a million takes longer than all the rest."""
    place = values.shape[0] // 2
    ordered = np.partition(values, place) if isinstance(values, np.ndarray) else namespace(values).sort(values)
    return ordered[place]


S = TypeVar("S", bound=type[TransformScore])

_DEFAULTS: dict[type, type[TransformScore]] = {}


def default_for(kind: type) -> Callable[[S], S]:
    """A decorator of the score that a kind of prediction gets; the kinds lie below scores and cannot name them."""

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
