"""skpro: the distribution of `predict_proba`."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("skpro", reason="skpro is not installed")

import pandas as pd
import skpro.distributions
from problem import FRAMES, X_NEW, X_TRAIN, Y_NEW, Y_TRAIN, covers
from sklearn.linear_model import LinearRegression
from skpro.regression.base import BaseProbaRegressor
from skpro.regression.bootstrap import BootstrapRegressor
from skpro.regression.delta import DeltaPointRegressor
from skpro.regression.residual import ResidualDouble

from calibrant import Point, Quantiles, Samples
from calibrant.models import prediction_of

pytestmark = pytest.mark.integration

BASES = {
    "Laplace": "Laplace",
    "Normal": "normal",
    "t": "Student's t",
}


def fitted(model, frame=FRAMES["pandas"]):
    X = FRAMES["pandas"](X_TRAIN) if frame is FRAMES["pyarrow"] else frame(X_TRAIN)  # it cannot fit on Arrow
    return model.fit(X, Y_TRAIN)


class Always(BaseProbaRegressor):
    """Predicts one distribution for every row."""

    _tags = {"capability:missing": True}  # noqa: RUF012

    def __init__(self, distribution="Normal", parameters=None):
        self.distribution = distribution
        self.parameters = parameters
        super().__init__()

    def _fit(self, X, y, C=None):
        self.columns_ = y.columns
        return self

    def _predict_proba(self, X):
        parameters = {key: np.full((len(X), 1), value) for key, value in self.parameters.items()}
        return getattr(skpro.distributions, self.distribution)(**parameters, index=X.index, columns=self.columns_)


@pytest.mark.parametrize("name", BASES)
def test_distributions_that_are_ours_become_ours(name):
    model = fitted(ResidualDouble(LinearRegression(), dist=name))
    X = FRAMES["pandas"](X_NEW)
    distribution, theirs = prediction_of(model, X), model.predict_proba(X)
    assert repr(distribution).startswith(f"{BASES[name]} distribution of 1,000 rows")
    labels = pd.DataFrame(Y_NEW, columns=theirs.columns)
    assert distribution.cdf(Y_NEW) == pytest.approx(theirs.cdf(labels).to_numpy()[:, 0], abs=1e-9)


@pytest.mark.parametrize(
    ("name", "parameters"),
    [("Logistic", {"mu": 1.0, "scale": 2.0}), ("LogNormal", {"mu": 1.0, "sigma": 0.5})],
)
def test_other_distributions_have_the_same_parameters(name, parameters):
    model = fitted(Always(name, parameters))
    X = FRAMES["pandas"](X_NEW)
    theirs = model.predict_proba(X).quantile([0.1, 0.7]).to_numpy()
    assert prediction_of(model, X).quantiles([0.1, 0.7]) == pytest.approx(theirs)


def test_a_distribution_that_is_not_ours_becomes_its_quantiles():
    model = fitted(Always("Gamma", {"alpha": 3.0, "beta": 0.3}))
    X = FRAMES["pandas"](X_NEW)
    prediction = prediction_of(model, X)
    assert isinstance(prediction, Quantiles)
    assert prediction.levels == pytest.approx(np.arange(1, 100) / 100)
    assert prediction.values[:, [9, 49]] == pytest.approx(model.predict_quantiles(X, alpha=[0.1, 0.5]).to_numpy())
    assert covers(model, FRAMES["pandas"])


@pytest.mark.parametrize("names", FRAMES)
def test_normal_distributions_are_calibrated(names):
    frame = FRAMES[names]
    assert covers(fitted(ResidualDouble(LinearRegression()), frame), frame)


def test_draws_are_samples_of_their_rows():
    model = fitted(BootstrapRegressor(LinearRegression(), n_bootstrap_samples=20, random_state=0))
    X = FRAMES["pandas"](X_NEW[:50]).iloc[::-1]
    prediction = prediction_of(model, X)
    assert isinstance(prediction, Samples)
    assert prediction.values.mean(axis=1) == pytest.approx(model.predict_proba(X).mean().to_numpy()[:, 0])
    assert covers(model, FRAMES["pandas"])


class Drawn(BaseProbaRegressor):
    """Predicts the draws 0, 1, 2 and 3, plus 10 times the first feature."""

    def __init__(self, how="in blocks"):
        self.how = how
        super().__init__()

    def _fit(self, X, y, C=None):
        self.columns_ = y.columns
        return self

    def _predict_proba(self, X):
        index = pd.MultiIndex.from_product([range(4), X.index])
        values = pd.Series(np.add.outer(np.arange(4.0), 10 * X.to_numpy()[:, 0]).ravel(), index=index)
        values = values.sort_index(level=1, sort_remaining=False, kind="stable") if self.how == "by row" else values
        weights = pd.Series(1.0 + (index.get_level_values(0) == 3), index=index) if self.how == "weighed" else None
        draws = values.to_frame(self.columns_[0])
        return skpro.distributions.Empirical(draws, weights, index=X.index, columns=self.columns_)


@pytest.mark.parametrize(("how", "kind"), [("in blocks", Samples), ("weighed", Quantiles), ("by row", Quantiles)])
def test_draws_of_equal_weight_in_blocks_are_samples_and_others_quantiles(how, kind):
    prediction = prediction_of(fitted(Drawn(how)), FRAMES["pandas"](X_NEW[:2]))
    assert isinstance(prediction, kind)
    np.testing.assert_allclose(prediction.values[:, [0, -1]], 10 * X_NEW[:2, :1] + [0.0, 3.0])


def test_points_are_points():
    model = fitted(DeltaPointRegressor(LinearRegression()))
    prediction = prediction_of(model, FRAMES["pandas"](X_NEW))
    assert isinstance(prediction, Point)
    assert prediction.values == pytest.approx(LinearRegression().fit(X_TRAIN, Y_TRAIN).predict(X_NEW))


def test_a_model_that_is_not_fitted_says_so():
    with pytest.raises(Exception, match="has not been fitted yet"):
        prediction_of(ResidualDouble(LinearRegression()), X_NEW)


def test_a_model_of_several_targets_is_refused():
    model = Always("Normal", {"mu": 1.0, "sigma": 2.0}).fit(
        FRAMES["pandas"](X_TRAIN), pd.DataFrame({"a": Y_TRAIN, "b": Y_TRAIN})
    )
    with pytest.raises(ValueError, match=r"Always must predict one distribution per row, got shape \(1000, 2\)"):
        prediction_of(model, FRAMES["pandas"](X_NEW))
