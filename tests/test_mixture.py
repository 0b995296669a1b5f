"""Mixtures, and folds above all: their quantiles, and their crps."""

import numpy as np
import pytest
import scipy.stats
from reference.tolerances import TOLERANCES

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
from calibrant.labels import Transformed
from calibrant.scores import CDFScore, LogScore, QuantileScore, ResidualScore, ZScore
from calibrant.scores.pull_back import pull_back

N, ROWS = 60, 40
CURVED, HEAVY = (TOLERANCES[name].integrals for name in ("curved", "heavy"))
LEVELS = np.array([0.1, 0.3, 0.5, 0.9])
GRID = np.concatenate([10.0 ** -np.arange(15.0, 2.6, -0.5), np.linspace(0.005, 0.5, 100)])
GRID = np.concatenate([GRID, 1 - GRID])


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


def folds(score, interpolator, scales=(1.0, 1.3, 0.8), rows=ROWS):
    """The law of a batch, and the laws of its folds."""
    score, prediction = SCORES[score]
    rng = np.random.default_rng(7)
    centre, members, predictions = rng.normal(size=rows), [], []
    for k, scale in enumerate(scales):
        y = 0.2 * k + scale * rng.standard_t(5, N)
        members.append(Calibrator(score, INTERPOLATORS[interpolator]).fit(prediction(np.full(N, 0.2 * k), scale), y))
        predictions.append(prediction(centre + 0.1 * k, scale))
    laws = [member(each) for member, each in zip(members, predictions, strict=True)]
    return CrossCalibrated(tuple(members))(predictions), laws


def crps_by_integration(law, y, bends):
    """Of a single row, by Gauss-Legendre between bends, and as far out as there is mass."""
    bends = np.unique(np.append(bends[np.isfinite(bends)], y))
    span = bends[-1] - bends[0]
    out = span * np.geomspace(1e-3, 1e6, 120)
    edges = np.concatenate([(bends[0] - out)[::-1], bends, bends[-1] + out])
    x, w = np.polynomial.legendre.leggauss(12)
    h = np.diff(edges)[:, None]
    nodes = edges[:-1, None] + h * (x + 1) / 2
    flat = nodes.reshape(1, -1)
    tail = np.where(flat < y, law.cdf(flat), law.sf(flat)).reshape(nodes.shape)
    return float(np.sum(tail**2 * h * w / 2))


def bends_of(laws):
    return np.concatenate([law.quantiles(np.append(GRID, np.arange(1, N + 1) / (N + 1)))[0] for law in laws])


# ---- quantiles -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
def test_the_quantile_of_naive_folds_is_the_first_of_their_atoms_that_reaches_the_level(score):
    law, laws = folds(score, "naive")
    atoms = np.sort(np.concatenate([each.quantiles((np.arange(N) + 0.5) / N) for each in laws], axis=1), axis=1)
    reached = law.cdf(atoms + 1e-13)  # an atom lies within a rounding of its place
    for p in [1e-4, 0.3, 0.5, 1 / 3, *np.random.default_rng(0).random(20), 0.999]:
        first = np.take_along_axis(atoms, np.argmax(reached >= p, axis=1)[:, None], axis=1)[:, 0]
        y = law.ppf(p)
        np.testing.assert_allclose(y, first, atol=1e-13)
        assert np.all(law.cdf(y + 1e-13) >= p)


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("interpolator", ["linear", "naf"])
def test_the_cdf_of_folds_gives_the_level_of_a_quantile_back(score, interpolator):
    law, _ = folds(score, interpolator)
    for p in [1e-12, 1e-5, 0.01, *np.random.default_rng(1).random(20), 0.99]:
        np.testing.assert_allclose(law.cdf(law.ppf(p)), p, rtol=1e-11)
    for rest in [1e-3, 1e-5, 1e-12]:
        np.testing.assert_allclose(law.sf(law.isf(rest)), rest, rtol=1e-9)


def test_a_component_without_weight_and_one_with_mass_at_infinity_do_no_harm():
    naive = Calibrator(ResidualScore(), Naive()).fit(np.zeros(3), np.array([-1.0, 0.0, 1.0]))(np.zeros(2))
    law = Mixture([naive, Normal(np.zeros(2), 1.0), Laplace(np.full(2, 1e6), 1.0)], [0.5, 0.5, 0.0])
    p = np.array([1e-3, 0.2, 0.8, 0.999])
    y = law.quantiles(p)
    assert np.all(law.cdf(y) >= p - 1e-15)
    assert np.all(law.cdf_left(y) <= p + 1e-15)
    np.testing.assert_array_equal(law.quantiles([0.0, 1.0]), [[-np.inf, np.inf]] * 2)


@pytest.mark.parametrize("tails", [InfiniteTails(), ExponentialTails()])
def test_a_quantile_is_infinite_where_the_mass_at_infinity_reaches_the_level_and_nowhere_else(tails):
    rng = np.random.default_rng(8)
    sizes = np.array([10, 190, 200])
    members = [Calibrator(ResidualScore(), Linear(tails)).fit(np.zeros(n), rng.normal(size=n)) for n in sizes]
    law = CrossCalibrated(tuple(members))([np.zeros(4)] * 3)
    below, above = law.cdf(-np.inf), 1 - law.cdf_left(np.inf)
    for p in [1e-20, 1e-3, 0.007, 0.05, 0.95, 0.999, 1 - 1e-15]:
        np.testing.assert_array_equal(np.isinf(law.ppf(p)), (p <= below) | (p > 1 - above))


def test_the_quantile_where_no_component_has_mass_is_where_the_mass_before_it_ends():
    left, right = (Calibrator(ResidualScore(), Naive()).fit(np.zeros(4), y + np.arange(4.0)) for y in (0.0, 100.0))
    law = Mixture([left([0.0]), right([0.0])], [0.5, 0.5])
    np.testing.assert_allclose(law.ppf(0.5), 3.0)
    np.testing.assert_allclose(law.ppf(np.nextafter(0.5, 1)), 100.0)


# ---- crps ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("score", SCORES)
@pytest.mark.parametrize("interpolator", ["linear", "naf"])
def test_the_crps_of_folds_of_very_different_scales_is_exact(score, interpolator):
    law, laws = folds(score, interpolator, scales=(1.0, 0.01, 30.0), rows=1)
    bends = [bends_of(laws)]
    if score == "quantile":
        bends += [each.map.values[0] for each in laws]
    truth = crps_by_integration(law, 0.2, np.concatenate(bends))
    assert abs(law.crps(0.2)[0] - truth) <= CURVED * law.std()[0]


def folds_of_logs(score, sizes, spread, seed):
    """The law of one row, the laws of its folds, and where these bend, with logs of labels that spread so much."""
    rng = np.random.default_rng(seed)
    members, predictions, bends = [], [], []
    for k, n in enumerate(sizes):
        centre = rng.normal(size=n)
        s = centre + spread * rng.standard_normal(n)
        prediction, new = ((POSITIVE[score](loc, spread * (1 + 0.3 * k))) for loc in (centre, np.array([0.1 * k])))
        members.append(Calibrator(SCORES[score][0], Linear(), Transformed("log")).fit(prediction, np.exp(s)))
        predictions.append(new)
        bends.append(members[-1](new).quantiles(np.arange(1, n + 1) / (n + 1))[0])
        bends.append(new.values[0] if score == "quantile" else [])
    laws = [member(each) for member, each in zip(members, predictions, strict=True)]
    return CrossCalibrated(tuple(members))(predictions), laws, np.concatenate(bends)


POSITIVE = {
    "residual": lambda loc, scale: np.exp(loc),
    "z": lambda loc, scale: LogNormal(loc, np.linspace(0.9, 1.1, len(loc)) * scale),
    "cdf": lambda loc, scale: LogNormal(loc, np.linspace(0.9, 1.1, len(loc)) * scale),
    "quantile": lambda loc, scale: Quantiles(LEVELS, np.exp(loc[:, None] + scale * np.array([-1.2, -0.6, 0.1, 1.4]))),
}


def crps_by_ratios(law, y, bends):
    """Of a single row, by Gauss-Legendre in asinh(y) between bends, as far out as floats reach."""
    edges = np.unique(np.concatenate([np.arange(-700, 700, 0.25), np.arcsinh(bends), [np.arcsinh(y)]]))
    x, w = np.polynomial.legendre.leggauss(12)
    h = np.diff(edges)[:, None]
    u = edges[:-1, None] + h * (x + 1) / 2
    flat = np.sinh(u).reshape(1, -1)
    tail = np.where(flat < y, law.cdf(flat), law.sf(flat)).reshape(u.shape)
    return float(np.sum(tail**2 * np.cosh(u) * h * w / 2))


@pytest.mark.parametrize("seed", [0, 2])
@pytest.mark.parametrize("score", ["residual", "z"])
def test_the_crps_of_folds_is_exact_where_one_of_them_has_no_mean(score, seed):
    law, laws, bends = folds_of_logs(score, (5, 4), 1.0, seed)
    assert np.isinf(law.mean()[0])
    assert np.isinf([each.mean()[0] for each in laws]).sum() >= 1
    np.testing.assert_allclose(law.crps(1.3)[0], crps_by_ratios(law, 1.3, bends), rtol=HEAVY)


@pytest.mark.parametrize(
    "laws",
    [
        pytest.param([LogNormal([0.0], 2.0), LogNormal([1.0], 3.0)], id="log-normal"),
        pytest.param([StudentT(1.0, [0.0], 1.0), StudentT(1.2, [1.0], 2.0)], id="t"),
        pytest.param([StudentT(1.0, 0.0, 1.0), Normal(1.0, 2.0)], id="one t, as single laws"),
    ],
)
def test_the_crps_of_smooth_laws_with_very_heavy_tails_is_exact(laws):
    law = Mixture(laws, [0.3, 0.7])
    truth = crps_by_ratios(law, 1.3, np.concatenate([np.ravel(each.ppf(0.5)) for each in laws]))
    np.testing.assert_allclose(np.ravel(law.crps(1.3)), truth, rtol=HEAVY)


def of_groups(n, rng):
    """A law a group, in straight lines."""
    y, by = rng.normal(size=n), np.arange(n) % 2
    return Calibrator(ResidualScore()).fit(np.zeros(n), y, by=by)([0.1], by=[1]), np.sort(y[by == 1]) + 0.1


def of_groups_of_logs(n, rng):
    y, by = np.exp(rng.normal(size=n)), np.arange(n) % 2
    calibrator = Calibrator(ResidualScore(), labels=Transformed("log"))
    return calibrator.fit(np.ones(n), y, by=by)([1.1], by=[1]), np.sort(y[by == 1]) * 1.1


def weighted(n, rng):
    y = rng.normal(size=n)
    H = Calibrator(ResidualScore()).fit(np.zeros(n), y, weights=np.exp(0.3 * rng.normal(size=n)))([0.1], weights=[2.0])
    return H, np.sort(y) + 0.1


@pytest.mark.parametrize("fitted", [of_groups, of_groups_of_logs, weighted])
def test_the_crps_of_folds_is_exact_where_the_fold_has_another_law_for_each_row(fitted):
    rng = np.random.default_rng(9)
    laws, bends = zip(*(fitted(40, rng) for _ in range(3)), strict=True)
    law = Mixture(laws, [0.5, 0.3, 0.2])
    np.testing.assert_allclose(law.crps(0.4)[0], crps_by_ratios(law, 0.4, np.concatenate(bends)), rtol=CURVED)


def test_a_component_without_weight_may_have_no_mean():
    law = Mixture([Normal([0.0], 1.0), StudentT(0.4, [0.0], 1.0)], [1.0, 0.0])
    np.testing.assert_allclose(
        [law.mean()[0], law.std()[0], law.crps(0.5)[0]], [0.0, 1.0, Normal([0.0], 1.0).crps(0.5)[0]], atol=1e-12
    )


@pytest.mark.parametrize("interpolator", ["linear", "naive"])
def test_a_single_mixture_pulled_back_through_broken_lines_is_exact(interpolator):
    rng = np.random.default_rng(6)
    parts = [
        Calibrator(ResidualScore(), INTERPOLATORS[interpolator]).fit(np.zeros(N), scale * rng.normal(size=N) + 0.5).q
        for scale in (0.3, 1.0)
    ]
    q = Mixture(parts, [0.4, 0.6])
    law = pull_back(q, QuantileScore().transform(quantiles(np.zeros(1), 1.0)))
    levels = np.append(GRID, np.arange(1, N + 1) / (N + 1))
    images = law.map.inverse(np.concatenate([part.ppf(levels) for part in parts])[None, :])[0]
    bends = np.concatenate([images, law.map.values[0]])
    if interpolator == "naive":
        bends = bends[np.isfinite(bends)]
    truth = crps_by_integration(law, 0.2, bends)
    np.testing.assert_allclose(law.crps(0.2)[0], truth, rtol=1e-8)


def test_a_component_without_weight_has_no_say_in_the_ends_of_a_mixture_of_counts():
    law = Mixture([Poisson([2.0]), Binomial([5], 0.5)], [0.0, 1.0])
    np.testing.assert_array_equal(law.quantiles([0.0, 0.5, 1.0]), Binomial([5], 0.5).quantiles([0.0, 0.5, 1.0]))


def test_a_mixture_has_a_weight_for_each_component():
    with pytest.raises(
        ValueError, match=r"Mixture.weights must have one row for each of the 2 rows of Mixture.components, got 3"
    ):
        Mixture([Normal(0.0, 1.0), Normal(1.0, 1.0)], [0.5, 0.25, 0.25])


def integrated(law, y):
    """The crps as a sum over a fine grid, for the labels of each row."""
    t = np.linspace(0.0, 60.0, 24_001)
    t = (t[1:] + t[:-1]) / 2
    F = law.cdf(t[None, :]) if law.shape else law.cdf(t)[None, :]
    return np.sum((F - (np.reshape(y, (-1, 1)) <= t)) ** 2, axis=1) * (t[1] - t[0])


def of_logs(seed):
    rng = np.random.default_rng(seed)
    return Calibrator(LogScore()).fit(np.ones(40), np.exp(rng.normal(0.0, 0.4, 40)))([1.0, 3.0])


def of_gammas(seed):
    rng, gamma = np.random.default_rng(seed), scipy.stats.gamma
    calibrated = Calibrator(CDFScore()).fit(from_scipy(gamma(np.full(30, 2.0))), rng.gamma(2.2, size=30))
    return calibrated(from_scipy(gamma([2.0, 4.0])))


@pytest.mark.parametrize("made", [of_logs, of_gammas])
def test_the_crps_of_a_mixture_of_curved_laws_is_the_integral_by_rows_and_for_single_laws(made):
    one, two, y = made(1), made(2), np.array([0.8, 3.5])
    both = Mixture([one, two], [0.3, 0.7])
    np.testing.assert_allclose(both.crps(y), integrated(both, y), rtol=1e-4)
    single = Mixture([one[0], two[1]], [0.3, 0.7])
    np.testing.assert_allclose(single.crps(y[0]), integrated(single, y[:1])[0], rtol=1e-4)


def test_the_mean_of_a_clipped_mixture_is_missing_where_a_component_is():
    some = Normal([0.0, 1.0], 1.0).among([True, False, True])
    mixed, own = Mixture([some, Normal([0.0, 1.0, 1.0], 1.0)], [0.5, 0.5]), Normal([0.0, 1.0], 1.0).clip(-0.5, 1.5)
    np.testing.assert_allclose(mixed.clip(-0.5, 1.5).mean(), [own.mean()[0], np.nan, own.mean()[1]], rtol=1e-9)
