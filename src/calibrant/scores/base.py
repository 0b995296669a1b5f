"""A calibration score phi(f(x), y): how large y is, relative to the prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Self

from calibrant._arrays import Array, detached, namespace, refuse
from calibrant._batch import no_rows
from calibrant.interpolators.support import REAL_LINE
from calibrant.predictions import with_labels
from calibrant.predictions.point import as_prediction
from calibrant.scores.pull_back import pull_back

if TYPE_CHECKING:
    from calibrant._types import ArrayLike
    from calibrant.distributions.base import Distribution
    from calibrant.forecast import PredictionLike
    from calibrant.interpolators.support import Support
    from calibrant.scores.transforms.base import Transform


_DEFAULTS: dict[type, type[Score]] = {}


class Score(ABC):
    """phi(f(x), y), strictly increasing in y: turns each prediction f(x_i) into a transform y -> phi(f(x_i), y).

    To write one, subclass `LocationScaleScore` or `MonotoneScore`. `class ZScore(..., default_for=Distribution)` is the
    default score for that kind of prediction.
    """

    support: Support = REAL_LINE
    """The interval in which scores can lie."""
    expects: ClassVar[tuple[type, ...]] = (object,)
    """The kinds of prediction that it accepts."""
    unit_free: ClassVar[bool] = True
    """Whether the score stays the same when y changes its unit."""
    centre: ClassVar[float | None] = None
    """The score of a label at the centre of its prediction, such as 0 for residuals; None if it differs by row."""

    def __init_subclass__(cls, *, default_for: type | None = None) -> None:
        super().__init_subclass__()
        if default_for is not None:
            _DEFAULTS[default_for], cls.expects = cls, (default_for,)

    @abstractmethod
    def transform(self, prediction: Any) -> Transform:
        """The map y -> phi(f(x_i), y) of each row i.

        Args:
            prediction: The prediction of each row, of a kind listed in `expects`.
        """

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i.

        Args:
            prediction: The prediction of each row.
            y: The labels: one number per row.
        """
        prediction, y = with_labels(prediction, y)
        return self.transform_of(prediction)(y[:, None])[:, 0]

    def pull_back(self, q: Distribution, prediction: PredictionLike) -> Distribution:
        """H[x_i](y) = q(phi(f(x_i), y)) for each row i.

        Args:
            q: The distribution of the calibration scores.
            prediction: The prediction of each row.
        """
        return pull_back(q, self.transform_of(prediction))

    def learn(self, prediction: Any, y: Array | None = None) -> tuple[Self, Array]:
        """The score with what it learned, such as a floor, and a mask of the rows that needed it; by default nothing.

        `Calibrator.fit` calls it once, with the calibration rows. If any row needed what was learned, the guarantee is
        approximate. What is learned from labels must not change the order of the scores; a unit does not.

        Args:
            prediction: The prediction of each calibration row.
            y: The labels of the calibration rows.
        """
        return self, no_rows(prediction)

    def review(self, prediction: Any, scores: Array) -> None:  # noqa: B027
        """Warn about suspicious calibration scores, for `Calibrator.fit`; by default it does nothing.

        Args:
            prediction: The prediction of each calibration row.
            scores: The calibration scores: one number per row.
        """

    def middle(self, prediction: Any) -> float:
        """The score of a label at the centre of the prediction; `calibrant.intervals.Centred` measures from there.

        Args:
            prediction: The prediction of each row.
        """
        if self.centre is None:
            raise TypeError(f"no middle is known for {type(self).__name__}: pass Centred a centre")
        return self.centre

    def _expected(self, prediction: Any) -> Any:
        """The prediction, after a check that the score accepts its kind."""
        prediction = as_prediction(prediction)
        if not isinstance(prediction, self.expects):
            names = " or ".join(kind.__name__ for kind in self.expects)
            such = ", such as Normal(mean, std), or Rates(mean) of counts" if "Distribution" in names else ""
            raise TypeError(f"{type(self).__name__} takes {names}{such}, got {prediction!r}")
        return prediction

    def transform_of(self, prediction: Any) -> Transform:
        """The transform of a prediction, after a check that the score accepts its kind.

        Args:
            prediction: The prediction of each row.
        """
        return self.transform(self._expected(prediction))


def finite_scores(score: Score, prediction: Any, y: Array) -> Array:
    """phi(f(x_i), y_i); raises where one is infinite."""
    scores = detached(score(prediction, y))  # q is learned: no gradient of a later loss may reach back here
    infinite, name = ~namespace(scores).isfinite(scores), f"the score of {type(score).__name__}"
    refuse(name, infinite, "is not finite: y lies beyond the prediction's support")
    return scores


def default_score(prediction: PredictionLike) -> Score:
    """The default score for a kind of prediction; a kind of your own names it in a method `default_score`.

    Args:
        prediction: The prediction of each row.

    >>> from calibrant import Point
    >>> default_score(Point([1.0]))
    ResidualScore()
    """
    if (own := getattr(prediction, "default_score", None)) is not None:
        score = own()
        if not isinstance(score, Score):
            raise TypeError(f"{type(prediction).__name__}.default_score must give a Score object, got {score!r}")
        return score
    for kind in type(prediction).__mro__:
        if kind in _DEFAULTS:
            return _DEFAULTS[kind]()
    raise TypeError(f"there is no default score for {type(prediction).__name__}: pass one")
