"""The best of several models, by a league on training rows."""

from __future__ import annotations

import time
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Self, cast

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin
from sklearn.utils import check_random_state, indexable
from sklearn.utils.validation import check_is_fitted

from calibrant._arrays import Array, to_numpy
from calibrant._frames import rows_of
from calibrant._types import ArrayLike, Features, RandomState, Values
from calibrant.calibration import Calibrator
from calibrant.choice import Criterion, League, criterion_named
from calibrant.choice.criteria import CriterionLike
from calibrant.distributions.base import Distribution
from calibrant.interpolators.base import Interpolator
from calibrant.names import InterpolatorName, interpolator_named, score_named
from calibrant.predictions import Prediction
from calibrant.refine.auto import named, two_halves
from calibrant.scores.base import Score
from calibrant.sklearn.around import Adapter, by_name, fitted, forecast, labels, tags_like
from calibrant.sklearn.columns import check_columns, learn_columns
from calibrant.sklearn.folds import Folds, folds_of, units


@dataclass(frozen=True)
class Candidate:
    """A model to be chosen, with the score and the interpolator that calibrate it, and how it predicts.

    `score`, `interpolator` and `adapter` are what they are in `CalibratedRegressor`; None leaves each to its default,
    the interpolator to the criterion.
    """

    estimator: Any
    score: Score | str | None = None
    interpolator: Interpolator | InterpolatorName | None = None
    adapter: Adapter = None

    def calibrator(self, criterion: Criterion) -> Calibrator:
        """What calibrates it in the league."""
        chosen = criterion.interpolator if self.interpolator is None else interpolator_named(self.interpolator)
        return Calibrator(score_named(self.score), chosen)


class Chosen(RegressorMixin, MetaEstimatorMixin, BaseEstimator):  # type: ignore[misc]
    """The simplest of several models within one standard error of the best, by out-of-fold score on the rows of `fit`.

    Each candidate is fitted without one fold at a time. What it says of that fold is calibrated on one half of the fold
    and judged on the other, and the other way round. The winner is fitted again on all rows. Inside
    `CalibratedRegressor` the calibration rows take no part in the choice, so the guarantee is what it was; the winner's
    score and interpolator calibrate it, where `CalibratedRegressor` names none.

    Args:
        candidates: Models, lists of quantile models, `Refined` or `Candidate`, from the simplest to the most elaborate;
            a list, a list of (name, model), or a dict.
        cv: The number of folds, or a splitter.
        criterion: "crps", "nll" or "interval" (the interval score at 90%).
        random_state: Decides the folds and halves.

    Attributes:
        name_: Of the winner.
        estimator_: The winner, fitted on all rows.
        league_: The candidates and their scores; it prints as a table.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.dummy import DummyRegressor
    >>> from sklearn.linear_model import Ridge
    >>> X, y = load_diabetes(return_X_y=True)
    >>> Chosen({"mean": DummyRegressor(), "ridge": Ridge(0.1)}, random_state=0).fit(X, y).name_
    'ridge'
    """

    name_: str
    candidate_: Candidate
    estimator_: Any
    league_: League

    def __init__(
        self,
        candidates: Sequence[object] | Mapping[str, object],
        *,
        cv: Folds = 5,
        criterion: CriterionLike = "crps",
        random_state: RandomState = None,
    ) -> None:
        self.candidates = candidates
        self.cv = cv
        self.criterion = criterion
        self.random_state = random_state

    def fit(
        self, X: Features, y: ArrayLike, sample_weight: ArrayLike | None = None, groups: Values | None = None
    ) -> Self:
        """Judge every candidate out of fold, and fit the winner on all rows."""
        criterion = criterion_named(self.criterion)
        candidates = dict(named(self.candidates, object))
        X, y = indexable(X, labels(y))
        y = cast("np.ndarray[Any, Any]", y)
        learn_columns(self, X)
        random = check_random_state(self.random_state)
        split = {} if groups is None else {"groups": np.asarray(groups)}
        weight = None if sample_weight is None else np.asarray(sample_weight, dtype=np.float64)
        folds = folds_of(self.cv, X, y, split, random)
        seed = int(random.randint(2**31 - 1))
        scores: dict[str, list[Array]] = {name: [] for name in candidates}
        seconds = dict.fromkeys(candidates, 0.0)
        order = []
        for k, (train, test) in enumerate(folds):
            if (held := units(test, split.get("groups"))) < 2:
                what = "rows" if groups is None else "groups"
                raise ValueError(f"split {k} of cv must hold out at least two {what} to judge by halves, got {held}")
            halves = two_halves(len(test), _of(split.get("groups"), test), seed)
            order += [test[half] for half in halves[::-1]]
            for name, each in candidates.items():
                start, candidate = time.perf_counter(), _candidate(each)
                model = _fit(
                    candidate, rows_of(X, train), y[train], _of(weight, train), _of(split.get("groups"), train)
                )
                prediction = forecast(model, rows_of(X, test), candidate.adapter)
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")  # of ties and few rows: it is a trial
                    scores[name] += criterion.judge(prediction, y[test], halves, candidate.calibrator(criterion))
                seconds[name] += time.perf_counter() - start
        joined = {name: np.concatenate(each) for name, each in scores.items()}
        judged = np.concatenate(order)
        league = League.of(criterion.name, joined, seconds, _of(weight, judged), _of(split.get("groups"), judged))
        winner = _candidate(candidates[league.chosen])
        model = _fit(winner, X, y, weight, split.get("groups"))
        self.name_, self.candidate_, self.estimator_, self.league_ = league.chosen, winner, model, league
        return self

    def predict_forecast(self, X: Features) -> Prediction | Distribution:
        """What the winner predicts."""
        check_is_fitted(self, "estimator_")
        check_columns(self, X, self.candidate_.estimator)
        found: Prediction | Distribution = forecast(self.estimator_, X, self.candidate_.adapter)
        return found

    def predict(self, X: Features) -> Array:
        """The middle of what the winner predicts."""
        return to_numpy(self.predict_forecast(X).centre_rows())

    def __sklearn_tags__(self) -> Any:
        models = [_candidate(each).estimator for _, each in named(self.candidates, object)]
        return tags_like(super().__sklearn_tags__(), [each for model in models for each in by_name(model).values()])


def _candidate(each: Any) -> Candidate:
    return each if isinstance(each, Candidate) else Candidate(each)


def _of(values: Array | None, index: Array) -> Array | None:
    return None if values is None else values[index]


def _fit(candidate: Candidate, X: Any, y: Array, weight: Array | None, groups: Array | None) -> Any:
    params = {} if weight is None else {"sample_weight": weight}
    if groups is not None and hasattr(candidate.estimator, "predict_forecast"):
        params["groups"] = groups  # its own folds keep them together
    return fitted(candidate.estimator, X, y, [params] * len(by_name(candidate.estimator)))
