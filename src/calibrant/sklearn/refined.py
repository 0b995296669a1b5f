"""`Refined`: a model whose predictions are refined with what its residuals show."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._arrays import Array, to_numpy
from calibrant._types import ArrayLike, Features, RandomState
from calibrant.distributions.base import Distribution
from calibrant.models.frames import rows_of
from calibrant.predictions import Prediction, concatenate
from calibrant.refine.base import Refinement
from calibrant.refine.league import League
from calibrant.refine.names import RefinerLike, refiner_named
from calibrant.refine.rows import TrainingRows
from calibrant.sklearn.columns import check_columns, learn_columns
from calibrant.sklearn.folds import Folds, at_most_folds, folds_of, units
from calibrant.sklearn.meta_estimator import MetaEstimator, Routed, fitted, forecast, is_frozen, labels


class Refined(RegressorMixin, MetaEstimator):  # type: ignore[misc]
    """A regressor whose prediction is a distribution, learned from the residuals of the model it wraps.

    `fit` predicts every row by a copy of the model that did not see it, lets the refiner learn from these predictions,
    and fits the model once more on all rows. It sees only the rows it is given, so inside `CalibratedRegressor` the
    calibration rows stay unseen, and the guarantee is what it was. Around a `FrozenEstimator` the refiner learns on the
    rows as they are: they must all be new to the model.

    Args:
        estimator: A regressor, a list of them, or any of these in a `FrozenEstimator`.
        refiner: A `calibrant.refine.Refiner`, its name (constant, spread, location-scale, quantiles, forest, mean), a
            list or dict of refiners to choose among, or "auto", the choice among constant, spread, location-scale,
            quantiles and mean.
        cv: The number of folds, fewer where there are fewer rows or groups, or a splitter. The refiner does not learn
            from rows that no fold holds out.
        adapter: How a fitted model predicts, as in `CalibratedRegressor`.
        n_jobs: How many copies of the model are fitted at once.
        random_state: Decides the folds and whatever the refiner draws.

    `sample_weight` goes to the model and the refiner, which takes it up to a factor and leaves rows of weight 0 out;
    `groups` go to the folds and the refiner's own folds.

    Attributes:
        estimator_: The model, fitted on all rows.
        refinement_: What the refiner learned: a function of X and the model's prediction.
        league_: The candidates and their scores, where there was a choice.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Refined(Ridge(), "location-scale", random_state=0).fit(X[:400], y[:400]).predict_forecast(X[400:])
    LocationScale(n=42, base=StandardNormal())
    """

    estimator_: Any
    refinement_: Refinement

    def __init__(
        self,
        estimator: Any,
        refiner: RefinerLike = "auto",
        *,
        cv: Folds = 5,
        adapter: str | Callable[[Any, Any], Any] | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.refiner = refiner
        self.cv = cv
        self.adapter = adapter
        self.n_jobs = n_jobs
        self.random_state = random_state

    def fit(self, X: Features, y: ArrayLike, **params: Any) -> Self:
        """Fit the model, fold by fold and on all rows, and the refiner on what the folds predicted.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            params: Passed on to the model's `fit`. `groups` go to the splitter, and `sample_weight` also to the
                refiner.
        """
        return self.fit_routed(X, y, self._routed(params))

    def fit_routed(self, X: Features, y: ArrayLike, routed: Routed) -> Self:
        """`fit`, for callers that have sorted out already what goes where.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            routed: What goes to the model's `fit`, and what to the splitter.
        """
        refiner = refiner_named(self.refiner)
        X, y = indexable(X, labels(y))
        y = cast("np.ndarray[Any, Any]", y)
        learn_columns(self, X)
        random = check_random_state(self.random_state)
        count = _num_samples(X)
        if is_frozen(self.estimator):
            model, prediction, seen = self.estimator, forecast(self.estimator, X, self.adapter), np.arange(count)
        else:
            folds = folds_of(at_most_folds(self.cv, units(np.arange(count), routed.groups)), X, y, routed.split, random)
            seen = _once_each([test for _, test in folds])
            jobs = [(train, test) for train, test in folds] + [(np.arange(count), None)]
            *parts, model = Parallel(n_jobs=self.n_jobs)(
                delayed(_part)(self, rows_of(X, train), y[train], routed.rows(train, count), held)
                for train, held in ((train, None if test is None else rows_of(X, test)) for train, test in jobs)
            )
            order = np.argsort(np.concatenate([test for _, test in folds]), kind="stable")
            prediction = concatenate(parts)[order]
        held_out = routed.rows(seen, count)
        rows = TrainingRows(
            rows_of(X, seen),
            prediction,
            y[seen],
            held_out.sample_weight,
            held_out.groups,
            int(random.randint(2**31 - 1)),
        )
        refinement = refiner.fit(rows.weighed())
        # all at once: a model with the refinement of an earlier fit would predict nonsense
        self.estimator_, self.refinement_ = model, refinement
        return self

    def predict_forecast(self, X: Features) -> Prediction | Distribution:
        """The refined prediction of each row: a distribution, quantiles or a point, as the refiner has it.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        check_is_fitted(self, "refinement_")
        check_columns(self, X, self.estimator)
        found: Prediction | Distribution = self.refinement_(X, forecast(self.estimator_, X, self.adapter))
        return found

    def predict(self, X: Features) -> Array:
        """The centre of each row's refined prediction.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        return to_numpy(self.predict_forecast(X).centre_rows())

    @property
    def league_(self) -> League:
        """The candidates and their scores; there is none where the refiner was given or the rows were few."""
        check_is_fitted(self, "refinement_")
        league = getattr(self.refinement_, "league", None)
        if league is None:
            raise AttributeError(
                "there is no league: the refiner was named, or there were fewer than 100 rows or 6 groups"
            )
        return league  # type: ignore[no-any-return]


def _part(refined: Refined, X: Any, y: Array, routed: Routed, held: Any) -> Any:
    """What a fresh copy of the model predicts for held-out rows; the copy itself where none are held out."""
    model = fitted(refined.estimator, X, y, routed.fit)
    return model if held is None else forecast(model, held, refined.adapter)


def _once_each(parts: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The rows that are held out, in order; each at most once, or a row's model may have seen it."""
    rows, counts = np.unique(np.concatenate(parts), return_counts=True)
    if np.any(counts > 1):
        raise ValueError(
            f"cv of Refined must hold out each row at most once, got row {rows[counts > 1][0]} {counts.max()} times"
        )
    return rows
