"""The table by which distributions are integrated, by itself, against scipy's numbers and quadrature."""

import numpy as np
import pytest
import scoringrules
from reference.tolerances import TOLERANCES
from scipy import stats
from scipy.integrate import quad
from scipy.special import ndtr
from test_testing import Claim, Exponential

from calibrant import Calibrator, GaussianMixture, Normal, StudentT, from_scipy
from calibrant.distributions.table import ONCE, SQUARE, TWICE, MassTable, logit_levels
from calibrant.interpolators import Naive
from calibrant.scores import CDFScore

ALLOWED = TOLERANCES["curved"].integrals
NONE = np.zeros((1, 1))


def straight(places, atoms, masses):
    rows = [np.array([row], float) for row in (places, atoms, masses)]
    return MassTable(*rows, 0 * rows[2], (NONE, NONE), (NONE, NONE))


def table_of(distribution, count=513):
    return MassTable.through(distribution, distribution._ppf_logit(logit_levels(count)[None, :]))


def score_of(F, y, *places):
    return quad(lambda t: (F(t) - (t >= y)) ** 2, places[0], places[-1], limit=400, points=[y, *places[1:-1]])[0]


def gap(t):
    return 0.5 * (t >= 0) + 0.5 * uniform(t - 2)


uniform = stats.uniform().cdf
UNIFORM = straight([0.0, 0.5, 1.0], [0.0] * 3, [0.5, 0.5])
NORMAL, COARSE = (table_of(Normal([0.0], [1.0]), count) for count in (513, 65))
GAP, ATOMS = straight([0, 2, 3], [0.5, 0, 0], [0, 0.5]), np.array([0.0, 1.0, 5.0])
KINKED, LOGS = UNIFORM.moved(np.array([[0.0, 1.0, 4.0]]), None), table_of(Normal([0.0], [0.5]), 65)
CASES = {  # a table, its mean and std, and the crps of a label
    "smooth": (NORMAL, 0.0, 1.0, 1.7, scoringrules.crps_normal(1.7, 0.0, 1.0)),
    "skewed": (table_of(from_scipy(stats.gamma([2.5]))), 2.5, 2.5**0.5, 4.0, scoringrules.crps_gamma(4.0, 2.5, 1.0)),
    "scaled": (COARSE.scaled(NONE + 3, NONE + 2), 3.0, 2.0, 2.5, scoringrules.crps_normal(2.5, 3.0, 2.0)),
    "an atom and a gap": (GAP, 1.25, (19 / 6 - 1.25**2) ** 0.5, 1.3, score_of(gap, 1.3, -1, 0, 2, 3, 4)),
    "atoms": (MassTable.through(Naive().fit(ATOMS), ATOMS[None]), 2.0, (14 / 3) ** 0.5, 2.2, 6.2 / 3 - 10 / 9),
    "with ends": (GAP.with_ends(NONE + 0.6, (NONE + 0.3, NONE + 0.1), (NONE - 1, NONE + 4)), 0.85, 3.0775**0.5,
               0.4, score_of(lambda t: 0.3 * (t >= -1) + 0.6 * gap(t) + 0.1 * (t >= 4), 0.4, -2, -1, 0, 2, 3, 4, 5)),
    "merged": (MassTable.merged([NORMAL, UNIFORM, GAP], [0.5, 0.1, 0.4]), 0.55, 1.4975**0.5,
               1.1, score_of(lambda t: 0.5 * ndtr(t) + 0.1 * uniform(t) + 0.4 * gap(t), 1.1, -8, 0, 1, 2, 3, 8)),
    "larger of two, bent": (NORMAL.bent(lambda F: F**2, lambda S: S * (2 - S)), np.pi**-0.5, (1 - 1 / np.pi) ** 0.5,
                            0.3, score_of(lambda t: ndtr(t) ** 2, 0.3, -8, 8)),
    "moved, curved": (LOGS.moved(np.exp(LOGS.places), np.exp(LOGS.places)), np.exp(1 / 8), stats.lognorm(0.5).std(),
                      1.7, scoringrules.crps_lognormal(1.7, 0.0, 0.5)),
    "moved, straight": (KINKED, 1.5, (0.5 * (1 / 3 + 7) - 2.25) ** 0.5, 1.0, 1 / 12 + 1 / 4),
}  # fmt: skip


@pytest.mark.parametrize("name", CASES)
def test_mean_std_and_crps_are_sums(name):
    """crps(y) = 2 (the integral of F up to y) - y + shift."""
    table, mean, std, y, crps = CASES[name]
    found = [*table.moments[:2], 2 * table.integral(np.array([[y]]), ONCE)[:, 0] - y + table.moments[2]]
    np.testing.assert_allclose(np.ravel(found), [mean, std, crps], rtol=0, atol=ALLOWED * std)


@pytest.mark.parametrize("which", [ONCE, TWICE, SQUARE])
@pytest.mark.parametrize(("table", "F", "ends"), [(NORMAL, ndtr, [-1.234, 0.777, 2.9]), (UNIFORM, uniform, [0.3, 2.5])])
def test_integrals_up_to_y_are_those_of_the_cdf(table, F, ends, which):
    f = {ONCE: lambda t, y: F(t), TWICE: lambda t, y: (y - t) * F(t), SQUARE: lambda t, y: F(t) ** 2}[which]
    slow = [quad(f, -9.0, y, args=(y,), points=[0.0, 1.0])[0] for y in ends]
    np.testing.assert_allclose(table.integral(np.array([ends]), which)[0], slow, rtol=0, atol=ALLOWED / 10)


@pytest.mark.parametrize(("df", "mean", "std"), [(0.8, np.nan, np.inf), (1.5, 0.0, np.inf), (5.0, 0.0, (5 / 3) ** 0.5)])
def test_the_power_of_a_tail_tells_which_moments_exist(df, mean, std):
    found = table_of(StudentT(df, [0.0], [1.0])).moments
    np.testing.assert_allclose([found[0][0], found[1][0]], [mean, std], rtol=1e-5, atol=1e-6)
    assert table_of(from_scipy(stats.pareto([0.9]))).moments[0] == np.inf


@pytest.mark.parametrize(("low", "high", "mean"), [(0.0, 0.1, np.inf), (0.1, 0.0, -np.inf), (0.1, 0.1, np.nan)])
def test_mass_at_infinity(low, high, mean):
    table = UNIFORM.with_ends(1 - NONE - low - high, (NONE + low, NONE + high), (NONE - np.inf, NONE + np.inf))
    np.testing.assert_array_equal([part[0] for part in table.moments], [mean, np.inf, np.inf])
    rise = [np.diff(table.integral(np.array([[-2.0, -1, 5, 6]]), which)[0])[[0, 2]] for which in (ONCE, SQUARE)]
    np.testing.assert_allclose(rise, [[low, 1 - high], [low**2, (1 - high) ** 2]], rtol=1e-12, atol=1e-15)


@pytest.mark.parametrize(("kind", "wet"), [(Exponential, 1.0), (Claim, 0.75)])
def test_a_distribution_of_ones_own(kind, wet):
    distribution, y, low, high = kind(np.float64(1.0)), 0.7, 0.5, 2.0
    clipped, (e, a, b) = distribution.clip(low, high), np.exp([-y, -low, -high])
    found = [
        distribution.mean(),
        distribution.std(),
        distribution.crps(y),
        clipped.mean(),
        clipped.std(),
        clipped.crps(y),
    ]
    mean, square = low + wet * (a - b), low**2 + 2 * wet * ((low + 1) * a - (high + 1) * b)
    expected = [wet, std := (2 * wet - wet**2) ** 0.5, y - 2 * wet * (1 - e) + wet**2 / 2]
    expected += [mean, (square - mean**2) ** 0.5, y - low - 2 * wet * (a - e) + wet**2 / 2 * (a**2 - b**2)]
    assert np.all(np.abs(np.subtract(found, expected)) <= ALLOWED * std)


def test_a_row_with_modes_far_apart_changes_no_other_row():
    far = np.array([0.3, 40.0, 0.5])
    forecast = GaussianMixture([0.5, 0.5], np.stack([-far, far], axis=1), np.ones((3, 2)))
    calibrated = Calibrator(CDFScore()).fit(forecast[[0] * 60], np.linspace(-2, 2, 60))
    H, y = calibrated(forecast), np.array([0.2, 0.3, -0.4])
    for row in range(3):
        alone, here = calibrated(forecast[row : row + 1]), slice(row, row + 1)
        for answer in (
            lambda distribution, at: distribution.mean(),
            lambda distribution, at: distribution.std(),
            lambda distribution, at: distribution.crps(y[at]),
        ):
            np.testing.assert_allclose(answer(alone, here), answer(H, slice(None))[here], rtol=0, atol=1e-12 * far[row])


def test_a_single_atom_between_modes_far_apart_has_no_std():
    forecast = GaussianMixture([0.5, 0.5], [[-20.0, 20.0]] * 2, [[1.0, 0.7]] * 2)
    H = Calibrator(CDFScore(), Naive()).fit(forecast[:1], [19.0])(forecast)
    np.testing.assert_array_equal(H.std(), np.zeros(2))


def test_many_atoms_behind_a_curved_score_have_the_crps_of_their_images():
    rng, n = np.random.default_rng(3), 600
    forecast = StudentT(rng.uniform(5, 30, n), rng.normal(size=n), 1.0)
    y = forecast.ppf(rng.beta(0.8, 1.2, n))
    H = Calibrator(CDFScore(), Naive()).fit(forecast, y)(forecast)
    atoms = np.sort(H.quantiles((np.arange(n) + 0.5) / n), axis=1)
    gini = atoms @ ((2 * np.arange(n) + 1 - n) / n**2)
    truth = np.abs(atoms - y[:, None]).mean(axis=1) - gini
    assert np.max(np.abs(H.crps(y) - truth) / atoms.std(axis=1)) <= TOLERANCES["curved"].integrals
