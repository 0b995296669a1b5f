"""What the library recovers: isotonic regression, crepes, scoringrules; and what holds in any unit of y."""

import numpy as np
import pytest
import scoringrules
from crepes import ConformalPredictiveSystem
from sklearn.isotonic import IsotonicRegression
from threadpoolctl import threadpool_limits

from calibrant import Calibrator, Logistic, Normal, Point, Quantiles
from calibrant.interpolators import BoundedTails, Linear, Naive, Random
from calibrant.interpolators.naf import NAF
from calibrant.scores import CDFScore, QuantileScore, ZScore


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """On a busy machine threads of small matrix products wait for each other, 30 times the work."""
    with threadpool_limits(1):
        yield


class Given:
    """A generator whose uniforms are known beforehand."""

    def __init__(self, uniforms):
        self.uniforms = uniforms

    def random(self, size):
        assert size == len(self.uniforms)
        return self.uniforms


@pytest.fixture
def crepes_uniforms():
    """The uniforms crepes will draw for a seed. It seeds numpy's global generator, and only we restore it."""
    before = np.random.get_state()  # noqa: NPY002
    yield lambda seed, count: np.random.RandomState(seed).rand(count)
    np.random.set_state(before)  # noqa: NPY002


def heteroscedastic(seed, count):
    rng = np.random.default_rng(seed)
    mean, scale = rng.normal(size=count), rng.uniform(0.5, 2, size=count)
    return mean, scale, mean + scale * rng.standard_t(4, size=count)


# ---- isotonic calibration ----------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [2, 10, 500])
@pytest.mark.parametrize("base", [Normal, Logistic])
def test_isotonic_is_scikit_learns_isotonic_regression_on_the_pits_times_n_over_n_plus_1(base, n):
    mean, scale, y = heteroscedastic(n, n + 300)
    forecast = base(mean, scale)
    pits = forecast.cdf(y)
    calibrated, u = np.sort(pits[:n]), pits[n:]
    theirs = IsotonicRegression(out_of_bounds="clip").fit(calibrated, np.arange(1, n + 1) / n)
    H = Calibrator(CDFScore(), Linear()).fit(forecast[:n], y[:n])(forecast[n:])
    ours = H.cdf(y[n:])
    inside = (calibrated[0] <= u) & (u <= calibrated[-1])
    assert inside.any()
    np.testing.assert_allclose(ours[inside], theirs.predict(u[inside]) * n / (n + 1), rtol=1e-9)
    # where theirs stays at 1/n and at 1, ours goes on to 0 and to 1
    ends = np.interp(u, [0, calibrated[0], calibrated[-1], 1], [0, 1 / (n + 1), n / (n + 1), 1])
    np.testing.assert_allclose(ours[~inside], ends[~inside], rtol=1e-9)


# ---- conformal calibration and crepes ----------------------------------------------------------------------


def on_a_grid(seed, count):
    """Forecasts and labels on a grid of eighths, scales that are powers of two: sums are exact, ties abound."""
    rng = np.random.default_rng(seed)
    mean = rng.integers(-16, 16, size=count) / 8
    scale = 2.0 ** rng.integers(-1, 2, size=count)
    return mean, scale, mean + scale * rng.integers(-12, 13, size=count) / 8


@pytest.mark.parametrize("data", [heteroscedastic, on_a_grid], ids=["distinct", "tied"])
@pytest.mark.parametrize("n", [1, 20, 300])
def test_conformal_is_crepes_smoothed_p_values_with_the_same_uniforms(data, n, crepes_uniforms):
    mean, scale, y = data(n, n + 400)
    forecast = Normal(mean, scale)
    crepes = ConformalPredictiveSystem().fit((y - mean)[:n], sigmas=scale[:n])
    theirs = crepes.predict_p(mean[n:], y[n:], sigmas=scale[n:], seed=7)
    given = Given(crepes_uniforms(7, 400))
    for calibrator in (Calibrator(CDFScore(), Random()), Calibrator(ZScore(), Random())):
        ours = calibrator.fit(forecast[:n], y[:n])(forecast[n:], rng=given).cdf(y[n:])
        np.testing.assert_allclose(ours, theirs, rtol=0, atol=1e-12)


@pytest.mark.parametrize("data", [heteroscedastic, on_a_grid], ids=["distinct", "tied"])
@pytest.mark.parametrize("normalised", [False, True])
def test_naive_is_crepes_unsmoothed_up_to_n_against_n_plus_1(data, normalised):
    """Theirs is (#{s_i <= u} + 1) / (n + 1), ours #{s_i <= u} / n."""
    n = 100
    mean, scale, y = data(5, n + 400)
    forecast = Normal(mean, scale) if normalised else Point(mean)
    sigmas = {"sigmas": scale[n:]} if normalised else {}
    crepes = ConformalPredictiveSystem().fit((y - mean)[:n], sigmas=scale[:n] if normalised else None)
    theirs = crepes.predict_p(mean[n:], y[n:], smoothing=False, **sigmas)
    ours = Calibrator(interpolator=Naive()).fit(forecast[:n], y[:n])(forecast[n:]).cdf(y[n:])
    np.testing.assert_allclose(n * ours + 1, (n + 1) * theirs, rtol=0, atol=1e-9)


def test_the_atoms_of_naive_are_crepes_predictive_distributions():
    n, m = 30, 8
    mean, scale, y = heteroscedastic(6, n + m)
    forecast = Normal(mean, scale)
    theirs = ConformalPredictiveSystem().fit((y - mean)[:n], sigmas=scale[:n]).predict_cpds(mean[n:], sigmas=scale[n:])
    H = Calibrator(interpolator=Naive()).fit(forecast[:n], y[:n])(forecast[n:])
    np.testing.assert_allclose(H.quantiles((np.arange(n) + 0.5) / n), theirs, rtol=1e-12)
    np.testing.assert_allclose(H.cdf(theirs + 1e-9), np.tile(np.arange(1, n + 1) / n, (m, 1)))


def test_random_is_crepes_percentiles_where_the_uniform_rounds_the_rank_the_same_way():
    """With U near 1 the quantile at p has rank floor(p (n + 1)), crepes' lower percentile; near 0 ceil, its higher."""
    n, m = 50, 6
    mean, _, y = heteroscedastic(8, n + m)
    crepes = ConformalPredictiveSystem().fit((y - mean)[:n])
    calibrated = Calibrator(interpolator=Random()).fit(mean[:n], y[:n])
    levels = np.array([0.1, 0.31, 0.5, 0.77, 0.9])
    for side, uniform in (("lower", 1 - 1e-6), ("higher", 1e-6)):
        theirs = crepes.predict_percentiles(mean[n:], **{f"{side}_percentiles": list(100 * levels)})
        ours = calibrated(mean[n:], rng=Given(np.full(m, uniform))).quantiles(levels)
        np.testing.assert_allclose(ours, theirs, rtol=1e-12)


# ---- crps --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, 2, 100])
def test_crps_of_naive_is_crepes_unnormalised_and_scoringrules_ensemble_crps(n):
    mean, _, y = heteroscedastic(n, n + 200)
    H = Calibrator(interpolator=Naive()).fit(mean[:n], y[:n])(mean[n:])
    ours = H.crps(y[n:])
    atoms = mean[n:, None] + np.sort(y[:n] - mean[:n])
    for estimator in ("qd", "nrg", "int"):
        np.testing.assert_allclose(ours, scoringrules.crps_ensemble(y[n:], atoms, estimator=estimator), rtol=1e-9)
    if n == 100:  # below 39 it warns of its own intervals
        crepes = ConformalPredictiveSystem().fit((y - mean)[:n])
        theirs = crepes.evaluate(mean[n:], y[n:], metrics=["CRPS"], y_min=-1e9, y_max=1e9)["CRPS"]
        assert ours.mean() == pytest.approx(theirs, rel=1e-9)


def test_crps_of_normalised_naive_is_scoringrules_where_crepes_multiplies_by_sigma_twice():
    n = 50
    mean, scale, y = heteroscedastic(9, n + 300)
    atoms = mean[n:, None] + scale[n:, None] * np.sort((y - mean)[:n] / scale[:n])
    right = scoringrules.crps_ensemble(y[n:], atoms, estimator="qd")
    for factor in (1.0, 10.0, 100.0):  # a common factor of the difficulties cancels: nothing may change
        forecast = Normal(mean, factor * scale)
        H = Calibrator(interpolator=Naive()).fit(forecast[:n], y[:n])(forecast[n:])
        np.testing.assert_allclose(H.crps(y[n:]), right, rtol=1e-9)
        crepes = ConformalPredictiveSystem().fit((y - mean)[:n], sigmas=factor * scale[:n])
        their = crepes.evaluate(mean[n:], y[n:], sigmas=factor * scale[n:], metrics=["CRPS"], y_min=-1e9, y_max=1e9)
        if factor > 1:
            assert their["CRPS"] > 1.05 * right.mean()


def test_crps_of_bounded_random_is_scoringrules_with_weights():
    mean, _, y = heteroscedastic(2, 30)
    n, m = 20, 10
    uniforms = np.random.default_rng(0).random(m)
    H = Calibrator(interpolator=Random(BoundedTails())).fit(mean[:n], y[:n])(mean[n:], rng=Given(uniforms))
    scores = np.sort(y[:n] - mean[:n])
    gap = (scores[-1] - scores[0]) / (n - 1)
    atoms = mean[n:, None] + np.concatenate([[scores[0] - gap], scores, [scores[-1] + gap]])
    weights = np.column_stack([uniforms, np.ones((m, n)), 1 - uniforms])
    theirs = scoringrules.crps_ensemble(y[n:], atoms, ens_w=weights / (n + 1), estimator="nrg")
    np.testing.assert_allclose(H.crps(y[n:]), theirs, rtol=1e-9)


# ---- overconfident bases -----------------------------------------------------------------------------------


@pytest.mark.parametrize("times", [1, 10])
@pytest.mark.parametrize("interpolator", [Naive(), Linear(), Random(), NAF()], ids=lambda psi: type(psi).__name__)
def test_an_overconfident_normal_reaches_90_percent_with_the_cdf_score(interpolator, times):
    rng = np.random.default_rng(times)
    n, m = 1000, 20_000
    y = times * rng.normal(size=n + m)
    before = np.mean(np.abs(y[n:]) < 1.6449)
    calibrated = Calibrator(CDFScore(), interpolator).fit(Normal(np.zeros(n), 1.0), y[:n])
    lower, upper = calibrated(Normal(np.zeros(m), 1.0), rng=rng).interval(0.9)
    covered = np.mean((lower <= y[n:]) & (y[n:] <= upper))
    assert abs(covered - 0.9) < 0.03  # the share of one set of n is Beta: 3 of its standard deviations
    assert times == 1 or before < 0.4
    # the interval is the one the labels need, not a wider one
    assert np.median(upper - lower) == pytest.approx(2 * 1.6449 * times, rel=0.1)


def test_a_label_12_sigma_away_may_be_among_the_calibration_rows():
    y = np.concatenate([np.random.default_rng(0).normal(size=99), [12.0]])
    H = Calibrator(CDFScore(), Linear()).fit(Normal(np.zeros(100), 1.0), y)(Normal([0.0], 1.0))
    assert H.cdf([12.0])[0] == pytest.approx(100 / 101, abs=1e-12)
    assert H.ppf(100 / 101)[0] == pytest.approx(12.0, rel=1e-6)
    assert np.isfinite(H.logpdf([12.0])[0])


# ---- units -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("score", "moves"), [(QuantileScore(outer_slope=1), True), (QuantileScore(), False)])
def test_the_papers_quantile_score_depends_on_the_unit_of_y_and_ours_does_not(score, moves):
    rng, grid = np.random.default_rng(17), np.linspace(-4, 4, 50)[None, :]
    x, spread = rng.normal(size=65), rng.uniform(0.5, 2, size=65)
    values, y = x[:, None] + spread[:, None] * np.array([-1.3, -0.5, 0.1, 1.2]), x + spread * rng.standard_t(4, size=65)
    moved, plain = (
        Calibrator(score).fit(Quantiles([0.1, 0.3, 0.5, 0.9], unit * values[:60]), unit * y[:60])(
            Quantiles([0.1, 0.3, 0.5, 0.9], unit * values[60:])
        )
        for unit in (1e3, 1.0)
    )
    assert (np.max(np.abs(moved.cdf(1e3 * grid) - plain.cdf(grid))) > 1e-3) == moves
