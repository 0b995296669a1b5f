"""Distributions that hold for every distribution and for every combination of prediction, score and interpolator."""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pytest
from catalogue import (
    CALIBRATION,
    COMBINATIONS,
    DISTRIBUTIONS,
    HERE,
    INTERPOLATORS,
    LOC,
    NUMPY_ONLY,
    PAIRS,
    PREDICTIONS,
    ROWS,
    SCALE,
    SHIFTLESS,
    UGLY,
    UNITLESS,
    H,
    World,
    Y,
    calibrated,
    cases,
    has_infinite_mass,
    predicted,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Calibrator, Normal, Point, concatenate
from calibrant.interpolators import BoundedTails, ExponentialTails, Linear, Naive, Random
from calibrant.testing import check_distribution

# ---- every distribution by name, and what is known about it
# -----------------------------------------------------------------


@cache
def distribution(name):
    return H(*COMBINATIONS[name]) if name in COMBINATIONS else DISTRIBUTIONS[name](HERE)


def is_infinite(name):
    if name in COMBINATIONS:
        return has_infinite_mass(*COMBINATIONS[name])
    return name in ("q of linear, infinite", "q of random")


ALL = [*DISTRIBUTIONS, *COMBINATIONS]
every_distribution = pytest.mark.parametrize("name", cases(ALL))
every_combination = pytest.mark.parametrize("name", cases(COMBINATIONS))
every_pair = pytest.mark.parametrize("pair", PAIRS)

P = np.linspace(0.011, 0.989, 23)


# ---- what a distribution is ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", cases([*ALL, *UGLY]))
def test_every_distribution_is_consistent_in_itself(name):
    """Shapes, increasing and invertible, slopes, integrals, clips, rows by themselves and pickles."""
    check_distribution(UGLY[name](HERE) if name in UGLY else distribution(name))


@every_distribution
def test_mass_lies_at_infinity_where_the_tails_put_it_and_nowhere_else(name):
    H = distribution(name)
    np.testing.assert_allclose(H.cdf(np.inf), np.ones(H.shape), rtol=1e-14)
    if is_infinite(name):
        bounded_below = np.isfinite(H.ppf(0.0))  # then no mass is at -inf, and the mean is +inf
        assert np.all(np.where(bounded_below, H.mean() == np.inf, np.isnan(H.mean())))
        assert np.all(np.isinf(H.std()))
        assert np.all(np.isinf(H.crps(20.0)))
    elif not name.startswith("log ratio"):  # the user's log takes positive labels alone
        np.testing.assert_array_equal(H.cdf(-np.inf), np.zeros(H.shape))
        assert np.all(np.isfinite(H.std()))


@pytest.mark.parametrize("name", ["normal", "poisson", "clipped normal", "joined", "residual; linear"])
def test_a_batch_takes_one_value_or_one_row_of_values_for_each_row(name):
    H = distribution(name)
    for wrong in (np.zeros(len(H) + 1), np.zeros((len(H) + 1, 2)), np.zeros((1, 1, 1))):
        with pytest.raises(ValueError, match=r"(row|value) for each|0-, 1- or 2-d"):
            H.cdf(wrong)
    with pytest.raises(IndexError):
        H[len(H)]
    assert H[:0].cdf(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("name", cases(name for name in ALL if distribution(name).shape))
def test_concatenating_slices_gives_the_whole_back(name):
    H = distribution(name)
    joined = concatenate([H[:2], H[2:3], H[3:]])
    np.testing.assert_allclose(joined.cdf(20.0), H.cdf(20.0), rtol=1e-12)
    np.testing.assert_allclose(joined.ppf(0.7), H.ppf(0.7), rtol=1e-12)


# ---- units ---------------------------------------------------------------------------------------------------------


def compare_units(there, here, stretch, shift, rtol=1e-9):
    """Y' = shift + stretch Y: F'(y') = F(y), Q' = shift + stretch Q, densities over stretch, lengths times stretch."""
    q = here.quantiles([0.03, 0.41, 0.93])
    finite = np.isfinite(q)
    width = np.ptp(np.where(finite, q, 20.0)) + 1e-3
    y = np.where(finite, q, 20.0) + 0.0123 * width
    moved = shift + stretch * y
    atol = 1e-9 + 1e-13 * abs(shift) / stretch
    np.testing.assert_allclose((there.quantiles([0.03, 0.41, 0.93]) - shift) / stretch, q, rtol=rtol, atol=atol * width)
    np.testing.assert_allclose(there.cdf(moved), here.cdf(y), rtol=0, atol=atol)
    if here.lattice is None:
        np.testing.assert_allclose(there.logpdf(moved) + math.log(stretch), here.logpdf(y), rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose((there.mean() - shift) / stretch, here.mean(), rtol=rtol, atol=atol * width)
    np.testing.assert_allclose(there.std() / stretch, here.std(), rtol=1e-8)
    np.testing.assert_allclose(there.crps(moved) / stretch, here.crps(y), rtol=1e-8)


@pytest.mark.parametrize("name", DISTRIBUTIONS)
@pytest.mark.parametrize("stretch", [1.0, 1e12, 1e-12])
def test_distributions_move_and_stretch_with_the_unit(name, stretch):
    if name in UNITLESS:
        return
    shift = 0.0 if name in SHIFTLESS else 7.0 * stretch
    compare_units(DISTRIBUTIONS[name](World(stretch=stretch, shift=shift)), distribution(name), stretch, shift)


QUICK = ["naive", "linear", "random, bounded", "naf"]


@pytest.mark.few
@every_pair
@pytest.mark.parametrize("interpolator", QUICK)
@pytest.mark.parametrize("stretch", [1e12, 1e-12])
def test_the_unit_of_y_changes_nothing_but_the_unit_of_the_result(pair, interpolator, stretch):
    case = PAIRS[pair]
    if f"{pair}; {interpolator}" not in COMBINATIONS:
        return
    stretch = stretch if case.stretches else 1.0
    shift = 7.0 * stretch if case.shifts else 0.0
    there = predicted(pair, interpolator, world=World(stretch=stretch, shift=shift))
    compare_units(there, H(pair, interpolator), stretch, shift, rtol=1e-7)


# ---- shapes and rows -----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", [name for name in PREDICTIONS if any(c.prediction == name for c in PAIRS.values())])
def test_predictions_slice_concatenate_and_print_themselves(name):
    prediction = PREDICTIONS[name](HERE)
    joined = concatenate([prediction[:3], prediction[3:]])
    assert len(joined) == len(prediction) == CALIBRATION + ROWS
    pair = next(pair for pair in PAIRS if PAIRS[pair].prediction == name)
    score = PAIRS[pair].score
    np.testing.assert_array_equal(score(joined, Y), score(prediction, Y))
    np.testing.assert_array_equal(score(prediction[[2]], Y[2:3]), score(prediction, Y)[2:3])
    assert repr(prediction).startswith(type(prediction).__name__) or "distribution of" in repr(prediction)


@every_distribution
def test_a_distribution_prints_itself_in_one_line(name):
    H = distribution(name)
    assert "\n" not in repr(H)
    assert "distribution" in repr(H) or repr(H).startswith("calibrated forecast")
    assert not H.shape or f" of {len(H)} row" in repr(H)


# ---- calibration ---------------------------------------------------------------------------------------------------


@every_combination
def test_the_cdf_is_q_of_the_score(name):
    pair, interpolator = COMBINATIONS[name]
    if interpolator.startswith("random"):
        return  # q is another one in each row
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[CALIBRATION:]
    model = calibrated(pair, interpolator)
    y = Y[CALIBRATION:]
    np.testing.assert_allclose(distribution(name).cdf(y), model.q.cdf(model.score(prediction, y)), rtol=1e-12)


@every_pair
def test_tails_make_no_difference_to_a_cdf_score(pair):
    first, *others = (H(pair, name).quantiles(P) for name in ("linear", "linear, bounded", "linear, infinite"))
    inner = (P > 1 / 20) & (P < 19 / 20)
    for other in others:
        np.testing.assert_array_equal(other[:, inner], first[:, inner])
    if f"{pair}; linear, bounded" not in COMBINATIONS:
        np.testing.assert_array_equal(others[0], first)


# ---- samples -------------------------------------------------------------------------------------------------------


@every_distribution
def test_samples_are_the_same_for_the_same_rng_and_have_the_mean_of_the_distribution(name):
    H = distribution(name)
    one, two, other = (H.sample(100, rng=np.random.default_rng(seed)) for seed in (1, 1, 2))
    assert one.shape == (*H.shape, 100)
    np.testing.assert_array_equal(one, two)
    assert not np.array_equal(one, other)
    if not is_infinite(name):
        z = (one.mean(axis=-1) - np.asarray(H.mean())) / np.asarray(H.std()) * 10
        assert np.all(np.abs(z) < 5)


# ---- few rows, ties and single precision ---------------------------------------------------------------------------

coarse = st.floats(-1e3, 1e3).map(lambda v: round(v, 1))  # so that there are ties
interpolators = st.sampled_from(
    [Naive(), Linear(ExponentialTails()), Linear(BoundedTails()), Random(BoundedTails()), INTERPOLATORS["naf"]]
)


@settings(max_examples=40, deadline=None)
@given(st.lists(coarse, min_size=1, max_size=12), interpolators)
def test_ties_and_tiny_samples_give_distributions(y, interpolator):
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="there is only one calibration row|all scores are equal")
        fitted = Calibrator(interpolator=interpolator).fit(Point(np.zeros(len(y))), y)
    H = fitted([1.0, 2.0], rng=np.random.default_rng(0))
    grid = np.sort(np.concatenate([np.asarray(y) + 1, np.linspace(-1100, 1100, 30)]))[None, :]
    F = H.cdf(grid)
    assert np.all(np.diff(F, axis=1) >= -1e-15)
    assert np.all((F >= 0) & (F <= 1))
    q = H.quantiles([0.02, 0.5, 0.98])
    assert np.all(np.diff(np.where(np.isinf(q), np.sign(q) * 1e300, q), axis=1) >= 0)
    crps = H.crps(0.5)
    assert np.all(crps >= -1e-9) or np.all(np.isinf(crps))
    assert not np.any(np.isnan(crps))
    assert not np.any(np.isnan(H.logpdf(0.25)))


@every_combination
def test_float32_in_gives_float32_out_within_1e_4(name):
    pair, interpolator = COMBINATIONS[name]
    if pair in NUMPY_ONLY:
        return  # scipy.stats works in float64
    there = predicted(pair, interpolator, world=World(array=lambda v: np.asarray(v, dtype=np.float32)))
    here = distribution(name)
    y = Y[CALIBRATION:].astype(np.float32)
    near = {"cdf": (y, 1e-4), "sf": (y, 1e-4), "ppf": (0.63, 1e-4 * 20), "pdf": (y, 1e-3)}
    for method, (argument, tolerance) in near.items():
        result = getattr(there, method)(argument)
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, getattr(here, method)(argument), rtol=1e-3, atol=tolerance)


@pytest.mark.few
@pytest.mark.parametrize("n", [1, 2])
@every_pair
@pytest.mark.parametrize("interpolator", ["naive", "linear", "random", "naf"])
def test_one_and_two_calibration_rows_are_enough(pair, interpolator, n):
    H = predicted(pair, interpolator, n)
    F = H.cdf(Y[CALIBRATION:])
    assert np.all((F >= 0) & (F <= 1))
    assert np.all(H.ppf(0.2) <= H.ppf(0.8))


def test_no_test_rows_give_no_distributions():
    H = Calibrator().fit(Normal(LOC[:9], SCALE[:9]), Y[:9])(Normal(LOC[:0], SCALE[:0]))
    assert len(H) == 0
    assert H.mean().shape == H.crps(np.zeros(0)).shape == (0,)
