"""`update`, `track` and `monitor` of calibrated estimators, as labels arrive."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Self, cast

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from calibrant._types import Features, LabelsLike
from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.interpolators.weights import OncePerGroup
from calibrant.monitoring import Monitor
from calibrant.several.calibration import SeveralCalibrated
from calibrant.sklearn.meta_estimator import labels
from calibrant.tracking import LEVELS, Tracker


class OnlineMethods:
    """`update`, `track` and `monitor`; the fitted models stay as they are."""

    calibrated_: Any
    estimators_: list[Any]
    seed_: int
    _check_columns: Any
    _context: Any
    predict_base: Any

    def update(self, X: Features, y: LabelsLike, *, refit: bool = False) -> Self:
        """Add the scores of new rows to those that calibrate, in place; returns self. The fitted models stay the same.

        (`Calibrated.update`, which does the work, leaves its object as it is and returns a new one.)
        With `refit` an interpolator that cannot add to its distribution, such as NAF, is fitted again to all scores.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            refit: Fit an interpolator that cannot be updated, such as NAF, to all scores again.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, SeveralCalibrated):
            raise TypeError("several labels cannot be updated: call calibrate(X, y) on all rows instead")
        if isinstance(self.calibrated_, CrossCalibrated):
            raise TypeError(
                f"the distributions of {len(self.estimators_)} folds cannot be updated together: calibrate(X, y) makes"
                " one, which can"
            )
        X, y = indexable(self._check_columns(X), labels(y))
        # draws of their own for every update
        rng = np.random.default_rng([self.seed_, self.calibrated_.guarantee.n])
        context = self._context(X)
        history = getattr(self.calibrated_, "history", None)
        if history is not None and isinstance(history.weights, OncePerGroup):  # each new row by itself
            context["weights"] = OncePerGroup(np.ones_like(cast("np.ndarray[Any, Any]", y)))
        again = {} if isinstance(self.calibrated_, Tracker) else {"refit": refit}
        self.calibrated_ = self.calibrated_.update(self.predict_base(X), y, **context, rng=rng, **again)
        return self

    def track(
        self, X: Features, y: LabelsLike, *, levels: Sequence[float] | None = None, step: float | None = None
    ) -> Distribution:
        """Change this model row by row, and return the distribution of each row, made before its label is used.

        Rows are in time order, with NaN where there is no label. From then on `calibrated_` is a `Tracker`:
        The predict methods and the next `track` continue from its positions. `levels` and `step` are those of
        `Tracker`, for the first call; `fit` and `calibrate` start anew.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            levels: The levels whose quantiles follow the labels; 0.05, 0.25, 0.5, 0.75 and 0.95 by default.
            step: How far a quantile moves, in units of the scores; by default a twentieth of their interquartile range.
        """
        check_is_fitted(self, "calibrated_")
        if not isinstance(self.calibrated_, (Calibrated, Tracker)):
            raise TypeError(
                f"a {type(self.calibrated_).__name__} cannot be tracked: track one label, and calibrate(X, y)"
            )
        if isinstance(self.calibrated_, Tracker) and not (levels is None and step is None):
            raise TypeError(f"the model tracks already, with {self.calibrated_!r}: calibrate(X, y) starts anew")
        tracker = self.calibrated_
        if isinstance(tracker, Calibrated):
            tracker = Tracker(tracker, LEVELS if levels is None else levels, step)
        X, y = indexable(self._check_columns(X), labels(y, missing=True))
        y = cast("np.ndarray[Any, Any]", y)
        rng = np.random.default_rng([self.seed_, tracker.rows])
        H, self.calibrated_ = tracker.run(self.predict_base(X), y, **self._context(X), rng=rng)
        return H

    def monitor(self, X: Features, y: LabelsLike, *, threshold: float = 100.0) -> Monitor:
        """Test whether the labels since calibration still look like the calibration labels; rows in time order.

        Pass all rows since calibration each time; see `calibrant.monitor`.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            threshold: The alarm rings when the capital of the bets reaches it. If nothing changes, the probability of
                an alarm is at most 1 / threshold, over all rows together.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, Tracker):
            raise TypeError(
                "track made this model a tracker, which follows what monitor would report: call monitor on a copy made"
                " before track, or after calibrate(X, y)"
            )
        if self.calibrated_.guarantee.basis in ("nested", "time"):
            raise TypeError(
                "monitor compares new rows with calibration rows like them, and here models of all rows predict, or"
                " neighbours are alike: calibrate(X, y) on rows held out first"
            )
        X, y = indexable(self._check_columns(X), labels(y, missing=True))
        y = cast("np.ndarray[Any, Any]", y)
        known = {name: value for name, value in self._context(X).items() if name == "bound"}
        # earlier rows are seen again: with the same draws, which is no new chance to ring, unless labels are drawn too
        rng = np.random.default_rng(self.seed_)
        return Monitor(self.calibrated_, threshold).update(self.predict_base(X), y, **known, rng=rng)
