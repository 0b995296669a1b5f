"""XGBoost: points, one quantile and several, of estimators and boosters."""

from __future__ import annotations

import warnings

import numpy as np
import pytest

pytest.importorskip("xgboost", reason="xgboost is not installed")

import xgboost
from problem import FRAMES, X_NEW, X_TRAIN, Y_TRAIN, covers
from sklearn.exceptions import NotFittedError

from calibrant import Point, Quantiles
from calibrant.models import prediction_of

pytestmark = [
    pytest.mark.integration,
    pytest.mark.filterwarnings("ignore:Quantiles.values crosses"),  # small trees do, and are sorted
]

SMALL = {"n_estimators": 20, "max_depth": 3, "n_jobs": 1}
LEVELS = [0.1, 0.5, 0.9]


@pytest.mark.parametrize("names", FRAMES)
def test_the_default_objective_predicts_points(names):
    frame = FRAMES[names]
    model = xgboost.XGBRegressor(**SMALL).fit(frame(X_TRAIN), Y_TRAIN)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Point)
    assert np.array_equal(prediction.values, model.predict(frame(X_NEW)))
    assert prediction.values.dtype == np.float64
    assert covers(model, frame)


@pytest.mark.parametrize("names", FRAMES)
def test_several_quantiles_are_one_prediction(names):
    frame = FRAMES[names]
    model = xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=LEVELS, **SMALL)
    model.fit(frame(X_TRAIN), Y_TRAIN)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == LEVELS
    assert np.array_equal(prediction.values, np.sort(model.predict(frame(X_NEW)), axis=1))
    assert covers(model, frame)


def test_one_quantile_is_one_column():
    model = xgboost.XGBRegressor(objective="reg:quantileerror", quantile_alpha=0.3, **SMALL).fit(X_TRAIN, Y_TRAIN)
    prediction = prediction_of(model, X_NEW)
    assert prediction.levels.tolist() == [0.3]
    assert np.array_equal(prediction.values[:, 0], model.predict(X_NEW))
    assert covers(model)


def test_levels_out_of_order_keep_their_columns():
    options = {"objective": "reg:quantileerror", **SMALL, "max_depth": 1}
    model = xgboost.XGBRegressor(quantile_alpha=[0.9, 0.1], **options)
    try:
        model.fit(X_TRAIN, Y_TRAIN)
    except xgboost.core.XGBoostError as error:
        if "must be sorted" not in str(error):
            raise
        pytest.skip("this xgboost takes levels in order only")
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # columns in the wrong order would cross, and be sorted, in every row
        prediction = prediction_of(model, X_NEW)
    assert prediction.levels.tolist() == [0.1, 0.9]
    assert np.array_equal(prediction.values, model.predict(X_NEW)[:, ::-1])


def test_a_booster_keeps_its_levels_through_a_file(tmp_path):
    options = {"objective": "reg:quantileerror", "quantile_alpha": LEVELS, "nthread": 1, "max_depth": 3}
    booster = xgboost.train(options, xgboost.DMatrix(X_TRAIN, Y_TRAIN), 20)
    booster.save_model(tmp_path / "model.ubj")
    for each in (booster, xgboost.Booster(model_file=tmp_path / "model.ubj")):
        for X in (X_NEW, xgboost.DMatrix(X_NEW)):
            prediction = prediction_of(each, X)
            assert prediction.levels.tolist() == LEVELS
            assert np.array_equal(prediction.values, np.sort(each.predict(xgboost.DMatrix(X_NEW)), axis=1))
    assert covers(booster)


@pytest.mark.parametrize("names", ["pandas", "polars", "pyarrow"])
def test_a_booster_reads_data_frames(names):
    frame = FRAMES[names]
    booster = xgboost.train({"nthread": 1}, xgboost.DMatrix(frame(X_TRAIN), Y_TRAIN), 5)
    assert np.array_equal(prediction_of(booster, frame(X_NEW)).values, booster.predict(xgboost.DMatrix(frame(X_NEW))))


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        prediction_of(xgboost.XGBRegressor(), X_NEW)


def test_a_classifier_is_refused():
    with pytest.raises(TypeError, match="got the classifier XGBClassifier"):
        prediction_of(xgboost.XGBClassifier(**SMALL).fit(X_TRAIN, Y_TRAIN > 12), X_NEW)


def test_a_model_of_several_targets_is_told_to_take_them_one_by_one():
    model = xgboost.XGBRegressor(**SMALL).fit(X_TRAIN, np.stack([Y_TRAIN, -Y_TRAIN], axis=1))
    with pytest.raises(ValueError, match="one by one"):
        prediction_of(model, X_NEW)
