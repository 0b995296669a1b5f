"""What a calibrated estimator is worth: its metrics and its report on rows that it has not seen."""

from __future__ import annotations

import os
from collections.abc import Sequence
from importlib import import_module
from typing import TYPE_CHECKING, Any, cast

import numpy as np
from sklearn.utils.validation import check_is_fitted

from calibrant._frames import is_frame
from calibrant._types import ArrayLike, Columns, Features, Values
from calibrant.metrics import Evaluation, evaluate
from calibrant.several import SeveralLaws
from calibrant.several.evaluation import SeveralEvaluation
from calibrant.sklearn.around import forecast
from calibrant.sklearn.groups import column_of
from calibrant.sklearn.refined import Refined

if TYPE_CHECKING:
    from calibrant.reports import Report

MOST = 30
"""As many features as a report takes."""


class Judging:
    """`evaluate`, `report` and `save`, for what has `predict_distribution`."""

    calibrated_: Any
    estimators_: list[Any]
    adapter: Any
    predict_distribution: Any
    _known: Any
    _calibrator: Any

    def evaluate(self, X: Features, y: Columns, *, coverage: float = 0.9) -> Evaluation | SeveralEvaluation:
        """The metrics of the forecasts on rows that neither trained nor calibrated, see `calibrant.evaluate`.

        Args:
            X: The features of these rows.
            y: Their labels: one number per row, or one column per label.
            coverage: The probability of the centred intervals that are judged.
        """
        H = self.predict_distribution(X)
        if isinstance(H, SeveralLaws):
            return H.evaluate(y, coverage=coverage)
        self._check(X, y)
        return evaluate(H, cast(ArrayLike, y), coverage=coverage)

    def report(
        self,
        X: Features,
        y: ArrayLike,
        *,
        groups: str | int | Sequence[str | int] = (),
        features: str | int | Sequence[str | int] | None = None,
        time: str | int | Values | None = None,
        coverage: float = 0.9,
        title: str | None = None,
        label: str | None = None,
    ) -> Report:
        """The page of `calibrant.report` on rows that neither trained nor calibrated: `.save("report.html")`.

        Beside the calibrated forecasts stand those of the model itself, where there is one.

        Args:
            X: The features of these rows.
            y: Their labels, one number per row.
            groups: The columns of X to slice by, one or several: names, or numbers if X is an array.
            features: The columns of X to show beside a row that is chosen on the page. By default all of them, or the
                first 30; `()` shows none. The page holds their values for the rows that it shows.
            time: The column of X with the time of each row, or the times themselves, to see the forecasts over time.
            coverage: The probability of the intervals in the verdict and the table.
            title: The title of the page.
            label: What y is called; by default the name of y if it is a Series, else y.
        """
        H = self.predict_distribution(X)
        if isinstance(H, SeveralLaws):
            raise TypeError("a report is of one label: calibrant.report(model.predict_distribution(X)[label], y)")
        self._check(X, y)
        names = [groups] if isinstance(groups, (str, int)) else list(groups)
        page: Report = import_module("calibrant.reports").report(
            H,
            y,
            base=self._alone(X),
            groups={str(name): column_of(X, name, "groups") for name in names} or None,
            features=columns_to_show(X, features),
            time=column_of(X, time, "time") if isinstance(time, (str, int)) else time,
            guarantee=self.calibrated_.guarantee,
            league=getattr(self, "league_", None),
            coverage=coverage,
            title=title,
            label=str(getattr(y, "name", None) or "y") if label is None else label,
        )
        return page

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


def columns_to_show(X: Any, wanted: str | int | Sequence[Any] | None) -> dict[str, Any] | None:
    """Columns of X by name; without a wish the first 30. None where X has no columns, as a list of texts has none.

    >>> columns_to_show(np.array([[1.0, 5.0], [2.0, 6.0]]), None)
    {'x0': array([1., 2.]), 'x1': array([5., 6.])}
    """
    if wanted is not None:
        names = [wanted] if isinstance(wanted, (str, int)) else list(wanted)
        called = (name if isinstance(name, str) or is_frame(X) else f"x{name}" for name in names)
        found = {str(each): column_of(X, name, "features") for each, name in zip(called, names, strict=True)}
        return found or None
    if is_frame(X):
        names = list(X.column_names if hasattr(X, "column_names") else X.columns)[:MOST]
        return {str(name): X[name] for name in names}
    table = np.asarray(X)
    return {f"x{k}": table[:, k] for k in range(min(MOST, table.shape[1]))} if table.ndim == 2 else None
