"""The scikit-learn door: any regressor becomes one that predicts calibrated distributions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from numbers import Real
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator, MetaEstimatorMixin, RegressorMixin, clone
from sklearn.frozen import FrozenEstimator
from sklearn.model_selection import GroupKFold
from sklearn.utils import check_array, check_random_state, column_or_1d, get_tags, indexable
from sklearn.utils.metadata_routing import MetadataRouter, MethodMapping, process_routing
from sklearn.utils.parallel import Parallel, delayed
from sklearn.utils.validation import _num_samples, check_is_fitted, validate_data

from calibrant._arrays import Array, probabilities, to_numpy, unit
from calibrant.calibration import Calibrator
from calibrant.cross import CrossCalibrated
from calibrant.distributions.base import Distribution
from calibrant.guarantee import CrossGuarantee, Guarantee
from calibrant.models import prediction_of
from calibrant.models.outputs import column, named
from calibrant.names import interpolator_named, score_named
from calibrant.predictions import Ensemble, Point, as_prediction
from calibrant.scores import EnsembleScore
from calibrant.scores.base import ChartScore
from calibrant.sklearn.folds import folds_of
from calibrant.sklearn.frames import like_input, rows_of


class CalibratedRegressor(MetaEstimatorMixin, RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor whose predictions are calibrated distributions.

    Args:
        estimator: A regressor, a list of them (quantile models become one quantile prediction, others an ensemble), or
            any of these in a `FrozenEstimator`, which is not fitted again: then every row calibrates.
        score: A score or its name (residual, relative, sqrt, log, interval, quantile, samples, zscore, cdf; `log:1` is
            the log score with c = 1); None leaves the choice to the kind of prediction.
        interpolator: An interpolator or its name (linear, naive, random, naf).
        cv: A share such as 0.2: that part of the rows is held out to calibrate, the guarantee is (1 + lambda)/(n + 1).
            A number of folds or a splitter: every row is scored by a model that did not see it, and the law is the
            mixture over the folds; all rows are used twice, for a weaker guarantee, see `CrossGuarantee`.
        point: What `predict` gives: the "mean" or the "median" of the law.
        adapter: How a fitted model predicts. None finds out from the model, see `calibrant.models.prediction_of`;
            "point" takes its plain `predict`; a function (model, X) -> prediction says it all.
        n_jobs: How many folds are fitted at once.
        random_state: Decides the split, and the uniforms of a randomised law. A row's uniform is a function of this
            seed, of what was calibrated and of the row's own forecast, so a row has the same law in every call, any
            batch and any order. For each seed the guarantee of `Random` is exact on average over calibration sets.
            Within one fit, rows with equal forecasts share their uniform.

    `sample_weight` and whatever else `fit` is given goes to the estimator's own `fit`, `groups` to the splitter, which
    then keeps groups together. Calibration itself is unweighted and knows no groups.

    Attributes:
        estimators_: The fitted models, one for each fold.
        calibrated_: What was learned from their scores; `calibrated_.save(path)` keeps it.
        guarantee_: What is promised, in numbers and in words.

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
        cv: Any = 0.2,
        point: str = "mean",
        adapter: str | Callable[[Any, Any], Any] | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
    ) -> None:
        self.estimator = estimator
        self.score = score
        self.interpolator = interpolator
        self.cv = cv
        self.point = point
        self.adapter = adapter
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
        """Fit the estimator on one part of the rows and calibrate it on the other, or fold by fold."""
        calibrator = self._calibrator()
        X, y = indexable(X, _labels(y))
        validate_data(self, X, skip_check_array=True)
        random = check_random_state(self.random_state)
        routed = self._route(params)
        if _is_frozen(self.estimator):
            everything = np.arange(_num_samples(X))
            models, held = [self.estimator], [everything]
        else:
            folds = folds_of(self.cv, X, y, routed["split"], random)
            models = Parallel(n_jobs=self.n_jobs)(
                delayed(_fitted)(self.estimator, rows_of(X, train), y[train], _rows_of_each(routed["fit"], train, y))
                for train, _ in folds
            )
            held = [test for _, test in folds]
        seed = int(random.randint(2**31 - 1))
        members = [
            calibrator.fit(self._prediction(model, rows_of(X, rows)), y[rows], rng=np.random.default_rng(seed))
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
        calibrator = self._calibrator()
        if len(self.estimators_) > 1 and calibrator.score is not None:
            if not isinstance(calibrator.score, ChartScore):
                raise TypeError(
                    f"the models of {len(self.estimators_)} folds are calibrated as an ensemble, whose scores add up:"
                    f" {type(calibrator.score).__name__} must be a LocationScaleScore or a MonotoneScore for that"
                )
            each = EnsembleScore((calibrator.score,) * len(self.estimators_))  # which may be an EnsembleScore itself
            calibrator = Calibrator(each, calibrator.interpolator)
        X, y = indexable(X, _labels(y))
        self.calibrated_ = calibrator.fit(self._pooled(X), y, rng=np.random.default_rng(self.seed_))
        return self

    def _calibrator(self) -> Calibrator:
        if self.point not in ("mean", "median"):
            raise ValueError(f"point must be 'mean' or 'median', got {self.point!r}")
        return Calibrator(score_named(vars(self)["score"]), interpolator_named(self.interpolator))

    # ---- predicting ------------------------------------------------------------------------------------------------

    def predict(self, X: Any) -> np.ndarray[Any, Any]:
        """The mean or the median of each row's law, as the parameter `point` says."""
        H = self.predict_distribution(X)
        values = to_numpy(H.mean() if self.point == "mean" else H.median())
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
            return self.calibrated_([self._prediction(model, X) for model in self.estimators_], seed=self.seed_)
        return self.calibrated_(self._pooled(X), seed=self.seed_)

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

    def _prediction(self, model: Any, X: Any) -> Any:
        if self.adapter is None:
            return prediction_of(model, X)
        if self.adapter == "point":
            points = [Point(column(named(each), each.predict(X))) for each in _named(model).values()]
            return Ensemble(points) if isinstance(model, (list, tuple)) else points[0]
        if not callable(self.adapter):
            raise TypeError(f"adapter must be None, 'point' or a function of a model and X, got {self.adapter!r}")
        return as_prediction(self.adapter(model, X))

    def _pooled(self, X: Any) -> Any:
        predictions = [self._prediction(model, X) for model in self.estimators_]
        return predictions[0] if len(predictions) == 1 else Ensemble(predictions)

    # ---- what scikit-learn asks ------------------------------------------------------------------------------------

    def get_metadata_routing(self) -> MetadataRouter:
        """`fit` hands metadata to the estimator's `fit` and to the splitter's `split`."""
        router = MetadataRouter(owner=self)
        for name, estimator in _named(self.estimator).items():
            router.add(**{name: estimator}, method_mapping=MethodMapping().add(caller="fit", callee="fit"))
        # numbers stand for splitters that know groups where there are any
        splitter = GroupKFold() if isinstance(self.cv, Real) else self.cv
        return router.add(splitter=splitter, method_mapping=MethodMapping().add(caller="fit", callee="split"))

    def _route(self, params: Mapping[str, Any]) -> dict[str, Any]:
        """What goes to the estimators' `fit`, one entry for each, and to the splitter's `split`."""
        from sklearn import get_config

        names = list(_named(self.estimator))
        if get_config()["enable_metadata_routing"] and params:
            routed = process_routing(self, "fit", **params)
            return {"fit": [routed[name]["fit"] for name in names], "split": routed["splitter"]["split"]}
        rest = {name: value for name, value in params.items() if name != "groups" and value is not None}
        return {"fit": [rest] * len(names), "split": {k: v for k, v in params.items() if k == "groups"}}

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        models = [_thawed(each) for each in _named(self.estimator).values()]
        inner = [get_tags(each).input_tags for each in models if isinstance(each, BaseEstimator)]
        for name in ("sparse", "allow_nan", "categorical", "string", "pairwise"):
            setattr(tags.input_tags, name, bool(inner) and all(getattr(each, name) for each in inner))
        return tags


def _named(estimator: Any) -> dict[str, Any]:
    """The estimator, or each of several, by the name under which metadata reaches it."""
    if isinstance(estimator, (list, tuple)):
        return {f"estimator_{k}": each for k, each in enumerate(estimator)}
    return {"estimator": estimator}


def _is_frozen(estimator: Any) -> bool:
    return all(isinstance(each, FrozenEstimator) for each in _named(estimator).values())


def _thawed(estimator: Any) -> Any:
    """What a `FrozenEstimator` holds, be it no estimator of scikit-learn's: a torch module, a list, a function."""
    return _thawed(estimator.estimator) if isinstance(estimator, FrozenEstimator) else estimator


def _fitted(estimator: Any, X: Any, y: Array, params: Sequence[Mapping[str, Any]]) -> Any:
    fitted = [
        each if isinstance(each, FrozenEstimator) else clone(each).fit(X, y, **more)
        for each, more in zip(_named(estimator).values(), params, strict=True)
    ]
    return fitted if isinstance(estimator, (list, tuple)) else fitted[0]


def _labels(y: Any) -> Array:
    if y is None:
        raise ValueError("calibration requires y to be passed, but the target y is None")
    y = check_array(y, ensure_2d=False, dtype="numeric", input_name="y")
    return column_or_1d(y, dtype=np.float64, warn=True)


def _rows_of_each(params: Sequence[Mapping[str, Any]], rows: Array, y: Array) -> list[dict[str, Any]]:
    """The rows of whatever holds one value a row, such as weights; the rest as it is."""

    def taken(value: Any) -> Any:
        one_each = hasattr(value, "__len__") and not isinstance(value, (str, Mapping)) and len(value) == len(y)
        return rows_of(value, rows) if one_each else value

    return [{name: taken(value) for name, value in more.items()} for more in params]
