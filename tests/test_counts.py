"""Distributions of counts, and labels that are counts."""

from __future__ import annotations

import math
import pickle

import numpy as np
import pytest
import scipy.stats as st
from reference.tolerances import TOLERANCES

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Interval,
    LogNormal,
    Mixture,
    Normal,
    Point,
    Quantiles,
    Samples,
    evaluate,
)
from calibrant.distributions import Binomial, NegativeBinomial, Poisson, ZeroInflated, from_scipy
from calibrant.distributions.rounding import Lattice, SpreadDistribution
from calibrant.interpolators import InfiniteTails, Linear, Naive
from calibrant.labels import Counts, Transformed
from calibrant.metrics.calibration import kolmogorov_pvalue, sup_of
from calibrant.metrics.forecasts import comparable
from calibrant.predictions import Rates
from calibrant.scores import CDFScore, ZScore
from calibrant.testing import check_distribution, check_labels

PROMISED = TOLERANCES["curved"].integrals

DISTRIBUTION_CASES = {  # which the catalogue does not have
    "scipy's geometric": lambda: from_scipy(st.geom([0.3, 0.05])),
    "scipy's skellam": lambda: from_scipy(st.skellam([3.0, 1.0], [1.0, 2.0])),
    "steps of 0.5 from 1": lambda: Lattice(LogNormal([0.0, 1.0], [1.0, 2.0]), 0.5, 1.0),
    "a lattice of atoms": lambda: Lattice(Calibrator(interpolator=Naive()).fit([0.0] * 9, range(9))([2.0, 2.7])),
    "rows of two distributions": lambda: calibrant.concatenate([Poisson([1.0, 4.0]), NegativeBinomial([3.0], 0.5)]),
    "a mixture": lambda: Mixture([Poisson([1.0, 4.0]), Poisson([3.0, 9.0])], [0.3, 0.7]),
    "spread steps of 0.05": lambda: SpreadDistribution(Lattice(Normal([0.0, 3.0], [1.0, 2.0]), 0.05, None)),
}


@pytest.mark.few
@pytest.mark.parametrize("name", DISTRIBUTION_CASES)
def test_a_distribution_of_counts_keeps_the_distributions_of_a_distribution(name):
    check_distribution(DISTRIBUTION_CASES[name]())


@pytest.mark.parametrize(
    ("distribution", "scipys"),
    [
        (Poisson([0.3, 7.0]), st.poisson([0.3, 7.0])),
        (NegativeBinomial([4.0, 40.0], [0.5, 0.1]), st.nbinom([2.0, 10.0], [2 / 6, 10 / 50])),
        (Binomial([10, 3], [0.3, 0.9]), st.binom([10, 3], [0.3, 0.9])),
    ],
)
def test_ours_are_scipys(distribution, scipys):
    for k in (-1, 0, 1, 3, 17):
        assert distribution.logpmf(k) == pytest.approx(scipys.logpmf(k), rel=1e-10)
        assert distribution.cdf(k + 0.5) == pytest.approx(scipys.cdf(k), rel=1e-12)
        assert distribution.sf(k) == pytest.approx(scipys.sf(k), rel=1e-12)
    for p in (1e-9, 0.1, 0.5, 0.99, 1 - 1e-9):
        assert distribution.ppf(p).tolist() == scipys.ppf(p).tolist()
    assert distribution.mean() == pytest.approx(scipys.mean())
    assert distribution.std() == pytest.approx(scipys.std())
    assert type(from_scipy(scipys)) is type(distribution)


@pytest.mark.parametrize(
    ("distribution", "scipys", "y"),
    [
        (Poisson([1e6]), st.poisson(1e6), 999_100.0),
        (NegativeBinomial([1e4], 1.0), st.nbinom(1.0, 1 / 10_001), 5_000.0),
        (Binomial([4_000_000_000], 0.01), st.binom(4_000_000_000, 0.01), 40_001_000.0),
    ],
)
def test_the_crps_of_large_counts_is_the_sum(distribution, scipys, y):
    k = np.arange(scipys.ppf(1e-15), scipys.isf(1e-15) + 1)
    wanted = np.sum((scipys.cdf(k) - (k >= y)) ** 2)
    assert float(distribution.crps(y)[0]) == pytest.approx(wanted, abs=PROMISED * scipys.std())


def test_the_crps_of_a_wide_calibrated_lattice_is_the_sum():
    rng = np.random.default_rng(0)
    f = rng.uniform(1e6, 2e6, 300)
    y = rng.poisson(rng.gamma(400.0, f / 400)).astype(float)
    H = Calibrator(labels=Counts()).fit(Point(f[:200]), y[:200], rng=rng)(Point(f[200:202]))
    for row in range(2):
        q = H.ppf(1e-15)[row], H.ppf(1 - 1e-15)[row]
        k = np.arange(q[0] - 1, q[1] + 1)
        assert k.size > 2**14  # so not every point is summed
        wanted = np.sum((H[row].cdf(k) - (k >= y[200 + row])) ** 2)
        assert H.crps(y[200:202])[row] == pytest.approx(wanted, abs=PROMISED * H.std()[row])


def test_a_rate_of_0_is_0_for_sure():
    distribution = Poisson([0.0, 1.0])
    assert distribution.pmf([0.0, 0.0]) == pytest.approx([1.0, math.exp(-1)])
    assert distribution.crps([2.0, 0.0])[0] == pytest.approx(2.0)
    assert distribution.interval(0.9)[1].tolist() == [0.0, 3.0]
    assert distribution.mean().tolist() == [0.0, 1.0]


def test_torchs_gradients_flow_through_poisson():
    torch = pytest.importorskip("torch")
    rate = torch.tensor([0.7, 30.0], dtype=torch.float64, requires_grad=True)
    y = torch.tensor([1.0, 25.0], dtype=torch.float64)
    (slope,) = torch.autograd.grad(Poisson(rate).crps(y).sum(), rate)
    h = 1e-5
    wanted = (Poisson(rate.detach() + h).crps(y) - Poisson(rate.detach() - h).crps(y)) / (2 * h)
    assert slope.numpy() == pytest.approx(wanted.numpy(), rel=1e-6)
    with pytest.raises(TypeError, match="no gradient flows through it"):
        NegativeBinomial(rate, 0.5).cdf(y)
    single = Lattice(Normal(torch.tensor([3.0]), torch.tensor([2.0])))
    assert single.ppf(0.9).dtype == torch.float32


@pytest.mark.parametrize(
    ("make", "said"),
    [
        (lambda: Poisson([1.0, -1.0]), r"Poisson.rate is negative in row 1 \(the only such row\)"),
        (lambda: Poisson([[1.0], [2.0]]), r"Poisson takes one rate per row, got shape \(2, 1\)"),
        (lambda: NegativeBinomial([1.0, -1.0], 0.5), r"NegativeBinomial.rate is negative in row 1"),
        (lambda: NegativeBinomial([1.0], [0.0]), "NegativeBinomial.dispersion is not positive"),
        (lambda: Binomial([1.5], 0.2), "Binomial.trials is no count in row 0"),
        (lambda: Binomial([3], [0.1, 0.2]), "probability must have one row, as Binomial.trials has, got 2"),
        (lambda: Binomial([2], 1.2), r"Binomial.probability lies outside \[0, 1\]"),
        (lambda: ZeroInflated(Poisson([1.0]), [1.2]), r"ZeroInflated.zeros lies outside \[0, 1\]"),
        (lambda: ZeroInflated(Poisson([1.0, 2.0]), [0.1]), r"zeros must have shape \(2,\) or \(\), got \(1,\)"),
        (lambda: ZeroInflated(from_scipy(st.randint([0, -2, -1], 5)), 0.1), r"row 1 \(2 rows in all\)"),
        (lambda: ZeroInflated(from_scipy(st.randint(-2, 5)), [0.1, 0.2]), r"must have shape \(\)"),
        (lambda: Lattice(Normal([0.0], 1.0), -1.0), "Lattice.step must be positive"),
        (lambda: Lattice(Normal([0.0], 1.0), 1.0, -math.inf), "lower must be finite, got -inf"),
        (lambda: Counts(step=0.0), "Counts.step must be positive"),
        (lambda: Rates([1.0, -0.5]), "Rates.values is negative in row 1"),
        (lambda: Calibrator(labels=Counts()).fit([1.0, 2.0], [1.0, 2.5]), r"y is 2.5 in row 1 \(the only such row\)"),
        (lambda: Calibrator(labels=Counts()).fit([1.0, 2.0], [-1.0, 2.0]), r"takes whole numbers from 0 on"),
        (lambda: Calibrator(labels=Counts(0.05)).fit([1.0], [0.07]), r"takes steps of 0.05 from 0 on"),
        (lambda: Calibrator(labels=Counts(2.0)).fit(Poisson([1.0]), [2.0]), "takes distributions in steps of 2"),
        (lambda: Lattice([1.0]), r"Lattice.base must be a Distribution, got \[1.0\]"),
        (
            lambda: SpreadDistribution(Normal([0.0], 1.0)),
            r"must be a distribution on a lattice.*normal distribution of 1 row",
        ),
        (
            lambda: ZeroInflated(Normal([0.0], 1.0), 0.1),
            "base must be a distribution of counts.*normal distribution of 1 row",
        ),
        (
            lambda: ZeroInflated(Lattice(Normal([0.0], 1.0), 0.5), 0.1),
            "distribution of counts.*lattice distribution of 1 row",
        ),
        (lambda: Calibrator(labels=Counts), "Calibrator.labels must be an object such as calibrant.labels.Counts"),
        (lambda: Calibrator(labels=3.0), "must be an object such as calibrant.labels.Counts.*got 3.0"),
    ],
)
def test_what_is_wrong_is_said_in_one_sentence(make, said):
    with pytest.raises((ValueError, TypeError), match=said):
        make()


# ---- labels --------------------------------------------------------------------------------------------------------


def rates(count, rng, low=0.3, high=30.0):
    return np.exp(rng.uniform(math.log(low), math.log(high), count))


@pytest.mark.few
@pytest.mark.filterwarnings("ignore:80% intervals need 9")  # of 5 rows, which is what is asked here
@pytest.mark.parametrize("score", [ZScore(), CDFScore()])
@pytest.mark.parametrize("mean", [0.3, 3.0])
@pytest.mark.parametrize("n", [5, 50, 500])
def test_calibration_of_counts_keeps_its_promise(mean, n, score):
    """P(H'(Y + U) <= c | calibration set) is known exactly; its mean over sets is within 1 / (n + 1) of c.

    Given the set it has a standard deviation of sqrt(c (1 - c) / (n + 2)), so 5 / sqrt(4 (n + 2) R) bounds the noise.
    """
    repetitions, levels = 300, np.arange(1, 100) / 100
    truth, base = st.poisson(mean), Poisson(np.full(n, mean))
    below, held = np.zeros(levels.size), []
    for seed in range(repetitions):
        rng = np.random.default_rng(seed)
        H = Calibrator(score, labels=Counts()).fit(base, rng.poisson(mean, n), rng=rng)(Poisson([mean]))
        below += SpreadDistribution(Poisson(mean)).cdf(H.base.quantiles(levels)[0]) / repetitions
        lower, upper = (float(end[0]) for end in H.interval(0.8))
        assert (lower, upper) == (round(lower), round(upper))
        for end, level in ((lower, 0.1), (upper, 0.9)):  # the smallest k with P(Y <= k) >= level
            assert H.cdf(end)[0] >= level - 1e-12
            assert end == 0 or H.cdf(end - 1)[0] < level
        held.append(truth.cdf(upper) - truth.cdf(lower - 1))
    noise = 2.5 / math.sqrt((n + 2) * repetitions)
    assert np.abs(below - levels).max() <= 1 / (n + 1) + noise
    assert np.mean(held) >= 0.8 - 2 / (n + 1) - 2 * noise


def test_without_counts_the_promise_breaks():
    rng, mean = np.random.default_rng(0), 0.3
    H = Calibrator().fit(np.full(500, mean), rng.poisson(mean, 500))([mean])
    assert abs(float(H.cdf(0.0)[0]) - st.poisson(mean).cdf(0)) < 0.1
    y = rng.poisson(mean, 2000).astype(float)
    plain = evaluate(Normal(np.full(2000, mean), math.sqrt(mean)), y)
    assert plain.pit_pvalue < 1e-95


@pytest.mark.few(1)
@pytest.mark.parametrize("mean", [0.3, 30.0])
def test_pit_pvalues_of_true_distributions_of_counts_have_their_size(mean):
    """Of 200 p-values, those below 0.2 are binomial: between 14 and 68 with probability 1 - 1e-5 or more."""
    small = 0
    for seed in range(200):
        y = np.random.default_rng(seed).poisson(mean, 100).astype(float)
        small += evaluate(Poisson(np.full(100, mean)), y).pit_pvalue < 0.2
    assert 14 <= small <= 68


def test_the_pit_of_a_collapsed_distribution_is_that_of_the_spread_label():
    distribution = Normal([1.3, 4.0], [1.0, 2.0])
    y, u = np.array([0.0, 5.0]), np.array([0.25, 0.8])
    assert Lattice(distribution).pit(y, u) == pytest.approx(distribution.cdf(y + u))
    step = Poisson([1.0, 4.0])
    assert step.pit(y, u) == pytest.approx(step.cdf_left(y) + u * step.pmf(y))
    assert Poisson(4.0).pit(y, u) == pytest.approx(Poisson([4.0, 4.0]).pit(y, u))


def test_the_log_score_of_counts_is_that_of_their_probabilities():
    distribution, y = Poisson([1.0, 4.0]), np.array([0.0, 5.0])
    assert evaluate(distribution, y).nll == pytest.approx(-np.mean(st.poisson([1.0, 4.0]).logpmf(y)))
    assert "NLL of the counts" in str(evaluate(distribution, y))
    plain = Normal([1.0, 4.0], [1.0, 2.0])
    k = np.array([1.0, 5.0])
    wanted = -np.mean(np.log(plain.cdf(k + 0.5) - plain.cdf(k - 0.5)))
    assert evaluate(plain, k, labels=Counts()).nll == pytest.approx(wanted)
    assert evaluate(plain, y).nll == pytest.approx(-np.mean(plain.logpdf(y)))


PREDICTIONS = {
    "points": lambda f: Point(f),
    "rates": lambda f: Rates(f),
    "rates, overdispersed": lambda f: Rates(f, 0.3),
    "intervals": lambda f: Interval(np.floor(f / 2), np.ceil(2 * f)),
    "quantiles on the lattice": lambda f: Quantiles([0.1, 0.5, 0.9], Poisson(f).quantiles([0.1, 0.5, 0.9])),
    "draws": lambda f: Samples(Poisson(f).sample(20, np.random.default_rng(3))),
    "normal": lambda f: Normal(f, np.sqrt(f)),
    "log-normal": lambda f: LogNormal(np.log(f), 0.5),
    "mixture": lambda f: Mixture([Poisson(f), NegativeBinomial(f, 0.5)], [0.5, 0.5]),
    "ensemble": lambda f: calibrant.Ensemble([Poisson(f), NegativeBinomial(f, 0.5)]),
}


def test_a_distribution_of_counts_has_no_density_and_says_what_it_has():
    for distribution in (Poisson([1.0, 2.0]), Poisson([1.0, 2.0]).clip(0, 5), Poisson(3.0)):
        for ask in (distribution.pdf, distribution.logpdf):
            with pytest.raises(ValueError, match="a distribution of counts has no density: pmf and logpmf"):
                ask(1.0)


@pytest.mark.parametrize("kind", PREDICTIONS)
def test_every_kind_of_prediction_of_counts_calibrates(kind):
    rng = np.random.default_rng(2)
    f = rates(1600, rng)
    y = rng.poisson(f).astype(float)
    prediction = PREDICTIONS[kind](f)
    H = Calibrator(labels=Counts()).fit(prediction[:600], y[:600], rng=rng)(prediction[600:])
    found = evaluate(H, y[600:])
    assert found.sup_calibration_error < 0.1
    assert found.coverage > 0.86
    lower, upper = H.interval(0.9)
    assert np.array_equal(lower, np.round(lower))
    assert np.array_equal(upper, np.round(upper))
    assert (lower >= 0).all()
    k = np.arange(1.0 + H.ppf(0.999).max())
    assert H.pmf(k[None, :]).sum(axis=1) == pytest.approx(np.ones(1000), abs=1e-3)


@pytest.mark.parametrize(("scale", "most"), [(1e-9, 0.06), (0.3, 0.01), (1.0, 5e-4), (3.0, 7e-6)])
def test_a_spread_normal_is_close_to_the_convolution(scale, most):
    """Of Normal(m, s) and a uniform one, worked out by quadrature; the next cumulant of the uniform is 1 / 120."""
    from scipy.integrate import quad

    spread = Counts().spread_prediction(Normal([2.0], [scale]))
    for y in np.linspace(0.5, 4.5, 17):
        wanted = quad(lambda u, y=y: st.norm.cdf(y - u, 2.0, scale), 0, 1, points=[min(max(y - 2.0, 0), 1)])[0]
        assert float(spread.cdf(y)[0]) == pytest.approx(wanted, abs=most)


@pytest.mark.parametrize("step", [1.0, 0.05])
@pytest.mark.parametrize("row", [[0.0, 0.0, 0.0, 2.0], [1.2, 1.2, 3.0, 5.5], [-3.0, -2.99, 7.0, 7.001], [7.4] * 4])
def test_spread_draws_are_the_quantiles_of_the_draws_plus_u(row, step):
    """They are the roots of its cdf."""
    values, labels = step * np.array(row), Counts(step, None)
    for spread in (Samples([values[::-1]]), Quantiles([0.125, 0.375, 0.625, 0.875], [values])):
        found = labels.spread_prediction(spread).values[0]
        for side, holds in ((-1, np.less_equal), (1, np.greater_equal)):
            near = found[:, None] + 1e-9 * side * step
            cdf = np.mean(st.uniform.cdf(near, loc=values, scale=step), axis=1)
            assert np.all(holds(cdf, [0.125, 0.375, 0.625, 0.875]))


def test_points_intervals_and_members_of_an_ensemble_are_spread():
    assert Counts(0.5).spread_prediction(Point([0.1, 3.0])).values == pytest.approx([0.35, 3.25])
    interval = Counts(0.5).spread_prediction(Interval([0.1, 3.0], [0.2, 9.0]))
    assert interval.lower.tolist() == [0.1, 3.0]
    assert interval.upper == pytest.approx([0.7, 9.5])
    spread = Counts().spread_prediction(calibrant.Ensemble([Normal([0.1], [0.01]), Samples([[0.0, 0.0]])]))
    assert spread.members[0].std() == pytest.approx([math.hypot(0.01, 1 / math.sqrt(12))])
    assert spread.members[1].values[0] == pytest.approx([0.25, 0.75])


def test_what_is_judged_moves_by_half_a_step_off_the_lattice():
    judging = Counts().judging()
    spread = judging.spread_prediction(Samples([[2.0, 0.0, 0.0, 0.0], [1.2, 1.2, 3.0, 5.5]]))
    assert spread.values == pytest.approx(np.array([[1 / 6, 1 / 2, 5 / 6, 2.5], [1.7, 1.7, 3.5, 6.0]]))
    assert judging.spread_prediction(Normal([0.1], [0.01])).std() == pytest.approx([0.01])


@pytest.mark.parametrize("labels", [Counts(), Counts() | Transformed("log1p")])
def test_a_forecast_is_judged_as_it_stands(labels):
    from calibrant.metrics.label_kinds import for_labels

    distribution, k = LogNormal([-1.0, 2.0], [0.3, 0.5]), np.array([0.0, 7.0])
    assert for_labels(distribution, k, labels).cdf(k) == pytest.approx(distribution.cdf(k + 0.5))
    quantiles = Quantiles([0.1, 0.5, 0.9], [[0.3, 0.3, 0.3], [1.4, 2.6, 5.0]])
    assert for_labels(quantiles, k, labels).values.tolist() == [[0.0, 0.0, 0.0], [1.0, 3.0, 5.0]]


def quiet_hours(count, seed):
    """Hours of the day with two peaks; from 23 to 6 a count in a hundred hours."""
    rng = np.random.default_rng(seed)
    hour, warmth = rng.integers(0, 24, count), rng.normal(size=count)
    peaks = np.exp(-0.5 * ((hour - 8) / 2.0) ** 2) + np.exp(-0.5 * ((hour - 18) / 2.5) ** 2)
    rate = 0.01 + np.where((hour < 6) | (hour > 22), 0.0, 40.0) * peaks * np.exp(0.25 * warmth)
    return np.stack([hour, warmth], axis=1), rng.poisson(rate).astype(float), Poisson(rate)


@pytest.mark.few(1)
def test_quiet_hours_do_not_widen_the_others():
    ensemble = pytest.importorskip("sklearn.ensemble")
    X, y, truth = quiet_hours(1500, 1)
    model = calibrant.CalibratedRegressor(
        ensemble.HistGradientBoostingRegressor(loss="poisson", max_iter=30, random_state=0),
        labels="counts",
        random_state=0,
    ).fit(X[:1000], y[:1000])
    found = evaluate(model.predict_distribution(X[1000:]), y[1000:])
    best = evaluate(truth[1000:], y[1000:])
    assert found.crps < 1.15 * best.crps  # moved by half a step: 1.2 and 1.4 times
    assert found.interval_width < 1.3 * best.interval_width  # 2.9 and 5.7 times
    assert found.coverage > 0.88


@pytest.mark.parametrize("labels", [Counts(), Counts(0.05), Counts(lower=None), Counts(2.0, 1.0), Counts(0.05, None)])
def test_every_lattice_keeps_the_distributions_of_a_kind_of_labels_and_calibrates(labels):
    rng = np.random.default_rng(5)
    f = rng.uniform(2.0, 9.0, 900)
    y = labels.origin + labels.step * np.round((f + rng.normal(0, 1.0, 900) - labels.origin) / labels.step)
    if labels.lower is not None:
        y = np.maximum(y, labels.lower)
    H = Calibrator(labels=labels).fit(f[:300], y[:300], rng=rng)(f[300:])
    found = evaluate(H, y[300:])
    assert np.isfinite(found.nll)
    assert found.pit_pvalue > 1e-3
    x = (H.median() - labels.origin) / labels.step
    assert x == pytest.approx(np.round(x), abs=1e-9)
    assert labels == pickle.loads(pickle.dumps(labels))
    check_labels(labels, y[:80])


def visits(count):
    rng = np.random.default_rng(8)
    X = rng.normal(size=(count, 2))
    return X, rng.poisson(np.exp(0.5 + 0.6 * X[:, 0])).astype(float)


@pytest.mark.parametrize(("refine", "cv"), [(None, 0.3), (None, 3), (None, "mixture:3"), ("auto", 0.3)])
def test_the_estimator_predicts_counts(refine, cv):
    linear_model = pytest.importorskip("sklearn.linear_model")
    X, y = visits(900)
    model = calibrant.CalibratedRegressor(
        linear_model.PoissonRegressor(), labels="counts", refine=refine, cv=cv, random_state=0
    ).fit(X[:600], y[:600])
    bounds = np.asarray(model.predict_interval(X[600:]))
    assert np.array_equal(bounds, np.round(bounds))
    assert bounds.min() >= 0
    found = evaluate(model.predict_distribution(X[600:]), y[600:])
    assert found.coverage >= 0.86
    assert calibrant.neg_nll(model, X[600:], y[600:]) == pytest.approx(-found.nll)


def test_a_poisson_loss_is_a_rate_and_still_a_point():
    linear_model = pytest.importorskip("sklearn.linear_model")
    from sklearn.ensemble import HistGradientBoostingRegressor
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    X, y = visits(300)
    for model in (
        linear_model.PoissonRegressor(),
        HistGradientBoostingRegressor(loss="poisson", max_iter=5),
        make_pipeline(StandardScaler(), linear_model.PoissonRegressor()),
    ):
        prediction = calibrant.prediction_of(model.fit(X, y), X)
        assert isinstance(prediction, Rates)
        assert prediction.values.tolist() == model.predict(X).tolist()
        plain = Calibrator().fit(prediction, y)
        assert plain(prediction[:3]).mean() == pytest.approx(
            Calibrator().fit(prediction.values, y)(prediction.values[:3]).mean()
        )
    other = calibrant.prediction_of(HistGradientBoostingRegressor(max_iter=5).fit(X, y), X)
    assert type(other) is Point


@pytest.mark.parametrize("library", ["lightgbm", "xgboost", "catboost"])
def test_poisson_objectives_of_boosting_libraries_are_rates(library):
    module = pytest.importorskip(library)
    X, y = visits(300)
    models = {
        "lightgbm": lambda: module.LGBMRegressor(objective="poisson", n_estimators=5, verbose=-1, n_jobs=1),
        "xgboost": lambda: module.XGBRegressor(objective="count:poisson", n_estimators=5, n_jobs=1),
        "catboost": lambda: module.CatBoostRegressor(
            loss_function="Poisson", iterations=5, verbose=False, allow_writing_files=False, thread_count=1
        ),
    }
    prediction = calibrant.prediction_of(models[library]().fit(X, y), X)
    assert isinstance(prediction, Rates)
    assert prediction.values.mean() == pytest.approx(y.mean(), rel=0.5)  # five steps from 1 on, not from log 1


def test_the_promise_is_said_of_the_randomised_pit():
    rng = np.random.default_rng(11)
    f = rates(60, rng)
    distribution, y, group = Poisson(f), rng.poisson(f), np.arange(60) % 2
    fit = Calibrator(labels=Counts()).fit
    for calibrated in (
        fit(distribution, y, rng=rng),
        fit(distribution, y, rng=rng).update(distribution, y, rng=rng),
        fit(distribution, y, by=group, rng=rng),
        fit(distribution, y, weights=f, rng=rng),
        CrossCalibrated((fit(distribution, y, rng=rng), fit(distribution, y, rng=rng))),
    ):
        assert calibrated.guarantee.drawn
        assert str(calibrated.guarantee).endswith("the randomised PIT, drawn between P(Y < y) and P(Y <= y).")
    assert "randomised PIT" not in str(Calibrator().fit(Point(f), f + rng.normal(size=60)).guarantee)


def test_labels_that_a_distribution_of_counts_cannot_give_are_named():
    with pytest.raises(
        ValueError, match=r"y is 0.5 in row 1 \(the only such row\): H is a distribution of whole numbers"
    ):
        evaluate(Poisson([1.0, 2.0]), [1.0, 0.5])
    with pytest.raises(ValueError, match=r"y is -1 in row 0 \(the only such row\): Counts\(\) takes whole numbers"):
        evaluate(Normal([1.0, 2.0], 1.0), [-1.0, 2.0], labels=Counts())


def test_counts_are_drawn_as_bars():
    pytest.importorskip("matplotlib").use("Agg")
    from calibrant.plots.curves import density_of

    assert calibrant.plots.density(Poisson(3.0)).get_ylabel() == "probability"
    assert calibrant.plots.density(Normal(3.0, 1.0)).get_ylabel() == "density"

    distribution = Poisson(3.0)
    drawn = density_of(distribution, "H")
    assert drawn.at(2.2) == pytest.approx(float(distribution.pmf(2.0)))
    assert drawn.at(2.8) == pytest.approx(float(distribution.pmf(3.0)))
    wide = density_of(Poisson(1e5), "H")
    area = np.sum(np.diff(wide.x) * (wide.height[1:] + wide.height[:-1]) / 2)
    assert area == pytest.approx(0.998, abs=2e-3)


def test_a_report_of_counts_has_bars_and_judges_drawn_pits():
    from calibrant.judging.rows import forecast_rows
    from calibrant.reports.drawn import drawn_rows

    rng = np.random.default_rng(11)
    f = rates(400, rng)
    y = rng.poisson(f).astype(float)
    rows = forecast_rows(Poisson(f), y, 0.9)
    assert kolmogorov_pvalue(float(sup_of(np.sort(rows.drawn))), 400) > 1e-3
    assert rows.columns["nll"] == pytest.approx(-Poisson(f).logpmf(y))
    assert drawn_rows([rows], np.array([3]))[0]["of"][0]["bars"]


def test_rates_beside_counts_from_one_on_are_distributions_of_counts():
    distribution = Calibrator(labels=Counts(lower=1.0)).fit(np.full(30, 3.0), 1.0 + np.arange(30) % 5)([3.0])
    assert distribution.lattice[0] % 2 == 1
    assert isinstance(comparable(Rates([2.0]), distribution), type(Poisson([2.0])))


@pytest.mark.parametrize("kind", ["distribution", "samples", "clipped"])
def test_what_is_drawn_for_pits_does_not_depend_on_the_order_of_the_rows(kind):
    rng = np.random.default_rng(3)
    rate = np.exp(rng.uniform(-2, 2, 400))
    y, order = rng.poisson(rate).astype(float), rng.permutation(400)
    H = {
        "distribution": lambda: Poisson(rate),
        "samples": lambda: Samples(rng.poisson(rate[:, None], (400, 9)).astype(float)),
        "clipped": lambda: Normal(rate, 1.0).clip(0.0, 3.0),
    }[kind]()
    y = np.minimum(y, 3.0) if kind == "clipped" else y
    one, other = (evaluate(each, labels) for each, labels in ((H, y), (H[order], y[order])))
    assert one.pit_pvalue == pytest.approx(other.pit_pvalue, rel=1e-9)
    assert one.ece == pytest.approx(other.ece, rel=1e-9)


def test_counts_have_no_density_beside_distributions_that_have_one():
    distribution = calibrant.concatenate([Poisson([1.0, 2.0]), Normal([0.0], 1.0)])
    np.testing.assert_allclose(distribution.logpdf([1.0, 1.5, 0.0]), [-np.inf, -np.inf, -np.log(2 * np.pi) / 2])
    np.testing.assert_allclose(distribution.pdf([[1.0]])[:2], 0.0)


def test_more_zeros_in_a_collapsed_distribution_leave_its_ends_where_they_are():
    distribution, base = ZeroInflated(Lattice(Normal([1.0, 2.0], 1.0)), 0.5), Lattice(Normal([1.0, 2.0], 1.0))
    np.testing.assert_array_equal(distribution.quantiles([0.0, 1.0]), [[0.0, np.inf]] * 2)
    np.testing.assert_allclose(distribution.pmf([[0.0, 3.0]]), [[0.5, 0.0]] + base.pmf([[0.0, 3.0]]) / 2)


def test_a_bound_holds_the_mass_that_counts_have_at_infinity():
    y = np.random.default_rng(0).poisson(3, 60)
    H = Calibrator(interpolator=Linear(InfiniteTails()), labels=Counts()).fit(np.full(60, 3.0), y)([3.0])
    clipped, k = H.clip(0, 50), np.arange(51)
    mass = clipped.pmf(k[None, :])[0]
    assert mass[50] > 0.01
    mean = mass @ k
    np.testing.assert_allclose(clipped.mean()[0], mean, rtol=1e-9)
    np.testing.assert_allclose(clipped.std()[0], np.sqrt(mass @ (k - mean) ** 2), rtol=1e-9)
    np.testing.assert_allclose(clipped.crps(2)[0], mass @ np.abs(k - 2) - mass @ np.abs(k - k[:, None]) @ mass / 2)
