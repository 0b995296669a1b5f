"""`evaluate`, `judge`, `report` and `save_calibration` of calibrated estimators."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import Any, cast

import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._arguments import same_length
from calibrant._types import ArrayLike, Columns, Features, Groups, Values
from calibrant.judging import Judgement, judge
from calibrant.metrics import evaluate
from calibrant.models.frames import is_frame
from calibrant.reports import report
from calibrant.reports.forecast import Report
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.distributions import SeveralDistributions
from calibrant.sklearn.columns import check_column, column_of
from calibrant.sklearn.labels import labels
from calibrant.sklearn.meta_estimator import forecast
from calibrant.sklearn.predicting import Metrics
from calibrant.sklearn.refined import Refined

MOST = 30
"""As many features as a report takes."""


class EvaluationMethods:
    """`evaluate`, `judge`, `report` and `save_calibration`, for what has `predict_distribution`."""

    calibrated_: Any
    estimators_: list[Any]
    adapter: Any
    _shown: Any
    weights_: Any
    predict_distribution: Any
    _context: Any
    _calibrator: Any

    def evaluate(self, X: Features, y: Columns, *, coverage: float = 0.9) -> Metrics:
        """The metrics of the forecasts on rows that neither trained nor calibrated, see `calibrant.evaluate`.

        Args:
            X: The features of these rows.
            y: Their labels: one number per row, or one column per label.
            coverage: The probability of the centred intervals that are evaluated.
        """
        H = self.predict_distribution(X)
        if isinstance(H, SeveralDistributions):
            return cast(Metrics, H.evaluate(y, coverage=coverage))
        y = self._checked(X, y)
        return cast(Metrics, evaluate(H, cast(ArrayLike, y), coverage=coverage))

    def judge(
        self,
        X: Features,
        y: ArrayLike,
        *,
        time: str | int | Values | None = None,
        by: Groups | str | int | Sequence[str | int] | None = None,
        coverage: float = 0.9,
    ) -> Judgement:
        """Whether the forecasts are calibrated, what is wrong, and what to do, see `calibrant.judge`.

        Args:
            X: The features of rows that neither trained nor calibrated; they are judged by the first 30 columns.
            y: Their labels, one number per row.
            time: The column of X with the time of each row, or the times themselves.
            by: The columns of X to group by, one or several, or groups as `calibrant.judge` takes them.
            coverage: The probability of the centred intervals.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, SeveralCalibrated):
            raise TypeError("one label is judged: calibrant.judge(model.predict_distribution(X)[label], y)")
        return judge(
            self.predict_distribution(X),
            self._checked(X, y),
            columns_to_show(X, None),
            time=column_of(X, time, "time") if isinstance(time, (str, int)) else time,
            by=slices_in(X, by),
            base=self._uncalibrated(X),
            guarantee=self.calibrated_.guarantee,
            coverage=coverage,
        )

    def report(
        self,
        X: Features,
        y: ArrayLike,
        *,
        groups: Groups | str | int | Sequence[str | int] | None = (),
        features: str | int | Sequence[str | int] | None = None,
        time: str | int | Values | None = None,
        coverage: float = 0.9,
        title: str | None = None,
        label: str | None = None,
    ) -> Report:
        """The page of `calibrant.report` on rows that neither trained nor calibrated: `.save("report.html")`.

        The page also shows the model's own forecasts, where there is one model.

        Args:
            X: The features of these rows.
            y: Their labels, one number per row.
            groups: The columns of X to slice by, one or several: names, or numbers if X is an array. Or what
                `calibrant.report` takes: an array with one value per row, a mapping of names to arrays, a data frame.
            features: The columns of X to show with the row chosen on the page. By default all of them, or the
                first 30; `()` shows none. The page holds their values for the rows that it shows.
            time: The column of X with the time of each row, or the times themselves, to see the forecasts over time.
            coverage: The probability of the intervals in the verdict and the table.
            title: The title of the page.
            label: What y is called; by default the name of y if it is a Series, else y.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, SeveralCalibrated):
            raise TypeError("a report covers one label: calibrant.report(model.predict_distribution(X)[label], y)")
        slices, known = slices_in(X, groups), self._checked(X, y)
        return report(
            self.predict_distribution(X),
            known,
            base=self._uncalibrated(X),
            groups=slices,
            features=columns_to_show(X, features),
            time=column_of(X, time, "time") if isinstance(time, (str, int)) else time,
            guarantee=self.calibrated_.guarantee,
            weights=self.weights_ if len(self.weights_) > 1 else None,
            coverage=coverage,
            title=title,
            label=str(getattr(y, "name", None) or "y") if label is None else label,
        )

    def save_calibration(self, path: str | os.PathLike[str]) -> None:
        """Write the calibration, without the models, to a file that `calibrant.load` reads.

        What is loaded takes predictions in place of X, those of `predict_base`: `load(path)(model.predict_base(X))`.
        To keep models and calibration together, pickle the estimator: `joblib.dump(model, path)`.

        Args:
            path: The file to write; an older one is replaced.
        """
        check_is_fitted(self, "calibrated_")
        self.calibrated_.save(path)

    def _checked(self, X: Any, y: Any) -> Any:
        """The labels, which must be of the kind that was calibrated."""
        known, kind = labels(y), self._calibrator().labels
        same_length("X", _num_samples(X), "y", len(known))
        if kind is not None:
            kind.check(known, self._context(X).get("bound"))
        return known

    def _uncalibrated(self, X: Any) -> Any:
        """The uncalibrated forecast of the models, without refinement; None for several folds."""
        if len(self.estimators_) > 1:
            return None
        model = self.estimators_[0]
        if isinstance(model, Refined):
            return model.predict_stacked(self._shown(X))
        return forecast(model, self._shown(X), self.adapter)


def slices_in(X: Any, groups: Any) -> Any:
    """What to slice the rows of X by: its columns by name, or groups as they are; None where there are none.

    >>> slices_in(np.array([[1.0, 5.0], [2.0, 6.0], [2.0, 7.0]]), 0)
    {'0': [1, 2, 2]}
    >>> slices_in(np.array([[1.0, 5.0], [2.0, 6.0], [2.0, 7.0]]), ["day", "night", "day"])
    ['day', 'night', 'day']
    """
    if groups is None or isinstance(groups, Mapping) or is_frame(groups):
        return groups
    names = [groups] if isinstance(groups, (str, int)) else list(groups)
    one_each = not isinstance(groups, (str, int)) and len(names) == _num_samples(X)
    # of a list of names no two are equal; an array is hardly ever one of names
    if one_each and (
        hasattr(groups, "__array__") or not (_distinct(names) and all(_is_column(X, each) for each in names))
    ):
        return groups
    return {str(name): column_of(X, name, "groups") for name in names} or None


def _distinct(names: Sequence[Any]) -> bool:
    return len(set(map(str, names))) == len(names)


def _is_column(X: Any, name: Any) -> bool:
    try:
        check_column(X, name, "groups")
    except (TypeError, ValueError):
        return False
    return True


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
