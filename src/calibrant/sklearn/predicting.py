"""What calibrated estimators make of the distribution of each row: means, intervals, draws, scores, a report."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, cast, overload

import narwhals as nw
import numpy as np
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._arguments import same_length, unit
from calibrant._arrays import Array, probabilities, to_numpy
from calibrant._types import ArrayLike, Columns, Features, Frame, Groups, RowIndex, Values
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.judging import Judgement, judge
from calibrant.metrics import Evaluation, evaluate
from calibrant.models.frames import is_frame, like_input
from calibrant.reports import report
from calibrant.reports.forecast import Report
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.distributions import SeveralDistributions, SeveralEvaluation
from calibrant.sklearn.inputs import column_of, labels
from calibrant.sklearn.meta_estimator import forecast
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.settings import Settings

MOST = 30
"""As many features as a report takes."""

# Which it is, of one label or of several, depends on the number of columns of y: no type says so. A union would refuse
# what is right for one and not for all; `Any` would let every mistake pass. So these types have what any of them has,
# and take what is right for one.
if TYPE_CHECKING:

    class Distributions(SeveralDistributions, Distribution):
        """The distribution of each row, or those of several labels."""

        def __getitem__(self, rows_or_label: RowIndex | str) -> Distribution: ...

    class Metrics(SeveralEvaluation, Evaluation[float, float, float]):
        """The metrics of one label, or of several."""

        def to_dict(self) -> dict[str, Any]:
            """The metrics by name, or by label and name."""

else:
    Distributions = Distribution | SeveralDistributions
    Metrics = Evaluation | SeveralEvaluation


class PredictMethods(Settings):
    """What follows from `predict_distribution`: to predict, to evaluate, to report."""

    calibrated_: Any
    estimators_: list[Any]
    weights_: Any
    predict_distribution: Any

    def predict(self, X: Features) -> np.ndarray[Any, Any]:
        """The mean of each row's distribution, or its median where it has no finite mean; (n, d) for d labels.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        H: Any = self.predict_distribution(X)
        values = to_numpy(H.mean())
        without = ~np.isfinite(values)
        if without.any():
            warn_user(f"{without.sum()} of {without.size} distributions have no finite mean: here is their median")
            values = np.where(without, to_numpy(H.median()), values)
        return values

    @overload
    def predict_interval(  # type: ignore[overload-overlap]
        self, X: Frame, coverage: float = 0.9, *, joint: bool = False
    ) -> Frame: ...
    @overload
    def predict_interval(self, X: Features, coverage: float = 0.9, *, joint: bool = False) -> np.ndarray[Any, Any]: ...
    def predict_interval(self, X: Features, coverage: float = 0.9, *, joint: bool = False) -> Any:
        """The centred interval of each row, as columns `lower` and `upper` in the kind of X: an array or a frame.

        One coverage per call; for several at once, `predict_quantiles` takes any number of levels.
        For several labels: an array (n, 2, d), or a frame with the columns `lower_a`, `upper_a`, ... for a label a.
        With `joint` the intervals hold all labels at once with the coverage.

        Args:
            X: The features: an array or a data frame, one line per row.
            coverage: The probability of the centred interval, between 0 and 1; with `joint` that of the box.
            joint: Give a box that holds all labels at once with probability `coverage`.
        """
        coverage = unit("coverage", coverage)
        H: Any = self.predict_distribution(X)
        if isinstance(H, SeveralDistributions):
            bounds: Any = np.stack([to_numpy(bound) for bound in H.interval(coverage, joint=joint)], axis=1)
            return columns_by_label(X, ["lower", "upper"], H.names, bounds)
        if joint:
            raise TypeError("joint=True is for several labels, and y had one")
        return like_input(X, ["lower", "upper"], np.stack([to_numpy(end) for end in H.interval(coverage)], axis=1))

    @overload
    def predict_quantiles(  # type: ignore[overload-overlap]
        self, X: Frame, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> Frame: ...
    @overload
    def predict_quantiles(
        self, X: Features, quantiles: Sequence[float] = (0.05, 0.5, 0.95)
    ) -> np.ndarray[Any, Any]: ...
    def predict_quantiles(self, X: Features, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Any:
        """The quantiles of each row, as columns `q0.05`, ... in the kind of X: an array or a frame.

        For several labels: an array (n, k, d), or a frame with the columns `q0.05_a`, ... for a label a.

        Args:
            X: The features: an array or a data frame, one line per row.
            quantiles: The levels of the quantiles, between 0 and 1.
        """
        levels = probabilities("quantiles", quantiles)
        names = [f"q{float(level)}" for level in np.atleast_1d(levels)]
        if levels.ndim != 1 or len(set(names)) != len(names):
            raise ValueError(f"quantiles must be a list of distinct levels, got {quantiles!r}")
        H: Any = self.predict_distribution(X)
        values = to_numpy(H.quantiles(levels))
        if isinstance(H, SeveralDistributions):
            return columns_by_label(X, names, H.names, values)
        return like_input(X, names, values)

    def predict_samples(self, X: Features, size: int = 100, rng: np.random.Generator | None = None) -> Array:
        """Draws from the distribution of each row, (n, size); for several labels joint draws, (n, size, d).

        Args:
            X: The features: an array or a data frame, one line per row.
            size: How many draws per row.
            rng: A `numpy.random.Generator`, for what is drawn; a fresh one by default.
        """
        return to_numpy(self.predict_distribution(X).sample(size, rng))

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
        H, known, shared = self._on_new_rows(X, y, time, "one label is judged: calibrant.judge")
        return judge(H, known, columns_to_show(X, None), by=slices_in(X, by), coverage=coverage, **shared)

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
        H, known, shared = self._on_new_rows(X, y, time, "a report covers one label: calibrant.report")
        return report(
            H,
            known,
            groups=slices_in(X, groups),
            features=columns_to_show(X, features),
            weights=self.weights_ if len(self.weights_) > 1 else None,
            coverage=coverage,
            title=title,
            label=str(getattr(y, "name", None) or "y") if label is None else label,
            **shared,
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

    def _on_new_rows(self, X: Any, y: Any, time: Any, one_label: str) -> tuple[Any, Any, dict[str, Any]]:
        """Forecasts, labels, and what a judgement and a report share."""
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, SeveralCalibrated):
            raise TypeError(f"{one_label}(model.predict_distribution(X)[label], y)")
        time = column_of(X, time, "time") if isinstance(time, (str, int)) else time
        H, known = self.predict_distribution(X), self._checked(X, y)
        return H, known, {"base": self._uncalibrated(X), "guarantee": self.calibrated_.guarantee, "time": time}

    def _uncalibrated(self, X: Any) -> Any:
        """The uncalibrated forecast of the models, without refinement; None for several folds."""
        if len(self.estimators_) > 1:
            return None
        model, shown = self.estimators_[0], self._shown(X)
        return model.predict_stacked(shown) if isinstance(model, Refined) else forecast(model, shown, self.adapter)


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
    if not isinstance(groups, (str, int)) and len(names) == _num_samples(X):
        # of a list of names no two are equal; an array is hardly ever one of names
        columns = nw.from_native(X, eager_only=True).columns if is_frame(X) else range(*np.shape(X)[1:2] or [0])
        if hasattr(groups, "__array__") or len(set(names)) < len(names) or not set(names) <= set(columns):
            return groups
    return {str(name): column_of(X, name, "groups") for name in names} or None


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


def columns_by_label(X: Any, heads: Sequence[str], names: Sequence[str], values: Array) -> Any:
    """An (n, k, d) array as it is; for a frame X a frame with the columns `head_name`, label by label."""
    if not is_frame(X):
        return values
    columns = [f"{head}_{name}" for name in names for head in heads]
    return like_input(X, columns, np.swapaxes(values, 1, 2).reshape(len(values), -1))
