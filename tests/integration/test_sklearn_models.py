"""scikit-learn: points, standard deviations, quantile losses, forests, and what wraps them."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("sklearn", reason="scikit-learn is not installed")

from problem import FRAMES, X_NEW, X_TRAIN, Y_TRAIN, covers
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.compose import TransformedTargetRegressor
from sklearn.dummy import DummyRegressor
from sklearn.ensemble import (
    BaggingRegressor,
    ExtraTreesRegressor,
    GradientBoostingRegressor,
    HistGradientBoostingRegressor,
    RandomForestClassifier,
    RandomForestRegressor,
)
from sklearn.exceptions import NotFittedError
from sklearn.frozen import FrozenEstimator
from sklearn.gaussian_process import GaussianProcessRegressor
from sklearn.gaussian_process.kernels import RBF, WhiteKernel
from sklearn.linear_model import ARDRegression, BayesianRidge, LinearRegression, QuantileRegressor
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KNeighborsRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer, StandardScaler
from sklearn.svm import SVR

from calibrant import Ensemble, LogNormal, Normal, Point, Quantiles, Samples
from calibrant.models import prediction_of

pytestmark = pytest.mark.integration

FOREST = RandomForestRegressor(30, min_samples_leaf=5, random_state=0)


def fitted(model, frame=lambda X: X):
    return model.fit(frame(X_TRAIN), Y_TRAIN)


@pytest.mark.parametrize("model", [LinearRegression(), KNeighborsRegressor(), SVR(), GradientBoostingRegressor()])
def test_a_model_that_says_no_more_predicts_points(model):
    fitted(model)
    prediction = prediction_of(model, X_NEW)
    assert isinstance(prediction, Point)
    assert np.array_equal(prediction.values, model.predict(X_NEW))
    assert covers(model)


@pytest.mark.parametrize(
    "model", [GaussianProcessRegressor(RBF() + WhiteKernel(), normalize_y=True), BayesianRidge(), ARDRegression()]
)
def test_a_model_with_return_std_predicts_normal_distributions(model):
    fitted(model)
    distribution = prediction_of(model, X_NEW)
    mean, std = model.predict(X_NEW, return_std=True)
    assert repr(distribution) == repr(Normal(mean, std))
    assert np.array_equal(distribution.loc, mean)
    assert np.array_equal(distribution.scale, std)
    assert covers(model)


def test_rows_of_no_uncertainty_are_widened_with_a_warning():
    model = GaussianProcessRegressor(RBF(0.1), optimizer=None, alpha=1e-300).fit([[0.0], [1.0]], [0.0, 1.0])
    with pytest.warns(UserWarning, match="zero width in 2 rows"):
        distribution = prediction_of(model, [[0.0], [0.5], [1.0]])
    assert np.all(distribution.scale > 0)


@pytest.mark.parametrize(
    "model",
    [
        HistGradientBoostingRegressor(loss="quantile", quantile=0.7, max_iter=20),
        GradientBoostingRegressor(loss="quantile", alpha=0.7, n_estimators=20),
        QuantileRegressor(quantile=0.7, alpha=0),
        DummyRegressor(strategy="quantile", quantile=0.7),
    ],
)
def test_a_quantile_loss_predicts_one_quantile(model):
    fitted(model)
    prediction = prediction_of(model, X_NEW)
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == [0.7]
    assert np.array_equal(prediction.values[:, 0], model.predict(X_NEW))
    assert covers(model)


@pytest.mark.parametrize("strategy", ["mean", "median"])
def test_a_dummy_predicts_points_not_distributions_of_no_width(strategy):
    model = fitted(DummyRegressor(strategy=strategy))
    assert isinstance(prediction_of(model, X_NEW), Point)
    assert covers(model)


@pytest.mark.parametrize("level", [0.0, 1.0])
def test_a_dummy_at_the_least_or_the_largest_label_predicts_points(level):
    """Levels 0 and 1 are no levels of quantiles."""
    assert isinstance(prediction_of(fitted(DummyRegressor(strategy="quantile", quantile=level)), X_NEW), Point)


@pytest.mark.parametrize("loss", ["squared_error", "gamma"])
def test_other_losses_predict_points(loss):
    assert isinstance(prediction_of(fitted(HistGradientBoostingRegressor(loss=loss, max_iter=5)), X_NEW), Point)


@pytest.mark.parametrize("names", FRAMES)
@pytest.mark.parametrize(
    "model",
    [
        FOREST,
        ExtraTreesRegressor(30, min_samples_leaf=5, random_state=0),
        RandomForestRegressor(20, criterion="poisson", min_samples_leaf=5, random_state=0),
    ],
)
def test_the_trees_of_a_forest_are_samples(model, names):
    frame = FRAMES[names]
    fitted(model, frame)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Samples)
    trees = np.sort([tree.predict(X_NEW) for tree in model.estimators_], axis=0).T
    assert prediction.values == pytest.approx(trees, abs=1e-5)  # equal draws are set a little apart
    assert prediction.values.mean(axis=1) == pytest.approx(model.predict(frame(X_NEW)), abs=1e-5)
    assert covers(model, frame)


def test_the_members_of_a_bagging_are_samples_that_see_their_own_features():
    model = fitted(BaggingRegressor(LinearRegression(), 10, max_features=2, random_state=0), FRAMES["pandas"])
    X = FRAMES["pandas"](X_NEW)
    prediction = prediction_of(model, X)
    assert isinstance(prediction, Samples)
    assert prediction.values.mean(axis=1) == pytest.approx(model.predict(X))
    assert covers(model, FRAMES["pandas"])


def test_a_bagging_compares_columns_and_leaves_gaps_to_its_members():
    X = np.where(np.arange(900).reshape(300, 3) % 7 == 0, np.nan, X_TRAIN)
    model = BaggingRegressor(HistGradientBoostingRegressor(max_iter=3), 2, random_state=0).fit(X, Y_TRAIN)
    assert prediction_of(model, X[:5]).values.mean(axis=1) == pytest.approx(model.predict(X[:5]))
    with pytest.raises(ValueError, match="X has 2 features, but BaggingRegressor is expecting 3"):
        prediction_of(model, X[:5, :2])


@pytest.mark.parametrize(
    "model", [FOREST, BaggingRegressor(), LinearRegression(), BayesianRidge(), GridSearchCV(SVR(), {})]
)
def test_a_model_that_is_not_fitted_says_so(model):
    with pytest.raises(NotFittedError):
        prediction_of(type(model)(**model.get_params(deep=False)), X_NEW)


@pytest.mark.parametrize(
    "model", [LinearRegression(), RandomForestRegressor(3), BaggingRegressor(KNeighborsRegressor(), 2)]
)
def test_a_model_of_several_targets_is_told_to_take_them_one_by_one(model):
    model.fit(X_TRAIN, np.stack([Y_TRAIN, Y_TRAIN], axis=1))
    with pytest.raises(ValueError, match="predictions_of takes several"):
        prediction_of(model, X_NEW)


def test_a_target_of_one_column_is_one_target():
    model = LinearRegression().fit(X_TRAIN, Y_TRAIN[:, None])
    assert prediction_of(model, X_NEW).shape == (len(X_NEW),)


@pytest.mark.parametrize("wrap", [lambda m: m, FrozenEstimator, lambda m: make_pipeline(m)])
def test_a_classifier_is_refused(wrap):
    model = wrap(RandomForestClassifier(3).fit(X_TRAIN, Y_TRAIN > 12))
    with pytest.raises(TypeError, match=r"takes a regression model, got the classifier \w+"):
        prediction_of(model, X_NEW)


def same(one, other):
    return type(one) is type(other) and repr(one) == repr(other) and np.array_equal(*(_array(p) for p in (one, other)))


def _array(prediction):
    return prediction.like


@pytest.mark.parametrize("names", FRAMES)
def test_a_pipeline_transforms_and_hands_on_to_its_last_step(names):
    frame = FRAMES[names]
    model = fitted(make_pipeline(StandardScaler(), BayesianRidge()), frame)
    distribution = prediction_of(model, frame(X_NEW))
    mean, std = model.predict(frame(X_NEW), return_std=True)
    assert np.array_equal(distribution.loc, mean)
    assert np.array_equal(distribution.scale, std)
    assert covers(model, frame)


@pytest.mark.parametrize(
    "wrap",
    [
        FrozenEstimator,
        make_pipeline,
        lambda model: make_pipeline(FunctionTransformer(), make_pipeline(model)),
        lambda model: TransformedTargetRegressor(model).fit(X_TRAIN, Y_TRAIN),
        lambda model: GridSearchCV(model, {"fit_intercept": [True]}, cv=2).fit(X_TRAIN, Y_TRAIN),
    ],
)
def test_what_wraps_a_model_predicts_as_the_model_does(wrap):
    model = fitted(QuantileRegressor(quantile=0.3, alpha=0))
    assert same(prediction_of(wrap(model), X_NEW), prediction_of(model, X_NEW))


def test_a_transformed_target_predicts_what_its_regressor_does_taken_back():
    model = fitted(TransformedTargetRegressor(LinearRegression(), func=np.log, inverse_func=np.exp))
    assert same(prediction_of(model, X_NEW), Point(model.predict(X_NEW)))
    assert covers(model)
    model = fitted(TransformedTargetRegressor(BayesianRidge(), func=np.log, inverse_func=np.exp))
    mean, std = model.regressor_.predict(X_NEW, return_std=True)
    wanted = LogNormal(mean, std)
    np.testing.assert_allclose(prediction_of(model, X_NEW).mean(), wanted.mean(), rtol=1e-7)
    np.testing.assert_allclose(prediction_of(model, X_NEW).ppf(0.9), wanted.ppf(0.9), rtol=1e-12)
    assert covers(model)


def test_a_transformed_target_is_taken_back_for_a_single_row():
    model = fitted(TransformedTargetRegressor(BayesianRidge(), func=np.log, inverse_func=np.exp))
    np.testing.assert_allclose(prediction_of(model, X_NEW[:1]).ppf(0.9), prediction_of(model, X_NEW).ppf(0.9)[:1])


def test_a_list_of_quantile_models_predicts_their_quantiles_in_order():
    models = [fitted(QuantileRegressor(quantile=level, alpha=0)) for level in (0.9, 0.1, 0.5)]
    prediction = prediction_of(models, X_NEW)
    assert prediction.levels.tolist() == [0.1, 0.5, 0.9]
    assert np.array_equal(prediction.values, np.stack([models[k].predict(X_NEW) for k in (1, 2, 0)], axis=1))
    assert same(prediction, prediction_of({m.quantile: m for m in models}, X_NEW))
    assert covers(models)


def test_two_models_of_one_level_are_told_to_be_an_ensemble():
    models = [fitted(QuantileRegressor(quantile=0.5, alpha=0))] * 2
    with pytest.raises(ValueError, match=r"one model per level, got the levels \[0.5, 0.5\]"):
        prediction_of(models, X_NEW)


def test_a_dict_whose_levels_are_not_the_models_is_refused():
    with pytest.raises(ValueError, match=r"at level 0.1 of a dict \{level: model\} predicts level 0.5"):
        prediction_of({0.1: fitted(QuantileRegressor(alpha=0))}, X_NEW)


def test_a_dict_of_forests_is_refused():
    with pytest.raises(TypeError, match="must predict one number per row, got Samples"):
        prediction_of({0.1: fitted(FOREST)}, X_NEW)


def test_a_dict_of_models_of_two_levels_is_refused():
    """Each says one number per row: the level is its key."""

    def both(X):
        return Quantiles([0.1, 0.9], np.stack([X[:, 0] - 1, X[:, 0] + 1], axis=1))

    with pytest.raises(TypeError, match="must predict one number per row, got Quantiles"):
        prediction_of({0.1: both}, X_NEW)


def test_a_list_of_other_models_is_an_ensemble():
    models = (fitted(BayesianRidge()), fitted(ARDRegression()))
    prediction = prediction_of(models, X_NEW)
    assert isinstance(prediction, Ensemble)
    assert all(same(one, prediction_of(model, X_NEW)) for one, model in zip(prediction.members, models, strict=True))
    assert covers(models)


class Halves(RegressorMixin, BaseEstimator):
    """A stranger's estimator, which returns one of our predictions."""

    def fit(self, X, y):
        self.mean_ = float(np.mean(y))
        return self

    def predict(self, X):
        return Normal(np.full(len(X), self.mean_), 0.5)


def test_an_estimator_may_return_our_predictions():
    assert same(prediction_of(fitted(Halves()), X_NEW), fitted(Halves()).predict(X_NEW))


def test_a_subclass_predicts_as_its_parent():
    class Grove(RandomForestRegressor):
        pass

    assert isinstance(prediction_of(fitted(Grove(20, min_samples_leaf=5, random_state=0)), X_NEW), Samples)


def test_a_transformer_is_no_model():
    with pytest.raises(TypeError, match=r"an object with predict or a callable .* got StandardScaler"):
        prediction_of(fitted(StandardScaler()), X_NEW)


def test_forests_with_column_names_do_not_warn_about_their_trees():
    model = fitted(FOREST, FRAMES["pandas"])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        prediction_of(model, FRAMES["pandas"](X_NEW))
