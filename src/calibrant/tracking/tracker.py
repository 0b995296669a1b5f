"""A tracker: a calibrated distribution whose quantiles at some levels follow the labels as they arrive."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import one_number
from calibrant._arrays import Rng, to_numpy
from calibrant._batch import some_rows
from calibrant._calibrated import CalledWithPredictions
from calibrant._types import ArrayLike, Bound
from calibrant._words import count, singular_if_one, the_first, warn_user
from calibrant.calibration import Calibrated
from calibrant.distributions.base import Distribution
from calibrant.distributions.grouped import Grouped
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.pulled import ByRow
from calibrant.forecast import PredictionLike
from calibrant.forms import Form
from calibrant.guarantee import Guarantee
from calibrant.labels import Labels
from calibrant.predictions.point import as_prediction
from calibrant.scores.nonconformity import SignedScore
from calibrant.tracking.distribution import tracked_distribution
from calibrant.tracking.steps import Numbers, Walk, in_order, walk
from calibrant.updating import scores_of

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
"""Levels that hold the bounds of a 90% interval and the quartiles."""

SHARE = 0.05
"""The default step, in interquartile ranges of q: results/tracking.md compares others."""

FINEST = 1e4
"""The least step, in gaps between floats: rounding then moves a share by less than 1e-4."""


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
    extremes: tuple[float, float] = (math.inf, -math.inf)
    """The least and the largest score so far."""

    if TYPE_CHECKING:  # what is not given is filled in: None goes in, and never comes out

        def __init__(self, calibrated: Calibrated, levels: Iterable[float] = ..., step: float | None = None,
                     raw_positions: Numbers | None = None, covered: NDArray[np.int64] | None = None, rows: int = 0,
                     extremes: tuple[float, float] = ...) -> None: ...  # fmt: skip

    def __post_init__(self) -> None:
        levels, q = checked_levels(self.levels), checked_distribution(self.calibrated)
        object.__setattr__(self, "levels", levels)
        quantiles = self._quantiles
        given: float | None = self.step
        if given is None:
            quarter, three = to_numpy(q.ppf(np.asarray([0.25, 0.75])))
            step = SHARE * float(three - quarter)
            if not 0 < step < math.inf:
                raise ValueError("half of the calibration scores are equal, so there is no default step: give step=")
        else:
            step = one_number("Tracker.step", given)
            if not 0 < step < math.inf:
                raise ValueError(f"Tracker.step must be positive and finite, got {given!r}")
        far = float(np.abs(quantiles).max())
        if step < FINEST * np.spacing(far):  # a position would round its steps away, and rest where it is
            raise ValueError(
                f"a step of {step:.3g} is lost in rounding next to scores of {far:.3g}: take a constant from y that"
                " makes the scores smaller"
            )
        object.__setattr__(self, "step", step)
        raw_positions: Numbers | None = self.raw_positions
        if raw_positions is None:
            history = self.calibrated.history
            known = quantiles if history is None else np.append(to_numpy(history.scores), quantiles)
            object.__setattr__(self, "raw_positions", quantiles)
            object.__setattr__(self, "extremes", (float(known.min()), float(known.max())))
        covered: NDArray[np.int64] | None = self.covered
        if raw_positions is None or covered is None:
            object.__setattr__(self, "covered", np.zeros(len(levels), np.int64))
        self._check()

    def _check(self) -> None:
        """A position and a count for each level."""
        levels, raw_positions, covered, ends = self.levels, self.raw_positions, self.covered, self.extremes
        if not len(levels) == raw_positions.size == covered.size:
            raise ValueError(
                f"{len(levels)} levels do not go with {raw_positions.size} positions and {covered.size} counts"
            )
        if not 0 <= covered.min() <= covered.max() <= self.rows:
            raise ValueError(f"its counts must lie between 0 and its {count(self.rows, 'row')}, got {covered.min()}")
        if len(ends) != 2 or math.inf > ends[0] > ends[1]:  # inf and -inf before the first score
            raise ValueError("its least score must not be above its largest")

    @cached_property
    def _quantiles(self) -> Numbers:
        """Those of q at the levels, where the positions start."""
        found = np.asarray(to_numpy(self.calibrated.q.ppf(np.asarray(self.levels))), np.float64)
        for level, value in zip(self.levels, found, strict=True):
            if not math.isfinite(value):
                n = self.calibrated.guarantee.n
                raise ValueError(f"q has no finite quantile at level {level:g}: n = {n} calibration rows are too few")
        if (np.diff(found) <= 0).any():
            k = int(np.argmax(np.diff(found) <= 0))
            raise ValueError(
                f"q has the same quantile at the levels {self.levels[k]:g} and {self.levels[k + 1]:g}, where"
                " calibration scores are tied: track fewer levels"
            )
        return found

    @property
    def positions(self) -> Numbers:
        """theta: the scores at which the next row's distribution has its tracked levels."""
        return np.asarray(in_order(self.raw_positions.tolist()))

    @property
    def form(self) -> Form | None:
        """The kind of prediction that was calibrated."""
        return self.calibrated.form

    @property
    def labels(self) -> Labels | None:
        """What kind of number a label is."""
        return self.calibrated.labels

    @property
    def guarantee(self) -> Guarantee:
        """Over any T rows in a row the share of labels at or below a tracked quantile is near its level, to lambda / T.

        lambda = (b - a) / step + K, for each of the K levels and any rows whatever, as long as their scores lie in
        [a, b], the range so far. docs/time.md has the proof.
        """
        lowest, highest = self.extremes
        moves = (highest - lowest) / self.step + len(self.levels)
        return Guarantee(self.rows, moves, basis="long run", names=self.levels)

    def __call__(self, prediction: PredictionLike, *, bound: Bound = None, seed: int | None = None) -> Distribution:
        """The distributions of the next rows, at the current positions.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            bound: What `labels` must know of each row, such as a capacity: an array, or a table with the columns that
                they name. Only for labels that ask for it.
            seed: A whole number: a row then has the same random number in any batch and any order.
        """
        prediction = as_prediction(prediction)
        rows = np.broadcast_to(self.positions, (len(prediction), len(self.levels)))
        return self._distributions(prediction, np.array(rows), bound, seed)

    def update(self, prediction: PredictionLike, y: ArrayLike, *, bound: Bound = None, rng: Rng = None) -> Tracker:
        """The tracker after these rows, in time order. A row whose label is NaN is skipped.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
            bound: What `labels` must know of each row, such as a capacity: an array, or a table with the columns that
                they name. Only for labels that ask for it.
            rng: A `numpy.random.Generator`, for labels that are drawn, such as counts; a fresh one by default.
        """
        return self._after(*self._walked(as_prediction(prediction), y, bound, rng))

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

        A row whose label is NaN has a distribution too, and is otherwise skipped. `rng` draws what labels need that are
        spread.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
            y: The labels: one number per row.
            bound: What `labels` must know of each row, such as a capacity: an array, or a table with the columns that
                they name. Only for labels that ask for it.
            rng: A `numpy.random.Generator`, for labels that are drawn, such as counts; a fresh one by default.
            seed: A whole number: a row then has the same random number in any batch and any order.
        """
        prediction = as_prediction(prediction)
        path, scores = self._walked(prediction, y, bound, rng)
        return self._distributions(prediction, path.ordered_positions, bound, seed), self._after(path, scores)

    def _distributions(self, prediction: Any, positions: Numbers, bound: Any, seed: int | None) -> Distribution:
        prediction.check_form(self.form)
        q = tracked_distribution(self.calibrated.q.to(positions), self._quantiles, positions)
        return replace(self.calibrated, q=q)(prediction, bound=bound, seed=seed)

    def _walked(self, prediction: Any, y: Any, bound: Any, rng: Rng) -> tuple[Walk, Numbers]:
        """The steps over the rows, and their scores, NaN where there is no label."""
        missing = without_label(prediction, y)
        labelled, scores = ~missing, np.full(len(prediction), math.nan)
        if missing.any():
            first, number = int(np.argmax(missing)), int(missing.sum())
            among = f"{number} of {count(len(missing), 'row')}, {the_first(number, first)}"
            warn_user(f"y is missing in {among}: {singular_if_one(number, 'they are skipped')}")
            prediction, y, bound = prediction[labelled], some_rows(y, labelled), some_rows(bound, labelled)
        if labelled.any() or not len(labelled):
            scores[labelled] = to_numpy(scores_of(self.calibrated, prediction, y, bound=bound, rng=rng)[0])
        return walk(scores, self.levels, self.step, self.raw_positions), scores

    def _after(self, path: Walk, scores: Numbers) -> Tracker:
        seen = scores[~np.isnan(scores)]
        low, high = self.extremes
        return replace(
            self,
            raw_positions=path.raw_positions,
            covered=self.covered + path.covered,
            rows=self.rows + len(seen),
            extremes=(float(np.min(seen, initial=low)), float(np.max(seen, initial=high))),
        )

    def __repr__(self) -> str:
        levels = ", ".join(f"{level:g}" for level in self.levels)
        return f"Tracker(levels=({levels}), step={self.step:.3g}, rows={self.rows})"


def checked_levels(levels: ArrayLike) -> tuple[float, ...]:
    """As floats, which must increase inside (0, 1)."""
    if isinstance(levels, (str, bytes)) or not isinstance(levels, Iterable):
        raise TypeError(f"Tracker.levels must be a list of numbers, got {levels!r}")
    found = tuple(one_number("each of Tracker.levels", level) for level in levels)
    inside = all(0 < level < 1 for level in found)
    if not (found and inside and all(a < b for a, b in pairwise(found))):
        raise ValueError(f"Tracker.levels must increase strictly inside (0, 1), got {list(found)}")
    return found


def checked_distribution(calibrated: Any) -> Distribution:
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


def without_label(prediction: Any, y: Any) -> NDArray[np.bool_]:
    """The rows whose label is NaN. Labels that do not fit are left as they are: the score says what is wrong."""
    labels = to_numpy(y) if array_api_compat.is_array_api_obj(y) else np.asarray(y)
    if labels.shape != (len(prediction),) or labels.dtype.kind != "f":
        return np.zeros(len(prediction), np.bool_)
    return np.asarray(np.isnan(labels), np.bool_)
