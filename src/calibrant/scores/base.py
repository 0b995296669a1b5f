"""A calibration score phi(f(x), y): how large y is, seen from the prediction."""

from __future__ import annotations

from abc import ABC, abstractmethod
from typing import TYPE_CHECKING, Any, ClassVar, Protocol, Self, runtime_checkable

from calibrant._arrays import Array
from calibrant._batch import no_rows
from calibrant.interpolators.support import REAL_LINE, Support
from calibrant.predictions import as_prediction, with_labels
from calibrant.scores.pull_back import pull_back

if TYPE_CHECKING:
    from calibrant._types import ArrayLike
    from calibrant.distributions.base import Distribution
    from calibrant.forecast import PredictionLike
    from calibrant.scores.transforms import Transform


_DEFAULTS: dict[type, type[TransformScore]] = {}


@runtime_checkable
class Score(Protocol):
    """What `Calibrator` needs of a score. To write one, subclass `LocationScaleScore` or `MonotoneScore`.

    A score that cannot take every value says so by an attribute `support`, see `calibrant.interpolators.support`. One
    that must know something of all calibration predictions has a method `learn`, see `TransformScore.learn`; one whose
    unit is learned from the labels, which changes no order of scores, `scaled(prediction, y)`; one that has something
    to say of the calibration scores, `review(prediction, scores)`.
    """

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i, strictly increasing in y.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
        """

    def pull_back(self, q: Distribution, prediction: PredictionLike) -> Distribution:
        """H[x_i](y) = q(phi(f(x_i), y)) for each row i.

        Args:
            q: The distribution of the calibration scores.
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """


class TransformScore(ABC):
    """A score that makes a transform y -> phi(f(x_i), y) of each row of a prediction; the rest follows from that.

    One that a kind of prediction gets by default names it: `class ZScore(..., default_for=Distribution)`.
    """

    support: Support = REAL_LINE
    expects: ClassVar[tuple[type, ...]] = (object,)
    """The kinds of prediction it takes."""
    unit_free: ClassVar[bool] = True
    """Whether the score stays the same when y changes its unit."""
    _middle: ClassVar[float | None] = None

    def __init_subclass__(cls, *, default_for: type | None = None) -> None:
        super().__init_subclass__()
        if default_for is not None:
            _DEFAULTS[default_for], cls.expects = cls, (default_for,)

    @abstractmethod
    def transform(self, prediction: Any) -> Transform:
        """The map y -> phi(f(x_i), y) of each row i.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """

    def middle(self, prediction: Any) -> float:
        """The score of a label in the middle of the prediction, from which `calibrant.intervals.Centred` measures.

        Args:
            prediction: The predictions of some rows.
        """
        if self._middle is None:
            raise TypeError(f"no middle is known for {type(self).__name__}: pass Centred a centre")
        return self._middle

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What `Calibrator.fit` keeps of the score, and which calibration rows it had to mend: here itself, and none.

        Called once, with the calibration predictions and not the labels. What it returns scores the calibration rows
        and all later ones. If it mends a row by what it learned, the guarantee counts that row and is approximate.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """
        return self, no_rows(prediction)

    def expected(self, prediction: Any) -> Any:
        """The prediction, if it is of a kind that the score takes.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """
        prediction = as_prediction(prediction)
        if not isinstance(prediction, self.expects):
            names = " or ".join(kind.__name__ for kind in self.expects)
            own, way = type(self).__name__, ""
            if prediction.parts():
                way = f": EnsembleScore({own}()) adds up its members'"
            elif "Distribution" in names and type(prediction).__name__ == "Point":
                way = ": Normal(mean, std) is one, and where labels are counts so is calibrant.predictions.Rates(mean)"
            raise TypeError(f"{own} takes {names}, got {prediction!r}{way}")
        return prediction

    def transform_of(self, prediction: Any) -> Transform:
        """The transform of a prediction of the expected kind.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """
        return self.transform(self.expected(prediction))

    def __call__(self, prediction: PredictionLike, y: ArrayLike) -> Array:
        """phi(f(x_i), y_i) for each row i.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
        """
        prediction, y = with_labels(prediction, y)
        return self.transform_of(prediction)(y[:, None])[:, 0]

    def pull_back(self, q: Distribution, prediction: PredictionLike) -> Distribution:
        """H[x_i](y) = q(phi(f(x_i), y)) for each row i.

        Args:
            q: The distribution of the calibration scores.
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """
        return pull_back(q, self.transform_of(prediction))


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
