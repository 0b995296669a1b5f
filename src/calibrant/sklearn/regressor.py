"""`CalibratedRegressor`: from a table to calibrated distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from inspect import signature
from typing import Any, Self, cast, overload

import numpy as np
from sklearn import get_config
from sklearn.base import RegressorMixin, clone
from sklearn.model_selection import KFold
from sklearn.utils import check_random_state, indexable
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted

from calibrant._arguments import unit
from calibrant._arrays import Array, probabilities, to_numpy
from calibrant._types import Features, Frame, LabelsLike, RandomState
from calibrant._words import count, warn_user
from calibrant.calibration import Calibrator
from calibrant.censored import Censored
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.guarantee import Guarantee
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.history import Forgetting
from calibrant.interpolators.weights import OncePerGroup
from calibrant.labels import Labels
from calibrant.labels.atom import atom_in
from calibrant.labels.base import takes_any_quantile
from calibrant.labels.counts import look_like_counts
from calibrant.labels.named import labels_named
from calibrant.models.frames import collected, is_frame, like_input, rows_of
from calibrant.names import InterpolatorName, interpolator_named, score_named
from calibrant.predictions import Ensemble, Prediction, concatenate
from calibrant.refine.names import RefinerLike, refiner_named
from calibrant.refine.stack import centre_of
from calibrant.refine.two_part import TwoPart
from calibrant.scores import EnsembleScore, Score
from calibrant.several import Several, SeveralCalibrator
from calibrant.several.calibration import SeveralCalibrated
from calibrant.several.distributions import SeveralDistributions
from calibrant.sklearn.columns import check_columns, learn_columns, naming_columns, shown_to_models
from calibrant.sklearn.evaluation import EvaluationMethods
from calibrant.sklearn.folds import Folds, folds_of, is_latest, is_mixture, splits_at_random, units, uses_every_row
from calibrant.sklearn.groups import check_all_groups_held_out, groups_in, one_of_each, warn_of_few_groups
from calibrant.sklearn.meta_estimator import (
    MetaEstimator,
    Routed,
    by_name,
    fitted,
    forecast,
    is_blend,
    is_frozen,
    labels,
    last_step,
    warn_of_fitted,
)
from calibrant.sklearn.online import OnlineMethods
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.return_types import Distributions
from calibrant.sklearn.rows import Neighbours, copies_in, warn_of_order
from calibrant.sklearn.several import (
    SeveralModel,
    columns_by_label,
    is_several,
    label_matrix,
    labels_by_name,
)
from calibrant.sklearn.work import Bar, Work


@dataclass(frozen=True)
class Split:
    """Which rows train and which calibrate."""

    train: list[Any]
    """The rows of each training part; where every row is used twice, all rows as the last."""
    held: list[Any]
    """The rows that calibrate, for each part: no two are copies."""
    routed: Routed
    """The parameters of `fit`, with copies of rows as groups."""
    every: bool


FORECASTERS = (Refined, SeveralModel)
"""What has folds and adapters of its own."""


class CalibratedRegressor(RegressorMixin, EvaluationMethods, OnlineMethods, MetaEstimator):  # type: ignore[misc]
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
        cv: Which rows calibrate. A share such as 0.2 holds that part out, at random; "auto" is a fifth, or 10 sqrt(n)
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
    calibrator_: SeveralCalibrator
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
        tags.target_tags.multi_output = not uses_every_row(self.cv) and not is_mixture(self.cv)
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
        if is_several(y):
            if self.by is not None:
                raise TypeError(f"by={self.by!r} is for one label, and y has several")
            return self._fit_several(X, y, params)
        calibrator = self._calibrator()
        X, known = indexable(collected(X), labels(y))
        y = cast("np.ndarray[Any, Any]", known)
        learn_columns(self, X)
        random, routed = check_random_state(self.random_state), self._routed(params)
        self._check_labels(X, y, calibrator)
        if is_frozen(self.estimator) and self._refiner() is None:
            seed, everything = int(random.randint(2**31 - 1)), np.arange(_num_samples(X))
            prediction = self._prediction(self.estimator, X)
            self.calibrated_ = self._calibrated(calibrator, prediction, X, y, everything, routed.groups, seed)
            self.estimators_, self.seed_ = [self.estimator], seed
            return self
        if len(y) > 1 and np.ptp(y) == 0:
            raise ValueError(f"all {len(y)} labels are {y[0]:g}: there is nothing to learn")
        warn_of_fitted(self.estimator)
        split = self._split(X, y, routed, random)
        learning, seed = (int(random.randint(2**31 - 1)) for _ in range(2))
        models, errors = self._learn(X, y, split, learning)
        predictions = [
            self._prediction(model, rows_of(X, rows)) for model, rows in zip(models, split.held, strict=False)
        ]
        neighbours = Neighbours.of(_all_errors(y, split, errors, predictions))
        if splits_at_random(self.cv) and routed.groups is None:
            warn_of_order(X, y, neighbours, self.cv)
        held, basis = split.held, "time" if is_latest(self.cv) and neighbours.alike else None
        if split.every:  # the model of all rows predicts, those of the folds have scored
            rows = np.concatenate(held)
            order = np.argsort(rows, kind="stable")
            models, predictions, held, basis = models[-1:], [concatenate(predictions)[order]], [rows[order]], "nested"
        parts = [
            self._calibrated(calibrator, each, X, y, rows, routed.groups, seed)
            for each, rows in zip(predictions, held, strict=True)
        ]
        calibrated: Any = parts[0] if len(parts) == 1 else CrossCalibrated(tuple(parts))
        # all at once: models with the calibration of an earlier fit would predict nonsense
        self.estimators_, self.seed_ = models, seed
        self.calibrated_ = calibrated if basis is None else calibrated.on_basis(basis)
        return self

    def _split(self, X: Any, y: Any, routed: Routed, random: Any) -> Split:
        """The rows to train on and to calibrate on, once or for each fold; copies stay together."""
        copies = copies_in(X, y) if splits_at_random(self.cv) else None
        by, together = None if self.by is None else groups_in(X, self.by), routed.keeping(copies)
        if copies is not None and by is not None:  # each group is split by itself, without copies
            some = np.sort(np.unique(copies, return_index=True)[1])
            parts = folds_of(self.cv, rows_of(X, some), y[some], routed.split, random, [by[k] for k in some])
            folds = [(some[train], some[test]) for train, test in parts]
        else:
            folds = folds_of(self.cv, X, y, together.split, random, by)
        held = [test if self.forget is None else np.sort(test) for _, test in folds]
        if by is None:
            warn_of_few_groups(routed.groups, held)
        elif getattr(self._calibrator().interpolator, "unseen", "refuse") == "refuse":
            check_all_groups_held_out(by, held)
        if copies is not None:
            warn_user(
                f"{count(len(y) - len(np.unique(copies)), 'row')} of {len(y):,} are copies of others, equal in X and in"
                " y: copies stay together in every split, calibrate once, and the guarantee counts distinct rows"
            )
            held = [rows[np.sort(np.unique(copies[rows], return_index=True)[1])] for rows in held]
        every, train = uses_every_row(self.cv) and len(folds) > 1, [rows for rows, _ in folds]
        return Split([*train, np.arange(len(y))] if every else train, held, together, every)

    def _learn(self, X: Any, y: Any, split: Split, seed: int) -> tuple[list[Any], list[Any]]:
        """What predicts, fitted on each of the training parts, and its errors on the rows that it held out itself."""
        predictor = self._predictor(seed, min(units(rows, split.routed.groups) for rows in split.train))
        # a Refined of the user's own routes metadata by itself
        ours = predictor is not self.estimator or not get_config()["enable_metadata_routing"]
        refined = predictor if isinstance(predictor, Refined) and ours else None
        bar = Bar(len(split.train) * (1 if refined is None else refined.steps(len(y))), verbose=bool(self.verbose))
        work, shown, here = Work(self.time_limit, None, bar), self._shown(X), self.n_jobs in (None, 1)

        def task(rows: Any, work: Work) -> Any:
            work = work if here else replace(work, bar=Bar())  # other processes have no bar to move
            params = split.routed.rows(rows, len(y))
            return delayed(_learned)(predictor, rows_of(shown, rows), y[rows], params, refined and work)

        *folds, last = split.train
        with naming_columns(shown, self.by):
            # where every row is used the last has them all: it says for which models there is time
            ((model, errors),) = Parallel()([task(last, work.part(1 / len(split.train)))])
            only = model.weights_ if refined is not None and is_blend(self.estimator) else None
            found = Parallel(n_jobs=self.n_jobs)(
                task(rows, work.part(1 / (len(folds) - (k if here else 0)), only)) for k, rows in enumerate(folds)
            )
        bar.finish()
        return [*(each for each, _ in found), model], [*(each for _, each in found), errors]

    def _predictor(self, seed: int, fewest: int) -> Any:
        """What is fitted on training rows, of `fewest` groups or rows: the model itself, or what stacks and refines."""
        refine = self._refiner()
        if isinstance(self.refine, str) and self.refine == "auto" and fewest < 2:
            refine = None  # there is nothing to hold out
        if refine is None and not is_blend(self.estimator) and len(by_name(self.estimator)) == 1:
            return next(iter(by_name(self.estimator).values()))
        return self._refined(refine, seed)

    def _refined(self, refine: Any, seed: int) -> Refined:
        folds = KFold(5) if is_latest(self.cv) else 5  # neighbours stay together where they may be alike
        return Refined(
            self.estimator,
            refine,
            cv=folds,
            adapter=self.adapter,
            time_limit=self.time_limit,
            n_jobs=self.n_jobs,
            random_state=seed,
        )

    def _calibrated(
        self, calibrator: Calibrator, prediction: Any, X: Any, y: Any, rows: Any, groups: Any, seed: int
    ) -> Any:
        """Calibrated on some rows, of which those of one group count once."""
        context, rng = self._context(rows_of(X, rows)), np.random.default_rng(seed)
        weighs = "weights" in signature(calibrator.interpolator.fit).parameters and self.forget is None
        if groups is not None and weighs and not context:
            context["weights"] = OncePerGroup.of(groups[rows])
        elif groups is not None:  # one row of each group, at random
            some = one_of_each(groups[rows], context.get("by"), rng)
            prediction, rows, context = prediction[some], rows[some], self._context(rows_of(X, rows[some]))
        return calibrator.fit(prediction, y[rows], **context, rng=rng)

    def _check_labels(self, X: Any, y: Any, calibrator: Calibrator) -> None:
        """Labels that the parameters allow, of training rows too."""
        if isinstance(y, Censored):
            if not (is_frozen(self.estimator) and self._refiner() is None):
                raise TypeError(
                    "only a FrozenEstimator, without refine=, takes Censored labels: fit the model by its own library"
                    " first"
                )
        elif calibrator.labels is not None:
            calibrator.labels.check(y, self._context(X).get("bound"))
        elif self.labels is None:
            _warn_of_counts(y)

    def calibrate(self, X: Features, y: LabelsLike) -> Self:
        """Calibrate this model anew on rows that its fitted models did not see, and keep these models.

        The models of a mixture become one ensemble. The guarantee is that of a held-out part.

        Args:
            X: The features: an array or a data frame, one line per row.
            y: The labels: one number per row, or one column per label.
        """
        check_is_fitted(self, "calibrated_")
        if isinstance(self.calibrated_, SeveralCalibrated):
            names, Y = label_matrix(y)
            own: tuple[str, ...] = self.estimators_[0].names
            if sorted(names) == sorted(own):
                Y = Y[:, [names.index(name) for name in own]]
            elif Y.shape[1] != len(own) or is_frame(y):
                raise ValueError(f"y must have the labels {', '.join(own)} of fit, got {', '.join(names)}")
            X, Y = indexable(self._check_columns(X), Y)
            return self._calibrate_several(X, Y)
        X, y = indexable(self._check_columns(X), labels(y))
        pooled, calibrator = cast("Prediction | Distribution", self.predict_base(X)), self._calibrator()
        if len(self.estimators_) > 1 and calibrator.score is not None:
            # each of which may be an EnsembleScore itself
            each = (calibrator.score,) * len(self.estimators_)
            calibrator = replace(calibrator, score=EnsembleScore(each))
        self.calibrated_ = calibrator.fit(pooled, y, **self._context(X), rng=np.random.default_rng(self.seed_))
        return self

    def _fit_several(self, X: Any, y: Any, params: Mapping[str, Any]) -> Self:
        """`fit` for a y with columns: models for each label, one held-out part that calibrates all."""
        if self.weights is not None:
            raise TypeError("several labels take no weights=: calibrate them one by one")
        names, Y = label_matrix(y)
        each = {name: self._calibrator(kind) for name, kind in labels_by_name(self.labels, names).items()}
        X, Y = indexable(collected(X), Y)
        learn_columns(self, X)
        random, routed = check_random_state(self.random_state), self._routed(params)
        for j, name in enumerate(names if self.labels is None else ()):
            _warn_of_counts(Y[:, j], f"labels {name!r}")
        calibrator = SeveralCalibrator(each)
        if is_frozen(self.estimator) and self._refiner() is None:
            held, model = np.arange(len(Y)), SeveralModel.frozen(self.estimator, names, self.adapter)
        else:
            warn_of_fitted(self.estimator)
            split = self._split(X, Y, routed, random)
            if len(split.train) > 1:
                raise ValueError(
                    f"several labels are calibrated on one held-out part, got cv={self.cv!r} with {len(split.held)}"
                    " splits: give a share such as cv=0.2"
                )
            (train,), (held,) = split.train, split.held
            refined = self._refined(self._refiner(), int(random.randint(2**31 - 1)))
            bar = Bar(len(names) * refined.steps(len(Y)), verbose=bool(self.verbose))
            with naming_columns(X, None):
                model, seen, predictions = SeveralModel.learned(
                    refined,
                    names,
                    rows_of(X, train),
                    Y[train],
                    split.routed.rows(train, len(Y)),
                    Work(self.time_limit, None, bar),
                )
            bar.finish()
            if routed.groups is not None:
                held = held[one_of_each(routed.groups[held], None, random)]
            if splits_at_random(self.cv) and routed.groups is None:
                errors = Y[train[seen], 0] - centre_of(predictions.predictions[0])
                warn_of_order(X, Y[:, 0], Neighbours.of(errors), self.cv)
            known = train[seen]
            calibrator = calibrator.compared_on(predictions, Y[known], **self._context(rows_of(X, known)))
        self.estimators_, self.calibrator_, self.seed_ = [model], calibrator, int(random.randint(2**31 - 1))
        self._calibrate_several(rows_of(X, held), Y[held])
        if is_latest(self.cv):  # neighbours may be alike in one label and not in another
            margins = tuple(margin.on_basis("time") for margin in self.calibrated_.margins)
            self.calibrated_ = replace(self.calibrated_, margins=margins)
        return self

    def _calibrate_several(self, X: Any, Y: Array) -> Self:
        rng = np.random.default_rng(self.seed_)
        self.calibrated_ = self.calibrator_.fit(cast(Several, self.predict_base(X)), Y, **self._context(X), rng=rng)
        return self

    def _refiner(self) -> Any:
        """The refiner that `refine` comes to; None leaves the prediction as it is."""
        refine: Any = self.refine
        if isinstance(refine, str) and refine == "auto":
            explicit = self.calibration_score is not None or self.adapter is not None
            finished = is_frozen(self.estimator) or isinstance(last_step(self.estimator), FORECASTERS)
            bounded = not all(map(takes_any_quantile, self._label_kinds()))
            refine = None if explicit or finished or bounded else "mean"
        one: Any = None if isinstance(self.labels, (Mapping, list, tuple)) else self.labels
        at = None if refine is None else atom_in(labels_named(one))
        return refine if at is None else TwoPart(refiner_named(refine), at)

    def _calibrator(self, *labels: Any) -> Calibrator:
        """With these labels, or those of the parameter."""
        if not (self.weights is None or callable(self.weights)):
            raise TypeError(f"weights must be a function of X, such as DensityRatio().fit(...), got {self.weights!r}")
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
        if isinstance(self.calibrated_, CrossCalibrated):
            predictions = [self._prediction(model, X) for model in self.estimators_]
            return cast(Distributions, self.calibrated_(predictions, **self._context(X), seed=self.seed_))
        return cast(Distributions, self.calibrated_(self.predict_base(X), **self._context(X), seed=self.seed_))

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
    def weights_(self) -> dict[str, Any]:
        """The weight of each model in the stack, by name; of several labels by label."""
        check_is_fitted(self, "estimators_")
        found = [getattr(model, "weights_", {type(model).__name__: 1.0}) for model in self.estimators_]
        names = dict.fromkeys(name for each in found for name in each)
        return found[0] if len(found) == 1 else {k: float(np.mean([each.get(k, 0.0) for each in found])) for k in names}

    def _check_columns(self, X: Any) -> Any:
        """X, if it has the columns of `fit`."""
        X = collected(X)
        check_columns(self, X, self.estimator)
        return X

    def _shown(self, X: Any) -> Any:
        """What models see of X."""
        return shown_to_models(X, self.by, self.estimator)

    def _prediction(self, model: Any, X: Any) -> Any:
        X = self._shown(X)
        try:
            # what refines asks the model itself, by the same adapter
            return model.predict_forecast(X) if isinstance(model, FORECASTERS) else forecast(model, X, self.adapter)
        except Exception as error:
            if _num_samples(X) == 0:  # the models of some libraries return no rows, of others raise an obscure error
                raise ValueError("X has no rows, and the estimator predicts for one row or more") from error
            raise


def _learned(model: Any, X: Any, y: Array, params: Routed, work: Work | None) -> tuple[Any, Array | None]:
    """A fitted copy of what predicts, and the errors of the rows that it held out; groups reach its own folds too."""
    if work is None:
        return fitted(model, X, y, params.fit), None
    copy = clone(model)
    seen, prediction = copy.learn(X, y, params, work)
    return copy, y[seen] - centre_of(prediction) if len(seen) == len(y) else None


def _all_errors(y: Any, split: Split, errors: list[Any], predictions: list[Any]) -> Any:
    """The errors of all rows, in their order, that were predicted by a model which did not see them."""
    known = np.full(len(y), np.nan)
    if len(split.train) == 1 and errors[0] is not None:
        known[split.train[0]] = errors[0]
    for rows, prediction in zip(split.held, predictions, strict=True):
        known[rows] = y[rows] - centre_of(prediction)
    return known[np.isfinite(known)]


def _warn_of_counts(y: np.ndarray[Any, Any], what: str = "labels") -> None:
    """Say that counts may be meant: a distribution on the real line reaches below 0, and between the numbers."""
    if look_like_counts(y):
        warn_user(
            f"all {what} are whole numbers of at least 0: labels='counts' keeps forecasts so, and labels='real' takes"
            " them for any real numbers without this warning"
        )
