"""`calibrate`, `update`, `track` and `monitor` of calibrated estimators, as labels arrive."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from inspect import signature
from typing import Any, Self, cast

import numpy as np
from sklearn.utils import indexable
from sklearn.utils.validation import check_is_fitted

from calibrant._types import Features, LabelsLike, Values
from calibrant.calibration import Calibrated
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.interpolators.weights import OncePerGroup
from calibrant.models.frames import rows_of
from calibrant.monitoring import Monitor
from calibrant.scores import EnsembleScore
from calibrant.several import Several
from calibrant.several.calibration import SeveralCalibrated
from calibrant.sklearn.inputs import in_order_of_fit, labels
from calibrant.sklearn.predicting import PredictMethods
from calibrant.sklearn.rows import distinct
from calibrant.sklearn.splits import one_of_each
from calibrant.tracking import LEVELS, Tracker


class OnlineMethods(PredictMethods):
    """`calibrate`, `update`, `track` and `monitor`; the fitted models stay as they are."""

    seed_: int
    calibrator_: Any
    predict_base: Any

    def calibrate(self, X: Features, y: LabelsLike, *, groups: Values | None = None) -> Self:
        """Calibrate this model anew on rows that its fitted models did not see, and keep these models.

        The models of a mixture become one ensemble. The guarantee is that of a held-out part.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row, or one column per label.
            groups: The group of each row, if rows of one group are alike: each group counts once.
        """
        check_is_fitted(self, "calibrated_")
        X = self._check_columns(X)
        if isinstance(self.calibrated_, SeveralCalibrated):
            calibrator, known = self.calibrator_, in_order_of_fit(self.calibrated_.names, y)
        else:
            calibrator, known = self._calibrator(), labels(y)
        X, known, groups = distinct(*indexable(X, known, groups))
        if len(self.estimators_) > 1 and calibrator.score is not None:
            # each of which may be an EnsembleScore itself
            calibrator = replace(calibrator, score=EnsembleScore((calibrator.score,) * len(self.estimators_)))
        self.calibrated_ = self._calibrate(calibrator, self.predict_base(X), X, known, groups, self.seed_)
        return self

    def update(self, X: Features, y: LabelsLike, *, groups: Values | None = None, refit: bool = False) -> Self:
        """Add the scores of new rows to those that calibrate, in place; returns self. The fitted models stay the same.

        (`Calibrated.update`, which does the work, leaves its object as it is and returns a new one.)
        With `refit` an interpolator that cannot add to its distribution, such as NAF, is fitted again to all scores.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            groups: The group of each row, if rows of one group are alike: each group counts once, and none of them has
                calibrated before.
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
        X, known, groups = distinct(*indexable(self._check_columns(X), labels(y), groups))
        # draws of their own for every update
        rng = np.random.default_rng([self.seed_, self.calibrated_.guarantee.n])
        history = getattr(self.calibrated_, "history", None)
        weighs = history is not None and isinstance(history.weights, OncePerGroup)
        groups = np.arange(len(known)) if weighs and groups is None else groups  # each new row by itself
        prediction, known, context = self._by_group(self.predict_base(X), X, known, groups, rng, weighs=weighs)
        again = {} if isinstance(self.calibrated_, Tracker) else {"refit": refit}
        self.calibrated_ = self.calibrated_.update(prediction, known, **context, rng=rng, **again)
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
        if self.calibrated_.guarantee.basis in ("nested", "time", "new group"):
            raise TypeError(
                "monitor compares new rows with calibration rows like them, and here models of all rows predict,"
                " neighbours are alike, or rows of a group: calibrate(X, y) on rows held out, one of each group, first"
            )
        X, y = indexable(self._check_columns(X), labels(y, missing=True))
        y = cast("np.ndarray[Any, Any]", y)
        known = {name: value for name, value in self._context(X).items() if name == "bound"}
        # earlier rows are seen again: with the same draws, which is no new chance to ring, unless labels are drawn too
        rng = np.random.default_rng(self.seed_)
        return Monitor(self.calibrated_, threshold).update(self.predict_base(X), y, **known, rng=rng)

    def _calibrate(
        self, calibrator: Any, prediction: Any, X: Any, y: Any, groups: Any, seed: int, basis: Any = None
    ) -> Any:
        """Calibrated on these rows, of which those of one group count once."""
        rng, interpolator = np.random.default_rng(seed), getattr(calibrator, "interpolator", None)
        weighs = self.forget is None and interpolator and "weights" in signature(interpolator.fit).parameters
        prediction, y, context = self._by_group(prediction, X, y, groups, rng, weighs=bool(weighs))
        calibrated = calibrator.fit(prediction, y, **context, rng=rng)
        if isinstance(calibrated, SeveralCalibrated) and basis is not None:
            return replace(calibrated, margins=tuple(margin.on_basis(basis) for margin in calibrated.margins))
        return calibrated if basis is None else calibrated.on_basis(basis)

    def _by_group(
        self, prediction: Any, X: Any, y: Any, groups: Any, rng: np.random.Generator, *, weighs: bool
    ) -> tuple[Any, Any, dict[str, Any]]:
        """Prediction, labels and context: with groups the rows of each weigh 1, or one of them, drawn at random."""
        context = self._context(X)
        if groups is None:
            return prediction, y, context
        if weighs and not context:
            return prediction, y, {"weights": OncePerGroup.of(groups)}
        some = one_of_each(groups, context.get("by"), rng)
        prediction = prediction.rows(some) if isinstance(prediction, Several) else prediction[some]
        return prediction, y[some], self._context(rows_of(X, some))
