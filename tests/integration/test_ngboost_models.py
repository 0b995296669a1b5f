"""NGBoost: the distribution of `pred_dist`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("ngboost", reason="ngboost is not installed")

import ngboost
import ngboost.distns
from problem import FRAMES, X_CAL, X_NEW, X_TRAIN, Y_CAL, Y_NEW, Y_TRAIN, covers
from sklearn.exceptions import NotFittedError

from calibrant import Calibrator
from calibrant.models import prediction_of
from calibrant.scores import CDFScore

pytestmark = pytest.mark.integration

BASES = {
    "Cauchy": "Student's t",
    "Exponential": "expon",
    "Gamma": "gamma",
    "Laplace": "Laplace",
    "LogNormal": "log normal",
    "Normal": "normal",
    "T": "Student's t",
    "Weibull": "weibull_min",
}


def fitted(distribution="Normal", frame=lambda X: X):
    model = ngboost.NGBRegressor(getattr(ngboost.distns, distribution), n_estimators=20, verbose=False, random_state=0)
    # its natural gradient draws from numpy's global generator, so that no two fits are alike, and its line search tries
    # steps that overflow, and turns them down: the warning is about those
    with np.errstate(over="ignore"):
        return model.fit(frame(X_TRAIN), Y_TRAIN)


@pytest.mark.parametrize("name", BASES)
def test_every_distribution_is_the_one_that_ngboost_predicts(name):
    model = fitted(name)
    distribution, theirs = prediction_of(model, X_NEW), model.pred_dist(X_NEW)
    assert repr(distribution).startswith(f"{BASES[name]} distribution of 1,000 rows")
    assert distribution.cdf(Y_NEW) == pytest.approx(theirs.cdf(Y_NEW), abs=1e-9)
    assert distribution.ppf(0.3) == pytest.approx(theirs.ppf(0.3), rel=1e-7)


@pytest.mark.parametrize("names", FRAMES)
def test_normal_distributions_are_calibrated(names):
    frame = FRAMES[names]
    assert covers(fitted("Normal", frame), frame)


@pytest.mark.parametrize("name", ["Cauchy", "LogNormal", "Gamma"])
def test_other_distributions_are_calibrated_by_their_cdf(name):
    model = fitted(name)
    H = Calibrator(CDFScore()).fit(prediction_of(model, X_CAL), Y_CAL)(prediction_of(model, X_NEW))
    lower, upper = H.interval(0.9)
    assert np.mean((lower <= Y_NEW) & (upper >= Y_NEW)) == pytest.approx(0.9, abs=0.05)


def test_a_poisson_model_predicts_a_distribution_of_counts():
    model = ngboost.NGBRegressor(ngboost.distns.Poisson, n_estimators=5, verbose=False)
    model.fit(X_TRAIN, np.round(Y_TRAIN))
    distribution = prediction_of(model, X_NEW)
    assert distribution.lattice == (0.0, 1.0)
    np.testing.assert_allclose(distribution.mean(), model.predict(X_NEW))


def test_a_classifier_is_refused():
    model = ngboost.NGBClassifier(n_estimators=5, verbose=False).fit(X_TRAIN, (Y_TRAIN > 12).astype(int))
    with pytest.raises(TypeError, match=r"must predict a distribution that scipy\.stats has, got"):
        prediction_of(model, X_NEW)


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(NotFittedError, match="this NGBRegressor is not fitted yet: call fit first"):
        prediction_of(ngboost.NGBRegressor(), X_NEW)
