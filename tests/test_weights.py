"""Weights: equal ones change nothing, ratios move mass between scores and tails, and the shift is mended."""

from __future__ import annotations

import warnings

import numpy as np
import pytest
from catalogue import CALIBRATION, HERE, INTERPOLATORS, PAIRS, PREDICTIONS, ROWS, SCORES, Y
from reference.tolerances import TOLERANCES

import calibrant
from calibrant import Calibrator, CrossCalibrated, Normal, evaluate
from calibrant.distributions import Context
from calibrant.interpolators import NAF, Linear, Naive, Random
from calibrant.interpolators.support import Logits
from calibrant.interpolators.weights import CalibrationWeights
from calibrant.testing import check_distribution

# ratios of any size are tried: one test says when they are warned of
pytestmark = pytest.mark.filterwarnings("ignore:(the weight|weights) of .* larger than those of all calibration rows")

RATIOS = np.array([0.0, 0.3, 1.0, 2.5, 500.0])
NEW = slice(CALIBRATION, CALIBRATION + ROWS)
rng = np.random.default_rng(7)
W = rng.uniform(0.1, 3.0, CALIBRATION)


def one_sentence(error):
    assert "\n" not in str(error.value)
    assert len(str(error.value)) < 200


# ---- A: weights in the interpolators --------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("name", INTERPOLATORS)
@pytest.mark.parametrize("support", [(-np.inf, np.inf), (-9.0, 9.0), Logits()])
def test_equal_weights_give_the_unweighted_distribution_to_the_bit(name, support):
    plain = INTERPOLATORS[name].fit(SCORES, support=support)
    y, p = np.linspace(-4, 4, 81), np.linspace(0.001, 0.999, 41)
    for constant in (1.0, 0.37, 3.0):
        weighted = INTERPOLATORS[name].fit(SCORES, weights=np.full(20, constant), support=support)
        for method in ("cdf", "cdf_left", "sf", "logpdf"):
            np.testing.assert_array_equal(getattr(weighted, method)(y), getattr(plain, method)(y))
        np.testing.assert_array_equal(weighted.ppf(p), plain.ppf(p))


@pytest.mark.parametrize("name", [name for name in INTERPOLATORS if "random" not in name and name != "naf"])
def test_a_row_as_likely_as_a_calibration_row_has_the_unweighted_distribution(name):
    f, noise = np.random.default_rng(0).normal(size=(2, 40))
    plain = Calibrator(None, INTERPOLATORS[name]).fit(f, f + noise)
    shifted = Calibrator(None, INTERPOLATORS[name]).fit(f, f + noise, weights=np.full(40, 0.7))
    H, H_w = plain(f), shifted(f, weights=np.full(40, 0.7))
    y = f[:, None] + np.linspace(-3, 3, 13)
    np.testing.assert_array_equal(H_w.cdf(y), H.cdf(y))
    np.testing.assert_array_equal(H_w.ppf(0.3), H.ppf(0.3))
    near = TOLERANCES["curved"].integrals * np.max(H.ppf(0.8) - H.ppf(0.2))
    for found, wanted in ((H_w.mean(), H.mean()), (H_w.std(), H.std()), (H_w.crps(f), H.crps(f))):
        np.testing.assert_allclose(found, wanted, rtol=0, atol=near)
    assert shifted.guarantee.epsilon == pytest.approx(plain.guarantee.epsilon, rel=1e-12)


def test_a_whole_weight_is_so_many_equal_scores_on_the_inside():
    """F_w of Naive with weights 1, 2, 3 is that of the scores written so often."""
    weighted, plain = Naive().fit([1.0, 2.0, 3.0], weights=[1.0, 2.0, 3.0]), Naive().fit([1.0, 2, 2, 3, 3, 3])
    y = np.linspace(0, 4, 33)
    np.testing.assert_allclose(weighted.cdf(y), plain.cdf(y), rtol=1e-15)


@pytest.mark.parametrize("name", INTERPOLATORS)
def test_the_order_of_the_rows_and_rows_without_weight_do_not_matter(name):
    w = np.where(np.arange(20) % 3 == 0, 0.0, W[:20])
    q = INTERPOLATORS[name].fit(SCORES, weights=w)
    other = INTERPOLATORS[name].fit(SCORES[::-1].copy(), weights=w[::-1].copy())
    few = INTERPOLATORS[name].fit(SCORES[w > 0], weights=w[w > 0])
    y = np.linspace(-3, 3, 61)
    np.testing.assert_allclose(other.cdf(y), q.cdf(y), rtol=1e-11)  # sums of weights round
    np.testing.assert_allclose(few.cdf(y), q.cdf(y), rtol=1e-11)


def test_naf_is_held_to_the_weighted_levels():
    w = W[:100]
    scores = np.random.default_rng(1).standard_t(2, 100)
    for promise in (0.3, 2.0):
        weights = CalibrationWeights(w)
        q = NAF(promise=lambda n, promise=promise: promise).fit(scores, weights=weights)
        levels, wanted = q.cdf(np.sort(scores)), Linear().fit(scores, weights=weights).cdf(np.sort(scores))
        effective = np.sum(w) ** 2 / np.sum(w**2)
        assert np.abs(levels - wanted).max() <= promise / (effective + 1) + 1e-12


# ---- the distribution of a row
# -----------------------------------------------------------------------------------------------


def calibrated(pair, interpolator, n=20):
    case = PAIRS[pair]
    prediction = PREDICTIONS[case.prediction](HERE)
    model = Calibrator(case.score, INTERPOLATORS[interpolator]).fit(prediction[:n], Y[:n], weights=W[:n])
    return model, model(prediction[NEW], weights=RATIOS, rng=np.random.default_rng(3))


def test_the_distribution_of_a_row_is_the_formula():
    """q_x = (1 - p_x) F_w + p_x tails at the scores, for Linear; and its tails are exponential with its own mass."""
    s, w = np.sort(SCORES), W[:20]
    ordered = w[np.argsort(SCORES)]
    q = Linear().fit(SCORES, weights=w)
    for ratio in RATIOS:
        distribution = q.for_rows(Context(1, weights=[ratio]))
        p = ratio / (w.sum() + ratio)
        F_w = (np.cumsum(ordered) - ordered / 2) / w.sum()
        np.testing.assert_allclose(distribution.cdf(s[None, :])[0], (1 - p) * F_w + p / 2, rtol=1e-13)
        mass = ((1 - p) * F_w + p / 2)[0]
        np.testing.assert_allclose(distribution.cdf(s[0] - float(q.base.lines.left[0])), mass * np.exp(-1), rtol=1e-13)


@pytest.mark.few
@pytest.mark.parametrize("interpolator", ["linear", "linear, bounded", "linear, infinite", "naive", "naf", "random"])
@pytest.mark.parametrize("pair", ["residual", "quantile", "cdf of normal", "cdf of laplace", "log", "signed residual"])
def test_weighted_rows_keep_the_distributions_of_a_distribution(pair, interpolator):
    check_distribution(calibrated(pair, interpolator)[1])


def test_folds_mix_weighted_distributions():
    f, noise = np.random.default_rng(2).normal(size=(2, 40))
    members = tuple(
        Calibrator().fit(f[part], (f + noise)[part], weights=W[:40][part]) for part in (slice(0, 20), slice(20, 40))
    )
    H = CrossCalibrated(members)([f, f], weights=W[:40])
    mean = np.mean([member(f, weights=W[:40]).cdf(f) for member in members], axis=0)
    np.testing.assert_allclose(H.cdf(f), mean, rtol=1e-14)
    assert np.all(np.isfinite(H.crps(f)))


# ---- the shift, mended ----------------------------------------------------------------------------------------------
# x ~ N(0, 1) calibrates, x ~ N(1, 1) comes; the noise of y - x depends on x. The model says x, and w(x) = exp(x - 1/2).


def spread(x):
    return np.where(x > 0.5, 2.0, 0.6)


def ratio(x):
    return np.exp(x - 0.5)


def sup_error(interpolator, *, weighted, repetitions=400, n=200, seed=11):
    """sup over levels of |mean over calibration sets of P(H(Y) <= c) - c|, and its standard error."""
    rng = np.random.default_rng(seed)
    levels = np.arange(1, 40) / 40
    shares = np.zeros((repetitions, levels.size))
    largest = np.zeros(repetitions)
    for k in range(repetitions):
        x, x_new = rng.normal(size=n), 1 + rng.normal(size=50)
        y, y_new = x + spread(x) * rng.normal(size=n), x_new + spread(x_new) * rng.normal(size=50)
        known, asked = ({"weights": ratio(x)}, {"weights": ratio(x_new)}) if weighted else ({}, {})
        model = Calibrator(None, interpolator).fit(x, y, **known)
        level = model(x_new, **asked, rng=rng).cdf(y_new)
        shares[k] = np.mean(level[:, None] <= levels, axis=0)
        w, w_new = ratio(x), ratio(x_new)
        largest[k] = np.mean(np.maximum(w.max(), w_new) / (w.sum() + w_new))
    error = np.abs(shares.mean(axis=0) - levels).max()
    return error, 4 * shares.std(axis=0).max() / np.sqrt(repetitions), largest.mean()


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("interpolator", "repetitions"),
    [(Linear(), 50), (Random(), 400), (Linear(), 400), (Naive(), 400), (NAF(), 100)],
    ids=["linear, a few", "random", "linear", "naive", "naf"],
)
def test_known_ratios_mend_a_shift(interpolator, repetitions):
    plain, noise, _ = sup_error(interpolator, weighted=False, repetitions=min(repetitions, 100))
    assert plain > 0.07 + noise
    error, noise, largest = sup_error(interpolator, weighted=True, repetitions=repetitions)
    slack = 0.5 * 100**0.5 / 100 if isinstance(interpolator, NAF) else 0.0
    bound = 0.0 if isinstance(interpolator, Random) else largest + slack
    assert error <= bound + noise
    assert repetitions < 400 or noise < 0.02


def test_ties_under_a_shift_are_exact_with_random():
    rng = np.random.default_rng(5)
    levels, shares = np.arange(1, 20) / 20, []
    for _ in range(600):
        x, x_new = rng.normal(size=60), 1 + rng.normal(size=40)
        y, y_new = np.round(spread(x) * rng.normal(size=60)), np.round(spread(x_new) * rng.normal(size=40))
        model = Calibrator(None, Random()).fit(np.zeros(60), y, weights=ratio(x))
        H = model(np.zeros(40), weights=ratio(x_new), rng=rng)
        shares.append(np.mean(H.cdf(y_new)[:, None] <= levels, axis=0))
    error = np.abs(np.mean(shares, axis=0) - levels)
    assert np.all(error <= 4 * np.std(shares, axis=0) / np.sqrt(600))


def test_the_guarantee_estimates_the_expected_largest_share():
    rng = np.random.default_rng(3)
    estimated, true = [], []
    for _ in range(300):
        x, x_new = rng.normal(size=200), 1 + rng.normal(size=200)
        w, w_new = ratio(x), ratio(x_new)
        estimated.append(Calibrator().fit(x, x + rng.normal(size=200), weights=w).guarantee.epsilon)
        true.append(np.mean(np.maximum(w.max(), w_new) / (w.sum() + w_new)))
    assert np.mean(estimated) == pytest.approx(np.mean(true), rel=0.1)


def test_the_guarantee_says_what_is_exact_bounded_and_unknown():
    f, noise = np.random.default_rng(0).normal(size=(2, 100))
    linear, random = (
        Calibrator(None, each).fit(f, f + noise, weights=W[:100]).guarantee for each in (Linear(), Random())
    )
    assert (linear.kind, random.kind) == ("weighted", "weighted, exact")
    assert random.epsilon == 0
    assert linear.effective_n == pytest.approx(W[:100].sum() ** 2 / np.sum(W[:100] ** 2))
    assert "adds to the bound" in str(linear)
    assert "P(H(Y) <= c) = c for every c" in str(random)


# ---- what goes wrong ------------------------------------------------------------------------------------------------


BAD = [
    ([1.0, -2.0, 1.0], r"weights is negative in row 1 \(the only such row\)"),
    ([1.0, 2.0], "weights must have one row for each of the 3 rows of the prediction, got 2"),
    ([1.0, np.nan, np.nan], r"weights is NaN or infinite in row 1 \(2 rows in all\)"),
    ([1.0, np.inf, 1.0], "weights is NaN or infinite in row 1"),
    (["a", "b", "c"], "weights must hold real numbers"),
    ([[1.0], [2.0], [3.0]], "weights must be 1-d"),
]


@pytest.mark.parametrize(("weights", "said"), [*BAD, ([0.0, 0.0, 0.0], "weights must not all be zero, got 3 zeros")])
@pytest.mark.parametrize("interpolator", [Linear(), Random()])
def test_bad_weights_of_calibration_rows(interpolator, weights, said):
    with pytest.raises((ValueError, TypeError), match=said) as error:
        Calibrator(None, interpolator).fit([1.0, 2.0, 3.0], [1.0, 2.5, 3.1], weights=weights)
    one_sentence(error)


@pytest.mark.parametrize(("weights", "said"), [*BAD, (None, "weighted by likelihood ratios: pass weights=, those of")])
@pytest.mark.parametrize("interpolator", [Linear(), Naive(), Random()])
def test_bad_weights_of_new_rows(interpolator, weights, said):
    model = Calibrator(None, interpolator).fit([1.0, 2.0, 3.0], [1.0, 2.5, 3.1], weights=[1.0, 2.0, 1.0])
    with pytest.raises((ValueError, TypeError), match=said) as error:
        model([1.0, 2.0, 3.0], weights=weights)
    one_sentence(error)


def test_rows_that_no_calibration_row_is_like_are_counted():
    model = Calibrator().fit(np.arange(9.0), np.sin(np.arange(9.0)), weights=np.ones(9))
    with pytest.warns(
        UserWarning, match=r"weights of 2 rows, the first is row 1, are larger than those of all calibrat"
    ):
        model(np.zeros(4), weights=[1.0, 9.5, 9.0, 1e9])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        model(np.zeros(2), weights=[0.0, 9.0])


def test_one_score_and_equal_scores_work_with_weights():
    with pytest.warns(UserWarning, match="there is only one calibration row"):
        model = Calibrator().fit([1.0], [2.0], weights=[3.0])
    assert model([0.0], weights=[3.0]).cdf(1.0) == 0.5
    with pytest.warns(UserWarning, match="all scores are equal"):
        model = Calibrator(None, NAF()).fit([1.0, 2.0], [2.0, 3.0], weights=[3.0, 1.0])
    assert 0 < model([0.0], weights=[3.0]).cdf_left(1.0)[0] < 1


def test_the_picture_of_scores_refuses_weighted_ones():
    pytest.importorskip("matplotlib")
    f, noise = np.random.default_rng(0).normal(size=(2, 20))
    model = Calibrator().fit(f, f + noise, weights=W[:20])
    with pytest.raises(ValueError, match="those that calibrated here have weights"):
        calibrant.plots.scores(model, f, f + noise)


# ---- files, evaluate, report ----------------------------------------------------------------------------------------


def test_evaluate_and_report_take_a_weighted_distribution():
    rng = np.random.default_rng(4)
    x, x_new = rng.normal(size=500), 1 + rng.normal(size=2000)
    y, y_new = x + spread(x) * rng.normal(size=500), x_new + spread(x_new) * rng.normal(size=2000)
    model = Calibrator().fit(Normal(x, 1.0), y, weights=ratio(x))
    H = model(Normal(x_new, 1.0), weights=ratio(x_new))
    found = evaluate(H, y_new)
    assert abs(found.coverage - 0.9) < 0.05
    page = calibrant.report(H, y_new, base=Normal(x_new, 1.0), guarantee=model.guarantee)
    assert "effective number" in page.html


@pytest.mark.parametrize("interpolator", [Linear(), Naive(), Random(), NAF()], ids=repr)
def test_an_interpolator_wants_a_weight_for_each_score(interpolator):
    with pytest.raises(ValueError, match="weights must have one row for each of the 4 rows of scores, got 3"):
        interpolator.fit([0.0, 1.0, 2.0, 3.0], weights=[1.0, 1.0, 1.0])
