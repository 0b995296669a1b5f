"""Conformal intervals: {y : a(f(x), y) <= t}, with t a quantile of the calibration rows' non-conformities.

Theorem 2, as corrected: let H be calibrated with `signed(nonconformity)` and a linear q (or any other of
accuracy 0). Where the interval [L, U] from the same n rows is bounded and not empty, H(U) - H(L) - c lies in
[-1, 1] / (n + 1). With the paper's rank, floor(n c) + 1, it lies in [-(1 + c), 1 - c] / (n + 1): the bound in the
paper, +-(1 - c) / (n + 1), comes from a slip in the last step of its proof.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass, replace
from typing import Any, ClassVar, Self

from scipy.special import betaincinv

from calibrant._arguments import same_length, unit
from calibrant._arrays import Array, device_like, first_and_count, floats, largest_tie_of, namespace, refuse
from calibrant._batch import promoted
from calibrant._types import ArrayLike
from calibrant._words import warn_user
from calibrant.forecast import PredictionLike
from calibrant.forms import Form
from calibrant.guarantee import as_written, floor_words, required_n_for_interval
from calibrant.predictions import Interval, Quantiles, with_labels
from calibrant.predictions.point import as_prediction
from calibrant.scores import ResidualScore, Score, ZScore
from calibrant.scores.nonconformity import Nonconformity
from calibrant.scores.transforms.base import Affine, Transform
from calibrant.scores.transforms.combined import shifted

__all__ = [
    "CQR",
    "AbsoluteResidual",
    "Centred",
    "ConformalInterval",
    "Nonconformity",
    "NormalizedResidual",
    "standard_rank",
]


def standard_rank(n: int, coverage: float) -> int:
    """ceil((n + 1) coverage): covers with at least the probability asked for, as in MAPIE and crepes.

    Args:
        n: The number of calibration rows.
        coverage: The coverage asked for, between 0 and 1.

    >>> standard_rank(15, 0.9), standard_rank(99, 0.29)
    (15, 29)
    """
    return math.ceil((n + 1) * as_written(coverage))


@dataclass(frozen=True, repr=False)
class ConformalInterval:
    """I(x) = {y : a(f(x), y) <= t}, t the rank-th smallest of the n calibration rows' a(f(x_i), y_i).

    The rank is a function of (n, coverage): `standard_rank`, or one of your own.

    >>> fitted = ConformalInterval(AbsoluteResidual(), 0.5).fit([1.0, 2.0, 3.0], [1.5, 2.1, 2.8])
    >>> fitted([10.0, 20.0])
    (array([ 9.8, 19.8]), array([10.2, 20.2]))
    """

    nonconformity: Nonconformity
    coverage: float
    _: KW_ONLY
    rank: Callable[[int, float], int] = standard_rank

    def __post_init__(self) -> None:
        if not isinstance(self.nonconformity, Nonconformity):
            raise TypeError(f"ConformalInterval.nonconformity must be a Nonconformity, got {self.nonconformity!r}")
        if not callable(self.rank):
            raise TypeError(f"ConformalInterval.rank must be a function of n and the coverage, got {self.rank!r}")
        object.__setattr__(self, "coverage", unit("ConformalInterval.coverage", self.coverage))

    def fit(self, prediction: PredictionLike, y: ArrayLike) -> FittedInterval:
        """Find the threshold on the predictions and labels of n rows that the model was not trained on.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            y: The labels: one number per row.
        """
        prediction, y = with_labels(prediction, y)
        n = len(prediction)
        if n == 0:
            raise ValueError("calibration needs at least one row, got none")
        nonconformity, floored = self.nonconformity.learn(prediction)
        values = nonconformity.value(prediction, y)
        xp = namespace(values)
        refuse(f"the value of {nonconformity!r}", ~xp.isfinite(values), "is not finite")
        rank = int(self.rank(n, self.coverage))
        if rank < 1:
            raise ValueError(f"ConformalInterval.rank must give at least 1, got {rank} for n = {n}")
        threshold = float(xp.sort(values)[rank - 1]) if rank <= n else math.inf
        tie, count = largest_tie_of(values), int(xp.count_nonzero(floored))
        return FittedInterval(
            nonconformity, threshold, IntervalGuarantee(self.coverage, n, rank, tie, count), prediction.form()
        )

    def __repr__(self) -> str:
        rank = getattr(self.rank, "__name__", repr(self.rank))
        return f"ConformalInterval({self.nonconformity!r}, {self.coverage}, rank={rank})"


@dataclass(frozen=True)
class FittedInterval:
    """{y : a(f(x), y) <= threshold} for each row, as (lower, upper).

    With an infinite threshold every row is (-inf, inf). Where no y conforms enough, as can happen with CQR, the
    interval is empty: its bounds are nan, and a warning counts such rows.
    """

    nonconformity: Nonconformity
    threshold: float
    guarantee: IntervalGuarantee
    form: Form | None = None
    """The kind, levels, draws and members of what was calibrated: predictions must have them too. None is not known."""

    def __call__(self, prediction: PredictionLike) -> tuple[Array, Array]:
        """The interval of each row of a prediction.

        Args:
            prediction: What the model predicts of new rows, of the kind that was calibrated.
        """
        prediction = as_prediction(prediction)
        prediction.check_form(self.form)
        if math.isinf(self.threshold):
            anywhere = self.nonconformity.minimiser(prediction)  # refuses a prediction of another kind
            line = namespace(anywhere).full_like(anywhere, math.inf)
            return -line, line
        lower, upper = self.nonconformity.level_set(prediction, self.threshold)
        xp, empty = namespace(lower), lower > upper
        if bool(xp.any(empty)):
            first, count = first_and_count(empty)
            warn_user(
                f"{count} of {len(prediction)} intervals are empty, the first is row {first}: no y there has a"
                f" non-conformity as low as {self.threshold:.6g}; their bounds are nan"
            )
            nothing = xp.full_like(lower, math.nan)
            lower, upper = xp.where(empty, nothing, lower), xp.where(empty, nothing, upper)
        return lower, upper


@dataclass(frozen=True)
class IntervalGuarantee:
    """P(Y in I) >= rank / (n + 1), with equality where no values are tied (Proposition 1, corrected).

    With the standard rank that lies in [coverage, coverage + 1 / (n + 1)). It is an average over calibration sets. The
    same holds for a box around several labels: its values are the largest scores of the labels of a row.

    >>> print(IntervalGuarantee(0.9, 99, 90, labels=3))
    P(all 3 labels in the box) = 0.9 (0.9 asked for, rank 90 of n = 99), on average over calibration sets; this one
    covers at least 0.847 with 95% confidence, if rows are independent. Assumes exchangeable data, a model not trained
    on the calibration set, and continuous values.
    """

    coverage: float
    """What was asked for."""
    n: int
    rank: int
    """Which of the n sorted values bounds the interval; above n it is infinite."""
    largest_tie: int = 1
    floored: int = 0
    """The calibration rows without a width of their own, which got a floor learned from all."""
    labels: int = 1
    """How many labels the box holds at once."""

    @property
    def lower(self) -> float:
        """rank / (n + 1), at most 1: P(Y in I) is at least that."""
        return min(self.rank / (self.n + 1), 1.0)

    @property
    def upper(self) -> float:
        """rank / (n + 1) without ties: P(Y in I) is at most that. With ties only 1 is sure."""
        return self.lower if self.largest_tie == 1 else 1.0

    @property
    def kind(self) -> str:
        """Exact, a lower bound (values are tied), approximate (a learned floor), or trivial (n rows cannot bound I)."""
        if self.rank > self.n:
            return "trivial"
        if self.floored:
            return "approximate"
        return "exact" if self.largest_tie == 1 else "lower bound"

    def conditional(self, confidence: float = 0.95) -> float:
        """What this set, of independent rows, covers at least: the 1 - confidence quantile of Beta(rank, n + 1 - rank).

        Args:
            confidence: The probability with which the bound holds.
        """
        confidence = unit("confidence", confidence)
        return 1.0 if self.rank > self.n else float(betaincinv(self.rank, self.n + 1 - self.rank, 1 - confidence))

    def __str__(self) -> str:
        event = "P(Y in I)" if self.labels == 1 else f"P(all {self.labels} labels in the box)"
        asked = f"{self.coverage:g} asked for, rank {self.rank} of n = {self.n}"
        if self.kind == "trivial":
            enough = f"{required_n_for_interval(self.coverage)} calibration rows with the standard rank"
            return f"{event} = 1 ({asked}): so few rows leave the whole line; it takes {enough}."
        tied = self.largest_tie > 1
        asked += f"; up to {self.largest_tie} values are equal" if tied else ""
        continuous = "" if tied else ", and continuous values"
        about = f", but only approximately: {floor_words(self.floored)}" if self.floored else ""
        return (
            f"{event} {'>=' if tied else '='} {self.lower:.6g} ({asked}){about}, on average over calibration sets; this"
            f" one covers at least {self.conditional():.3g} with 95% confidence, if rows are independent. Assumes"
            f" exchangeable data, a model not trained on the calibration set{continuous}."
        )


@dataclass(frozen=True)
class Centred(Nonconformity):
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
            object.__setattr__(self, "centre", float(floats("Centred.centre", self.centre, ndim=0)))

    @property
    def unit_free(self) -> bool:
        """That of the score."""
        return self.score.unit_free

    def value(self, prediction: Any, y: Array) -> Array:
        """|phi(f(x_i), y_i) - centre|."""
        prediction, y = _with_numbers("y", prediction, y)
        transform, centre = self._transform(prediction)
        return namespace(y).abs(transform(y[:, None])[:, 0] - centre)

    def minimiser(self, prediction: Any) -> Array:
        """The y whose score is the centre."""
        return self.level_set(prediction, 0.0)[0]

    def level_set(self, prediction: Any, t: float | Array) -> tuple[Array, Array]:
        """The y whose scores are centre -+ t."""
        prediction, t = _with_numbers("t", prediction, t)
        transform, centre = self._transform(prediction)
        return transform.inverse((centre - t)[:, None])[:, 0], transform.inverse((centre + t)[:, None])[:, 0]

    def log_slope(self, prediction: Any, y: Array) -> Array:
        """That of the score."""
        prediction, y = _with_numbers("y", prediction, y)
        return self._transform(prediction)[0].log_slope(y[:, None])[:, 0]

    def learn(self, prediction: Any) -> tuple[Self, Array]:
        """What the score learns."""
        score, floored = self.score.learn(prediction)
        return replace(self, score=score), floored

    def branches(self, prediction: Any) -> tuple[Transform, Transform, Array]:
        """phi - centre on both sides: H keeps the closed forms that phi has."""
        transform, centre = self._transform(prediction)
        level = device_like([[centre]], transform.like)
        at = namespace(level).broadcast_to(transform.inverse(level), (len(prediction), 1))[:, 0]
        moved = shifted(transform, centre)
        return moved, moved, at

    def _transform(self, prediction: Any) -> tuple[Transform, float]:
        transform = self.score.transform_of(prediction)
        return transform, self.score.middle(prediction) if self.centre is None else self.centre


def AbsoluteResidual() -> Centred:
    """|y - f|, of a Point.

    >>> AbsoluteResidual().value([1.0, 2.0], [1.5, 0.0])
    array([0.5, 2. ])
    """
    return Centred(ResidualScore())


def NormalizedResidual(*, floor: float | None = None) -> Centred:
    """|y - mean(F)| / max(std(F), floor), of a distribution F, such as Normal(f, sigma).

    Args:
        floor: The smallest standard deviation; by default `fit` learns one where it needs one, see `ZScore`.

    >>> from calibrant import Normal
    >>> NormalizedResidual().level_set(Normal([0.0, 1.0], [1.0, 2.0]), 1.5)
    (array([-1.5, -2. ]), array([1.5, 4. ]))
    """
    return Centred(ZScore(floor=floor))


@dataclass(frozen=True)
class CQR(Nonconformity):
    """max(l - y, y - u), of an Interval [l, u] or the outermost Quantiles; negative inside.

    Romano, Patterson and Candes (2019), Conformalized quantile regression.

    >>> from calibrant import Interval
    >>> CQR().value(Interval([0.0, 0.0], [4.0, 4.0]), [1.0, 5.0])
    array([-1.,  1.])
    """

    unit_free: ClassVar[bool] = False

    def value(self, prediction: Interval | Quantiles, y: Array) -> Array:
        """max(l - y, y - u)."""
        prediction, y = _with_numbers("y", prediction, y)
        lower, upper = _bounds(prediction)
        return namespace(y).maximum(lower - y, y - upper)

    def minimiser(self, prediction: Interval | Quantiles) -> Array:
        """(l + u) / 2."""
        lower, upper = _bounds(as_prediction(prediction))
        return lower + (upper - lower) / 2

    def level_set(self, prediction: Interval | Quantiles, t: float | Array) -> tuple[Array, Array]:
        """[l - t, u + t], empty where -2 t > u - l."""
        prediction, t = _with_numbers("t", prediction, t)
        lower, upper = _bounds(prediction)
        return lower - t, upper + t

    def log_slope(self, prediction: Interval | Quantiles, y: Array) -> Array:
        """log 1."""
        _, y = _with_numbers("y", prediction, y)
        return namespace(y).zeros_like(y)

    def branches(self, prediction: Interval | Quantiles) -> tuple[Transform, Transform, Array]:
        """y - l and y - u, straight lines."""
        lower, upper = _bounds(prediction)
        one = namespace(lower).ones_like(lower)
        return Affine(lower, one), Affine(upper, one), self.minimiser(prediction)


def _bounds(prediction: Any) -> tuple[Array, Array]:
    if isinstance(prediction, Interval):
        return prediction.lower, prediction.upper
    if isinstance(prediction, Quantiles):
        return prediction.values[:, 0], prediction.values[:, -1]
    raise TypeError(f"CQR takes an Interval or Quantiles, got {prediction!r}")


def _with_numbers(name: str, prediction: Any, value: Any) -> tuple[Any, Array]:
    """A prediction, and a number for each of its rows; a single one stands for all."""
    prediction = promoted(as_prediction(prediction), value)
    value = floats(name, value, like=prediction.like, allow_inf=True)
    if value.ndim == 0:
        value = namespace(value).broadcast_to(value, (len(prediction),))
    if value.ndim != 1:
        raise ValueError(f"{name} must be 1-d, got shape {tuple(value.shape)}")
    same_length("the prediction", len(prediction), name, value.shape[0])
    return prediction, value
