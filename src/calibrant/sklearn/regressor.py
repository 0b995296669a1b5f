"""`CalibratedRegressor`: from a table to calibrated distributions.

`fit` is the path: check X, y and the parameters (settings.py), split the rows (splits.py), learn (learning.py, and
`Refined` in refined.py: crossfit, stack, refine), calibrate. `predict_base` and `predict_distribution` go it again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import Any, Self, cast

import numpy as np
from sklearn import get_config
from sklearn.base import RegressorMixin
from sklearn.utils import check_random_state
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._display import Weights
from calibrant._types import Features, LabelsLike, RandomState
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.guarantee import Basis, Guarantee
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.history import Forgetting
from calibrant.labels import Labels
from calibrant.models.frames import rows_of
from calibrant.names import InterpolatorName, interpolator_named
from calibrant.predictions import Ensemble, Prediction
from calibrant.refine import RefinerLike
from calibrant.scores import Score
from calibrant.several import Several, SeveralCalibrator
from calibrant.sklearn.inputs import groups_in, naming_columns, refuse_constant
from calibrant.sklearn.learning import (
    Scored,
    SeveralModel,
    counted_once,
    first_label,
    learn,
    neighbours_of,
    of_one_kind,
    together,
)
from calibrant.sklearn.meta_estimator import Routed, by_name, check_models, forecast, is_frozen
from calibrant.sklearn.online import OnlineMethods
from calibrant.sklearn.predicting import Distributions
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.rows import copies_told, distinct, warn_of_order
from calibrant.sklearn.splits import (
    Fold,
    Folds,
    Split,
    check_all_groups_held_out,
    units,
    warn_of_few_groups,
)
from calibrant.sklearn.work import Bar, Budget

Numbers = np.ndarray[Any, Any]
FORECASTERS = (Refined, SeveralModel)
"""What has folds and adapters of its own."""


class CalibratedRegressor(RegressorMixin, OnlineMethods):  # type: ignore[misc]
    """A regressor whose predictions are calibrated distributions.

    `fit` cuts the rows in two. On the training rows it fits five copies of each model, each blind to a fifth; what they
    predict for the rows they did not see teaches how to stack several models and how to refine the prediction. The
    other rows calibrate. A new row gets the mean of the copies, stacked, refined and calibrated.

    Args:
        estimator: A regressor, or a list of regressors, which are stacked: points, quantiles and distributions. None is
            a blend of scikit-learn's models, with LightGBM and CatBoost where they are installed; "sklearn" leaves
            these out, for the same result everywhere. What is in a `FrozenEstimator` is not fitted again: then every
            row calibrates, unless `refine` is given, which divides the rows as `cv` says.
        calibration_score: A score or its name (residual, relative, sqrt, log, interval, quantile, samples, zscore, cdf;
            `log:1` is the log score with c = 1). By default it follows from the kind of prediction.
        interpolator: An interpolator or its name (linear, naive, random, naf).
        refine: What sharpens the prediction, learned on training rows from the errors of copies that did not see them:
            a `calibrant.refine.Refiner` or its name (constant, spread, location-scale, quantiles, forest, mean); None
            takes the prediction as it is. "auto" is "mean"; and None where `calibration_score` or `adapter` is given,
            where `labels` have a bounded domain, such as a bare "log" (refined quantiles may lie outside), where the
            estimator is frozen or a `Refined`, and with a single training row or group. Calibration rows take no part,
            so the guarantee does not change.
        labels: What kind of number y is: a `calibrant.labels.Labels` or its name (log, log1p, sqrt, logit,
            yeo-johnson:0.5; `0:` is from 0 on, `0:1` from 0 to 1, `0:capacity` up to that column of X; `0:,log1p` is
            both; counts, integers, atom:0). None is any real number, with a warning where y looks like counts; so is
            "real", without it. The models and `refine` learn y as it is, in its own unit; what they predict is
            calibrated as the labels say. With `atom:0`, many exact zeros, `refine` learns two parts on training rows:
            how likely 0 is, and the distribution of what lies above it.
        cv: Which rows calibrate. A share such as 0.2 holds that part out, at random; "auto" is a fifth, or 5 sqrt(n)
            of many rows: the guarantee is (1 + lambda)/(n + 1). A number of folds, such as 5, or a splitter uses every
            row twice: models that did not see a row score it, and models fitted on all rows predict. That is sharper,
            above all with few rows, and no finite-sample guarantee is known. "mixture" (or "mixture:10") averages the
            distributions of 5 (10) folds, for a guarantee of about 2c. "latest" holds out the last 20% of the rows, in
            the order given, "latest:0.3" the last 30%: the choice for time series; then `track` follows.
            `cv=[(train, test)]` is any split by row numbers.
        adapter: How a fitted model predicts. None finds out from the model, see `calibrant.models.prediction_of`;
            "point" takes its plain `predict`; a function (model, X) -> prediction says it all.
        weights: A function of X that gives the likelihood ratio p_new(x) / p(x) of each row, known up to a factor, such
            as a fitted `DensityRatio`: the distribution is then right for the new rows.
        by: What names the group of each row: a column of X, a list of them, or a function of X. Each group then has
            a distribution and a guarantee of its own, and a small one borrows from all, see
            `calibrant.interpolators.ByGroup`. Of every group some rows are held out. A column of texts is hidden from
            models that refuse texts. To pickle the estimator, give a named function of a module.
        forget: How old rows are weighted, by a `Window` or a `HalfLife`; then the rows of `fit`, `calibrate` and
            `update` are taken to be in time order. None weights them all equally.
        time_limit: The seconds that a blend may take, about: models for which there is no time are left out, with a
            warning. None is as long as it takes.
        n_jobs: How many copies are fitted at once.
        random_state: Decides the splits, what the models of a blend draw, and the uniforms of a randomised
            distribution. A row's uniform is a function of this seed, of what was calibrated and of the row's own
            forecast, so a row has the same distribution in every call, any batch and any order. For each seed the
            guarantee of `Random` is exact on average over calibration sets. Within one fit, rows with equal forecasts
            share their uniform.
        verbose: 1 shows a bar while it fits, in a terminal or a notebook.

    A y with several columns has several labels: each gets models and a distribution of its own, and
    `predict_interval(X, joint=True)` a box that holds them all, see `calibrant.several`. `cv` must hold one part out;
    `labels` may be a dict by column or a list.

    `sample_weight` and whatever else `fit` is given goes to the models' own `fit`, `groups` to the splitter, which
    then keeps groups together. Stacking and refining use the weights, and their folds keep groups together too.
    Calibration itself knows no `groups` and no `sample_weight`, only `by` and `weights`.

    Attributes:
        estimators_: What predicts: one `Refined` or fitted model; one for each fold of a mixture.
        weights_: The weight of each model in the stack, by name.
        calibrated_: What was learned from the scores; `save_calibration(path)` writes it to a file, without the models.
        guarantee_: The guarantee, in numbers and in words.

    >>> from sklearn.datasets import load_diabetes
    >>> from sklearn.ensemble import HistGradientBoostingRegressor
    >>> X, y = load_diabetes(return_X_y=True, as_frame=True)
    >>> model = CalibratedRegressor(HistGradientBoostingRegressor(random_state=0), random_state=0).fit(X[:400], y[:400])
    >>> model.predict_interval(X[400:402], coverage=0.8).round()
         lower  upper
    400   80.0  256.0
    401   31.0  132.0
    """

    estimators_: list[Any]
    calibrated_: Any
    calibrator_: Any
    seed_: int

    def __init__(
        self,
        estimator: Any = None,
        *,
        calibration_score: Score | str | None = None,
        interpolator: Interpolator | InterpolatorName = "linear",
        refine: RefinerLike | None = "auto",
        labels: Labels | str | Mapping[str, Labels | str] | None = None,
        cv: Folds = "auto",
        adapter: str | Callable[[Any, Any], Any] | None = None,
        weights: Callable[[Any], Any] | None = None,
        by: str | Sequence[str] | Callable[[Any], Any] | None = None,
        forget: Forgetting | None = None,
        time_limit: float | None = None,
        n_jobs: int | None = None,
        random_state: RandomState = None,
        verbose: int = 0,
    ) -> None:
        self.estimator = estimator
        self.calibration_score = calibration_score
        self.interpolator = interpolator
        self.refine = refine
        self.labels = labels
        self.cv = cv
        self.adapter = adapter
        self.weights = weights
        self.by = by
        self.forget = forget
        self.time_limit = time_limit
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = Split.of(self.cv).one_part
        return tags

    # ---- learning --------------------------------------------------------------------------------------------------

    def fit(self, X: Features, y: LabelsLike, **params: Any) -> Self:
        """Fit the models on one part of the rows and calibrate on the other, or as `cv` says.

        A frozen estimator also takes labels of which some were not seen: y may be a `Censored`.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row, or one column per label.
            params: Passed on to the models' `fit`. `groups` go to the splitter, and `sample_weight` also to stacking
                and refining.
        """
        X, y, names = self._check(X, y)
        y = cast("Numbers", y)
        calibrator, refiners = self._calibrator(names), self._refiners(names)
        random, routed = check_random_state(self.random_state), self._routed(params)
        if is_frozen(self.estimator) and not any(refiners):
            model = self.estimator if names is None else SeveralModel(names, (self.estimator,), self.adapter)
            models, basis, seed = [model], None, int(random.randint(2**31 - 1))
            X, y, groups = distinct(X, y, routed.groups)
            scored = [(self._prediction(model, X), X, y, groups)]
        else:
            refuse_constant(y, names)
            check_models(self.estimator)
            routed = replace(routed, copies=copies_told(X, y))
            split = Split.of(self.cv)
            folds = self._split(split, X, y, names, routed, random)
            learning, seed = (int(random.randint(2**31 - 1)) for _ in range(2))
            predictor = self._predictor(y, names, refiners, folds, split, routed, learning)
            models, trained, known = self._learn(predictor, X, y, folds, split, routed)
            basis = self._basis(X, y, [*trained, *known], folds, split, routed)
            if isinstance(calibrator, SeveralCalibrator):  # by errors of models that did not see the rows
                ((rows, prediction),) = trained
                calibrator = calibrator.compared_on(prediction, y[rows], **self._context(rows_of(X, rows)))
            scored = [(p, rows_of(X, rows), y[rows], counted_once(rows, routed.groups)) for rows, p in known]
        found = [self._calibrate(calibrator, *each, seed, basis) for each in scored]
        calibrated: Any = CrossCalibrated(tuple(found)) if len(found) > 1 else found[0]
        # all at once: models with the calibration of an earlier fit would predict nonsense
        self.estimators_, self.calibrator_, self.calibrated_, self.seed_ = models, calibrator, calibrated, seed
        return self

    def _split(self, split: Split, X: Any, y: Any, names: Any, routed: Routed, random: Any) -> list[Fold]:
        """The rows to train on and to calibrate on, once or for each fold."""
        by = None if self.by is None else groups_in(X, self.by)
        folds = split.folds(X, y, routed.split, random, by=by, copies=routed.copies)
        folds = folds if self.forget is None else [(train, np.sort(held)) for train, held in folds]
        if names is not None and len(folds) > 1:
            raise ValueError(
                f"several labels are calibrated on one held-out part, got cv={self.cv!r} with {len(folds)} splits: give"
                " a share such as cv=0.2"
            )
        held = [rows for _, rows in folds]
        if by is None:
            warn_of_few_groups(routed.groups, held)
        elif getattr(interpolator_named(self.interpolator), "unseen", "refuse") == "refuse":
            check_all_groups_held_out(by, held)
        return folds

    def _predictor(
        self, y: Any, names: Any, refiners: list[Any], folds: list[Fold], split: Split, routed: Routed, seed: int
    ) -> Any:
        """What is fitted on training rows: the model itself, or what stacks and refines."""
        apart = routed.copies if routed.groups is None else routed.groups
        if isinstance(self.refine, str) and self.refine == "auto" and min(units(rows, apart) for rows, _ in folds) < 2:
            refiners = [None] * len(refiners)  # there is nothing to hold out
        if len(folds) > 1:
            refiners = [of_one_kind(refiner, y, [rows for rows, _ in folds], routed) for refiner in refiners]
        own = list(by_name(self.estimator).values())
        if names is None and refiners == [None] and len(own) == 1:
            return own[0]
        in_order = split.follows(folds) and routed.groups is None  # neighbours, which may be alike, stay together
        each = [
            Refined(
                self.estimator,
                refiner,
                cv=Split(number=5, in_order=True) if in_order else 5,
                adapter=self.adapter,
                time_limit=self.time_limit,
                n_jobs=self.n_jobs,
                random_state=seed,
            )
            for refiner in refiners
        ]
        return each[0] if names is None else SeveralModel(names, tuple(each))

    def _learn(
        self, predictor: Any, X: Any, y: Any, folds: list[Fold], split: Split, routed: Routed
    ) -> tuple[list[Any], list[Scored], list[Scored]]:
        """What predicts, once or for each fold; what is known of training rows, and of the rows that calibrate."""
        every = split.uses_every_row(folds)
        parts = [*(train for train, _ in folds), *([np.arange(len(y))] if every else [])]
        # a Refined of the user's own routes metadata by itself
        routes = predictor is self.estimator and get_config()["enable_metadata_routing"]
        as_it_is = routes or not isinstance(predictor, FORECASTERS)
        bar = Bar(len(parts) * (1 if as_it_is else predictor.steps(len(y))), verbose=bool(self.verbose))
        work, shown = Budget(self.time_limit, None, bar), self._shown(X)
        with naming_columns(shown):
            models, trained = learn(predictor, shown, y, parts, routed, work, as_it_is=as_it_is, n_jobs=self.n_jobs)
        known = [(rows, self._prediction(m, rows_of(X, rows))) for m, (_, rows) in zip(models, folds, strict=False)]
        if every:  # the model of all rows predicts, those of the folds have scored
            return models[-1:], trained, [together(known)]
        return models, trained, known

    def _basis(
        self, X: Any, y: Any, known: list[Scored], folds: list[Fold], split: Split, routed: Routed
    ) -> Basis | None:
        """What is claimed, where it is not the usual; with a warning where rows drawn at random seem to be in order."""
        neighbours = neighbours_of(y, known)
        if split.at_random and routed.groups is None:
            warn_of_order(X, first_label(y), neighbours, 0 if split.mixture else split.number)
        if split.uses_every_row(folds):
            return "nested"
        return "time" if neighbours.alike and split.follows(folds) else None

    # ---- predicting ------------------------------------------------------------------------------------------------

    def predict_base(self, X: Features) -> Prediction | Distribution | Several:
        """The prediction before calibration, stacked and refined: what a saved calibration takes.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        check_is_fitted(self, "estimators_")
        X = self._check_columns(X)
        predictions = [self._prediction(model, X) for model in self.estimators_]
        found: Prediction | Distribution | Several = predictions[0] if len(predictions) == 1 else Ensemble(predictions)
        return found

    def predict_distribution(self, X: Features) -> Distributions:
        """The calibrated distribution of each row; of several labels `SeveralDistributions`.

        Args:
            X: The features: an array or a data frame, one line per row.
        """
        check_is_fitted(self, "calibrated_")
        X = self._check_columns(X)
        return cast(Distributions, self.calibrated_(self.predict_base(X), **self._context(X), seed=self.seed_))

    @property
    def guarantee_(self) -> Guarantee:
        """The guarantee, in numbers and in words."""
        check_is_fitted(self, "calibrated_")
        return self.calibrated_.guarantee  # type: ignore[no-any-return]

    @property
    def weights_(self) -> dict[str, Any]:
        """The weight of each model in the stack, by name; of several labels by label."""
        check_is_fitted(self, "estimators_")
        found = [getattr(model, "weights_", {type(model).__name__: 1.0}) for model in self.estimators_]
        names = dict.fromkeys(name for each in found for name in each)
        if len(found) == 1:
            return found[0]
        return Weights({name: float(np.mean([each.get(name, 0.0) for each in found])) for name in names})

    def _prediction(self, model: Any, X: Any) -> Any:
        X = self._shown(X)
        try:
            # what refines asks the model itself, by the same adapter
            return model.predict_forecast(X) if isinstance(model, FORECASTERS) else forecast(model, X, self.adapter)
        except Exception as error:
            if _num_samples(X) == 0:  # the models of some libraries return no rows, of others raise an obscure error
                raise ValueError("X has no rows, and the estimator predicts for one row or more") from error
            raise
