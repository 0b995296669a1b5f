"""Mixtures, and folds above all: their quantiles, and their crps."""

import numpy as np
import pytest
from reference.tolerances import TOLERANCES
from scipy.stats import gamma

from calibrant import (
    Calibrator,
    CrossCalibrated,
    Laplace,
    LogNormal,
    Mixture,
    Normal,
    Quantiles,
    StudentT,
)
from calibrant.distributions import Binomial, Poisson, from_scipy
from calibrant.interpolators import NAF, ExponentialTails, InfiniteTails, Linear, Naive
from calibrant.scores import CDFScore, LogScore, QuantileScore, ResidualScore, ZScore
from calibrant.testing import check_distribution

N, ROWS = 30, 2
LEVELS = np.array([0.1, 0.3, 0.5, 0.9])


def normals(loc, scale):
    return Normal(loc, np.full_like(loc, scale))


def quantiles(loc, scale):
    return Quantiles(LEVELS, loc[:, None] + scale * np.array([-1.2, -0.6, 0.1, 1.4]))


SCORES = {
    "residual": (ResidualScore(), lambda loc, scale: loc),
    "z": (ZScore(), normals),
    "cdf": (CDFScore(), normals),
    "quantile": (QuantileScore(), quantiles),
}
INTERPOLATORS = {"linear": Linear(), "naive": Naive(), "naf": NAF()}


def folds(score, interpolator, scales):
    score, prediction = SCORES[score]
    rng = np.random.default_rng(7)
    centre, members, predictions = rng.normal(size=ROWS), [], []
    for k, scale in enumerate(scales):
        y = 0.2 * k + scale * rng.standard_t(5, N)
        members.append(Calibrator(score, INTERPOLATORS[interpolator]).fit(prediction(np.full(N, 0.2 * k), scale), y))
        predictions.append(prediction(centre + 0.1 * k, scale))
    return CrossCalibrated(tuple(members))(predictions)


# ---- quantiles -----------------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("scales", [(1.0, 1.3, 0.8), (1.0, 0.01, 30.0)], ids=["alike", "very different"])
@pytest.mark.parametrize("interpolator", INTERPOLATORS)
@pytest.mark.parametrize("score", SCORES)
def test_folds_keep_the_distributions_of_a_distribution(score, interpolator, scales):
    distribution = folds(score, interpolator, scales)
    check_distribution(distribution)
    if interpolator != "naive":
        for rest in (1e-3, 1e-5, 1e-12):
            np.testing.assert_allclose(distribution.sf(distribution.isf(rest)), rest, rtol=1e-9)


def test_a_component_without_weight_and_one_with_mass_at_infinity_do_no_harm():
    naive = Calibrator(ResidualScore(), Naive()).fit(np.zeros(3), np.array([-1.0, 0.0, 1.0]))(np.zeros(2))
    distribution = Mixture([naive, Normal(np.zeros(2), 1.0), Laplace(np.full(2, 1e6), 1.0)], [0.5, 0.5, 0.0])
    p = np.array([1e-3, 0.2, 0.8, 0.999])
    y = distribution.quantiles(p)
    assert np.all(distribution.cdf(y) >= p - 1e-15)
    assert np.all(distribution.cdf_left(y) <= p + 1e-15)
    np.testing.assert_array_equal(distribution.quantiles([0.0, 1.0]), [[-np.inf, np.inf]] * 2)


@pytest.mark.parametrize("tails", [InfiniteTails(), ExponentialTails()])
def test_a_quantile_is_infinite_where_the_mass_at_infinity_reaches_the_level_and_nowhere_else(tails):
    rng = np.random.default_rng(8)
    sizes = np.array([10, 190, 200])
    members = [Calibrator(ResidualScore(), Linear(tails)).fit(np.zeros(n), rng.normal(size=n)) for n in sizes]
    distribution = CrossCalibrated(tuple(members))([np.zeros(4)] * 3)
    below, above = distribution.cdf(-np.inf), 1 - distribution.cdf_left(np.inf)
    for p in [1e-20, 1e-3, 0.007, 0.05, 0.95, 0.999, 1 - 1e-15]:
        np.testing.assert_array_equal(np.isinf(distribution.ppf(p)), (p <= below) | (p > 1 - above))


def test_the_quantile_where_no_component_has_mass_is_where_the_mass_before_it_ends():
    left, right = (Calibrator(ResidualScore(), Naive()).fit(np.zeros(4), y + np.arange(4.0)) for y in (0.0, 100.0))
    distribution = Mixture([left([0.0]), right([0.0])], [0.5, 0.5])
    np.testing.assert_allclose(distribution.ppf(0.5), 3.0)
    np.testing.assert_allclose(distribution.ppf(np.nextafter(0.5, 1)), 100.0)


# ---- crps ----------------------------------------------------------------------------------------------------------


def crps_by_ratios(distribution, y, bends):
    """Of a single row, by Gauss-Legendre in asinh(y) between bends, as far out as floats reach."""
    edges = np.unique(np.concatenate([np.arange(-700, 700, 0.25), np.arcsinh(bends), [np.arcsinh(y)]]))
    x, w = np.polynomial.legendre.leggauss(12)
    h = np.diff(edges)[:, None]
    u = edges[:-1, None] + h * (x + 1) / 2
    flat = np.sinh(u).reshape(1, -1)
    tail = np.where(flat < y, distribution.cdf(flat), distribution.sf(flat)).reshape(u.shape)
    return float(np.sum(tail**2 * np.cosh(u) * h * w / 2))


@pytest.mark.parametrize(
    "distributions",
    [
        pytest.param([LogNormal([0.0], 2.0), LogNormal([1.0], 3.0)], id="log-normal"),
        pytest.param([StudentT(1.0, [0.0], 1.0), StudentT(1.2, [1.0], 2.0)], id="t"),
        pytest.param([StudentT(1.0, 0.0, 1.0), Normal(1.0, 2.0)], id="one t, as single distributions"),
    ],
)
def test_the_crps_of_smooth_distributions_with_very_heavy_tails_is_exact(distributions):
    distribution = Mixture(distributions, [0.3, 0.7])
    truth = crps_by_ratios(distribution, 1.3, np.concatenate([np.ravel(each.ppf(0.5)) for each in distributions]))
    np.testing.assert_allclose(np.ravel(distribution.crps(1.3)), truth, rtol=TOLERANCES["heavy"].integrals)


def by_groups(y, rng):
    by = np.arange(len(y)) % 2
    return Calibrator().fit(np.zeros(len(y)), y, by=by)([0.1, 0.3], by=[1, 0])


def by_groups_of_logs(y, rng):
    by = np.arange(len(y)) % 2
    return Calibrator(labels="log").fit(np.ones(len(y)), np.exp(0.3 * y), by=by)([1.1, 0.9], by=[1, 0])


def weighted(y, rng):
    return Calibrator().fit(np.zeros(len(y)), y, weights=np.exp(0.3 * rng.normal(size=len(y))))([0.1], weights=[2.0])


def of_logs(y, rng):
    return Calibrator(LogScore()).fit(np.ones(len(y)), np.exp(0.4 * y))([1.0, 3.0])


def of_gammas(y, rng):
    fitted = Calibrator(CDFScore()).fit(from_scipy(gamma(np.full(len(y), 2.0))), rng.gamma(2.2, size=len(y)))
    return fitted(from_scipy(gamma([2.0, 4.0])))


@pytest.mark.parametrize("made", [by_groups, by_groups_of_logs, weighted, of_logs, of_gammas])
def test_distributions_of_all_kinds_may_be_mixed_as_batches_and_as_single_distributions(made):
    rng = np.random.default_rng(9)
    distributions = [made(rng.normal(size=20), rng) for _ in range(2)]
    single, batch = (
        Mixture([distribution[0] for distribution in distributions], [0.3, 0.7]),
        Mixture(distributions, [0.3, 0.7]),
    )
    check_distribution(single)
    np.testing.assert_allclose(batch.crps(1.2)[0], single.crps(1.2), rtol=1e-9)


def test_a_component_without_weight_may_have_no_mean():
    distribution = Mixture([Normal([0.0], 1.0), StudentT(0.4, [0.0], 1.0)], [1.0, 0.0])
    np.testing.assert_allclose(
        [distribution.mean()[0], distribution.std()[0], distribution.crps(0.5)[0]],
        [0.0, 1.0, Normal([0.0], 1.0).crps(0.5)[0]],
        atol=1e-12,
    )


def test_a_component_without_weight_has_no_say_in_the_ends_of_a_mixture_of_counts():
    distribution = Mixture([Poisson([2.0]), Binomial([5], 0.5)], [0.0, 1.0])
    np.testing.assert_array_equal(
        distribution.quantiles([0.0, 0.5, 1.0]), Binomial([5], 0.5).quantiles([0.0, 0.5, 1.0])
    )


def test_the_mean_of_a_clipped_mixture_is_missing_where_a_component_is():
    some = Normal([0.0, 1.0], 1.0).among([True, False, True])
    mixed, own = Mixture([some, Normal([0.0, 1.0, 1.0], 1.0)], [0.5, 0.5]), Normal([0.0, 1.0], 1.0).clip(-0.5, 1.5)
    np.testing.assert_allclose(mixed.clip(-0.5, 1.5).mean(), [own.mean()[0], np.nan, own.mean()[1]], rtol=1e-9)
