"""A tracker: a calibrated distribution whose quantiles at some levels follow the labels as they arrive.

In the long run each level is met, under any drift. docs/time-proofs.md has the proof.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import isotonic_regression

from calibrant._arguments import positive
from calibrant._arrays import Rng, floats, to_numpy
from calibrant._batch import have_labels, some_rows
from calibrant._calibrated import CalledWithPredictions
from calibrant._types import ArrayLike, Bound
from calibrant._words import count
from calibrant.calibration import Calibrated
from calibrant.distributions.base import Distribution
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.pulled import ByRow, Pull, PulledBroken
from calibrant.forecast import PredictionLike
from calibrant.forms import increasing
from calibrant.guarantee import Guarantee
from calibrant.predictions.point import as_prediction
from calibrant.scores.nonconformity import SignedScore
from calibrant.scores.transforms.base import BrokenLine
from calibrant.scores.transforms.combined import compose
from calibrant.updating import scores_of

__all__ = ["Tracker"]

Numbers = NDArray[np.float64]

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Levels that hold the bounds of a 90% interval and the quartiles."""

SHARE = 0.05
"""The default step, in interquartile ranges of q: results/tracking.md compares others."""


@dataclass(frozen=True, eq=False, repr=False)
class Tracker(CalledWithPredictions):
    """Positions theta_1 <= ... <= theta_K on the score axis that follow the quantiles of the scores at K levels.

    After each label, theta_k moves up by step * level_k if the score was above it, else down by step * (1 - level_k);
    positions that cross share their mean. In the long run the share of scores at or below theta_k is level_k, whatever
    the rows do, see `Guarantee`. The distribution of a row is the calibrated q, laid through these positions. A
    value never changes: `update` gives a new one.

    Args:
        calibrated: Where it starts, and what the distribution is between and beyond the levels.
        levels: The tracked levels, increasing, inside (0, 1).
        step: In units of the scores. By default a twentieth of the interquartile range of q.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> tracker = Tracker(Calibrator().fit(np.zeros(500), rng.normal(size=500)))
    >>> y = 2.0 + rng.normal(size=3000)  # the labels have moved up by 2
    >>> H, after = tracker.run(np.zeros(3000), y)  # the distribution of each row, made before its label was seen
    >>> lower, upper = H.interval(0.9)
    >>> round(float(np.mean((lower < y) & (y <= upper))), 2)
    0.9
    >>> tracker([0.0]).median().round(1), after([0.0]).median().round(1)
    (array([-0.1]), array([2.]))
    """

    calibrated: Calibrated
    levels: tuple[float, ...] = LEVELS
    step: float = None  # type: ignore[assignment]
    raw_positions: Numbers = None  # type: ignore[assignment]
    """The positions after the steps, which may cross; `positions` are in order."""
    covered: NDArray[np.int64] = None  # type: ignore[assignment]
    """How many labels were at or below each level's quantile so far."""
    rows: int = 0
    """The rows with a label so far."""
    extremes: tuple[float, float] = None  # type: ignore[assignment]
    """The least and the largest score so far."""

    if TYPE_CHECKING:  # what is not given is filled in: None goes in, and never comes out

        def __init__(self, calibrated: Calibrated, levels: Iterable[float] = ..., step: float | None = None,
                     raw_positions: Numbers | None = None, covered: NDArray[np.int64] | None = None, rows: int = 0,
                     extremes: tuple[float, float] | None = None) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        q = _continuous(self.calibrated)
        levels = increasing("Tracker.levels", floats("Tracker.levels", self.levels, ndim=1).tolist())
        object.__setattr__(self, "levels", levels)
        start, history = self._quantiles, self.calibrated.history
        known = start if history is None else np.append(to_numpy(history.scores), start)
        step: float | None = self.step
        defaults = {
            "step": _default_step(q) if step is None else positive("Tracker.step", step),
            "raw_positions": start,
            "covered": np.zeros(len(levels), np.int64),
            "extremes": (float(known.min()), float(known.max())),
        }
        for name, value in defaults.items():
            if name == "step" or getattr(self, name) is None:
                object.__setattr__(self, name, value)
        sizes = len(levels), self.raw_positions.size, self.covered.size
        if len(set(sizes)) > 1:
            raise ValueError("{} levels do not go with {} positions and {} counts".format(*sizes))
        if not 0 <= self.covered.min() <= self.covered.max() <= self.rows:
            raise ValueError(f"its counts must lie between 0 and its {count(self.rows, 'row')}")
        if len(self.extremes) != 2 or self.extremes[0] > self.extremes[1]:
            raise ValueError("its least score must not be above its largest")

    @cached_property
    def _quantiles(self) -> Numbers:
        """Those of q at the levels, where the positions start."""
        found = np.asarray(to_numpy(self.calibrated.q.ppf(np.asarray(self.levels))), np.float64)
        for level, value in zip(self.levels, found, strict=True):
            if not math.isfinite(value):
                n = self.calibrated.guarantee.n
                raise ValueError(f"q has no finite quantile at level {level:g}: n = {n} calibration rows are too few")
        for (low, a), (high, b) in pairwise(zip(self.levels, found, strict=True)):
            if a >= b:
                raise ValueError(
                    f"q has the same quantile at the levels {low:g} and {high:g}, where calibration scores are tied:"
                    " track fewer levels"
                )
        return found

    @property
    def positions(self) -> Numbers:
        """theta: the scores at which the next row's distribution has its tracked levels."""
        return np.asarray(in_order(self.raw_positions.tolist()))

    @property
    def guarantee(self) -> Guarantee:
        """Over any T rows in a row the share of labels at or below a tracked quantile is near its level, to lambda / T.

        lambda = (b - a) / step + K, for each of the K levels and any rows whatever, as long as their scores lie in
        [a, b], the range so far. docs/time-proofs.md has the proof.
        """
        lowest, highest = self.extremes
        moves = (highest - lowest) / self.step + len(self.levels)
        return Guarantee(self.rows, moves, basis="long run", names=self.levels)

    def __call__(self, prediction: PredictionLike, *, bound: Bound = None, seed: int | None = None) -> Distribution:
        """The distributions of the next rows, at the current positions.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            bound: The bound of y in each row, as in `Calibrator.fit`.
            seed: A whole number: a row then has the same random number in any batch and any order.
        """
        prediction = as_prediction(prediction)
        return self._at(np.tile(self.positions, (len(prediction), 1)), prediction, bound, seed)

    def update(self, prediction: PredictionLike, y: ArrayLike, *, bound: Bound = None, rng: Rng = None) -> Tracker:
        """The tracker after these rows, in time order. A row whose label is NaN is skipped.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            y: The labels: one number per row.
            bound: The bound of y in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, for labels that are drawn, such as counts; a fresh one by default.
        """
        return self._walked(as_prediction(prediction), y, bound, rng)[1]

    def run(
        self,
        prediction: PredictionLike,
        y: ArrayLike,
        *,
        bound: Bound = None,
        rng: Rng = None,
        seed: int | None = None,
    ) -> tuple[Distribution, Tracker]:
        """The distribution of each row, made before its label was seen, and the tracker after all rows, in time order.

        A row whose label is NaN has a distribution too, and is otherwise skipped.

        Args:
            prediction: What the model predicts: `Point`, `Quantiles`, ..., a distribution, or an array of points.
            y: The labels: one number per row.
            bound: The bound of y in each row, as in `Calibrator.fit`.
            rng: A `numpy.random.Generator`, for labels that are drawn, such as counts; a fresh one by default.
            seed: A whole number: a row then has the same random number in any batch and any order.
        """
        prediction = as_prediction(prediction)
        positions, after = self._walked(prediction, y, bound, rng)
        return self._at(positions, prediction, bound, seed), after

    def _at(self, positions: Numbers, prediction: Any, bound: Bound, seed: int | None) -> Distribution:
        """H of each row, with a row of positions for each."""
        prediction.check_form(self.calibrated.form)
        q = tracked_distribution(self.calibrated.q.to(positions), self._quantiles, positions)
        return replace(self.calibrated, q=q)(prediction, bound=bound, seed=seed)

    def _walked(self, prediction: Any, y: Any, bound: Bound, rng: Rng) -> tuple[Numbers, Tracker]:
        """The positions of each row before its label was seen, and the tracker after all rows."""
        scores, there = np.full(len(prediction), math.nan), have_labels(y, len(prediction), "skipped")
        if there is None:
            there = np.ones(len(prediction), bool)
        else:
            prediction, y, bound = (some_rows(each, there) for each in (prediction, y, bound))
        if there.any() or not there.size:
            scores[there] = to_numpy(scores_of(self.calibrated, prediction, y, bound=bound, rng=rng)[0])
        path, raw_positions, covered = walk(scores, self.levels, self.step, self.raw_positions)
        seen, (low, high) = scores[there], self.extremes
        after = replace(
            self,
            raw_positions=raw_positions,
            covered=self.covered + covered,
            rows=self.rows + len(seen),
            extremes=(float(np.min(seen, initial=low)), float(np.max(seen, initial=high))),
        )
        return path, after

    def __repr__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.levels)
        return f"Tracker(levels=({levels}), step={self.step:.3g}, rows={self.rows})"


def _continuous(calibrated: Any) -> Distribution:
    """q, which must be one continuous distribution for all rows."""
    if not isinstance(calibrated, Calibrated):
        raise TypeError(f"a Tracker takes what Calibrator.fit gives, a Calibrated, got {type(calibrated).__name__}")
    q = calibrated.q
    if q.shape or isinstance(q, (ByRow, Grouped)):
        raise TypeError(
            f"a tracker takes a q that is the same for all rows, which {type(q).__name__} is not: fit without by= and"
            " weights=, and not with Random"
        )
    if isinstance(calibrated.score, SignedScore):
        raise TypeError("a tracker takes a continuous score, and one made by signed() jumps")
    if isinstance(q, PiecewiseLinear) and q.has_atoms_only:
        raise TypeError("a tracker takes a continuous q, and this one has atoms: calibrate with Linear or NAF")
    return q


def _default_step(q: Distribution) -> float:
    low, high = to_numpy(q.ppf(np.asarray([0.25, 0.75])))
    step = SHARE * float(high - low)
    if not 0 < step < math.inf:
        raise ValueError("half of the calibration scores are equal, so there is no default step: give step=")
    return step


# ---- the steps -------------------------------------------------------------------------------------------------------


def walk(
    scores: Numbers, levels: Sequence[float], step: float, raw_positions: Numbers
) -> tuple[Numbers, Numbers, NDArray[np.int64]]:
    """h_k <- h_k + step (level_k - 1{s <= theta_k}), theta = the increasing sequence nearest to h. A NaN is no step.

    Gives theta before each score, (n, K); h after the last; and how many scores were at or below each theta_k. What is
    kept is h, which is never put in order itself. So the steps add up to the distance from start to end, and the
    long-run statement follows from how far h can go, see docs/time-proofs.md.
    """
    K = len(levels)
    # with j positions below the score, the first j levels go up and the others down
    moves = [[step * (level - (k >= j)) for k, level in enumerate(levels)] for j in range(K + 1)]
    h, path, below = raw_positions.tolist(), [], []
    for s in scores.tolist():
        theta = in_order(h)
        path.append(theta)
        if s == s:  # a label is there
            j = bisect_left(theta, s)
            below.append(j)
            h = [position + move for position, move in zip(h, moves[j], strict=True)]
    covered = np.cumsum(np.bincount(np.asarray(below, np.int64), minlength=K + 1))[:K]
    return np.asarray(path, np.float64).reshape(-1, K), np.asarray(h, np.float64), covered


def in_order(values: list[float]) -> list[float]:
    """The increasing sequence with the least sum of squared distances: neighbours that cross share their mean."""
    if values == sorted(values):
        return values
    return isotonic_regression(values).x.tolist()


# ---- the distribution ------------------------------------------------------------------------------------------------

LEAST = 1e-6
"""The least gap between two positions, in mean gaps of the calibrated quantiles."""


class TrackedDistributions(PulledBroken, ByRow):
    """q(T_t(s)): one q for all rows, and a broken line for each."""

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """H: q pulled back through the row's own map and then its line; two broken lines stay apart, and exact."""
        if isinstance(map, BrokenLine):
            return PulledBroken(map, PulledBroken(self.map, self.q))
        return pull(self.q, compose(map, self.map))


def tracked_distribution(q: Distribution, quantiles: Numbers, positions: Numbers) -> Distribution:
    """q_t(s) = q(T_t(s)), T_t the broken line through (positions[t, k], quantiles[k]), for each row t of the positions.

    Beyond the outer positions T_t has its mean slope, so tails stretch as much as what lies between. One level alone
    moves q and stretches nothing.
    """
    rise = np.diff(quantiles)
    mean = np.ones_like(positions)
    if rise.size:
        positions = separated(positions, LEAST * float(rise.mean()))
        mean = rise.sum() / (positions[:, -1:] - positions[:, :1])
    slopes = np.concatenate([mean, rise / np.diff(positions, axis=1), mean], axis=1)
    line: Any = BrokenLine(positions, quantiles[None, :], slopes)
    return TrackedDistributions(line, q)


def separated(positions: Numbers, least: float) -> Numbers:
    """Positions that coincide, set `least` apart or, far from 0, a few floats; all others stay as they are."""
    steps = least + 4 * np.spacing(np.abs(positions).max(axis=1, keepdims=True, initial=0.0))
    short = (np.diff(positions, axis=1) < steps).any(axis=1)
    lift = steps[short] * np.arange(positions.shape[1])
    new = positions.copy()
    new[short] = np.maximum.accumulate(positions[short] - lift, axis=1) + lift
    return new
