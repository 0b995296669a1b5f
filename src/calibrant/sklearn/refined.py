"""`Refined`: models whose predictions are stacked, and refined with what their errors show."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._types import ArrayLike, Features, RandomState
from calibrant.distributions.base import Distribution
from calibrant.models.frames import rows_of
from calibrant.predictions import Prediction, concatenate
from calibrant.refine.base import Refinement
from calibrant.refine.names import RefinerLike, refiner_named
from calibrant.refine.rows import TrainingRows
from calibrant.refine.stack import Stack, averaged, centre_of, is_one_quantile, joined_levels
from calibrant.sklearn.blend import blend
from calibrant.sklearn.columns import check_columns, learn_columns
from calibrant.sklearn.folds import Folds, at_most_folds, folds_of, units
from calibrant.sklearn.meta_estimator import (
    MetaEstimator,
    Routed,
    fitted,
    forecast,
    is_blend,
    is_frozen,
    labels,
    named_models,
)

Numbers = np.ndarray[Any, Any]


class Refined(RegressorMixin, MetaEstimator):  # type: ignore[misc]
    """A regressor whose prediction is a distribution, learned from the errors of the models it wraps.

    `fit` makes five copies of each model, each blind to a fifth of the rows. The copies' predictions of rows they did
    not see teach the weights of the models and the refiner; the mean of the copies predicts. It sees only the rows it
    is given, so inside `CalibratedRegressor` the calibration rows stay unseen, and the guarantee is what it was. Around
    a `FrozenEstimator` the refiner learns on the rows as they are: they must all be new to the model.

    Args:
        estimator: A regressor, a list of regressors, which are stacked, or any of these in a `FrozenEstimator`. None is
            a blend of scikit-learn's models, and of LightGBM and CatBoost where they are installed; "sklearn" leaves
            these out.
        refiner: A `calibrant.refine.Refiner`, its name (constant, spread, location-scale, quantiles, forest, mean), or
            None, which leaves the prediction as it is.
        cv: The number of folds, fewer where there are fewer rows or groups, or a splitter. The refiner does not learn
            from rows that no fold holds out.
        adapter: How a fitted model predicts, as in `CalibratedRegressor`.
        n_jobs: How many copies of the models are fitted at once.
        random_state: Decides the folds and whatever the models of the blend and the refiner draw.

    `sample_weight` goes to the models, their weights and the refiner, which takes it up to a factor and leaves rows of
    weight 0 out; `groups` go to the folds and the refiner's own folds.

    Attributes:
        estimators_: The fitted copies of each model that has a weight: a list for each.
        weights_: The weight of each model, by name.
        refinement_: What the refiner learned: a function of X and the stacked prediction.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Refined(Ridge(), "location-scale", random_state=0).fit(X[:400], y[:400]).predict_forecast(X[400:])
    LocationScale(n=42, base=StandardNormal())
    """

    estimators_: list[list[Any]]
    weights_: dict[str, float]
    refinement_: Refinement | None

    def __init__(
        self,
        estimator: Any = None,
        refiner: RefinerLike | None = "mean",
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
        """Fit the copies of the models, then learn their weights and the refinement from what the copies predicted.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            params: Passed on to the models' `fit`. `groups` go to the splitter, and `sample_weight` also to the
                refiner.
        """
        self.learn(X, y, self._routed(params))
        return self

    def learn(self, X: Features, y: ArrayLike, routed: Routed) -> tuple[np.ndarray[Any, Any], Any]:
        """`fit`, for callers that have sorted out already what goes where.

        Returns the numbers of the rows that were held out, and their refined out-of-fold predictions.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            routed: What goes to the models' `fit`, and what to the splitter.
        """
        refiner = None if self.refiner is None else refiner_named(self.refiner)
        X, y = indexable(X, labels(y))
        y = cast("np.ndarray[Any, Any]", y)
        learn_columns(self, X)
        random = check_random_state(self.random_state)
        folds, seeds = self._folds(X, y, routed, random), random.randint(2**31 - 1, size=2)
        models = self._models(len(y), routed, int(seeds[1]))
        seen = _once_each([test for _, test in folds])
        copies, predictions = [], []
        for k, model in enumerate(models.values()):
            own, prediction = crossfit(model, X, y, folds, routed.of_model(k), self.adapter, self.n_jobs)
            copies.append(own)
            predictions.append(prediction)
        held_out = routed.rows(seen, len(y))
        X, known, weight, seed = rows_of(X, seen), y[seen], held_out.sample_weight, int(seeds[0])
        parts = _parts(list(models), predictions)
        stack = Stack.learned([name for name, _ in parts], _joined(parts, predictions), known, weight, seed)
        stacked = stack(_joined(parts, predictions))
        rows = TrainingRows(X, stacked, known, weight, held_out.groups, seed)
        refinement = None if refiner is None else refiner.fit(rows.weighed())
        # all at once: models with the refinement of an earlier fit would predict nonsense
        self.weights_ = dict(zip(stack.names, stack.weights, strict=True))
        self.estimators_, self.parts_, self.stack_ = _weighed(copies, parts, stack)
        self.refinement_ = refinement
        return seen, stacked if refinement is None else refinement(X, stacked)

    def predict_forecast(self, X: Features) -> Prediction | Distribution:
        """The stacked and refined prediction of each row: a distribution, quantiles or a point, as the refiner has it.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        check_is_fitted(self, "refinement_")
        check_columns(self, X, self.estimator)
        stacked = self.predict_stacked(X)
        found: Prediction | Distribution = stacked if self.refinement_ is None else self.refinement_(X, stacked)
        return found

    def predict_stacked(self, X: Features) -> Prediction | Distribution:
        """The prediction before the refinement: the mean of the copies, stacked.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        each = [averaged([forecast(copy, X, self.adapter) for copy in copies]) for copies in self.estimators_]
        return self.stack_(_joined(self.parts_, each))  # type: ignore[no-any-return]

    def predict(self, X: Features) -> Numbers:
        """The centre of each row's refined prediction.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        return centre_of(self.predict_forecast(X))

    def _folds(self, X: Any, y: Numbers, routed: Routed, random: Any) -> list[tuple[Numbers, Numbers]]:
        everything = np.arange(_num_samples(X))
        if is_frozen(self.estimator):
            return [(everything, everything)]
        return folds_of(at_most_folds(self.cv, units(everything, routed.groups)), X, y, routed.split, random)

    def _models(self, count: int, routed: Routed, seed: int) -> dict[str, Any]:
        if is_blend(self.estimator):
            library: Any = "installed" if self.estimator is None else self.estimator
            return blend(count, seed, library=library, weighted=routed.sample_weight is not None)
        return named_models(self.estimator)


def crossfit(
    model: Any,
    X: Any,
    y: Numbers,
    folds: Sequence[tuple[Numbers, Numbers]],
    routed: Routed,
    adapter: Any,
    n_jobs: int | None,
) -> tuple[list[Any], Any]:
    """A copy of the model for each fold, and what they predict for the rows they did not see, in order.

    Args:
        model: A regressor; what is frozen stays as it is.
        X: The features of the rows.
        y: Their labels.
        folds: The rows that train each copy, and those that it predicts.
        routed: What goes to the model's `fit`.
        adapter: How a fitted model predicts.
        n_jobs: How many copies are fitted at once.
    """
    copies = Parallel(n_jobs=n_jobs)(
        delayed(fitted)(model, rows_of(X, train), y[train], routed.rows(train, len(y)).fit) for train, _ in folds
    )
    found = [forecast(copy, rows_of(X, test), adapter) for copy, (_, test) in zip(copies, folds, strict=True)]
    order = np.argsort(np.concatenate([test for _, test in folds]), kind="stable")
    return copies, concatenate(found)[order]


def _parts(names: Sequence[str], predictions: Sequence[Any]) -> list[tuple[str, tuple[int, ...]]]:
    """The models that are stacked: each by itself, but those of one quantile each together."""
    single = tuple(k for k, each in enumerate(predictions) if is_one_quantile(each))
    if len({predictions[k].quantile_levels() for k in single}) < max(2, len(single)):  # or two for one level
        single = ()
    alone: list[tuple[str, tuple[int, ...]]] = [(name, (k,)) for k, name in enumerate(names) if k not in single]
    return [*alone, ("quantiles", single)] if single else alone


def _joined(parts: Sequence[tuple[str, tuple[int, ...]]], predictions: Sequence[Any]) -> list[Any]:
    """The prediction of each part."""
    return [
        predictions[members[0]] if len(members) == 1 else joined_levels([predictions[k] for k in members])
        for _, members in parts
    ]


def _weighed(copies: list[Any], parts: Sequence[tuple[str, tuple[int, ...]]], stack: Stack) -> tuple[Any, Any, Stack]:
    """The copies, the parts and the stack without models of weight 0."""
    kept = [k for k, weight in enumerate(stack.weights) if weight]
    models = [k for part in kept for k in parts[part][1]]
    place = {k: number for number, k in enumerate(models)}
    smaller = replace(stack, names=tuple(stack.names[k] for k in kept), weights=tuple(stack.weights[k] for k in kept))
    return (
        [copies[k] for k in models],
        [(parts[k][0], tuple(place[member] for member in parts[k][1])) for k in kept],
        smaller,
    )


def _once_each(parts: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The rows that are held out, in order; each at most once, or a row's model may have seen it."""
    rows, counts = np.unique(np.concatenate(parts), return_counts=True)
    if np.any(counts > 1):
        raise ValueError(
            f"cv of Refined must hold out each row at most once, got row {rows[counts > 1][0]} {counts.max()} times"
        )
    return rows
