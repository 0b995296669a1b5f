"""What a calibrated estimator is worth: its metrics and its report on rows that it has not seen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import Any

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calibrant.metrics import Evaluation, evaluate
from calibrant.several import SeveralLaws
from calibrant.several.evaluation import SeveralEvaluation
from calibrant.sklearn.around import forecast
from calibrant.sklearn.groups import column_of
from calibrant.sklearn.refined import Refined


class Judging:
    """`evaluate`, `report` and `save`, for what has `predict_distribution`."""

    calibrated_: Any
    estimators_: list[Any]
    adapter: Any
    predict_distribution: Any
    _known: Any
    _calibrator: Any

    def evaluate(self, X: Any, y: Any, *, coverage: float = 0.9) -> Evaluation | SeveralEvaluation:
        """The metrics of the forecasts on rows that neither trained nor calibrated, see `calibrant.evaluate`."""
        H = self.predict_distribution(X)
        if isinstance(H, SeveralLaws):
            return H.evaluate(y, coverage=coverage)
        self._check(X, y)
        return evaluate(H, y, coverage=coverage)

    def report(
        self,
        X: Any,
        y: Any,
        *,
        groups: str | int | Sequence[Any] = (),
        time: Any = None,
        coverage: float = 0.9,
        title: str | None = None,
        label: str | None = None,
    ) -> Any:
        """The page of `calibrant.report` on rows that neither trained nor calibrated: `.save("report.html")`.

        `groups` names columns of X to slice by, and `time` one to follow the forecasts along, or is an array. Beside
        the calibrated forecasts stand those of the model itself, where there is one.
        """
        H = self.predict_distribution(X)
        if isinstance(H, SeveralLaws):
            raise TypeError("a report is of one label: calibrant.report(model.predict_distribution(X)[label], y)")
        self._check(X, y)
        names = [groups] if isinstance(groups, (str, int)) else list(groups)
        return import_module("calibrant.reports").report(
            H,
            y,
            base=self._alone(X),
            groups={str(name): column_of(X, name, "groups") for name in names} or None,
            time=column_of(X, time, "time") if isinstance(time, (str, int)) else time,
            guarantee=self.calibrated_.guarantee,
            league=getattr(self, "league_", None),
            coverage=coverage,
            title=title,
            label=str(getattr(y, "name", None) or "y") if label is None else label,
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write what was calibrated to a file that `calibrant.load` reads; the models themselves are not in it.

        To keep models and calibration together, pickle the estimator, with joblib for instance.
        """
        check_is_fitted(self, "calibrated_")
        self.calibrated_.save(path)

    def _check(self, X: Any, y: Any) -> None:
        """Raise where y is none of the labels that were calibrated."""
        kind = self._calibrator().labels
        if kind is not None:
            kind.check(np.asarray(y, np.float64), self._known(X).get("bound"))

    def _alone(self, X: Any) -> Any:
        """What the one model says by itself; None of several folds."""
        if len(self.estimators_) > 1:
            return None
        model = self.estimators_[0]
        return forecast(model.estimator_ if isinstance(model, Refined) else model, X, self.adapter)
