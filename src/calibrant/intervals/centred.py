"""Non-conformities: the distance of a calibration score from its middle."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, Self

from calibrant._arrays import Array, device_like, floats, namespace
from calibrant.intervals.broadcast import broadcast_rows
from calibrant.scores import ResidualScore, Score, ZScore
from calibrant.scores.nonconformity import Nonconformity
from calibrant.scores.transforms.base import Transform
from calibrant.scores.transforms.combined import shifted


class DistanceFromCentre(Nonconformity):
    """|phi(f(x), y) - centre| for a calibration score phi."""

    @abstractmethod
    def _transform(self, prediction: Any) -> tuple[Transform, float]:
        """The transform of phi, and the centre."""

    def value(self, prediction: Any, y: Array) -> Array:
        """|phi(f(x_i), y_i) - centre|."""
        prediction, y = broadcast_rows("y", prediction, y)
        transform, centre = self._transform(prediction)
        return namespace(y).abs(transform(y[:, None])[:, 0] - centre)

    def minimiser(self, prediction: Any) -> Array:
        """The y whose score is the centre."""
        lower, _ = self.level_set(prediction, 0.0)
        return lower

    def level_set(self, prediction: Any, t: float | Array) -> tuple[Array, Array]:
        """The y whose scores are centre -+ t."""
        prediction, t = broadcast_rows("t", prediction, t)
        transform, centre = self._transform(prediction)
        return transform.inverse((centre - t)[:, None])[:, 0], transform.inverse((centre + t)[:, None])[:, 0]

    def log_slope(self, prediction: Any, y: Array) -> Array:
        """That of phi."""
        prediction, y = broadcast_rows("y", prediction, y)
        return self._transform(prediction)[0].log_slope(y[:, None])[:, 0]

    def branches(self, prediction: Any) -> tuple[Transform, Transform, Array]:
        """phi - centre on both sides: H keeps the closed forms that phi has."""
        transform, centre = self._transform(prediction)
        level = device_like([[centre]], transform.like)
        at = namespace(level).broadcast_to(transform.inverse(level), (len(prediction), 1))[:, 0]
        moved = shifted(transform, centre)
        return moved, moved, at


@dataclass(frozen=True)
class AbsoluteResidual(DistanceFromCentre):
    """|y - f|, of a Point.

    >>> AbsoluteResidual().value([1.0, 2.0], [1.5, 0.0])
    array([0.5, 2. ])
    """

    @property
    def unit_free(self) -> bool:
        """It has the unit of y."""
        return False

    def _transform(self, prediction: Any) -> tuple[Transform, float]:
        return ResidualScore().transform_of(prediction), 0.0


@dataclass(frozen=True)
class NormalizedResidual(DistanceFromCentre):
    """|y - mean(F)| / max(std(F), floor), of a distribution F, such as Normal(f, sigma); for the floor see `ZScore`.

    >>> from calibrant import Normal
    >>> NormalizedResidual().level_set(Normal([0.0, 1.0], [1.0, 2.0]), 1.5)
    (array([-1.5, -2. ]), array([1.5, 4. ]))
    """

    _: KW_ONLY
    floor: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "floor", ZScore(floor=self.floor).floor)

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """The floor of the z-score."""
        score, floored = ZScore(floor=self.floor).learn(prediction)
        return replace(self, floor=score.floor), floored

    def _transform(self, prediction: Any) -> tuple[Transform, float]:
        return ZScore(floor=self.floor).transform_of(prediction), 0.0


@dataclass(frozen=True)
class Centred(DistanceFromCentre):
    """|phi(f(x), y) - centre| for any calibration score phi that has a transform.

    The centre is given in the form that `score(prediction, y)` has: for the cdf score a logit. By default it
    is the middle of the score: 1/2 for interval, quantile and samples, 0 for residual, z-score and cdf
    (|logit u| orders labels as |u - 1/2| does, but does not saturate), and for an ensemble the weighted sum
    of its members' middles, so 0 for the paper's.

    >>> from calibrant import Interval
    >>> from calibrant.scores import IntervalScore
    >>> Centred(IntervalScore()).value(Interval([0.0], [4.0]), [5.0])
    array([0.75])
    """

    score: Score
    centre: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.score, Score):
            raise TypeError(f"Centred.score must be a calibration score, got {self.score!r}")
        if self.centre is not None:
            centre = floats("Centred.centre", self.centre, ndim=0)
            object.__setattr__(self, "centre", float(centre))

    @property
    def unit_free(self) -> bool:
        """That of the score."""
        return self.score.unit_free

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What the score learns."""
        score, floored = self.score.learn(prediction)
        return replace(self, score=score), floored

    def _transform(self, prediction: Any) -> tuple[Transform, float]:
        transform = self.score.transform_of(prediction)
        return transform, self.score.middle(prediction) if self.centre is None else self.centre
