"""`Refined`: models whose predictions are stacked, and refined with what their errors show."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._display import Weights
from calibrant._types import ArrayLike, Features, RandomState
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.models.frames import rows_of
from calibrant.predictions import Prediction, concatenate
from calibrant.refine import RefinerLike, refiner_named
from calibrant.refine.base import Refinement, TrainingRows
from calibrant.refine.stack import Stack, averaged, centre_of, is_one_quantile, joined_levels
from calibrant.sklearn.blend import blend
from calibrant.sklearn.inputs import check_columns, labels, learn_columns
from calibrant.sklearn.meta_estimator import (
    MetaEstimator,
    Routed,
    fitted,
    forecast,
    is_blend,
    is_frozen,
    named_models,
)
from calibrant.sklearn.rows import copies_told
from calibrant.sklearn.splits import Fold, Folds, Split, first_of_each, units
from calibrant.sklearn.work import Bar, Budget

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
        refine: A `calibrant.refine.Refiner`, its name (constant, spread, location-scale, quantiles, forest, mean), or
            None, which leaves the prediction as it is.
        cv: The number of folds, fewer where there are fewer rows or groups, or a splitter. The refiner does not learn
            from rows that no fold holds out.
        adapter: How a fitted model predicts, as in `CalibratedRegressor`.
        time_limit: The seconds that a blend may take: models for which there is no time are left out, with a warning.
        n_jobs: How many copies of the models are fitted at once.
        random_state: Decides the folds and whatever the models of the blend and the refiner draw.
        verbose: Show a bar while it fits.

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
    normal distribution of 42 rows, 90% interval ... wide
    """

    estimators_: list[list[Any]]
    weights_: dict[str, float]
    refinement_: Refinement | None

    def __init__(
        self,
        estimator: Any = None,
        refine: RefinerLike | None = "mean",
        *,
        cv: Folds = 5,
        adapter: str | Callable[[Any, Any], Any] | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.refine = refine
        self.cv = cv
        self.adapter = adapter
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def fit(self, X: Features, y: ArrayLike, **params: Any) -> Self:
        """Fit the copies of the models, then learn their weights and the refinement from what the copies predicted.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            params: Passed on to the models' `fit`. `groups` go to the splitter, and `sample_weight` also to the
                refiner.
        """
        bar = Bar(self.steps(_num_samples(X)), verbose=bool(self.verbose))
        X, y = indexable(X, labels(y))
        routed = replace(self._routed(params), copies=copies_told(X, y))
        self.learn(X, y, routed, Budget(self.time_limit, None, bar))
        bar.finish()
        return self

    def steps(self, count: int) -> int:
        """About how many fits it takes to learn from so many rows.

        Args:
            count: The number of rows.
        """
        return 5 * len(self._models(count, 0)) + (self.refine is not None)

    def learn(
        self, X: Features, y: ArrayLike, routed: Routed, work: Budget | None = None
    ) -> tuple[np.ndarray[Any, Any], Prediction | Distribution]:
        """`fit`, for callers that have sorted out already what goes where.

        Returns the numbers of the rows that were held out, and their stacked out-of-fold predictions.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row.
            routed: What goes to the models' `fit`, and what to the splitter.
            work: How far it is, and what there is time for.
        """
        work = Budget() if work is None else work
        refiner = None if self.refine is None else refiner_named(self.refine)
        y = cast("np.ndarray[Any, Any]", y)
        learn_columns(self, X)
        random = check_random_state(self.random_state)
        folds, seeds = self._folds(X, y, routed, random), random.randint(2**31 - 1, size=2)
        models = self._models(len(y), int(seeds[1]), weighted=routed.sample_weight is not None)
        seen = _once_each([test for _, test in folds])
        copies, predictions = self._crossfit(models, X, y, folds, routed, work)
        held_out = routed.rows(seen, len(y))
        X = X if len(seen) == len(y) else rows_of(X, seen)  # without a copy of a large table
        known, weight, seed = y[seen], held_out.sample_weight, int(seeds[0])
        parts = _parts(predictions)
        joined = _joined(parts, predictions)
        stack = Stack.learned(list(parts), joined, known, weight, seed)
        stacked: Prediction | Distribution = stack(joined)
        rows = TrainingRows(X, stacked, known, weight, held_out.groups, seed)
        refinement = None if refiner is None else refiner.fit(rows.weighed())
        if refiner is not None:
            work.bar.step("refinement")
        # all at once: models with the refinement of an earlier fit would predict nonsense
        self.weights_ = Weights(zip(stack.names, stack.weights, strict=True))
        weighed = {name: weight for name, weight in self.weights_.items() if weight}
        self.stack_ = replace(stack, names=tuple(weighed), weights=tuple(weighed.values()))
        self.parts_ = {name: parts[name] for name in weighed}
        self.estimators_ = [copies[model] for models in self.parts_.values() for model in models]
        self.refinement_ = refinement
        return seen, stacked

    def _crossfit(
        self, models: dict[str, Any], X: Any, y: Numbers, folds: list[Fold], routed: Routed, work: Budget
    ) -> tuple[dict[str, list[Any]], dict[str, Any]]:
        """The copies of each model by name, as far as there is time, and their out-of-fold predictions."""
        copies: dict[str, list[Any]] = {}
        predictions, late = {}, []
        for k, (name, model) in enumerate(models.items()):
            if work.only is not None and name not in work.only:
                continue
            # a user's own models take part whatever the time, and of a blend one at least
            own = replace(work, seconds=work.seconds if copies and is_blend(self.estimator) else None)
            found = self._copies(name, model, X, y, folds, routed.of_model(k), own)
            if found is None:
                late.append(name)
            else:
                copies[name], predictions[name] = found
        if late:
            warn_user(f"time_limit leaves no time for {', '.join(late)}")
        return copies, predictions

    def _copies(
        self, name: str, model: Any, X: Any, y: Numbers, folds: Sequence[Fold], routed: Routed, work: Budget
    ) -> tuple[list[Any], Any] | None:
        """A copy of the model for each fold, and what they predict for the rows they did not see, in order.

        None where there is no time for it.
        """

        def fit(rows: Numbers) -> Any:
            return delayed(fitted)(model, rows_of(X, rows), y[rows], routed.rows(rows, len(y)).fit)

        if not work.affords(lambda rows: Parallel()([fit(rows)]), len(y), len(folds)):
            return None
        start, copies = time.monotonic(), []
        for copy in Parallel(n_jobs=self.n_jobs, return_as="generator")(fit(train) for train, _ in folds):
            copies.append(copy)
            work.bar.step(f"{name}, fold {len(copies)} of {len(folds)}")
            passed = time.monotonic() - start
            if len(copies) < len(folds) and not work.has_time(passed / len(copies) * (len(folds) - len(copies))):
                return None
        found = [forecast(copy, rows_of(X, test), self.adapter) for copy, (_, test) in zip(copies, folds, strict=True)]
        order = np.argsort(np.concatenate([test for _, test in folds]), kind="stable")
        return copies, concatenate(found)[order]

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
        models = [model for each in self.parts_.values() for model in each]
        found = [averaged([forecast(copy, X, self.adapter) for copy in copies]) for copies in self.estimators_]
        return self.stack_(_joined(self.parts_, dict(zip(models, found, strict=True))))  # type: ignore[no-any-return]

    def predict(self, X: Features) -> Numbers:
        """The centre of each row's refined prediction.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        return centre_of(self.predict_forecast(X))

    def _folds(self, X: Any, y: Numbers, routed: Routed, random: Any) -> list[Fold]:
        apart = routed.copies if routed.groups is None else routed.groups  # what folds keep together
        if is_frozen(self.estimator):
            everything = np.arange(len(y))
            return [(everything, everything if routed.copies is None else first_of_each(routed.copies))]
        split = Split.of(self.cv)
        if split.number:  # fewer folds where there are fewer rows or groups
            split = replace(split, number=max(2, min(split.number, units(np.arange(len(y)), apart))))
        return split.folds(X, y, routed.split, random, copies=routed.copies)

    def _models(self, count: int, seed: int, *, weighted: bool = False) -> dict[str, Any]:
        if is_blend(self.estimator):
            return blend(count, seed, library=self.estimator or "installed", weighted=weighted)
        return named_models(self.estimator)


def _parts(predictions: Mapping[str, Any]) -> dict[str, list[str]]:
    """The models that are stacked: each by itself, but those of one quantile each together."""
    single = [name for name, each in predictions.items() if is_one_quantile(each)]
    if len({predictions[name].quantile_levels() for name in single}) < max(2, len(single)):  # or two for one level
        single = []
    parts = {name: [name] for name in predictions if name not in single}
    return {**parts, "quantiles": single} if single else parts


def _joined(parts: Mapping[str, list[str]], predictions: Mapping[str, Any]) -> list[Any]:
    """The prediction of each part."""
    return [
        predictions[models[0]] if len(models) == 1 else joined_levels([predictions[model] for model in models])
        for models in parts.values()
    ]


def _once_each(parts: list[np.ndarray[Any, Any]]) -> np.ndarray[Any, Any]:
    """The rows that are held out, in order; each at most once, or a row's model may have seen it."""
    rows, counts = np.unique(np.concatenate(parts), return_counts=True)
    if np.any(counts > 1):
        raise ValueError(
            f"cv of Refined must hold out each row at most once, got row {rows[counts > 1][0]} {counts.max()} times"
        )
    return rows
