"""Conformal intervals: {y : a(f(x), y) <= t}, with t a quantile of the calibration rows' non-conformities.

Theorem 2, as corrected: let H be calibrated with `signed(nonconformity)` and a linear q (or any other of
accuracy 0). Where the interval [L, U] from the same n rows is bounded and not empty, H(U) - H(L) - c lies in
[-1, 1] / (n + 1). With the paper's rank, floor(n c) + 1, it lies in [-(1 + c), 1 - c] / (n + 1): the bound in the
paper, +-(1 - c) / (n + 1), comes from a slip in the last step of its proof.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import KW_ONLY, dataclass

from scipy.special import betaincinv

from calibrant._arguments import unit
from calibrant._arrays import Array, complain, first_and_count, largest_tie_of, namespace
from calibrant._types import ArrayLike
from calibrant.forecast import PredictionLike
from calibrant.forms import Form
from calibrant.guarantee import as_written, floor_words, required_n_for_interval
from calibrant.predictions import with_labels
from calibrant.predictions.point import as_prediction
from calibrant.scores.nonconformity import Nonconformity


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

    >>> from calibrant.intervals import AbsoluteResidual
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
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
        """
        prediction, y = with_labels(prediction, y)
        n = y.shape[0]
        if n == 0:
            raise ValueError("calibration needs at least one row, got none")
        nonconformity, floored_rows = self.nonconformity.learn(prediction)
        values = nonconformity.value(prediction, y)
        xp = namespace(values)
        if bool(xp.any(~xp.isfinite(values))):
            complain(f"the value of {nonconformity!r}", ~xp.isfinite(values), "is not finite")
        rank = int(self.rank(n, self.coverage))
        if rank < 1:
            raise ValueError(f"ConformalInterval.rank must give at least 1, got {rank} for n = {n}")
        values = xp.sort(values)
        threshold = float(values[rank - 1]) if rank <= n else math.inf
        tied = bool(xp.any(values[1:] == values[:-1]))
        largest_tie, floored = largest_tie_of(values) if tied else 1, int(xp.count_nonzero(floored_rows))
        guarantee = IntervalGuarantee(self.coverage, n, rank, largest_tie, floored)
        return FittedInterval(nonconformity, threshold, guarantee, prediction.form())

    def __repr__(self) -> str:
        rank = getattr(self.rank, "__name__", repr(self.rank))
        return f"ConformalInterval({self.nonconformity!r}, {self.coverage}, rank={rank})"


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
class FittedInterval:
    """{y : a(f(x), y) <= threshold} for each row, as (lower, upper).

    With an infinite threshold every row is (-inf, inf). Where no y conforms enough, as can happen with CQR,
    the interval is empty: (nan, nan), counted in one warning. No label lies in it, its width is nan, and no
    later step can take it for an interval, as it could bounds in the wrong order.
    """

    nonconformity: Nonconformity
    threshold: float
    guarantee: IntervalGuarantee
    form: Form | None = None
    """The kind, levels, draws and members of what was calibrated: predictions must have them too. None is not known."""

    @property
    def rank(self) -> int:
        """Which of the sorted calibration values the threshold is; above n it is infinite."""
        return self.guarantee.rank

    @property
    def n(self) -> int:
        """The number of calibration rows."""
        return self.guarantee.n

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
        xp = namespace(lower)
        empty = lower > upper
        if not bool(xp.any(empty)):
            return lower, upper
        first, count = first_and_count(empty)
        warnings.warn(
            f"{count} of {len(prediction)} intervals are empty, the first is row {first}: no y there has a"
            f" non-conformity as low as {self.threshold:.6g}; their bounds are nan",
            stacklevel=2,
        )
        nothing = xp.full_like(lower, math.nan)
        return xp.where(empty, nothing, lower), xp.where(empty, nothing, upper)
