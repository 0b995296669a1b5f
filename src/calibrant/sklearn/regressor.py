"""`CalibratedRegressor`: any regressor, with calibrated distributions as predictions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast, overload

import numpy as np
from sklearn import get_config
from sklearn.base import RegressorMixin, clone
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._arguments import unit
from calibrant._arrays import Array, probabilities, to_numpy
from calibrant._types import Features, Frame, LabelsLike, RandomState
from calibrant._words import warn_user
from calibrant.calibration import Calibrator
from calibrant.censored import Censored
from calibrant.cross import CrossCalibrated
from calibrant.guarantee import Guarantee
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.history import Forgetting
from calibrant.labels import Labels
from calibrant.labels.atom import atom_in
from calibrant.labels.base import takes_any_quantile
from calibrant.labels.counts import look_like_counts
from calibrant.labels.named import labels_named
from calibrant.models.frames import collected, is_frame, like_input, rows_of
from calibrant.names import InterpolatorName, interpolator_named, score_named
from calibrant.predictions import Ensemble
from calibrant.refine.names import RefinerLike, refiner_named
from calibrant.refine.two_part import TwoPart
from calibrant.scores import EnsembleScore, Score
from calibrant.several import SeveralCalibrator
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.distributions import SeveralDistributions
from calibrant.sklearn.columns import check_columns, learn_columns, model_features, naming_columns
from calibrant.sklearn.evaluation import EvaluationMethods
from calibrant.sklearn.folds import Folds, folds_of, holds_out_one_part, units
from calibrant.sklearn.groups import check_all_groups_held_out, groups_in, warn_of_few_groups
from calibrant.sklearn.meta_estimator import (
    MetaEstimator,
    Routed,
    fitted,
    forecast,
    is_frozen,
    labels,
    last_step,
    with_labels_only,
)
from calibrant.sklearn.online import OnlineMethods
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.return_types import Distributions, Leagues
from calibrant.sklearn.several import (
    SeveralModel,
    columns_by_label,
    fit_several,
    is_several,
    label_matrix,
    labels_by_name,
    multioutput,
)
from calibrant.sklearn.time_order import warn_of_time_order

FORECASTERS = (Refined, SeveralModel)
"""Estimators that have folds and adapters of their own."""


class CalibratedRegressor(RegressorMixin, EvaluationMethods, OnlineMethods, MetaEstimator):  # type: ignore[misc]
    """A regressor whose predictions are calibrated distributions.

    Args:
        estimator: A regressor, a list of them (quantile models become one quantile prediction, others an ensemble), or
            any of these in a `FrozenEstimator`, which is not fitted again: then every row calibrates, unless
            `refine` is given, which divides the rows as `cv` says.
        calibration_score: A score or its name (residual, relative, sqrt, log, interval, quantile, samples, zscore, cdf;
            `log:1` is the log score with c = 1). By default it follows from the kind of prediction.
        interpolator: An interpolator or its name (linear, naive, random, naf).
        refine: What sharpens the prediction, learned on training rows from the errors of models that did not see them.
            None takes the prediction as it is. A `calibrant.refine.Refiner` or its name (constant, spread,
            location-scale, quantiles, forest, mean) costs five more fits of the estimator and its own learning. "auto",
            a list or a dict of refiners chooses among them by a league, which learns each candidate four times: seconds
            on thousands of rows. The default is "auto", and None where `calibration_score` or `adapter` is given, where
            `labels` have a bounded domain, such as a bare "log" (refined quantiles may lie outside), where the
            estimator is frozen or a `Refined`, and with a single training row or group. Below 100 training rows "auto"
            holds no league: a point stays as it is, other predictions keep their spread, shrunk. Calibration rows take
            no part, so the guarantee does not change.
        labels: What kind of number y is: a `calibrant.labels.Labels` or its name (log, log1p, sqrt, logit,
            yeo-johnson:0.5; `0:` is from 0 on, `0:1` from 0 to 1, `0:capacity` up to that column of X; `0:,log1p` is
            both; counts, integers, atom:0). None is any real number, with a warning where y looks like counts; so is
            "real", without it. The estimator and `refine` learn y as it is, in its own unit; what they
            predict is calibrated as the labels say. With `atom:0`, many exact zeros, `refine` learns two parts on
            training rows: how likely 0 is, and the distribution of what lies above it.
        cv: A share such as 0.2: that part of the rows is held out to calibrate, the guarantee is (1 + lambda)/(n + 1).
            A number of folds or a splitter: every row is scored by a model that did not see it, and the distribution is
            the mixture over the folds; all rows are used twice, for a weaker guarantee. A share and a number of folds
            split at random, with a warning where dates in X say that the rows are in time order. "latest" holds out the
            last 20% of the rows, in the order given, "latest:0.3" the last 30%: the choice for time series; then
            `track` follows. `cv=[(train, test)]` is any split by row numbers.
        point: What `predict` gives: the "mean" or the "median" of the distribution.
        adapter: How a fitted model predicts. None finds out from the model, see `calibrant.models.prediction_of`;
            "point" takes its plain `predict`; a function (model, X) -> prediction says it all.
        weights: A function of X that gives the likelihood ratio p_new(x) / p(x) of each row, known up to a factor, such
            as a fitted `DensityRatio`: the distribution is then right for the new rows.
        missing: What becomes of rows whose label is NaN: "error", or "drop", which leaves them out and counts them.
        by: What names the group of each row: a column of X, a list of them, or a function of X. Each group then has
            a distribution and a guarantee of its own, and a small one borrows from all, see
            `calibrant.interpolators.ByGroup`. Of every group some rows are held out. To pickle the estimator, give a
            named function of a module.
        features: The columns of X that the estimator and `refine` see, by name, or by number if X is an array; None is
            all. The others are there for `by`, `labels` and `weights`, such as a column of texts that names the group.
        forget: How old rows are weighted, by a `Window` or a `HalfLife`; then the rows of `fit`, `calibrate` and
            `update` are taken to be in time order. None weights them all equally.
        n_jobs: How many folds are fitted at once.
        random_state: Decides the split, and the uniforms of a randomised distribution. A row's uniform is a function of
            this seed, of what was calibrated and of the row's own forecast, so a row has the same distribution in every
            call, any batch and any order. For each seed the guarantee of `Random` is exact on average over calibration
            sets. Within one fit, rows with equal forecasts share their uniform.

    A y with several columns has several labels: each gets its distribution, and `predict_interval(X, joint=True)` a box
    that holds them all, see `calibrant.several`. A model for one label is then fitted once for each. Training rows are
    always predicted by copies that did not see them, also with `refine=None`; `cv` must hold one part out; `labels` may
    be a dict by column or a list.

    `sample_weight` and whatever else `fit` is given goes to the estimator's own `fit`, `groups` to the splitter, which
    then keeps groups together. A refiner learns with the weights, and its folds keep groups together too. Calibration
    itself knows no `groups` and no `sample_weight`, only `by` and `weights`.

    Attributes:
        estimators_: The fitted models, one for each fold; with `refine` each is a `Refined`, with its `league_`.
        calibrated_: What was learned from their scores; `save(path)` writes it to a file, without the models.
        guarantee_: The guarantee, in numbers and in words.
        league_: The candidates and their scores, where the refinement was chosen; it prints as a table.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = CalibratedRegressor(HistGradientBoostingRegressor(random_state=0), random_state=0).fit(X[:400], y[:400])
    >>> model.predict_interval(X[400:402], coverage=0.8).round()
         lower  upper
    400   85.0  292.0
    401   24.0  160.0
    """

    estimators_: list[Any]
    calibrated_: Any
    calibrator_: SeveralCalibrator
    seed_: int

    def __init__(
        self,
        estimator: Any,
        *,
        calibration_score: Score | str | None = None,
        interpolator: Interpolator | InterpolatorName = "linear",
        refine: RefinerLike | None = "default",
        labels: Labels | str | Mapping[str, Labels | str] | None = None,
        cv: Folds = 0.2,
        point: str = "mean",
        adapter: str | Callable[[Any, Any], Any] | None = None,
        weights: Callable[[Any], Any] | None = None,
        missing: str = "error",
        by: str | Sequence[str] | Callable[[Any], Any] | None = None,
        features: Sequence[str] | Sequence[int] | None = None,
        forget: Forgetting | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
    ) -> None:
        self.estimator = estimator
        self.calibration_score = calibration_score
        self.interpolator = interpolator
        self.refine = refine
        self.labels = labels
        self.cv = cv
        self.point = point
        self.adapter = adapter
        self.weights = weights
        self.missing = missing
        self.by = by
        self.features = features
        self.forget = forget
        self.n_jobs = n_jobs
        self.random_state = random_state

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = holds_out_one_part(self.cv)  # folds are for one label
        return tags

    # ---- learning --------------------------------------------------------------------------------------------------

    def fit(self, X: Features, y: LabelsLike, **params: Any) -> Self:
        """Fit the estimator on one part of the rows and calibrate it on the other, or fold by fold.

        A frozen estimator also takes labels of which some were not seen: y may be a `Censored`.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row, or one column per label.
            params: Passed on to the estimator's `fit`. `groups` go to the splitter, and `sample_weight` also to what
                refines.
        """
        if is_several(y):
            if self.by is not None:
                raise TypeError(f"by={self.by!r} is for one label, and y has several")
            return self._fit_several(X, y, params)
        self._calibrator()
        X, y = indexable(collected(X), labels(y, missing=self.missing == "drop"))
        return self._fit_one(X, y, params)

    def _fit_one(self, X: Any, y: Any, params: Mapping[str, Any]) -> Self:
        learn_columns(self, X)
        random = check_random_state(self.random_state)
        routed, refine = self._routed(params), self._refine()
        if isinstance(y, Censored) and not (is_frozen(self.estimator) and refine is None):
            raise TypeError(
                "only a FrozenEstimator, without refine=, takes Censored labels: fit the model by its own library first"
            )
        if (labelled := with_labels_only(y)).size < len(y):
            X, y, routed = rows_of(X, labelled), y[labelled], routed.rows(labelled, len(y))
        if (kind := self._calibrator().labels) is not None and not isinstance(y, Censored):
            kind.check(y, self._context(X).get("bound"))  # of training rows too, and by their own numbers
        elif self.labels is None and not isinstance(y, Censored):
            _warn_of_counts(y)
        if is_frozen(self.estimator) and refine is None:
            everything = np.arange(_num_samples(X))
            models, held = [self.estimator], [everything]
        else:
            by = None if self.by is None else groups_in(X, self.by)
            folds = folds_of(self.cv, X, y, routed.split, random, by)
            held = [test if self.forget is None else np.sort(test) for _, test in folds]
            if by is None:
                warn_of_few_groups(routed.groups, held)
            elif getattr(self._calibrator().interpolator, "unseen", "refuse") == "refuse":
                check_all_groups_held_out(by, held)
            if self._is_default() and min(units(train, routed.groups) for train, _ in folds) < 2:
                refine = None  # a single group, or row, to train on leaves none to hold out
            estimator = self.estimator if refine is None else self._with_refiner(refine, int(random.randint(2**31 - 1)))
            seen = model_features(X, self.features)
            with naming_columns(seen, self.by):
                models = Parallel(n_jobs=self.n_jobs)(
                    delayed(_fitted if refine is None else _refined)(
                        estimator, rows_of(seen, train), y[train], routed.rows(train, len(y))
                    )
                    for train, _ in folds
                )
            warn_of_time_order(self.cv, X)
        seed = int(random.randint(2**31 - 1))
        members = [
            self._calibrator().fit(
                self._prediction(model, rows_of(X, rows)),
                y[rows],
                **self._context(rows_of(X, rows)),
                rng=np.random.default_rng(seed),
            )
            for model, rows in zip(models, held, strict=True)
        ]
        # all at once: models with the calibration of an earlier fit would predict nonsense
        self.estimators_, self.seed_ = models, seed
        calibrated: Any = members[0] if len(members) == 1 else CrossCalibrated(tuple(members))
        self.calibrated_ = calibrated
        return self

    def calibrate(self, X: Features, y: LabelsLike) -> Self:
        """Calibrate this model anew on rows that its fitted models did not see, and keep these models.

        The models of several folds become one ensemble, whose guarantee is that of a held-out part.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row, or one column per label.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, SeveralCalibrated):
            _, Y, labelled = label_matrix(y, missing=self.missing)
            X, Y = indexable(self._check_columns(X), Y)
            return self._calibrate_several(rows_of(X, labelled), Y[labelled])
        X, y = indexable(self._check_columns(X), labels(y, missing=self.missing == "drop"))
        y = cast("np.ndarray[Any, Any]", y)
        if (labelled := with_labels_only(y)).size < len(y):
            X, y = rows_of(X, labelled), y[labelled]
        pooled, calibrator = self._predictions(X), self._calibrator()
        if len(self.estimators_) > 1 and calibrator.score is not None:
            # each of which may be an EnsembleScore itself
            each = (calibrator.score,) * len(self.estimators_)
            calibrator = replace(calibrator, score=EnsembleScore(each))
        self.calibrated_ = calibrator.fit(pooled, y, **self._context(X), rng=np.random.default_rng(self.seed_))
        return self

    def _fit_several(self, X: Any, y: Any, params: Mapping[str, Any]) -> Self:
        """`fit` for a y with columns: one held-out part calibrates every label."""
        if self.weights is not None:
            raise TypeError("several labels take no weights=: calibrate them one by one")
        names, Y, labelled = label_matrix(y, missing=self.missing)
        each = {name: self._calibrator(kind) for name, kind in labels_by_name(self.labels, names).items()}
        X, Y = indexable(collected(X), Y)
        learn_columns(self, X)
        random = check_random_state(self.random_state)
        routed, refine = self._routed(params).rows(labelled, len(Y)), self._refine()
        X, Y = rows_of(X, labelled), Y[labelled]
        for j, name in enumerate(names if self.labels is None else ()):
            _warn_of_counts(Y[:, j], f"labels {name!r}")
        calibrator = SeveralCalibrator(each)
        if is_frozen(self.estimator) and refine is None:
            held = np.arange(len(Y))
            model = SeveralModel(multioutput(self.estimator), names, self.adapter, [None] * len(names))
        else:
            folds = folds_of(self.cv, X, Y, routed.split, random)
            if len(folds) > 1:
                raise ValueError(
                    f"several labels are calibrated on one held-out part, got cv={self.cv!r} with {len(folds)} splits:"
                    " give a share such as cv=0.2"
                )
            train, held = folds[0]
            with naming_columns(model_features(X, self.features), None):
                model, seen, predictions, known = fit_several(
                    self.estimator,
                    model_features(rows_of(X, train), self.features),
                    Y[train],
                    names,
                    self.adapter,
                    refine,
                    routed.rows(train, len(Y)),
                    random,
                )
            warn_of_time_order(self.cv, X)
            calibrator = calibrator.compared_on(predictions, known, **self._context(rows_of(X, train[seen])))
        self.estimators_, self.calibrator_, self.seed_ = [model], calibrator, int(random.randint(2**31 - 1))
        return self._calibrate_several(rows_of(X, held), Y[held])

    def _calibrate_several(self, X: Any, Y: Array) -> Self:
        rng = np.random.default_rng(self.seed_)
        self.calibrated_ = self.calibrator_.fit(self._predictions(X), Y, **self._context(X), rng=rng)
        return self

    def _refine(self) -> Any:
        """What `refine` comes to: None, or what `Refined` takes."""
        if not self._is_default():
            return self.refine
        explicit = (
            self.calibration_score is not None
            or self.adapter is not None
            or not all(map(takes_any_quantile, self._label_kinds()))
        )
        finished = is_frozen(self.estimator) or isinstance(last_step(self.estimator), FORECASTERS)
        return None if explicit or finished else "auto"

    def _is_default(self) -> bool:
        return isinstance(self.refine, str) and self.refine == "default"

    def _with_refiner(self, refine: Any, seed: int) -> Refined:
        at = atom_in(labels_named(cast("Labels | str | None", self.labels)))  # of one label
        refine = refine if at is None else TwoPart(refiner_named(refine), at)
        return Refined(self.estimator, refine, adapter=self.adapter, random_state=seed)

    def _calibrator(self, *labels: Any) -> Calibrator:
        """With these labels, or those of the parameter."""
        if self.point not in ("mean", "median"):
            raise ValueError(f"point must be 'mean' or 'median', got {self.point!r}")
        if not (self.weights is None or callable(self.weights)):
            raise TypeError(f"weights must be a function of X, such as DensityRatio().fit(...), got {self.weights!r}")
        if self.missing not in ("error", "drop"):
            raise ValueError(f"missing must be 'error' or 'drop', got {self.missing!r}")
        score, interpolator = score_named(self.calibration_score), interpolator_named(self.interpolator)
        return Calibrator(score, interpolator, labels_named(*labels or (self.labels,)), self.forget)

    def _context(self, X: Any) -> dict[str, Any]:
        """What calibration needs besides the prediction: weights, groups, and X for labels with bounds in it."""
        known: dict[str, Any] = {} if self.weights is None else {"weights": self.weights(X)}
        if self.by is not None:
            known["by"] = groups_in(X, self.by)
        if any(kind is not None and kind.by_row for kind in self._label_kinds()):
            known["bound"] = X
        return known

    def _label_kinds(self) -> list[Labels | None]:
        """What `labels` says of each label, or of all."""
        several: Any = self.labels.values() if isinstance(self.labels, Mapping) else self.labels
        return list(map(labels_named, several if isinstance(self.labels, (Mapping, list, tuple)) else [self.labels]))

    # ---- predicting ------------------------------------------------------------------------------------------------

    def predict(self, X: Features) -> np.ndarray[Any, Any]:
        """The mean or the median of each row's distribution, as the parameter `point` says; (n, d) for d labels.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        H: Any = self.predict_distribution(X)
        values = to_numpy(H.mean() if self.point == "mean" else H.median())
        if self.labels is not None and np.isposinf(values).any():
            many = np.isposinf(values)
            warn_user(f"the mean of {many.sum()} of {many.size} distributions is infinite: predict gives their median")
            values = np.where(many, to_numpy(H.median()), values)
        if np.isnan(values).any():
            raise ValueError(
                f"the q of interpolator={self.interpolator!r} on n = {self.guarantee_.n} scores has mass at -inf and"
                " +inf and so no mean: choose point='median'"
            )
        return values

    def predict_distribution(self, X: Features) -> Distributions:
        """The calibrated distribution of each row; of several labels `SeveralDistributions`.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        check_is_fitted(self, "calibrated_")
        X = self._check_columns(X)
        if isinstance(self.calibrated_, CrossCalibrated):
            predictions = [self._prediction(model, X) for model in self.estimators_]
            return cast(Distributions, self.calibrated_(predictions, **self._context(X), seed=self.seed_))
        return cast(Distributions, self.calibrated_(self._predictions(X), **self._context(X), seed=self.seed_))

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

    @property
    def guarantee_(self) -> Guarantee:
        """The guarantee, in numbers and in words."""
        check_is_fitted(self, "calibrated_")
        return self.calibrated_.guarantee  # type: ignore[no-any-return]

    @property
    def league_(self) -> Leagues:
        """The candidates among which the refinement was chosen; with several folds that of the first.

        For several labels a dict by label.
        """
        check_is_fitted(self, "calibrated_")
        model = self.estimators_[0]
        if not isinstance(model, FORECASTERS):
            raise AttributeError("there is no league: with refine=None there is nothing to choose")
        return cast(Leagues, model.league_)

    def _check_columns(self, X: Any) -> Any:
        """X, if it has the columns of `fit`."""
        X = collected(X)
        if self.features is None or not is_frame(X):  # else they are selected by name, and other columns do not matter
            check_columns(self, X, self.estimator)
        return X

    def _prediction(self, model: Any, X: Any) -> Any:
        X = model_features(X, self.features)
        try:
            # what refines asks the model itself, by the same adapter
            return model.predict_forecast(X) if isinstance(model, FORECASTERS) else forecast(model, X, self.adapter)
        except Exception as error:
            if _num_samples(X) == 0:  # the models of some libraries return no rows, of others raise an obscure error
                raise ValueError("X has no rows, and the estimator predicts for one row or more") from error
            raise

    def _predictions(self, X: Any) -> Any:
        predictions = [self._prediction(model, X) for model in self.estimators_]
        return predictions[0] if len(predictions) == 1 else Ensemble(predictions)


def _fitted(estimator: Any, X: Any, y: Array, routed: Routed) -> Any:
    """A fitted copy of the model; one with folds of its own keeps groups together too."""
    if isinstance(estimator, FORECASTERS) and not get_config()["enable_metadata_routing"]:
        return clone(estimator).fit(X, y, **routed.fit[0], **routed.split)
    return fitted(estimator, X, y, routed.fit)


def _refined(estimator: Refined, X: Any, y: Array, routed: Routed) -> Refined:
    """The model and what refines it, fitted; groups reach the inner folds too."""
    copy: Refined = clone(estimator)
    return copy.fit_routed(X, y, routed)


def _warn_of_counts(y: np.ndarray[Any, Any], what: str = "labels") -> None:
    """Say that counts may be meant: a distribution on the real line reaches below 0, and between the numbers."""
    if look_like_counts(y):
        warn_user(
            f"all {what} are whole numbers of at least 0: labels='counts' keeps forecasts so, and labels='real' takes"
            " them for any real numbers without this warning"
        )
