"""Theorem 1 and its neighbours, simulated: each claim of `Guarantee` is put to the test, and each test can fail.

How large the Monte Carlo error is, without one assumption beyond the theorem's. Under each of R calibration sets we
look at m test rows. Given the set, the share of the rows with H(Y) <= c is a mean of m independent draws. The
chance it estimates lies, for a lambda-accurate q, between two order statistics of n uniforms: Beta(i, n + 1 - i)
variables with means within epsilon of c, sub-Gaussian with variance proxy 1 / (4 (n + 2)) (Marchal and Arbel
2017). So the R sets are worth R / (1 / (n + 2) + 1 / m) independent pairs of a set and a row, and Hoeffding's
inequality with a union bound over the levels holds for that number, as it does for independent pairs.
"""

import itertools
import math
import pickle
from dataclasses import dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import ndtr
from threadpoolctl import threadpool_limits

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    Guarantee,
    Interval,
    Normal,
    Point,
    Quantiles,
    Samples,
    required_n,
    required_n_for_interval,
)
from calibrant.distributions import Context, PiecewiseLinear
from calibrant.guarantee import coverage_of_this_set
from calibrant.interpolators import BoundedTails, ExponentialTails, InfiniteTails, Linear, Naive, Random
from calibrant.interpolators.naf import NAF
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    IntervalScore,
    QuantileScore,
    ResidualScore,
    SamplesScore,
    ZScore,
)

DOUBT = 1e-6  # the chance that a true claim fails its test
LEVELS = np.arange(1, 1000) / 1000


@pytest.fixture(autouse=True, scope="module")
def one_thread():
    """On a busy machine threads of small matrix products wait for each other, 30 times the work."""
    with threadpool_limits(1):
        yield


def monte_carlo_error(pairs):
    """No error at any of the levels is larger, with probability 1 - DOUBT, over so many independent pairs."""
    return math.sqrt(math.log(2 * len(LEVELS) / DOUBT) / (2 * pairs))


def worth(n, sets, rows):
    """How many independent pairs of a calibration set of n and a test row these are worth at least."""
    return sets / (1 / (n + 2) + 1 / rows)


def calibration_error(pits):
    """The largest |P(H <= c) - c| over the levels, from PITs of any shape."""
    below = np.searchsorted(np.sort(np.ravel(pits)), LEVELS, side="right")
    return np.max(np.abs(below / np.size(pits) - LEVELS))


# ---- the data: heavy tails, and a model that is biased and overconfident, each row in its own way ----------


def draw(rng, count):
    x = rng.normal(size=count)
    return x, x + (1 + 0.5 * np.abs(x)) * rng.standard_t(4, size=count)


def columns(*values):
    return np.stack(values, axis=1)


def point(x, rng):
    return Point(0.5 * x)


def interval(x, rng):
    return Interval(x - 1, x + 0.5 + np.abs(x))


def normal(x, rng):
    return Normal(0.8 * x, 0.3 + 0.1 * np.abs(x))


def quantiles(x, rng):
    return Quantiles([0.1, 0.5, 0.9], columns(x - 1, x, x + 2 + np.abs(x)))


def samples(x, rng):
    return Samples(x[:, None] + rng.normal(size=(len(x), 5)))


def normals(x, rng):
    return Ensemble([normal(x, rng), Normal(0.0 * x, 1 + np.abs(x))], weights=[2, 1])


def sets_of_quantiles(x, rng):
    return Ensemble([quantiles(x, rng), Quantiles([0.25, 0.75], columns(-1 - np.abs(x), 1 + np.abs(x)))])


SCORES = {
    "residual": (ResidualScore(), point),
    "interval": (IntervalScore(), interval),
    "z-score": (ZScore(), normal),
    "cdf": (CDFScore(), normal),
    "quantile": (QuantileScore(), quantiles),
    "quantile, outer slope 1": (QuantileScore(outer_slope=1), quantiles),
    "samples": (SamplesScore(), samples),
    "ensemble of normals": (EnsembleScore(), normals),
    "ensemble of quantiles": (EnsembleScore(), sets_of_quantiles),
    "ensemble of cdf scores": (EnsembleScore(CDFScore()), normals),
}
INTERPOLATORS = {"naive": Naive(), "linear": Linear(), "random": Random()}
SETS = {1: 250, 5: 150, 20: 100, 100: 80}  # worth 738, 1,014, 1,981 and 5,403 independent pairs
ROWS = 200


def simulate(score, predict, interpolator, n, *, sets, rows=ROWS, seed=0):
    """The PITs of `rows` test rows under each of `sets` calibration sets of n, and the last guarantee."""
    rng = np.random.default_rng([seed, n])
    x, y = draw(rng, sets * (n + rows))
    prediction = predict(x, rng)
    pits = np.empty((sets, rows))
    for k, start in enumerate(range(0, len(x), n + rows)):
        middle, end = start + n, start + n + rows
        calibrated = Calibrator(score, interpolator).fit(prediction[start:middle], y[start:middle])
        pits[k] = calibrated(prediction[middle:end], rng=rng).cdf(y[middle:end])
    return pits, calibrated.guarantee


# ---- Theorem 1 ---------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.filterwarnings("ignore:there is only one calibration row")
@pytest.mark.parametrize("n", SETS)
@pytest.mark.parametrize("interpolator", INTERPOLATORS)
@pytest.mark.parametrize("name", SCORES)
def test_calibration_error_is_at_most_epsilon(name, interpolator, n):
    score, predict = SCORES[name]
    pits, guarantee = simulate(score, predict, INTERPOLATORS[interpolator], n, sets=SETS[n])
    assert guarantee.epsilon == pytest.approx({"naive": 2, "linear": 1, "random": 0}[interpolator] / (n + 1))
    assert calibration_error(pits) <= guarantee.epsilon + monte_carlo_error(worth(n, *pits.shape))


@dataclass(frozen=True)
class Squared:
    """Broken: q(u_(i)) = (i / n)^2, sold as exact."""

    def fit(self, scores, *, support=(-math.inf, math.inf), rng=None):
        n = len(scores)
        return PiecewiseLinear.through(np.sort(scores), (np.arange(1, n + 1) / n) ** 2)

    def accuracy(self, n):
        return 0.0


@dataclass(frozen=True)
class Overconfident:
    """Broken: the scores are drawn together to half their spread, as if the labels never left the middle."""

    def fit(self, scores, *, support=(-math.inf, math.inf), rng=None):
        centre = np.median(scores)
        return Linear().fit(centre + 0.5 * (scores - centre), support=support)

    def accuracy(self, n):
        return 0.0


@pytest.mark.few
@pytest.mark.parametrize("broken", [Squared(), Overconfident()], ids=repr)
@pytest.mark.parametrize("name", SCORES)
def test_calibration_error_of_a_broken_q_exceeds_epsilon(name, broken):
    score, predict = SCORES[name]
    pits, guarantee = simulate(score, predict, broken, 100, sets=SETS[100])
    assert calibration_error(pits) > guarantee.epsilon + monte_carlo_error(worth(100, *pits.shape))


@pytest.mark.few
@pytest.mark.filterwarnings("ignore:there is only one calibration row")
@pytest.mark.parametrize("n", SETS)
@pytest.mark.parametrize("interpolator", INTERPOLATORS)
def test_q_is_calibrated_on_fresh_scores_to_a_finer_tolerance(interpolator, n):
    sets, rows = 1000, 1000
    rng = np.random.default_rng(n)
    scores, fresh = rng.standard_cauchy((sets, n)), rng.standard_cauchy((sets, rows))
    psi = INTERPOLATORS[interpolator]
    pits = [psi.fit(s).for_rows(Context(rows, rng=rng)).cdf(u) for s, u in zip(scores, fresh, strict=True)]
    epsilon = (1 + psi.accuracy(n)) / (n + 1)
    assert calibration_error(pits) <= epsilon + monte_carlo_error(worth(n, sets, rows))


# ---- ties --------------------------------------------------------------------------------------------------


def tied(interpolator, n, *, sets, rows=ROWS):
    """PITs of labels that are counts, seen from a point forecast that is a count as well."""
    rng = np.random.default_rng(n)
    forecast = rng.integers(0, 3, size=(sets, n + rows)).astype(float)
    y = rng.poisson(1 + 0.3 * forecast).astype(float)
    pits = []
    for f, labels in zip(forecast, y, strict=True):
        calibrated = Calibrator(ResidualScore(), interpolator).fit(f[:n], labels[:n])
        pits.append(calibrated(f[n:], rng=rng).cdf(labels[n:]))
    return np.asarray(pits), calibrated.guarantee


@pytest.mark.parametrize("n", SETS)
def test_random_is_exactly_calibrated_with_ties(n):
    pits, guarantee = tied(Random(), n, sets=SETS[n])
    assert guarantee.epsilon == 0
    assert guarantee.kind == "exact"
    assert calibration_error(pits) <= monte_carlo_error(worth(n, *pits.shape))


@pytest.mark.parametrize("interpolator", [Naive(), Linear()], ids=repr)
def test_ties_break_the_bound_of_the_other_interpolators_and_the_guarantee_says_so(interpolator):
    pits, guarantee = tied(interpolator, 100, sets=SETS[100])
    assert calibration_error(pits) > guarantee.epsilon + monte_carlo_error(worth(100, *pits.shape))
    assert guarantee.kind == "approximate"
    assert guarantee.largest_tie > 10


# ---- lambda-accuracy ---------------------------------------------------------------------------------------

MAGNITUDES = st.sampled_from([1e-75, 1e-8, 1.0, 1e8, 1e75])


@st.composite
def distinct_scores(draw, most=60):
    """Distinct finite floats, of one magnitude or of all at once; none whose square is infinite."""
    anything = st.floats(-1e75, 1e75, allow_nan=False, allow_subnormal=False)
    one = draw(MAGNITUDES)
    scaled = st.floats(-1.0, 1.0, allow_nan=False).map(lambda u: round(u, 12) * one)
    near = st.integers(0, 10**6).map(lambda k: (1 + k * 2.0**-52) * one)
    values = draw(st.sampled_from([anything, scaled, near]))
    return np.asarray(draw(st.lists(values, min_size=1, max_size=most, unique=True)), dtype=np.float64)


def inaccuracy(q, scores):
    """The lambda of a distribution: how far q(u_(i)) is from i / (n + 1), in units of 1 / (n + 1)."""
    n = len(scores)
    return np.max(np.abs((n + 1) * q.cdf(np.sort(scores)) - np.arange(1, n + 1)))


ACCURATE = {
    "naive": Naive(),
    "linear, exponential": Linear(ExponentialTails()),
    "linear, bounded": Linear(BoundedTails()),
    "linear, infinite": Linear(InfiniteTails()),
    "random at U = 1/2": Random(),
}


@pytest.mark.filterwarnings("ignore:there is only one calibration row", "ignore:all scores are equal")
@pytest.mark.parametrize("name", ACCURATE)
@settings(deadline=None, max_examples=100, derandomize=True)
@given(scores=distinct_scores())
def test_q_is_as_accurate_as_promised_for_any_distinct_scores(name, scores):
    psi = ACCURATE[name]
    promised = max(0.0, psi.accuracy(len(scores)))
    assert inaccuracy(psi.fit(scores), scores) <= promised + 1e-9


@pytest.mark.filterwarnings("ignore:there is only one calibration row")
@settings(deadline=None, max_examples=25, derandomize=True)
@given(scores=distinct_scores())
def test_naf_is_as_accurate_as_it_promises_for_any_distinct_scores(scores):
    assert inaccuracy(NAF().fit(scores), scores) <= NAF().accuracy(len(scores)) + 1e-9


@pytest.mark.filterwarnings("ignore:there is only one calibration row")
@settings(deadline=None, max_examples=10, derandomize=True)
@given(scores=distinct_scores(), strict=st.floats(0, 2))
def test_naf_keeps_a_promise_of_the_users_own(scores, strict):
    psi = NAF(units=20, promise=lambda n: strict)
    assert inaccuracy(psi.fit(scores), scores) <= strict + 1e-9


@pytest.mark.parametrize("n", [10, 300])
def test_naf_promises_half_the_square_root_of_n(n):
    assert NAF().accuracy(n) == pytest.approx(math.sqrt(n) / 2)


@pytest.mark.parametrize("broken", [Squared(), Overconfident()], ids=repr)
def test_a_broken_q_is_not_as_accurate_as_it_promises(broken):
    scores = np.random.default_rng(0).normal(size=50)
    assert inaccuracy(broken.fit(scores), scores) > broken.accuracy(50) + 1


def test_the_guard_is_what_makes_naf_accurate():
    rng = np.random.default_rng(0)
    scores = np.sort(np.concatenate([rng.normal(size=30) * 1e-6, 1 + rng.normal(size=30) * 1e-6, [1e6]]))
    promised = 0.5
    loose, held = NAF(promise=lambda n: n), NAF(promise=lambda n: promised)
    assert inaccuracy(loose.fit(scores), scores) > promised
    assert inaccuracy(held.fit(scores), scores) <= promised + 1e-9


# ---- for one calibration set -------------------------------------------------------------------------------


def conditional_errors(interpolator, n, sets, seed=0):
    """sup_c |P(H <= c | data) - c| for each of some calibration sets, exactly.

    The forecast is the truth, so P(H <= c | data) - c is the distance of F from H, which is linear in F, from
    H = 0 at F = 0 to H = 1 at F = 1: the largest lies at a label, or just below one where H jumps.
    """
    rng = np.random.default_rng(seed)
    errors = np.empty(sets)
    for k in range(sets):
        y = rng.normal(size=n)
        H = Calibrator(CDFScore(), interpolator).fit(Normal(np.zeros(n), 1.0), y)(Normal([0.0], 1.0))
        points = np.concatenate([y, np.nextafter(y, -np.inf)])
        errors[k] = np.max(np.abs(H.cdf(points[None, :]) - ndtr(points)))
    return errors


@pytest.mark.parametrize("n", [10, 100])
@pytest.mark.parametrize("interpolator", [Naive(), Linear()], ids=repr)
def test_conditional_bound_holds_with_its_stated_confidence(interpolator, n):
    sets = 300
    errors = conditional_errors(interpolator, n, sets)
    guarantee = Guarantee.of(interpolator, np.arange(n))
    for confidence in (0.2, 0.5, 0.9):
        share = np.mean(errors > guarantee.conditional(confidence))
        assert share <= 1 - confidence + math.sqrt(math.log(1 / DOUBT) / (2 * sets))


def test_epsilon_alone_does_not_bound_the_error_of_one_calibration_set():
    errors = conditional_errors(Linear(), 200, 100)
    assert np.mean(errors > Guarantee.of(Linear(), np.arange(200)).epsilon) > 0.95


def test_conditional_bound_is_sharp_up_to_epsilon():
    """Without its epsilon it would be exceeded about as often as it says, so a smaller one would be wrong."""
    guarantee = Guarantee.of(Linear(), np.arange(200))
    errors = conditional_errors(Linear(), 200, 300)
    assert 0.2 < np.mean(errors > guarantee.conditional(0.5) - guarantee.epsilon) < 0.6


@pytest.mark.parametrize("interpolator", [Naive(), Linear()], ids=repr)
def test_conditional_bound_holds_with_ties(interpolator):
    """y is 0 nine times out of ten: H jumps to 0.9 there, P(H <= 0.89) is 0, and the error is 0.89."""
    y = np.repeat([0.0, 1.0], [90, 10])
    calibrated = Calibrator(interpolator=interpolator).fit(np.zeros(100), y)
    H = calibrated([0.0])
    error = max(float(H.cdf([0.0])[0]) - 0.01, abs(0.9 - float(H.cdf([1.0])[0])))
    assert error > 0.85
    assert calibrated.guarantee.conditional(0.9) >= error


# ---- the paper's Example 1 ---------------------------------------------------------------------------------


@pytest.mark.parametrize("interpolator", [Naive(), Linear(), Random()], ids=repr)
def test_example_1_with_the_true_mean_h_converges_to_the_true_distribution(interpolator):
    """y = beta x + noise and f(x) = beta x: sup |H - F| falls like n^(-1/2) (DKW)."""
    rng = np.random.default_rng(1)
    beta, distances = 2.5, []
    for n in (100, 1000, 10_000, 100_000):
        x = rng.normal(size=n)
        y = beta * x + rng.normal(size=n)
        H = Calibrator(interpolator=interpolator).fit(beta * x, y)(beta * np.array([-3.0, 7.0]), rng=rng)
        noise = np.concatenate([y - beta * x, np.linspace(-8, 8, 1001)])
        at = beta * np.array([[-3.0], [7.0]]) + noise
        distances.append(np.max(np.abs(H.cdf(at) - ndtr(noise))))
        assert distances[-1] <= math.sqrt(math.log(2 / DOUBT) / (2 * n)) + 2 / n
    assert all(b < a for a, b in itertools.pairwise(distances))
    assert distances[-1] < 0.01


def test_example_1_with_a_wrong_mean_h_does_not_converge_to_the_true_distribution():
    rng = np.random.default_rng(1)
    x = rng.normal(size=100_000)
    y = 2.5 * x + rng.normal(size=100_000)
    H = Calibrator().fit(1.5 * x, y)(np.array([1.5]))
    grid = np.linspace(-8, 8, 1001)
    assert np.max(np.abs(H.cdf((2.5 + grid)[None, :]) - ndtr(grid))) > 0.1


# ---- the guarantee as an object ----------------------------------------------------------------------------


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.05, 0.01, 1 / 3, 0.003])
@pytest.mark.parametrize("interpolator", [Naive(), Linear(), NAF()], ids=lambda psi: type(psi).__name__)
def test_required_n_is_the_smallest_n_that_brings_epsilon_down(interpolator, epsilon):
    n = required_n(epsilon, interpolator=interpolator)
    bound = [(1 + interpolator.accuracy(k)) / (k + 1) for k in (n, max(1, n - 1))]
    assert bound[0] <= epsilon * (1 + 1e-9)
    assert n == 1 or bound[1] > epsilon * (1 - 1e-9)


@pytest.mark.parametrize("epsilon", [0.5, 0.1, 0.05, 0.02])
@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.99])
@pytest.mark.parametrize("interpolator", [Naive(), Linear(), Random(), NAF()], ids=lambda psi: type(psi).__name__)
def test_required_n_with_confidence_is_the_smallest_n_of_the_conditional_bound(interpolator, epsilon, confidence):
    n = required_n(epsilon, confidence, interpolator=interpolator)
    assert Guarantee(n, interpolator.accuracy(n)).conditional(confidence) <= epsilon * (1 + 1e-9)
    assert Guarantee(n - 1, interpolator.accuracy(n - 1)).conditional(confidence) > epsilon * (1 - 1e-9)


def test_required_n_for_random_is_one_on_average():
    assert required_n(1e-9, interpolator=Random()) == 1


@pytest.mark.parametrize("coverage", [0.01, 0.29, 0.5, 2 / 3, 0.8, 0.9, 0.95, 0.99, 0.999])
def test_required_n_for_interval_is_the_smallest_n_with_a_finite_rank(coverage):
    from fractions import Fraction

    share = Fraction(repr(coverage))
    smallest = next(n for n in range(1, 10_000) if math.ceil((n + 1) * share) <= n)
    assert required_n_for_interval(coverage) == smallest


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9, 0.95])
def test_below_required_n_for_interval_an_upper_bound_with_infinite_tails_is_infinite(coverage):
    needed = required_n_for_interval(coverage)
    for n in (needed - 1, needed, needed + 1):
        upper = Linear(InfiniteTails()).fit(np.arange(max(n, 1.0))).ppf(coverage)
        assert np.isfinite(upper) == (max(n, 1) >= needed)


def test_guarantee_without_ties_is_marginal_and_says_epsilon_n_and_what_it_assumes():
    guarantee = Calibrator().fit(np.zeros(99), np.arange(99.0)).guarantee
    assert (guarantee.n, guarantee.accuracy, guarantee.largest_tie) == (99, 0.0, 1)
    assert guarantee.kind == "marginal"
    assert guarantee.epsilon == pytest.approx(0.01)
    for word in ("0.01", "n = 99", "95%", "exchangeable", "not trained on the calibration set", "continuous"):
        assert word in str(guarantee)


@pytest.mark.parametrize("interpolator", [Naive(), Linear(), NAF()], ids=lambda psi: type(psi).__name__)
def test_guarantee_with_ties_is_approximate_and_never_a_bare_epsilon(interpolator):
    y = np.concatenate([np.arange(90.0), np.full(9, 7.5)])
    guarantee = Calibrator(interpolator=interpolator).fit(np.zeros(99), y).guarantee
    assert guarantee.kind == "approximate"
    assert guarantee.largest_tie == 9
    said = str(guarantee)
    assert "only up to ties" in said
    assert "9 scores" in said
    assert "9% of all" in said  # 9 / (n + 1): as large as the error can be on their account


def test_guarantee_of_random_is_exact_with_ties_too():
    guarantee = Calibrator(interpolator=Random()).fit(np.zeros(20), np.repeat([0.0, 1.0], 10)).guarantee
    assert guarantee.kind == "exact"
    assert guarantee.epsilon == 0
    assert "= c for every c" in str(guarantee)
    assert "continuous" not in str(guarantee)


def test_epsilon_is_at_most_one():
    assert Guarantee(1, 5.0).epsilon == 1
    assert Guarantee(1, 0.0).conditional(0.999) == 1


def test_conditional_bound_grows_with_confidence_and_shrinks_with_n():
    assert Guarantee(100, 0).conditional(0.9) < Guarantee(100, 0).conditional(0.99)
    assert Guarantee(1000, 0).conditional(0.9) < Guarantee(100, 0).conditional(0.9)
    assert Guarantee(100, 0).conditional(0.9) == pytest.approx(1 / 101 + math.sqrt(math.log(20) / 200))


# ---- folds ---------------------------------------------------------------------------------------------------------


def pits_of_folds(interpolator, sets=1500, folds=4, size=6, features=17):
    """H(Y) for one new row a calibration set; a fold's model has almost as many coefficients as rows, so it is wild."""
    rng = np.random.default_rng(5)
    n = folds * size
    pits = []
    for _ in range(sets):
        X, y = rng.normal(size=(n + 1, features)), rng.normal(size=n + 1)
        members, predictions = [], []
        for fold in np.array_split(np.arange(n), folds):
            rest = np.setdiff1d(np.arange(n), fold)
            beta = np.linalg.lstsq(X[rest], y[rest], rcond=None)[0]
            members.append(Calibrator(interpolator=interpolator).fit(X[fold] @ beta, y[fold]))
            predictions.append(X[-1:] @ beta)
        calibrated = CrossCalibrated(tuple(members))
        pits.append(calibrated(predictions, rng=rng).cdf(y[-1:])[0])
    return np.sort(pits), calibrated.guarantee


@pytest.mark.few(1)
@pytest.mark.parametrize("interpolator", [Linear(), Random()], ids=lambda each: type(each).__name__)
def test_folds_keep_2c_where_they_do_not_keep_c(interpolator):
    pits, guarantee = pits_of_folds(interpolator)
    share = np.arange(1, len(pits) + 1) / len(pits)
    noise = math.sqrt(math.log(2 / DOUBT) / (2 * len(pits)))
    assert np.max(np.abs(share - pits)) > 1 / 25 + noise  # no 1 / (n + 1)
    assert np.all(share <= 2 * pits + guarantee.epsilon + noise)
    above = 1 - pits[::-1]
    assert np.all(share <= 2 * above + guarantee.epsilon + noise)


def test_the_guarantee_of_folds_says_what_it_is():
    _, guarantee = pits_of_folds(Linear(), sets=1)
    assert (guarantee.kind, guarantee.n, guarantee.epsilon) == ("cross", 24, pytest.approx(2 / 7))
    assert "P(H(Y) <= c) <= 2c + 0.286" in str(guarantee)
    assert "1 - c" in str(guarantee)
    _, exact = pits_of_folds(Random(), sets=1)
    assert exact.epsilon == 0
    assert "continuous" not in str(exact)
    tied = CrossCalibrated(tuple(Calibrator().fit(np.zeros(4), [1.0, 1.0, 2.0, 3.0]) for _ in range(2))).guarantee
    assert tied.kind == "cross, approximate"
    assert "2 scores are equal" in str(tied)


def test_twice_the_mean_of_p_values_is_the_best_that_dependence_allows():
    """Two p-values U and V with mean c on an event of probability 2c: the bound cannot be lowered to c."""
    rng = np.random.default_rng(0)
    u = rng.uniform(size=200_000)
    v = np.where(u < 0.2, 0.2 - u, u)  # uniform too
    assert np.mean((u + v) / 2 <= 0.1 + 1e-12) == pytest.approx(0.2, abs=0.005)


def test_each_kind_of_promise_has_one_sentence_to_repeat():
    rng = np.random.default_rng(0)
    f = rng.normal(size=99)
    y, by = f + rng.normal(size=99), np.arange(99) % 3
    fit = calibrant.Calibrator().fit
    start = "90% interval contains the label of a new row"
    said = {
        "plain": fit(f, y).guarantee.in_short(),
        "exact": calibrant.Calibrator(interpolator=Random()).fit(f, y).guarantee.in_short(),
        "counts": replace(fit(f, y).guarantee, drawn=True).in_short(),
        "eighty": fit(f, y).guarantee.in_short(0.8),
        "folds": calibrant.CrossCalibrated((fit(f, y), fit(f, y))).guarantee.in_short(),
        "groups": fit(f, y, by=by).guarantee.in_short(),
        "ratios": fit(f, y, weights=np.ones(99)).guarantee.in_short(),
        "half-life": calibrant.Calibrator(forget=calibrant.HalfLife(50)).fit(f, y).guarantee.in_short(),
    }
    start, on_average = f"{start} like the", "on average over calibration sets"
    whole = f"A {start} 99 calibration rows with a probability of 90%"
    assert said["plain"] == (
        f"{whole}, within 2 percentage points, {on_average}. For this set it lies between 83.4% and 95% (95%"
        " confidence)."
    )
    assert said["exact"].startswith(f"{whole}, {on_average}. For this set it lies between ")
    assert f"with a probability of at least 90%, less at most 2 percentage points, {on_average}" in said["counts"]
    assert said["counts"].endswith("For this set it is at least 83.4% (95% confidence).")
    assert said["eighty"].startswith("An 80% interval")
    assert "of at least 76%" in said["folds"]  # 1 - 2 (1 - 0.9) - 2 epsilon, epsilon = 2 / 100
    assert said["groups"] == (
        f"In every group, a {start} calibration rows of its group with a probability of 90%, within 23 percentage"
        f" points, {on_average}."
    )
    assert "if the weights are the likelihood ratios of new rows" in said["ratios"]
    assert "nothing is proved" in said["half-life"]


@pytest.mark.few
@pytest.mark.parametrize("interpolator", [Linear(), Naive(), Random()], ids=lambda each: type(each).__name__)
@pytest.mark.parametrize(("n", "coverage"), [(39, 0.9), (57, 0.8), (200, 0.5)])
def test_of_100_calibration_sets_95_keep_their_own_promise(interpolator, n, coverage):
    """Of uniform scores, whose coverage is the width of the interval; 1,000 sets."""
    rng = np.random.default_rng(2)
    low, high = coverage_of_this_set(n, interpolator.accuracy(n), coverage)
    kept = []
    for _ in range(1000):
        H = calibrant.Calibrator(interpolator=interpolator).fit(np.zeros(n), rng.uniform(size=n))([0.0], rng=rng)
        lower, upper = np.clip(H.interval(coverage), 0, 1)
        kept.append(low <= upper[0] - lower[0] <= high)
    assert np.mean(kept) >= 0.95 - 3 * np.sqrt(0.95 * 0.05 / 1000)
    assert low < coverage < high


def test_a_set_of_very_few_rows_promises_next_to_nothing():
    assert coverage_of_this_set(1, 0.0, 0.9) == (0.0, 1.0)
    low, high = coverage_of_this_set(10**6, 0.0, 0.9)
    assert 0.899 < low < 0.9 < high < 0.901


def test_an_interval_is_off_by_at_most_twice_epsilon():
    """n = 19 on uniform scores, 1,000 sets."""
    rng = np.random.default_rng(1)
    inside = []
    for _ in range(1000):
        y = rng.uniform(size=20)
        lower, upper = calibrant.Calibrator().fit(np.zeros(19), y[:19])([0.0]).interval(0.9)
        inside.append(lower[0] <= y[19] <= upper[0])
    off = abs(np.mean(inside) - 0.9)
    assert off <= 2 / 20 + 4 * np.sqrt(0.09 / 1000)
    assert off < 4 * np.sqrt(0.09 / 1000)  # at ranks, where (n + 1)(1 - c) / 2 is whole, it is exact


@pytest.mark.parametrize("labels", [None, "counts"])
def test_an_interval_that_ends_beyond_all_scores_says_so_where_it_is_asked_for(labels):
    y = np.arange(9.0)
    H = Calibrator(labels=labels).fit(0 * y, y)([0.0, 1.0])
    with pytest.warns(
        UserWarning, match="90% intervals need 19 calibration rows, and there are 9: their ends depend on"
    ):
        H.interval(0.9)
    for part in (H[:1], H[0], H.clip(0.0, 5.0), pickle.loads(pickle.dumps(H))):
        with pytest.warns(UserWarning, match="90% intervals need 19 calibration rows"):
            part.interval(0.9)
    H.interval(0.8)  # 9 rows reach as far, and a warning would be an error here
    H.quantiles([0.05, 0.95])
    Normal([0.0], 1.0).interval(0.99)
    Calibrator(labels=labels).fit(np.zeros(19), np.arange(19.0))([0.0]).interval(0.9)


def test_an_interval_of_folds_says_so_by_the_smallest():
    members = [Calibrator().fit(np.zeros(n), np.arange(float(n))) for n in (9, 50)]
    with pytest.warns(UserWarning, match="need 19 calibration rows, and there are 9"):
        CrossCalibrated(members)([[0.0], [0.0]]).interval(0.9)
