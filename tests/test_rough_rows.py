"""Integrals of laws whose chart is curved, rough or dear to invert."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.integrate
import scipy.stats
import torch

from calibrant import (
    Calibrator,
    Ensemble,
    GaussianMixture,
    Laplace,
    LogNormal,
    Mixture,
    Normal,
    Point,
    Quantiles,
    StudentT,
)
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.distributions.pulled import Pulled
from calibrant.distributions.stretch_rule import NODES, StretchRule, _solved
from calibrant.interpolators import NAF, Linear, Naive
from calibrant.scores import CDFScore, EnsembleScore, MonotoneScore, QuantileScore
from calibrant.scores.charts import LogitCDF
from calibrant.scores.charts.monotone import Monotone
from calibrant.scores.charts.shifted import Shifted

RNG = np.random.default_rng(11)
N, ROWS = 300, 40
LOC, SCALE = RNG.normal(size=N), RNG.uniform(0.5, 1.5, N)
BASES = {
    "modes far apart": GaussianMixture(
        np.tile([0.3, 0.4, 0.3], (N, 1)), LOC[:, None] + [-6.0, 0.0, 8.0], SCALE[:, None] * [1.0, 0.5, 1.0]
    ),
    "a normal and a laplace": Mixture((Normal(LOC, SCALE), Laplace(LOC + 0.3, SCALE)), (0.7, 0.3)),
    "two modes and a wide one": GaussianMixture(
        np.tile([0.2, 0.2, 0.6], (N, 1)), LOC[:, None] + [-1.0, 1.0, 0.0], SCALE[:, None] * [0.1, 0.1, 3.0]
    ),
}


# ---- the rule of a stretch -------------------------------------------------------------------------------------------

KNOTS = np.sort(RNG.logistic(size=200))
MANY = np.sort(np.random.default_rng(12).logistic(size=3_000))
LAWS = {
    "linear": LogisticLinear(KNOTS, np.arange(1, 201) / 201),
    "few knots": LogisticLinear(KNOTS[::40], np.arange(1, 6) / 6),
    "atoms": PiecewiseLinear(np.repeat(KNOTS, 2), np.repeat(np.arange(201) / 200, 2)[1:-1]),
    "many atoms": PiecewiseLinear(np.repeat(MANY, 2), np.repeat(np.arange(3_001) / 3_000, 2)[1:-1]),
}


def by_parts(q, a, b, power, of):
    """The integral of ((s - a) / (b - a))^power against d(of(q)) over (a, b], from values of q between its knots."""
    edges = np.unique(np.concatenate([np.linspace(a, b, 65), q.knots[(q.knots > a) & (q.knots < b)]]))
    x, w = np.polynomial.legendre.leggauss(8)
    h = np.diff(edges)[:, None] / 2
    s = edges[:-1, None] + h * (x + 1)
    risen = of(q, s) - of(q, np.asarray(a))
    slope = power * ((s - a) / (b - a)) ** (power - 1) / (b - a) if power else np.zeros_like(s)
    return float(of(q, np.asarray(b)) - of(q, np.asarray(a)) - np.sum(h * w * slope * risen))


@pytest.mark.parametrize("name", LAWS)
@pytest.mark.parametrize(("a", "b"), [(-1.3, 2.1), (0.4, 0.41), (-30.0, -3.0), (2.0, 60.0), (0.2, 0.2 + 1e-7)])
def test_the_rule_of_a_stretch_integrates_polynomials_against_q_and_its_squares(name, a, b):
    q = LAWS[name]
    rule = StretchRule.of(q, q.knots)
    nodes = [np.asarray([a + (b - a) * share]) for share in np.linspace(0, 1, NODES)]
    start, stop = rule.at(nodes[0]), rule.at(nodes[-1])
    (once,) = rule.weights(start, stop, nodes[1:-1], squares=False)
    lower, upper = rule.weights(start, stop, nodes[1:-1], squares=True)
    for power in range(NODES):
        x = [float((s[0] - a) / (b - a)) ** power for s in nodes]
        for weights, of in (
            (once, lambda q, s: q._cdf(s)),
            (lower, lambda q, s: q._cdf(s) ** 2),
            (upper, lambda q, s: -(q._sf(s) ** 2)),
        ):
            found = sum(float(w[0]) * value for w, value in zip(weights, x, strict=True))
            assert found == pytest.approx(by_parts(q, a, b, power, of), abs=2e-7)


# ---- rows ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", BASES)
def test_atoms_behind_a_rough_chart_have_the_moments_of_their_images(name):
    """Also where an atom lies between two modes, where the score hardly moves and the label far."""
    base = BASES[name]
    H = Calibrator(CDFScore(), Naive()).fit(base, base.ppf(RNG.beta(0.8, 1.2, N)))(base[:ROWS])
    atoms = H.quantiles((np.arange(N) + 0.5) / N)
    np.testing.assert_allclose(H.mean(), atoms.mean(axis=1), rtol=0, atol=5e-7 * atoms.std(axis=1).min())
    np.testing.assert_allclose(H.std(), atoms.std(axis=1), rtol=5e-7)
    y = LOC[:ROWS] + 1.0
    pairs = np.abs(atoms[:, :, None] - atoms[:, None, :]).mean(axis=(1, 2)) / 2
    np.testing.assert_allclose(H.crps(y), np.abs(atoms - y[:, None]).mean(axis=1) - pairs, rtol=1e-6)


class Counted(GaussianMixture):
    """Counts the values that are asked of its CDF."""

    values = 0

    def _cdf(self, y):
        Counted.values += len(self) * y.shape[1]
        return super()._cdf(y)


@pytest.mark.parametrize("n", [100, 3_000])
@pytest.mark.parametrize("interpolator", [Linear(), Naive(), NAF()], ids=repr)
@pytest.mark.parametrize("method", ["mean", "std"])
def test_the_work_a_row_does_not_depend_on_the_number_of_scores(n, interpolator, method):
    base = Counted(*(np.tile(row, (n, 1)) for row in ([0.3, 0.4, 0.3], [-6.0, 0.0, 8.0], [1.0, 0.5, 1.0])))
    H = Calibrator(CDFScore(), interpolator).fit(base, base.ppf(RNG.beta(0.8, 1.2, n)))(base[:20])
    Counted.values = 0
    for law in (H, H.clip(-4.0, 5.0)):
        getattr(law, method)()
    assert Counted.values < 20 * 2 * 1_500


def test_a_score_with_kinks_beside_a_curved_one():
    values = LOC[:, None] + SCALE[:, None] * np.array([-1.5, -0.2, 0.1, 1.9])
    forecast = Ensemble([Normal(LOC, SCALE), Quantiles([0.05, 0.4, 0.6, 0.95], values)])
    y = LOC + SCALE * RNG.standard_t(5, N)
    H = Calibrator(EnsembleScore([CDFScore(), QuantileScore()]), Naive()).fit(forecast, y)(forecast[:ROWS])
    atoms = H.quantiles((np.arange(N) + 0.5) / N)
    np.testing.assert_allclose(H.mean(), atoms.mean(axis=1), rtol=0, atol=5e-7 * atoms.std(axis=1).min())
    np.testing.assert_allclose(H.std(), atoms.std(axis=1), rtol=5e-7)


# ---- tails and units -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
def test_a_law_without_a_mean_or_a_variance_says_so_in_either_precision(dtype):
    zero, one = np.zeros(50, dtype), np.ones(50, dtype)
    y = np.random.default_rng(2).standard_t(3, 50).astype(dtype)
    kinds = {
        "a df a row": lambda df: StudentT(np.full(50, df, dtype), zero, one),
        "a df for all": lambda df: StudentT(df, zero, one),
        "a pool": lambda df: Mixture((StudentT(df, zero, one), Normal(zero, one)), (0.5, 0.5)),
    }
    for kind, law in kinds.items():
        none, no_std, both = (Calibrator(CDFScore(), Linear()).fit(law(df), y)(law(df)[:1]) for df in (1.0, 1.5, 3.5))
        assert np.isnan(none.mean()), kind
        assert np.isinf(none.std()), kind
        assert np.isfinite(no_std.mean()), kind
        assert np.isinf(no_std.std()), kind
        assert np.isfinite(both.std()), kind
        assert both.mean().dtype == both.std().dtype == both.crps(0.5).dtype == dtype


@pytest.mark.parametrize("dtype", [np.float64, np.float32])
@pytest.mark.parametrize("unit", [1e-20, 1e20])
def test_a_clipped_law_in_another_unit_is_the_same_law(dtype, unit):
    def law(unit):
        means, stds = (np.asarray([row], dtype) * dtype(unit) for row in ([0.0, 3.0], [1.0, 0.5]))
        return GaussianMixture(np.full((1, 2), 0.5, dtype), means, stds).clip(-unit, 3.2 * unit)

    one, other = law(1.0), law(unit)
    np.testing.assert_allclose(other.mean() / dtype(unit), one.mean(), rtol=1e-6)
    np.testing.assert_allclose(other.std() / dtype(unit), one.std(), rtol=1e-6)
    np.testing.assert_allclose(other.crps(dtype(unit)) / dtype(unit), one.crps(dtype(1.0)), rtol=1e-6)


@pytest.mark.parametrize(
    ("lower", "upper", "mode", "share"),
    [(-2e9, -3.09, 0.0, 0.0), (-4.0, -3.09, 0.0, 0.0), (2e9 - 2.0, 2e9 + 2.0, 2e9, 0.5), (2e9 - 2.0, 9e9, 2e9, 0.5)],
)
def test_a_clip_around_one_of_two_modes_far_apart(lower, upper, mode, share):
    """Of the other mode there is the mass on a bound alone."""
    law = GaussianMixture([[0.5, 0.5]], [[0.0, 2e9]], [[1.0, 1.0]]).clip(lower, upper)
    a, b = max(lower - mode, -40.0), min(upper - mode, 40.0)

    def F(t):
        return share + 0.5 * scipy.stats.norm.cdf(t)

    def integral(f):
        return scipy.integrate.quad(f, a, b, epsabs=0, epsrel=1e-12, limit=500, points=[max(a, -6.0), min(b, 6.0)])[0]

    if share:  # S from the lower bound on, as E (Y - a) and E (Y - a)^2 / 2
        once, twice = integral(lambda t: 1 - F(t)), integral(lambda t: (1 - F(t)) * (t - a))
    else:
        once, twice = integral(F), integral(lambda t: F(t) * (b - t))
    assert law.std()[0] == pytest.approx(np.sqrt(2 * twice - once**2), rel=1e-6)


class LogRatio(MonotoneScore):
    """For labels above 0."""

    def score(self, prediction, y):
        with np.errstate(divide="ignore"):
            return np.log(np.clip(y / prediction.values, 0.0, None))

    def inverse(self, prediction, s):
        return prediction.values * np.exp(s)

    def log_slope(self, prediction, y):
        return -np.log(y)


def test_heavy_scores_behind_a_logarithm_warn_of_nothing():
    chart = LogRatio().chart(Point([1.0, 2.0]))
    H = Pulled(chart, StudentT(3.0, np.zeros(2), np.ones(2)))
    assert np.all(np.isinf(H.mean()))
    assert np.all(np.isinf(H.std()))


def test_an_answer_does_not_depend_on_what_was_asked_of_q_before():
    """Two shifted charts of different kinds ask for different cells."""

    def q():
        return LogisticLinear(KNOTS, np.arange(1, 201) / 201)

    point = Point(LOC[:5])
    logits = Shifted(LogitCDF(LogNormal(LOC[:5], SCALE[:5])), 0.1, 1.0)
    line = Shifted(
        Monotone(point, lambda p, y: np.arcsinh(y - p.values), lambda p, s: p.values + np.sinh(s),
                 lambda p, y: -np.log1p((y - p.values) ** 2) / 2),
        0.1,
        1.0,
    )  # fmt: skip
    asked, fresh = q(), q()
    Pulled(line, asked).std()
    np.testing.assert_array_equal(Pulled(logits, asked).std(), Pulled(logits, fresh).std())


@pytest.mark.parametrize("method", ["mean", "std"])
def test_gradients_flow_through_the_stretches_also_of_a_clipped_law(method):
    """Between bounds many stretches have no length."""
    weights, stds = (torch.full((N, 2), value, dtype=torch.float64) for value in (0.5, 1.0))
    means = torch.asarray(LOC[:, None] + np.array([-3.0, 3.0]))
    y = GaussianMixture(weights, means, stds).ppf(torch.asarray(RNG.beta(0.8, 1.2, N)))
    calibrated = Calibrator(CDFScore(), NAF()).fit(GaussianMixture(weights, means, stds), y)

    def of(means):
        law = calibrated(GaussianMixture(weights[:2], means, stds[:2])).clip(-2.0, 2.5)
        return getattr(law, method)().sum()

    own = means[:2].clone().requires_grad_()
    of(own).backward()
    step = torch.zeros(2, 2, dtype=torch.float64)
    step[0, 0] = 1e-5
    by_differences = (of(means[:2] + step) - of(means[:2] - step)) / 2e-5
    assert own.grad[0, 0].item() == pytest.approx(by_differences.item(), rel=1e-4)


def test_weights_of_nodes_that_meet_lie_at_the_ends_and_keep_mass_and_mean():
    nodes = [np.array([1.0]), *[np.array([2.0])] * (NODES - 2), np.array([4.0])]
    moments = [np.array([0.5 * 2.5**k]) for k in range(NODES)]
    weights = np.concatenate(_solved(nodes, moments))
    np.testing.assert_allclose(weights, [0.25, *[0.0] * (NODES - 2), 0.25])
    assert weights @ np.concatenate(nodes) == pytest.approx(1.25)
    skewed = np.concatenate(_solved(nodes, [np.array([0.5 * 2.0**k]) for k in range(NODES)]))
    assert (skewed[0], skewed[-1]) == pytest.approx((1 / 3, 1 / 6))
