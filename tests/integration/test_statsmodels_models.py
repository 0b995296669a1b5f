"""statsmodels: least squares with its t distributions, quantile regression, and points from the rest."""

from __future__ import annotations

import numpy as np
import pytest

pytest.importorskip("statsmodels", reason="statsmodels is not installed")

import statsmodels.api as sm
import statsmodels.formula.api as smf
from problem import FRAMES, X_NEW, X_TRAIN, Y_TRAIN, covers

from calibrant import Point, Quantiles
from calibrant.models import prediction_of
from calibrant.predictions import Rates

pytestmark = pytest.mark.integration

DESIGN = sm.add_constant(X_TRAIN)


def with_constant(X):
    return sm.add_constant(X, has_constant="add")


@pytest.mark.parametrize("fit", [sm.OLS, lambda y, X: sm.WLS(y, X, weights=np.ones(len(y)))])
def test_least_squares_predicts_t_distributions_of_new_labels(fit):
    results = fit(Y_TRAIN, DESIGN).fit()
    distribution = prediction_of(results, with_constant(X_NEW))
    frame = results.get_prediction(with_constant(X_NEW)).summary_frame(alpha=0.1)
    assert repr(distribution).startswith(f"Student's t distribution of {len(frame):,} rows")
    lower, upper = distribution.interval(0.9)
    assert lower == pytest.approx(frame["obs_ci_lower"].to_numpy())
    assert upper == pytest.approx(frame["obs_ci_upper"].to_numpy())
    assert covers(results, with_constant)


def test_normal_errors_give_normal_distributions():
    results = sm.OLS(Y_TRAIN, DESIGN).fit(use_t=False)
    distribution = prediction_of(results, with_constant(X_NEW))
    frame = results.get_prediction(with_constant(X_NEW)).summary_frame(alpha=0.1)
    assert repr(distribution).startswith(f"normal distribution of {len(frame):,} rows")
    assert distribution.interval(0.9)[0] == pytest.approx(frame["obs_ci_lower"].to_numpy())


def test_a_constant_that_is_missing_is_not_added():
    with pytest.raises(ValueError, match=r"shapes|aligned"):
        prediction_of(sm.OLS(Y_TRAIN, DESIGN).fit(), X_NEW)


@pytest.mark.parametrize("names", ["pandas", "polars", "pyarrow"])
def test_a_formula_reads_data_frames(names):
    frame = FRAMES[names]
    results = smf.ols("y ~ size + age + rooms", FRAMES["pandas"](X_TRAIN).assign(y=Y_TRAIN)).fit()
    plain = prediction_of(sm.OLS(Y_TRAIN, DESIGN).fit(), with_constant(X_NEW))
    distribution = prediction_of(results, frame(X_NEW))
    assert distribution.loc == pytest.approx(plain.loc)
    assert distribution.scale == pytest.approx(plain.scale)
    assert covers(results, frame)


def test_quantile_regression_predicts_quantiles():
    results = [sm.QuantReg(Y_TRAIN, DESIGN).fit(q=level) for level in (0.2, 0.8)]
    prediction = prediction_of(results, with_constant(X_NEW))
    assert isinstance(prediction, Quantiles)
    assert prediction.levels.tolist() == [0.2, 0.8]
    assert np.array_equal(prediction.values[:, 0], results[0].predict(with_constant(X_NEW)))
    assert covers(results, with_constant)


@pytest.mark.parametrize(
    "fit",
    [
        lambda y, X: sm.GLM(y, X, family=sm.families.Gamma(sm.families.links.Log())).fit(),
        lambda y, X: sm.RLM(y, X).fit(),
        lambda y, X: sm.OLS(y, X).fit_regularized(alpha=0.01),
        lambda y, X: sm.MixedLM(y, X, groups=(X[:, 1] > 0.5)).fit(),
    ],
)
@pytest.mark.filterwarnings("ignore:.*:statsmodels.tools.sm_exceptions.ConvergenceWarning")
def test_other_models_predict_points(fit):
    results = fit(Y_TRAIN, DESIGN)
    prediction = prediction_of(results, with_constant(X_NEW))
    assert isinstance(prediction, Point)
    assert np.array_equal(prediction.values, results.predict(with_constant(X_NEW)))
    assert covers(results, with_constant)


def test_a_model_before_fit_is_told_to_pass_the_results():
    with pytest.raises(TypeError, match="takes the results that statsmodels' fit returns, got the model OLS"):
        prediction_of(sm.OLS(Y_TRAIN, DESIGN), X_NEW)


def test_a_time_series_is_told_to_pass_its_forecast():
    with pytest.raises(TypeError, match="forecasts a series from its own past"):
        prediction_of(sm.tsa.AutoReg(Y_TRAIN, 1).fit(), X_NEW)


@pytest.mark.filterwarnings("ignore:.*:statsmodels.tools.sm_exceptions.ConvergenceWarning")
def test_a_negative_binomial_model_has_the_dispersion_that_it_estimated():
    counts = np.random.default_rng(0).negative_binomial(2, 2 / (2 + np.exp(1 + DESIGN[:, 1])))
    results = sm.NegativeBinomial(counts, DESIGN).fit(disp=0)
    prediction = prediction_of(results, with_constant(X_NEW))
    assert isinstance(prediction, Rates)
    assert prediction.dispersion == pytest.approx(np.exp(results.lnalpha))
    assert np.array_equal(prediction.values, results.predict(with_constant(X_NEW)))


def test_a_generalised_linear_model_has_the_dispersion_that_it_was_given():
    counts = np.random.default_rng(0).poisson(np.exp(1 + DESIGN[:, 1]))
    results = sm.GLM(counts, DESIGN, family=sm.families.NegativeBinomial(alpha=0.4)).fit()
    assert prediction_of(results, with_constant(X_NEW)).dispersion == 0.4


def test_a_model_of_counts_whose_variance_is_linear_predicts_points():
    counts = np.random.default_rng(0).negative_binomial(2, 2 / (2 + np.exp(1 + DESIGN[:, 1])))
    results = sm.NegativeBinomial(counts, DESIGN, loglike_method="nb1").fit(disp=0)
    assert type(prediction_of(results, with_constant(X_NEW))) is Point  # and not Rates


def test_a_poisson_model_predicts_rates_without_dispersion():
    counts = np.random.default_rng(0).poisson(np.exp(1 + DESIGN[:, 1]))
    for results in (sm.Poisson(counts, DESIGN).fit(disp=0), sm.GLM(counts, DESIGN, sm.families.Poisson()).fit()):
        prediction = prediction_of(results, with_constant(X_NEW))
        assert isinstance(prediction, Rates)
        assert prediction.dispersion is None


def test_a_formula_takes_its_columns_in_any_order():
    table = FRAMES["pandas"](X_TRAIN)
    results = smf.ols("y ~ size + age + rooms - 1", table.assign(y=Y_TRAIN)).fit()
    turned = prediction_of(results, FRAMES["pandas"](X_NEW)[["rooms", "size", "age"]])
    assert turned.loc == pytest.approx(X_NEW @ results.params[["size", "age", "rooms"]].to_numpy())
