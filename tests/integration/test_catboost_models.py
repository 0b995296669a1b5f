"""CatBoost: points, quantiles and RMSEWithUncertainty."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("catboost", reason="catboost is not installed")

import catboost
from problem import FRAMES, X_NEW, X_TRAIN, Y_TRAIN, covers

from calibrant import Point, Quantiles
from calibrant.models import prediction_of

pytestmark = pytest.mark.integration

SMALL = {"iterations": 30, "verbose": 0, "thread_count": 1, "allow_writing_files": False, "random_seed": 0}


def fitted(loss, kind=catboost.CatBoostRegressor, frame=lambda X: X, **options):
    options = {"loss_function": loss, **SMALL, **options}
    model = kind(options) if kind is catboost.CatBoost else kind(**options)
    X = FRAMES["pandas"](X_TRAIN) if frame is FRAMES["pyarrow"] else frame(X_TRAIN)  # it cannot fit on Arrow
    return model.fit(X, Y_TRAIN)


@pytest.mark.parametrize("names", FRAMES)
def test_the_usual_losses_predict_points(names):
    frame = FRAMES[names]
    model = fitted("RMSE", frame=frame)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Point)
    assert np.array_equal(prediction.values, model.predict(X_NEW))
    assert covers(model, frame)


@pytest.mark.parametrize("names", FRAMES)
def test_rmse_with_uncertainty_predicts_normal_distributions(names):
    frame = FRAMES[names]
    model = fitted("RMSEWithUncertainty", frame=frame)
    distribution = prediction_of(model, frame(X_NEW))
    mean, variance = model.predict(X_NEW).T
    assert repr(distribution).startswith(f"normal distribution of {len(X_NEW):,} rows")
    assert np.array_equal(distribution.loc, mean)
    assert distribution.std() ** 2 == pytest.approx(variance)
    assert covers(model, frame)


def test_the_scale_is_that_of_the_noise_whatever_the_class():
    """The plain CatBoost class predicts the logarithm of it."""
    for kind in (catboost.CatBoostRegressor, catboost.CatBoost):
        distribution = prediction_of(fitted("RMSEWithUncertainty", kind, iterations=200), X_NEW)
        assert np.corrcoef(distribution.std(), X_NEW[:, 0])[0, 1] > 0.5
        assert np.median(distribution.std()) == pytest.approx(0.6, abs=0.2)


@pytest.mark.parametrize("names", FRAMES)
def test_several_quantiles_are_one_prediction(names):
    frame = FRAMES[names]
    model = fitted("MultiQuantile:alpha=0.05,0.5,0.95", frame=frame)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == [0.05, 0.5, 0.95]
    assert np.array_equal(prediction.values, model.predict(X_NEW))
    assert covers(model, frame)


@pytest.mark.parametrize(
    ("loss", "level"), [("Quantile", 0.5), ("Quantile:alpha=0.3", 0.3), ("Quantile:alpha=0.3;delta=0.001", 0.3)]
)
def test_one_quantile_is_one_column(loss, level):
    model = fitted(loss)
    prediction = prediction_of(model, X_NEW)
    assert prediction.levels.tolist() == [level]
    assert np.array_equal(prediction.values[:, 0], model.predict(X_NEW))
    assert covers(model)


@pytest.mark.parametrize("kind", [catboost.CatBoostRegressor, catboost.CatBoost])
@pytest.mark.parametrize("loss", ["Poisson", "Tweedie:variance_power=1.5", "LogLinQuantile:alpha=0.5"])
def test_losses_of_the_logarithm_predict_in_the_unit_of_the_labels(kind, loss):
    model = fitted(loss, kind)
    prediction = prediction_of(model, X_NEW)
    assert np.ravel(prediction.values) == pytest.approx(np.exp(model.predict(X_NEW, prediction_type="RawFormulaVal")))


def test_a_model_keeps_its_levels_through_a_file(tmp_path):
    fitted("MultiQuantile:alpha=0.1,0.9").save_model(tmp_path / "model.cbm")
    model = catboost.CatBoost().load_model(tmp_path / "model.cbm")
    assert prediction_of(model, X_NEW).levels.tolist() == [0.1, 0.9]


def test_a_pool_is_read():
    model = fitted("RMSE")
    assert np.array_equal(prediction_of(model, catboost.Pool(X_NEW)).values, model.predict(X_NEW))


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(catboost.CatBoostError, match="no trained model"):
        prediction_of(catboost.CatBoostRegressor(), X_NEW)


def test_a_classifier_is_refused():
    model = catboost.CatBoostClassifier(**SMALL).fit(X_TRAIN, Y_TRAIN > 12)
    with pytest.raises(TypeError, match="got the classifier CatBoostClassifier"):
        prediction_of(model, X_NEW)


def test_a_model_of_several_targets_is_told_to_take_them_one_by_one():
    model = catboost.CatBoostRegressor(loss_function="MultiRMSE", **SMALL)
    model.fit(X_TRAIN, np.stack([Y_TRAIN, -Y_TRAIN], axis=1))
    with pytest.raises(ValueError, match="one by one"):
        prediction_of(model, X_NEW)
