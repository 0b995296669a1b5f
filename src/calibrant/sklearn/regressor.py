"""The scikit-learn door: any regressor becomes one that predicts calibrated distributions."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
from sklearn import get_config
from sklearn.base import RegressorMixin, clone
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from calibrant._arrays import Array, probabilities, to_numpy, unit, warn_user
from calibrant._frames import like_input, rows_of
from calibrant.calibration import Calibrator
from calibrant.censored import Censored
from calibrant.choice import League
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.guarantee import CrossGuarantee, Guarantee
from calibrant.labels.named import labels_named
from calibrant.names import interpolator_named, score_named
from calibrant.predictions import Ensemble
from calibrant.scores import EnsembleScore, default_score
from calibrant.scores.base import ChartScore
from calibrant.sklearn.around import AroundModels, Routed, fitted, forecast, is_frozen, labels, last_step
from calibrant.sklearn.chosen import Chosen
from calibrant.sklearn.folds import folds_of, units
from calibrant.sklearn.refined import Refined

FORECASTERS = (Refined, Chosen)
"""Estimators that have folds and adapters of their own."""


class CalibratedRegressor(RegressorMixin, AroundModels):  # type: ignore[misc]
    """A regressor whose predictions are calibrated distributions.

    Args:
        estimator: A regressor, a list of them (quantile models become one quantile prediction, others an ensemble), or
            any of these in a `FrozenEstimator`, which is not fitted again: then every row calibrates, unless
            `refine` is given, which divides the rows as `cv` says.
        score: A score or its name (residual, relative, sqrt, log, interval, quantile, samples, zscore, cdf; `log:1` is
            the log score with c = 1); None leaves the choice to the kind of prediction.
        interpolator: An interpolator or its name (linear, naive, random, naf).
        refine: What sharpens the prediction, learned on training rows from the errors of models that did not see them.
            None takes the prediction as it is. A `calibrant.refine.Refiner` or its name (plain, spread, location-scale,
            quantiles, local, cascade, average) costs five more fits of the estimator and its own learning. "auto", a
            list or a dict of refiners chooses among them by a league, which learns each candidate four times: seconds
            on thousands of rows. The default is "auto", and None where `score` or `adapter` is given, where the
            estimator is frozen, a `Refined` or a `Chosen`, and with a single training row or group. Below 100 training
            rows "auto" holds no league: a point stays as it is, other predictions keep their spread, shrunk.
            Calibration rows take no part, so the guarantee does not change.
        labels: What kind of number y is: a `calibrant.labels.Labels` or its name (log, log1p, sqrt, logit,
            yeo-johnson:0.5; `0:` is from 0 on, `0:1` from 0 to 1, `0:capacity` up to that column of X; `0:,log1p` is
            both). None is any real number. The estimator and `refine` learn y as it is, in its own unit; what they
            predict is calibrated as the labels say.
        cv: A share such as 0.2: that part of the rows is held out to calibrate, the guarantee is (1 + lambda)/(n + 1).
            A number of folds or a splitter: every row is scored by a model that did not see it, and the law is the
            mixture over the folds; all rows are used twice, for a weaker guarantee, see `CrossGuarantee`.
        point: What `predict` gives: the "mean" or the "median" of the law.
        adapter: How a fitted model predicts. None finds out from the model, see `calibrant.models.prediction_of`;
            "point" takes its plain `predict`; a function (model, X) -> prediction says it all.
        weights: A function of X that gives the likelihood ratio p_new(x) / p(x) of each row, known up to a factor, such
            as a fitted `DensityRatio`: the law is then right for the new rows, see `WeightedGuarantee`.
        missing: What becomes of rows whose label is NaN: "error", or "drop", which leaves them out and counts them.
        n_jobs: How many folds are fitted at once.
        random_state: Decides the split, and the uniforms of a randomised law. A row's uniform is a function of this
            seed, of what was calibrated and of the row's own forecast, so a row has the same law in every call, any
            batch and any order. For each seed the guarantee of `Random` is exact on average over calibration sets.
            Within one fit, rows with equal forecasts share their uniform.

    `sample_weight` and whatever else `fit` is given goes to the estimator's own `fit`, `groups` to the splitter, which
    then keeps groups together. A refiner learns with the weights, and its folds keep groups together too. Calibration
    itself knows no groups and no `sample_weight`, only `weights`.

    Attributes:
        estimators_: The fitted models, one for each fold; with `refine` each is a `Refined`, with its `league_`.
        calibrated_: What was learned from their scores; `calibrated_.save(path)` keeps it.
        guarantee_: What is promised, in numbers and in words.
        league_: The candidates and their scores, where the refinement was chosen; it prints as a table.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = CalibratedRegressor(HistGradientBoostingRegressor(random_state=0), random_state=0).fit(X[:400], y[:400])
    >>> model.predict_interval(X[400:402], coverage=0.8).round()
         lower  upper
    400   99.0  269.0
    401  -10.0  160.0
    """

    def __init__(
        self,
        estimator: Any,
        *,
        score: Any = None,
        interpolator: Any = "linear",
        refine: Any = "default",
        labels: Any = None,
        cv: Any = 0.2,
        point: str = "mean",
        adapter: str | Callable[[Any, Any], Any] | None = None,
        weights: Callable[[Any], Any] | None = None,
        missing: str = "error",
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.interpolator = interpolator
        self.refine = refine
        self.labels = labels
        self.cv = cv
        self.point = point
        self.adapter = adapter
        self.weights = weights
        self.missing = missing
        self.n_jobs = n_jobs
        self.random_state = random_state

    # ---- the two meanings of score ---------------------------------------------------------------------------------

    @property
    def score(self) -> Any:
        """The method of every scikit-learn regressor: R^2 of `predict`. The parameter `score` is in `get_params()`."""
        return super().score

    @score.setter
    def score(self, value: Any) -> None:
        self.__dict__["score"] = value

    def get_params(self, deep: bool = True) -> dict[str, Any]:  # noqa: FBT001, FBT002 (scikit-learn's signature)
        """The parameters by name."""
        params: dict[str, Any] = super().get_params(deep)
        return params | {"score": vars(self)["score"]}

    # ---- learning --------------------------------------------------------------------------------------------------

    def fit(self, X: Any, y: Any, **params: Any) -> Self:
        """Fit the estimator on one part of the rows and calibrate it on the other, or fold by fold.

        A frozen estimator also takes labels of which some were not seen: y may be a `Censored`.
        """
        self._calibrator()
        X, y = indexable(X, labels(y, missing=self.missing == "drop"))
        validate_data(self, X, skip_check_array=True)
        random = check_random_state(self.random_state)
        routed, refine = self._routed(params), self._refine()
        if isinstance(y, Censored) and not (is_frozen(self.estimator) and refine is None):
            raise TypeError(
                "only a FrozenEstimator, without refine=, takes Censored labels: fit the model by its own library first"
            )
        if (there := _labelled(y)).size < len(y):
            X, y, routed = rows_of(X, there), y[there], routed.rows(there, len(y))
        if is_frozen(self.estimator) and refine is None:
            everything = np.arange(_num_samples(X))
            models, held = [self.estimator], [everything]
        else:
            folds = folds_of(self.cv, X, y, routed.split, random)
            if self._is_default() and min(units(train, routed.groups) for train, _ in folds) < 2:
                refine = None  # a single group, or row, to train on leaves none to hold out
            estimator = self.estimator if refine is None else self._around(refine, int(random.randint(2**31 - 1)))
            models = Parallel(n_jobs=self.n_jobs)(
                delayed(_fitted if refine is None else _refined)(
                    estimator, rows_of(X, train), y[train], routed.rows(train, len(y))
                )
                for train, _ in folds
            )
            held = [test for _, test in folds]
        seed = int(random.randint(2**31 - 1))
        members = [
            self._calibrator_of(model).fit(
                self._prediction(model, rows_of(X, rows)),
                y[rows],
                **self._known(rows_of(X, rows)),
                rng=np.random.default_rng(seed),
            )
            for model, rows in zip(models, held, strict=True)
        ]
        # all at once: models with the calibration of an earlier fit would predict nonsense
        self.estimators_, self.seed_ = models, seed
        self.calibrated_ = members[0] if len(members) == 1 else CrossCalibrated(tuple(members))
        return self

    def calibrate(self, X: Any, y: Any) -> Self:
        """Calibrate anew on rows that the fitted models did not see, and keep the models.

        The models of several folds become one ensemble, whose guarantee is that of a held-out part.
        """
        check_is_fitted(self, "calibrated_")
        calibrators = [self._calibrator_of(model) for model in self.estimators_]
        X, y = indexable(X, labels(y, missing=self.missing == "drop"))
        if (there := _labelled(y)).size < len(y):
            X, y = rows_of(X, there), y[there]
        pooled, calibrator = self._pooled(X), calibrators[0]
        if len(calibrators) > 1 and any(each.score is not None for each in calibrators):
            scores: list[Any] = [
                default_score(member) if each.score is None else each.score
                for each, member in zip(calibrators, pooled.members, strict=True)
            ]
            odd = next((score for score in scores if not isinstance(score, ChartScore)), None)
            if odd is not None:
                raise TypeError(
                    f"the models of {len(self.estimators_)} folds are calibrated as an ensemble, whose scores add up:"
                    f" {type(odd).__name__} must be a LocationScaleScore or a MonotoneScore for that"
                )
            # each of which may be an EnsembleScore itself
            calibrator = replace(calibrator, score=EnsembleScore(tuple(scores)))
        self.calibrated_ = calibrator.fit(pooled, y, **self._known(X), rng=np.random.default_rng(self.seed_))
        return self

    def update(self, X: Any, y: Any, *, refit: bool = False) -> Self:
        """Let the scores of new rows join those that calibrate; the fitted models stay, see `Calibrated.update`.

        With `refit` an interpolator that cannot add to its law, such as NAF, is fitted again to all scores.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, CrossCalibrated):
            raise TypeError(
                f"the laws of {len(self.estimators_)} folds cannot be updated together: calibrate(X, y) makes one law,"
                " which can"
            )
        X, y = indexable(X, labels(y, missing=self.missing == "drop"))
        if (there := _labelled(y)).size < len(y):
            X, y = rows_of(X, there), y[there]
        # draws of their own for every update
        rng = np.random.default_rng([self.seed_, self.calibrated_.guarantee.n])
        self.calibrated_ = self.calibrated_.update(self._pooled(X), y, **self._known(X), rng=rng, refit=refit)
        return self

    def _refine(self) -> Any:
        """What `refine` comes to: None, or what `Refined` takes."""
        if not self._is_default():
            return self.refine
        told = vars(self)["score"] is not None or self.adapter is not None
        done = is_frozen(self.estimator) or isinstance(last_step(self.estimator), FORECASTERS)
        return None if told or done else "auto"

    def _is_default(self) -> bool:
        return isinstance(self.refine, str) and self.refine == "default"

    def _around(self, refine: Any, seed: int) -> Refined:
        return Refined(self.estimator, refine, adapter=self.adapter, random_state=seed)

    def _calibrator(self) -> Calibrator:
        if self.point not in ("mean", "median"):
            raise ValueError(f"point must be 'mean' or 'median', got {self.point!r}")
        if not (self.weights is None or callable(self.weights)):
            raise TypeError(f"weights must be a function of X, such as DensityRatio().fit(...), got {self.weights!r}")
        if self.missing not in ("error", "drop"):
            raise ValueError(f"missing must be 'error' or 'drop', got {self.missing!r}")
        score, interpolator = score_named(vars(self)["score"]), interpolator_named(self.interpolator)
        return Calibrator(score, interpolator, labels_named(self.labels))

    def _calibrator_of(self, model: Any) -> Calibrator:
        """With what the model was chosen for, where nothing else is named."""
        own = self._calibrator()
        if not isinstance(model, Chosen):
            return own
        candidate = model.candidate_
        score = own.score if candidate.score is None or own.score is not None else score_named(candidate.score)
        named = candidate.interpolator is not None and self.interpolator == "linear"
        chosen = interpolator_named(candidate.interpolator) if named else own.interpolator
        return replace(own, score=score, interpolator=chosen)

    def _known(self, X: Any) -> dict[str, Any]:
        """What is known of these rows beside the prediction: their weights, and X for labels whose bounds are in it."""
        labels, known = labels_named(self.labels), {}
        if self.weights is not None:
            known["weights"] = self.weights(X)
        if labels is not None and labels.by_row:
            known["bound"] = X
        return known

    # ---- predicting ------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The mean or the median of each row's law, as the parameter `point` says."""
        H = self.predict_distribution(X)
        values = to_numpy(H.mean() if self.point == "mean" else H.median())
        if self.labels is not None and np.isposinf(values).any():
            many = np.isposinf(values)
            warn_user(f"the mean of {many.sum()} of {many.size} laws is infinite: predict gives their median")
            values = np.where(many, to_numpy(H.median()), values)
        if np.isnan(values).any():
            raise ValueError(
                f"the law of interpolator={self.interpolator!r} on n = {self.guarantee_.n} scores has mass at -inf and"
                " +inf and so no mean: choose point='median'"
            )
        return values

    def predict_distribution(self, X: Any) -> Distribution:
        """The calibrated law of each row."""
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, CrossCalibrated):
            predictions = [self._prediction(model, X) for model in self.estimators_]
            return self.calibrated_(predictions, **self._known(X), seed=self.seed_)
        return self.calibrated_(self._pooled(X), **self._known(X), seed=self.seed_)

    def predict_interval(self, X: Any, coverage: float = 0.9) -> Any:
        """The centred interval of each row, as columns `lower` and `upper` in the kind of X: an array or a frame."""
        coverage = unit("coverage", coverage)
        H = self.predict_distribution(X)
        bounds = H.quantiles([(1 - coverage) / 2, (1 + coverage) / 2])
        return like_input(X, ["lower", "upper"], to_numpy(bounds))

    def predict_quantiles(self, X: Any, quantiles: Sequence[float] = (0.05, 0.5, 0.95)) -> Any:
        """The quantiles of each row, as columns `q0.05`, ... in the kind of X: an array or a frame."""
        levels = probabilities("quantiles", quantiles)
        names = [f"q{float(level)}" for level in np.atleast_1d(levels)]
        if levels.ndim != 1 or len(set(names)) != len(names):
            raise ValueError(f"quantiles must be a list of distinct levels, got {quantiles!r}")
        return like_input(X, names, to_numpy(self.predict_distribution(X).quantiles(levels)))

    @property
    def guarantee_(self) -> Guarantee | CrossGuarantee:
        """What is promised, in numbers and in words."""
        check_is_fitted(self, "calibrated_")
        return self.calibrated_.guarantee

    @property
    def league_(self) -> League:
        """The candidates among which the refinement was chosen; with several folds that of the first."""
        check_is_fitted(self, "calibrated_")
        model = self.estimators_[0]
        if not isinstance(model, FORECASTERS):
            raise AttributeError("there was no league: refine=None, or what says so, leaves nothing to choose")
        league: League = model.league_
        return league

    def _prediction(self, model: Any, X: Any) -> Any:
        # what refines asks the model itself, by the same adapter
        return model.predict_forecast(X) if isinstance(model, FORECASTERS) else forecast(model, X, self.adapter)

    def _pooled(self, X: Any) -> Any:
        predictions = [self._prediction(model, X) for model in self.estimators_]
        return predictions[0] if len(predictions) == 1 else Ensemble(predictions)


def _labelled(y: Any) -> Array:
    """The rows that have a label, with a warning that counts the others; censored labels are none that miss."""
    if isinstance(y, Censored):
        return np.arange(len(y))
    there = np.flatnonzero(~np.isnan(y))
    if there.size < y.size:
        first = int(np.argmax(np.isnan(y)))
        warn_user(
            f"y is missing in {y.size - there.size} of {y.size} rows, the first is row {first}: they are left out"
        )
    return there


def _fitted(estimator: Any, X: Any, y: Array, routed: Routed) -> Any:
    """A fitted copy of the model; one with folds of its own keeps groups together too."""
    if isinstance(estimator, FORECASTERS) and not get_config()["enable_metadata_routing"]:
        return clone(estimator).fit(X, y, **routed.fit[0], **routed.split)
    return fitted(estimator, X, y, routed.fit)


def _refined(estimator: Refined, X: Any, y: Array, routed: Routed) -> Refined:
    """The model and what refines it, fitted; groups reach the inner folds too."""
    copy: Refined = clone(estimator)
    return copy.fit_routed(X, y, routed)
