"""What the parameters of `CalibratedRegressor` come to for a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import narwhals as nw
from sklearn.utils import indexable

from calibrant._words import warn_user
from calibrant.calibration import Calibrator
from calibrant.censored import Censored
from calibrant.labels import Labels
from calibrant.labels.atom import atom_in
from calibrant.labels.base import takes_any_quantile
from calibrant.labels.counts import look_like_counts
from calibrant.labels.named import labels_named
from calibrant.models.frames import collected, is_frame
from calibrant.names import interpolator_named, score_named
from calibrant.refine import RefinerLike, refiner_named
from calibrant.refine.combined import TwoPart
from calibrant.several import SeveralCalibrator
from calibrant.sklearn.inputs import (
    check_columns,
    groups_in,
    hidden_from,
    is_several,
    label_matrix,
    labels,
    labels_by_name,
    learn_columns,
)
from calibrant.sklearn.meta_estimator import MetaEstimator, is_frozen, last_step
from calibrant.sklearn.refined import Refined


class Settings(MetaEstimator):
    """The parameters, checked against X and y, as calibrators, refiners and groups."""

    calibration_score: Any
    interpolator: Any
    refine: RefinerLike | None
    labels: Any
    adapter: Any
    weights: Callable[[Any], Any] | None
    by: Any
    forget: Any
    hidden_: list[Any]

    def _check(self, X: Any, y: Any) -> tuple[Any, Any, tuple[str, ...] | None]:
        """X, y and the names of several labels, if parameters and labels go together."""
        names = None
        if is_several(y):
            for what in ("by", "weights"):
                if getattr(self, what) is not None:
                    raise TypeError(f"{what}= is for one label, and y has several: calibrate them one by one")
            names, y = label_matrix(y)
        else:
            y = labels(y)
        X, y = indexable(collected(X), y)
        learn_columns(self, X)
        self.hidden_ = hidden_from(self.estimator, X, self.by)
        if isinstance(y, Censored):
            if not is_frozen(self.estimator) or any(self._refiners(None)):
                raise TypeError(
                    "only a FrozenEstimator, without refine=, takes Censored labels: fit the model by its own library"
                    " first"
                )
            return X, y, None
        for (name, given), column in zip(self._kinds(names).items(), [y] if names is None else y.T, strict=True):
            kind = labels_named(given)
            if kind is not None:
                kind.check(column, X if kind.by_row else None)
            elif given is None and look_like_counts(column):
                warn_user(
                    f"all labels{'' if name is None else f' {name!r}'} are whole numbers of at least 0: labels='counts'"
                    " keeps forecasts so, and labels='real' takes them for any real numbers without this warning"
                )
        return X, y, names

    def _refiners(self, names: Any) -> list[Any]:
        """The refiner of each label, which `refine` comes to; None leaves the prediction as it is."""
        return [self._refiner(labels_named(kind)) for kind in self._kinds(names).values()]

    def _refiner(self, kind: Labels | None) -> Any:
        refine: Any = self.refine
        if isinstance(refine, str) and refine == "auto":
            explicit = self.calibration_score is not None or self.adapter is not None
            finished = is_frozen(self.estimator) or isinstance(last_step(self.estimator), Refined)
            refine = None if explicit or finished or not takes_any_quantile(kind) else "mean"
        at = None if refine is None else atom_in(kind)
        return refine if at is None else TwoPart(refiner_named(refine), at)

    def _kinds(self, names: Any) -> dict[Any, Any]:
        """What `labels` says of each label, by name; of a single one, which has none, by None."""
        return {None: self.labels} if names is None else labels_by_name(self.labels, names)

    def _calibrator(self, names: Any = None) -> Any:
        if not (self.weights is None or callable(self.weights)):
            raise TypeError(f"weights must be a function of X, such as DensityRatio().fit(...), got {self.weights!r}")
        score, interpolator = score_named(self.calibration_score), interpolator_named(self.interpolator)
        each = {
            name: Calibrator(score, interpolator, labels_named(kind), self.forget)
            for name, kind in self._kinds(names).items()
        }
        return each[None] if names is None else SeveralCalibrator(each)

    def _context(self, X: Any) -> dict[str, Any]:
        """What calibration needs besides the prediction: weights, groups, and X for labels with bounds in it."""
        known: dict[str, Any] = {} if self.weights is None else {"weights": self.weights(X)}
        if self.by is not None:
            known["by"] = groups_in(X, self.by)
        several = self.labels.values() if isinstance(self.labels, Mapping) else self.labels
        kinds: Any = several if isinstance(self.labels, (Mapping, list, tuple)) else [self.labels]
        if any(kind is not None and kind.by_row for kind in map(labels_named, kinds)):
            known["bound"] = X
        return known

    def _check_columns(self, X: Any) -> Any:
        """X, if it has the columns of `fit`."""
        X = collected(X)
        check_columns(self, X, self.estimator)
        return X

    def _shown(self, X: Any) -> Any:
        """What models see of X."""
        hides = self.hidden_ and is_frame(X)
        return nw.from_native(X, eager_only=True).drop(*self.hidden_).to_native() if hides else X
