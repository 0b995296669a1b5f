"""LightGBM: points and quantiles, of estimators and boosters."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("lightgbm", reason="lightgbm is not installed")

import lightgbm
from problem import FRAMES, X_NEW, X_TRAIN, Y_TRAIN, covers
from sklearn.exceptions import NotFittedError

from calibrant import Point, Quantiles
from calibrant.models import prediction_of

pytestmark = pytest.mark.integration

SMALL = {"n_estimators": 20, "verbose": -1, "n_jobs": 1}


@pytest.mark.parametrize("names", FRAMES)
def test_the_default_objective_predicts_points(names):
    frame = FRAMES[names]
    model = lightgbm.LGBMRegressor(**SMALL).fit(frame(X_TRAIN), Y_TRAIN)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Point)
    assert np.array_equal(prediction.values, model.predict(frame(X_NEW)))
    assert covers(model, frame)


@pytest.mark.parametrize("names", FRAMES)
def test_the_quantile_objective_predicts_quantiles(names):
    frame = FRAMES[names]
    model = lightgbm.LGBMRegressor(objective="quantile", alpha=0.3, **SMALL).fit(frame(X_TRAIN), Y_TRAIN)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == [0.3]
    assert np.array_equal(prediction.values[:, 0], model.predict(frame(X_NEW)))
    assert covers(model, frame)


def test_the_default_level_is_that_of_lightgbm():
    model = lightgbm.LGBMRegressor(objective="quantile", **SMALL).fit(X_TRAIN, Y_TRAIN)
    assert prediction_of(model, X_NEW).levels.tolist() == [0.9]
    assert np.mean(model.predict(X_TRAIN) > Y_TRAIN) == pytest.approx(0.9, abs=0.05)


def test_a_booster_keeps_its_level_through_a_file(tmp_path):
    data = lightgbm.Dataset(X_TRAIN, Y_TRAIN)
    booster = lightgbm.train({"application": "quantile", "alpha": 0.2, "verbose": -1, "num_threads": 1}, data, 20)
    booster.save_model(tmp_path / "model.txt")
    for each in (booster, lightgbm.Booster(model_file=tmp_path / "model.txt")):
        assert prediction_of(each, X_NEW).levels.tolist() == [0.2]
        assert np.array_equal(prediction_of(each, X_NEW).values[:, 0], each.predict(X_NEW))
    assert covers(booster)


def test_what_was_fitted_decides_not_a_later_parameter():
    model = lightgbm.LGBMRegressor(objective="quantile", alpha=0.3, **SMALL).fit(X_TRAIN, Y_TRAIN)
    assert prediction_of(model.set_params(alpha=0.8), X_NEW).levels.tolist() == [0.3]


def test_an_objective_of_ones_own_predicts_points():
    def squared(y, f):
        return f - y, np.ones_like(y)

    model = lightgbm.LGBMRegressor(objective=squared, **SMALL).fit(X_TRAIN, Y_TRAIN)
    assert isinstance(prediction_of(model, X_NEW), Point)


def test_several_levels_are_one_prediction():
    models = [
        lightgbm.LGBMRegressor(objective="quantile", alpha=level, min_child_samples=50, **SMALL).fit(X_TRAIN, Y_TRAIN)
        for level in (0.1, 0.9)
    ]
    assert prediction_of(models, X_NEW).levels.tolist() == [0.1, 0.9]
    assert covers(models)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        prediction_of(lightgbm.LGBMRegressor(), X_NEW)


def test_a_classifier_is_refused():
    with pytest.raises(TypeError, match="got the classifier LGBMClassifier"):
        prediction_of(lightgbm.LGBMClassifier(**SMALL).fit(X_TRAIN, Y_TRAIN > 12), X_NEW)
