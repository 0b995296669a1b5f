"""Non-conformity a(f(x), y): how badly y fits the prediction. Small in the middle, larger on either side.

A non-conformity score is proper if it is continuous and strictly unimodal in y: it falls up to its minimiser
and rises from there on. Its level sets {y : a(f(x), y) <= t} are then intervals, of which
`calibrant.intervals` finds the right one, and `calibrant.scores.signed` turns it into a calibration score
(Theorem 2).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import KW_ONLY, dataclass, replace
from functools import reduce, singledispatch
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, complain, device_like, floats, namespace, same_length
from calibrant._batch import promoted
from calibrant.interpolators.support import Logits
from calibrant.predictions import Interval, Quantiles, as_prediction
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    IntervalScore,
    LocationScaleScore,
    QuantileScore,
    ResidualScore,
    SamplesScore,
    ZScore,
)
from calibrant.scores.base import ChartScore, no_rows
from calibrant.scores.charts import Chart
from calibrant.scores.signed import After, Parted, SignedChart, SignedScore


class Nonconformity(ABC):
    """a(f(x), y), strictly unimodal in y. To write your own, give four functions of one value a row.

    >>> class SquaredResidual(Nonconformity):
    ...     def value(self, prediction, y):
    ...         return (y - prediction.values) ** 2
    ...
    ...     def minimiser(self, prediction):
    ...         return prediction.values
    ...
    ...     def level_set(self, prediction, t):
    ...         return prediction.values - np.sqrt(t), prediction.values + np.sqrt(t)
    ...
    ...     def log_slope(self, prediction, y):
    ...         return np.log(2 * np.abs(y - prediction.values))
    >>> check_nonconformity(SquaredResidual(), [1.0, 2.0], np.linspace(-3, 5, 30))
    """

    @property
    def unit_free(self) -> bool:
        """Whether the value stays the same when y changes its unit."""
        return True

    @abstractmethod
    def value(self, prediction: Any, y: Array) -> Array:
        """a(f(x_i), y_i)."""

    @abstractmethod
    def minimiser(self, prediction: Any) -> Array:
        """The y with the smallest a(f(x_i), y)."""

    @abstractmethod
    def level_set(self, prediction: Any, t: Array) -> tuple[Array, Array]:
        """The ends (lower, upper) of {y : a(f(x_i), y) <= t}, empty where lower > upper.

        t is one number for all rows, or one a row.
        """

    @abstractmethod
    def log_slope(self, prediction: Any, y: Array) -> Array:
        """log |da/dy| at y_i."""

    def learn(self, prediction: Any) -> tuple[Self, NDArray[np.bool_]]:
        """What `fit` keeps, and which calibration rows it mends, as `ChartScore.learn`: here itself, and none."""
        return self, no_rows(as_prediction(prediction))

    def signed_chart(self, prediction: Any) -> Chart:
        """The chart of `calibrant.scores.signed`, from the four functions above."""
        return SignedChart.of(self, prediction)


class _AroundCentre(Nonconformity):
    """|phi(f(x), y) - centre| for a calibration score phi."""

    @abstractmethod
    def _chart(self, prediction: Any) -> tuple[Chart, float]:
        """The chart of phi, and the centre."""

    def value(self, prediction: Any, y: Array) -> Array:
        """|phi(f(x_i), y_i) - centre|."""
        prediction, y = _rows("y", prediction, y)
        chart, centre = self._chart(prediction)
        return namespace(y).abs(chart(y[:, None])[:, 0] - centre)

    def minimiser(self, prediction: Any) -> Array:
        """The y whose score is the centre."""
        lower, _ = self.level_set(prediction, 0.0)
        return lower

    def level_set(self, prediction: Any, t: Array) -> tuple[Array, Array]:
        """The y whose scores are centre -+ t."""
        prediction, t = _rows("t", prediction, t)
        chart, centre = self._chart(prediction)
        return chart.inverse((centre - t)[:, None])[:, 0], chart.inverse((centre + t)[:, None])[:, 0]

    def log_slope(self, prediction: Any, y: Array) -> Array:
        """That of phi."""
        prediction, y = _rows("y", prediction, y)
        return self._chart(prediction)[0].log_slope(y[:, None])[:, 0]

    def signed_chart(self, prediction: Any) -> Chart:
        """The chart of phi, parted at the centre: H keeps the closed forms that phi has."""
        chart, centre = self._chart(as_prediction(prediction))
        return After(chart, Parted(device_like(centre, chart._like)))


@dataclass(frozen=True)
class AbsoluteResidual(_AroundCentre):
    """|y - f|, of a Point.

    >>> AbsoluteResidual().value([1.0, 2.0], [1.5, 0.0])
    array([0.5, 2. ])
    """

    @property
    def unit_free(self) -> bool:
        """It has the unit of y."""
        return False

    def _chart(self, prediction: Any) -> tuple[Chart, float]:
        return ResidualScore().chart_of(prediction), 0.0


@dataclass(frozen=True)
class NormalizedResidual(_AroundCentre):
    """|y - mean(F)| / max(std(F), floor), of a distribution F, such as Normal(f, sigma); for the floor see `ZScore`.

    >>> from calibrant import Normal
    >>> NormalizedResidual().level_set(Normal([0.0, 1.0], [1.0, 2.0]), 1.5)
    (array([-1.5, -2. ]), array([1.5, 4. ]))
    """

    _: KW_ONLY
    floor: float | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "floor", ZScore(floor=self.floor).floor)

    def learn(self, prediction: Any) -> tuple[Self, NDArray[np.bool_]]:
        """The floor of the z-score."""
        score, mended = ZScore(floor=self.floor).learn(prediction)
        return replace(self, floor=score.floor), mended

    def _chart(self, prediction: Any) -> tuple[Chart, float]:
        return ZScore(floor=self.floor).chart_of(prediction), 0.0


@dataclass(frozen=True)
class Centred(_AroundCentre):
    """|phi(f(x), y) - centre| for any calibration score phi that has a chart.

    The centre is given in the form that `score(prediction, y)` has: for the cdf score a logit. By default it
    is the middle of the score: 1/2 for interval, quantile and samples, 0 for residual, z-score and cdf
    (|logit u| orders labels as |u - 1/2| does, but does not saturate), and for an ensemble the weighted sum
    of its members' middles, so 0 for the paper's.

    >>> Centred(IntervalScore()).value(Interval([0.0], [4.0]), [5.0])
    array([0.75])
    """

    score: ChartScore
    centre: float | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.score, ChartScore):
            raise TypeError(f"Centred.score must be a calibration score that has a chart, got {self.score!r}")
        if self.centre is not None:
            centre = floats("Centred.centre", self.centre, ndim=0)
            object.__setattr__(self, "centre", float(centre))

    @property
    def unit_free(self) -> bool:
        """That of the score."""
        return self.score.unit_free

    def learn(self, prediction: Any) -> tuple[Self, NDArray[np.bool_]]:
        """What the score learns."""
        score, mended = self.score.learn(prediction)
        return replace(self, score=score), mended

    def _chart(self, prediction: Any) -> tuple[Chart, float]:
        chart = self.score.chart_of(prediction)
        return chart, middle(self.score, prediction) if self.centre is None else self.centre


@dataclass(frozen=True)
class CQR(Nonconformity):
    """max(l - y, y - u), of an Interval [l, u] or the outermost Quantiles; negative inside.

    Romano, Patterson and Candes (2019), Conformalized quantile regression.

    >>> CQR().value(Interval([0.0, 0.0], [4.0, 4.0]), [1.0, 5.0])
    array([-1.,  1.])
    """

    @property
    def unit_free(self) -> bool:
        """It has the unit of y."""
        return False

    def value(self, prediction: Any, y: Array) -> Array:
        """max(l - y, y - u)."""
        prediction, y = _rows("y", prediction, y)
        lower, upper = _bounds(prediction)
        return namespace(y).maximum(lower - y, y - upper)

    def minimiser(self, prediction: Any) -> Array:
        """(l + u) / 2."""
        lower, upper = _bounds(as_prediction(prediction))
        return lower + (upper - lower) / 2

    def level_set(self, prediction: Any, t: Array) -> tuple[Array, Array]:
        """[l - t, u + t], empty where -2 t > u - l."""
        prediction, t = _rows("t", prediction, t)
        lower, upper = _bounds(prediction)
        return lower - t, upper + t

    def log_slope(self, prediction: Any, y: Array) -> Array:
        """log 1."""
        _, y = _rows("y", prediction, y)
        return namespace(y).zeros_like(y)


@singledispatch
def middle(score: Any, prediction: Any) -> float:
    """The score of a label in the middle of the prediction; register your own score's with `middle.register`.

    >>> middle(IntervalScore(), Interval([0.0], [1.0])), middle(ResidualScore(), [0.0])
    (0.5, 0.0)
    """
    raise TypeError(f"no middle is known for {type(score).__name__}: pass Centred a centre")


@middle.register(LocationScaleScore)
@middle.register(CDFScore)
@middle.register(SignedScore)
def _zero(score: Any, prediction: Any) -> float:
    """loc, the median (its logit is 0), the minimiser."""
    return 0.0


@middle.register(IntervalScore)
@middle.register(SamplesScore)
def _half(score: Any, prediction: Any) -> float:
    return 0.5


@middle.register(QuantileScore)
def _half_or_zero(score: Any, prediction: Any) -> float:
    """1/2; 0 for a single quantile, whose score is the residual."""
    return 0.0 if prediction.levels.shape[0] == 1 else 0.5


@middle.register(EnsembleScore)
def _sum(score: EnsembleScore, prediction: Any) -> float:
    """sum of w_k middle_k."""
    if isinstance(score.support, Logits):  # cdf scores alone become the logit of the pooled law
        return 0.0
    # beside others a cdf score enters as F(y) itself
    members = zip(score._scores(prediction), prediction.members, prediction.weights, strict=True)
    return float(sum(w * (0.5 if isinstance(s.support, Logits) else middle(s, member)) for s, member, w in members))


def check_nonconformity(nonconformity: Nonconformity, prediction: Any, y_grid: Any) -> None:
    """Raise ValueError unless a(f(x), y) is strictly unimodal in y, with this minimiser, level set and slope.

    Looks at every row of the prediction at the points of `y_grid`, which should surround the labels. What it
    refuses is wrong; what it passes may still be wrong between the points.

    >>> check_nonconformity(CQR(), Interval([0.0, 1.0], [2.0, 5.0]), np.linspace(-10, 10, 50))
    """
    prediction = as_prediction(prediction)
    grid = floats("y_grid", y_grid, like=prediction._like, ndim=1)
    xp = namespace(grid)
    if grid.shape[0] < 2 or bool(xp.any(grid[1:] <= grid[:-1])):
        raise ValueError("y_grid must hold at least two points in strictly increasing order")
    minimiser = nonconformity.minimiser(prediction)
    if tuple(minimiser.shape) != (len(prediction),):
        raise ValueError(
            f"{type(nonconformity).__name__}.minimiser must give one value for each of {len(prediction)} rows,"
            f" got shape {tuple(minimiser.shape)}"
        )
    points = _Points(nonconformity, prediction, grid, minimiser[:, None])
    points.check_value()
    points.check_level_set()
    points.check_slope()


@dataclass(frozen=True)
class _Points:
    """The points of a grid in every row of a prediction."""

    nonconformity: Nonconformity
    prediction: Any
    grid: Array
    minimiser: Array

    def _at(self, function: Any, y: Array) -> Array:
        """A function of one value a row, at (rows, points)."""
        xp = namespace(y)
        rows, count = len(self.prediction), self.grid.shape[0]
        repeated = self.prediction[np.repeat(np.arange(rows), count)]
        result = function(repeated, xp.reshape(xp.broadcast_to(y, (rows, count)), (-1,)))
        return xp.reshape(result, (rows, count))

    def _refuse(self, method: str, bad: Array, what: str) -> None:
        if bool(namespace(bad).any(bad)):
            complain(f"{type(self.nonconformity).__name__}.{method}", bad, what)

    def check_value(self) -> None:
        """Finite, smallest at the minimiser, strictly falling before it and strictly rising after it."""
        xp, m, grid = namespace(self.grid), self.minimiser, self.grid[None, :]
        value = self._at(self.nonconformity.value, grid)
        least = self.nonconformity.value(self.prediction, m[:, 0])[:, None]
        self._refuse("value", ~xp.isfinite(value), "is not finite")
        steps = value[:, 1:] - value[:, :-1]
        rounding = 100 * xp.finfo(value.dtype).eps * xp.max(xp.abs(value))
        self._refuse("value", value < least - rounding, "is smaller elsewhere than at its minimiser")
        self._refuse("value", (grid[:, 1:] <= m) & (steps >= 0), "does not fall strictly up to its minimiser")
        self._refuse("value", (grid[:, :-1] >= m) & (steps <= 0), "does not rise strictly from its minimiser on")

    def check_level_set(self) -> None:
        """Up to y itself where t is the value at y."""
        a, xp = self.nonconformity, namespace(self.grid)
        y = xp.broadcast_to(self.grid[None, :], (len(self.prediction), self.grid.shape[0]))
        t = self._at(a.value, y)
        lower = self._at(lambda rows, t: a.level_set(rows, t)[0], t)
        upper = self._at(lambda rows, t: a.level_set(rows, t)[1], t)
        self._refuse("level_set", ~(lower <= upper), "has its ends in the wrong order")
        off = xp.abs(xp.where(y < self.minimiser, lower, upper) - y)
        # half the digits: where the value is flat, as a square is, rounding moves its level set that much
        slack = xp.finfo(self.grid.dtype).eps ** 0.5 * (xp.max(xp.abs(self.grid)) + xp.abs(y - self.minimiser))
        self._refuse("level_set", ~(off <= slack), "does not end where the value is t")

    def check_slope(self) -> None:
        """The rise of the value over a short step: either way, to the left or to the right, in case it bends."""
        a, xp, grid = self.nonconformity, namespace(self.grid), self.grid
        eps = xp.finfo(grid.dtype).eps
        step = eps**0.33 * (xp.abs(grid) + grid[-1] - grid[0])[None, :]
        # at the minimiser itself there may be no slope
        y = xp.where(xp.abs(grid - self.minimiser) < 4 * step, self.minimiser + 4 * step, grid)
        left, here, right = (self._at(a.value, y + k * step) for k in (-1, 0, 1))
        slope = xp.exp(self._at(a.log_slope, y))
        rises = (right - left) / 2, here - left, right - here
        off = reduce(xp.minimum, (xp.abs(xp.abs(rise) - slope * step) for rise in rises))
        slack = 1e-3 * slope * step + 10 * eps * (xp.abs(here) + slope * xp.abs(y))
        self._refuse("log_slope", ~(off <= slack), "is not the log of the slope of the value")


def _rows(name: str, prediction: Any, value: Any) -> tuple[Any, Array]:
    """A prediction, and a value for each of its rows; a single number stands for all."""
    prediction = promoted(as_prediction(prediction), value)
    value = floats(name, value, like=prediction._like, allow_inf=True)
    if value.ndim == 0:
        value = namespace(value).broadcast_to(value, (len(prediction),))
    if value.ndim != 1:
        raise ValueError(f"{name} must be 1-d, got shape {tuple(value.shape)}")
    same_length("the prediction", len(prediction), name, value.shape[0])
    return prediction, value


def _bounds(prediction: Any) -> tuple[Array, Array]:
    if isinstance(prediction, Interval):
        return prediction.lower, prediction.upper
    if isinstance(prediction, Quantiles):
        return prediction.values[:, 0], prediction.values[:, -1]
    raise TypeError(f"CQR takes an Interval or Quantiles, got {prediction!r}")
