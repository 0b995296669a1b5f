"""quantile-forest: its own levels, or a grid of them."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("quantile_forest", reason="quantile-forest is not installed")

from problem import FRAMES, X_NEW, X_TRAIN, Y_TRAIN, covers
from quantile_forest import ExtraTreesQuantileRegressor, RandomForestQuantileRegressor
from sklearn.exceptions import NotFittedError

from calibrant import Quantiles
from calibrant.models import prediction_of

pytestmark = pytest.mark.integration

SMALL = {"n_estimators": 20, "min_samples_leaf": 10, "random_state": 0}


@pytest.mark.parametrize("names", FRAMES)
@pytest.mark.parametrize("kind", [ExtraTreesQuantileRegressor, RandomForestQuantileRegressor])
def test_it_predicts_nineteen_quantiles(kind, names):
    frame = FRAMES[names]
    model = kind(**SMALL).fit(frame(X_TRAIN), Y_TRAIN)
    prediction = prediction_of(model, frame(X_NEW))
    assert isinstance(prediction, Quantiles)
    assert prediction.levels == pytest.approx(np.linspace(0.05, 0.95, 19))
    theirs = model.predict(frame(X_NEW), quantiles=np.linspace(0.05, 0.95, 19).tolist())
    assert prediction.values == pytest.approx(theirs, abs=1e-6)
    assert covers(model, frame)


@pytest.mark.parametrize("levels", [[0.1, 0.5, 0.9], (0.9, 0.1)])
def test_its_own_levels_go_first(levels):
    model = RandomForestQuantileRegressor(**SMALL, default_quantiles=list(levels)).fit(X_TRAIN, Y_TRAIN)
    prediction = prediction_of(model, X_NEW)
    assert prediction.levels.tolist() == sorted(levels)
    assert np.array_equal(prediction.values, np.sort(model.predict(X_NEW), axis=1))
    assert covers(model)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError):
        prediction_of(RandomForestQuantileRegressor(), X_NEW)


def test_a_model_of_several_targets_is_refused():
    model = RandomForestQuantileRegressor(**SMALL).fit(X_TRAIN, np.stack([Y_TRAIN, -Y_TRAIN, Y_TRAIN], axis=1))
    with pytest.raises(ValueError, match="a column for each of its 19 levels, got shape"):
        prediction_of(model, X_NEW)


@pytest.mark.parametrize("one", [0.5, [0.5]])
def test_a_single_level_of_its_own_makes_way_for_nineteen(one):
    model = RandomForestQuantileRegressor(**SMALL, default_quantiles=one).fit(X_TRAIN, Y_TRAIN)
    assert prediction_of(model, X_NEW[:5]).levels == pytest.approx(np.linspace(0.05, 0.95, 19))
