"""Laws that hold for every distribution and for every combination of prediction, score and interpolator."""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pytest
from catalogue import (
    BENDS,
    CALIBRATION,
    COMBINATIONS,
    DISTRIBUTIONS,
    HERE,
    INTERPOLATORS,
    LATTICES,
    LOC,
    NUMPY_ONLY,
    PAIRS,
    PREDICTIONS,
    ROWS,
    SCALE,
    SCORES,
    SHIFTLESS,
    UNITLESS,
    H,
    World,
    Y,
    calibrated,
    cases,
    has_infinite_mass,
    lattice_of,
    mass_of_atoms,
    predicted,
)
from hypothesis import given, settings
from hypothesis import strategies as st

from calibrant import Calibrator, Normal, Point, concatenate
from calibrant.interpolators import BoundedTails, ExponentialTails, Linear, Naive, Random

# ---- every law by name, and what is known about it -----------------------------------------------------------------


@cache
def law(name):
    return H(*COMBINATIONS[name]) if name in COMBINATIONS else DISTRIBUTIONS[name](HERE)


def interpolator_of(name):
    if name in COMBINATIONS:
        return COMBINATIONS[name][1]
    for start in ("q of ", "weighted q of ", "rows of a weighted "):
        if name.startswith(start):
            return name.removeprefix(start).removesuffix(" on logits")
    return ""


def atoms(name):
    """The mass on single points; None where it depends on the row."""
    if name in LATTICES:
        return 1.0
    if name in COMBINATIONS:
        return mass_of_atoms(*COMBINATIONS[name])
    if interpolator_of(name) and name not in UNITLESS:
        return mass_of_atoms("residual", interpolator_of(name))
    return None if "clipped" in name else 0.0


def is_infinite(name):
    if name in COMBINATIONS:
        return has_infinite_mass(*COMBINATIONS[name])
    return name in ("q of linear, infinite", "q of random")


def is_smoothed(name):
    """Random's CDF at an atom lies between its limits, so that it is calibrated under ties."""
    return interpolator_of(name).startswith("random")


ALL = [*DISTRIBUTIONS, *COMBINATIONS]
FINITE = [name for name in ALL if not is_infinite(name)]
every_law = pytest.mark.parametrize("name", cases(ALL))
every_finite_law = pytest.mark.parametrize("name", cases(FINITE))
every_distribution = pytest.mark.parametrize("name", DISTRIBUTIONS)
every_combination = pytest.mark.parametrize("name", cases(COMBINATIONS))
every_pair = pytest.mark.parametrize("pair", PAIRS)

P = np.sort(np.concatenate([[1e-6, 1e-3, 1 - 1e-3, 1 - 1e-6], np.linspace(0.011, 0.989, 23)]))


def quantiles(H, p=P):
    """(n, k), also for a single law."""
    return np.atleast_2d(H.quantiles(p))


@cache
def at_P(name):
    return quantiles(law(name))


def finite_at_P(name):
    """The quantiles, with the median in place of those at the ends of the line or of a user's score."""
    q = at_P(name)
    end = np.reshape(law(name).ppf(0.0), (-1, 1)) if is_infinite(name) else np.nan
    inside = np.isfinite(q) & (q != end)
    return np.where(inside, q, np.median(q, axis=1, keepdims=True))


@cache
def bends(name):
    """Every y at which the CDF or the density may bend or jump: the prediction's own, and those of q, the scores."""
    rows = len(at_P(name))
    if name in LATTICES or name == "a spread poisson":
        step, first = lattice_of(name)
        return np.broadcast_to(first + step * np.arange(500), (rows, 500))
    if name in COMBINATIONS:
        scores = H(COMBINATIONS[name][0], "naive").quantiles((np.arange(20) + 0.5) / 20)
        return np.concatenate([scores, BENDS[CALIBRATION:]], axis=1)
    if "weighted" in name or name.startswith("q of "):
        return np.broadcast_to(np.sort(SCORES), (rows, len(SCORES)))
    if name == "joined, calibrated and clipped":
        scores = [H(pair, "naive").quantiles((np.arange(20) + 0.5) / 20) for pair in ("quantile", "residual")]
        return np.concatenate([*scores, BENDS[CALIBRATION:], np.broadcast_to([18.0, 25.0], (rows, 2))], axis=1)
    if name == "clipped normal":
        return np.broadcast_to([18.0, 21.0], (rows, 2))
    return BENDS[CALIBRATION:] if rows == ROWS else np.zeros((rows, 0))


def on_rows(H, method, y):
    """A method at (n, k) values; a single law takes them as they are."""
    return getattr(H, method)(y)


def spread(H):
    q = quantiles(H, np.array([0.1, 0.9]))
    return q[:, 1:] - q[:, :1]


# ---- a CDF ---------------------------------------------------------------------------------------------------------


@every_law
def test_the_cdf_never_decreases_and_lies_between_0_and_1(name):
    H, finite = law(name), finite_at_P(name)
    y = np.sort(np.concatenate([finite, (finite[:, 1:] + finite[:, :-1]) / 2], axis=1), axis=1)
    F = on_rows(H, "cdf", y)
    assert np.all(np.diff(F, axis=1) >= -1e-15)
    assert np.all((F >= 0) & (F <= 1))


@every_law
def test_the_cdf_runs_from_0_to_1(name):
    H = law(name)
    if name in COMBINATIONS and COMBINATIONS[name][0] == "log ratio":
        return  # the user's log takes positive labels alone
    lowest, highest = H.cdf(-np.inf), H.cdf(np.inf)
    np.testing.assert_allclose(highest, np.ones(H.shape), rtol=1e-14)
    if not is_infinite(name):
        np.testing.assert_array_equal(lowest, np.zeros(H.shape))


@every_law
def test_sf_is_one_minus_cdf(name):
    H, y = law(name), finite_at_P(name)
    np.testing.assert_allclose(on_rows(H, "sf", y), 1 - on_rows(H, "cdf", y), rtol=0, atol=2e-15)


@every_law
def test_ppf_is_the_generalised_inverse_of_the_cdf(name):
    """The smallest y with cdf(y) >= p; y moves by a few roundings either way, since an atom is a single float."""
    H, y = law(name), at_P(name)
    tolerance = 1e-9 if "naf" in name else 1e-12
    finite = np.isfinite(y)
    assert finite.all() or is_infinite(name)
    p = np.broadcast_to(P, y.shape)
    at = finite_at_P(name)
    finite &= at == y
    centre = np.abs(np.median(y, axis=1, keepdims=True)) + spread(H)
    step = 8 * np.finfo(float).eps * (np.abs(at) + np.where(np.isfinite(centre), centre, 0.0))
    above, below = on_rows(H, "cdf", at + step), on_rows(H, "cdf", at - step)
    assert np.all((above >= p - tolerance)[finite])
    assert np.all((below <= p + tolerance)[finite])
    if atoms(name) == 0:
        np.testing.assert_allclose(on_rows(H, "cdf", y), p, rtol=0, atol=tolerance)


@every_law
def test_quantiles_increase(name):
    assert np.all(at_P(name)[:, 1:] >= at_P(name)[:, :-1])


@every_law
def test_median_interval_and_quantiles_agree_with_ppf(name):
    H = law(name)
    np.testing.assert_array_equal(H.median(), H.ppf(0.5))
    lower, upper = H.interval(0.8)
    np.testing.assert_array_equal(lower, H.ppf((1 - 0.8) / 2))
    np.testing.assert_array_equal(upper, H.ppf((1 + 0.8) / 2))
    table = H.quantiles([0.1, 0.5])
    assert table.shape == (*H.shape, 2)
    np.testing.assert_array_equal(table[..., 1], H.median())


# ---- a density -----------------------------------------------------------------------------------------------------


@every_law
def test_logpdf_is_the_log_of_the_slope_of_the_cdf(name):
    H = law(name)
    if atoms(name) == 1:
        return
    y = np.sort(np.concatenate([finite_at_P(name), bends(name)], axis=1), axis=1)
    y = (0.37 * y[:, :-1] + 0.63 * y[:, 1:])[:, 5:-5]  # between the bends
    h = 1e-3 * np.min(np.diff(y, axis=1), axis=1, keepdims=True, where=np.diff(y, axis=1) > 1e-3, initial=1e-2)
    slope = (on_rows(H, "cdf", y + h) - on_rows(H, "cdf", y - h)) / (2 * h)
    smooth = np.min(np.abs(y[:, :, None] - bends(name)[:, None, :]), axis=2, initial=1.0) > 2 * h
    assert smooth.sum() > 10
    pdf = np.atleast_2d(on_rows(H, "pdf", y))
    np.testing.assert_allclose(pdf[smooth], slope[smooth], rtol=1e-4, atol=1e-7)


# ---- integrals -----------------------------------------------------------------------------------------------------


@every_finite_law
def test_crps_is_not_negative_and_grows_like_a_distance(name):
    H = law(name)
    q = quantiles(H, np.array([0.001, 0.2, 0.5, 0.8, 0.999]))
    far = q[:, -1:] + 1e3 * spread(H)
    crps = on_rows(H, "crps", np.concatenate([q, far, far + 1.0], axis=1))
    assert np.all(crps >= 0)
    np.testing.assert_allclose(crps[:, -1] - crps[:, -2], 1.0, rtol=2e-3)


@pytest.mark.parametrize("name", cases(name for name in ALL if is_infinite(name)))
def test_mass_at_infinity_makes_the_mean_nan_and_std_and_crps_infinite(name):
    H = law(name)
    bounded_below = np.isfinite(H.ppf(0.0))  # then no mass is at -inf, and the mean is +inf
    assert np.all(np.where(bounded_below, H.mean() == np.inf, np.isnan(H.mean())))
    assert np.all(np.isinf(H.std()))
    assert np.all(np.isinf(H.crps(20.0)))


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


@every_distribution
@pytest.mark.parametrize("stretch", [1.0, 1e12, 1e-12])
def test_distributions_move_and_stretch_with_the_unit(name, stretch):
    if name in UNITLESS:
        return
    shift = 0.0 if name in SHIFTLESS else 7.0 * stretch
    compare_units(DISTRIBUTIONS[name](World(stretch=stretch, shift=shift)), law(name), stretch, shift)


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


@every_law
def test_a_batch_takes_0d_1d_and_2d_arguments_by_the_shape_rule(name):
    H = law(name)
    y = np.asarray(H.ppf(0.4))
    y = np.where(np.isfinite(y), y, 20.0)
    if not H.shape:
        for shape in ((), (3,), (2, 3), (2, 2, 2)):
            assert H.cdf(np.full(shape, y)).shape == shape
        return
    n = len(H)
    table = y[:, None] + np.array([[0.0, 0.1, 0.3]])
    for method in ("cdf", "sf", *(("logpdf", "pdf") if H.lattice is None else ("logpmf", "pmf"))):
        call = getattr(H, method)
        assert call(y[0]).shape == (n,)
        assert call(y).shape == (n,)
        assert call(table).shape == (n, 3)
        assert call(table[:1]).shape == (n, 3)
        np.testing.assert_allclose(call(table)[:, 0], call(y), rtol=1e-13)
        np.testing.assert_allclose(call(table[:1])[:, 1], call(table[0, 1]), rtol=1e-13)
        for wrong in (np.zeros(n + 1), np.zeros((n + 1, 2)), np.zeros((1, 1, 1))):
            with pytest.raises(ValueError, match=r"(row|value) for each|0-, 1- or 2-d"):
                call(wrong)
    assert H.ppf(np.full((n, 2), 0.5)).shape == (n, 2)


def rows_agree(part, whole, index, rtol=1e-12):
    y = np.asarray(whole.ppf(0.43))
    y = np.where(np.isfinite(y), y, 20.0) + 0.01
    for method in ("cdf", "logpdf" if whole.lattice is None else "logpmf"):
        np.testing.assert_allclose(getattr(part, method)(y[index]), getattr(whole, method)(y)[index], rtol=rtol)
    np.testing.assert_allclose(part.ppf(0.7), whole.ppf(0.7)[index], rtol=rtol)


BATCHES = [*(name for name in DISTRIBUTIONS if law(name).shape), *COMBINATIONS]


@pytest.mark.parametrize("name", cases(BATCHES))
def test_slicing_commutes_with_every_method(name):
    H = law(name)
    for index in (np.array([True, False, True, False, True]), [0, 3], np.array([4, 0, 0]), slice(1, 4, 2)):
        rows_agree(H[index], H, np.arange(ROWS)[index])


@pytest.mark.parametrize("name", cases(BATCHES))
def test_an_integer_gives_one_law_and_an_empty_slice_none(name):
    H = law(name)
    for row in (0, 2, -1):
        assert H[row].shape == ()
        rows_agree(H[row], H, row)
    with pytest.raises(IndexError):
        H[len(H)]
    assert H[:0].cdf(np.zeros(0)).shape == (0,)


@pytest.mark.parametrize("name", cases(name for name in BATCHES if name in FINITE))
def test_slicing_commutes_with_mean_std_and_crps(name):
    H = law(name)
    y = Y[CALIBRATION:]
    mean, std, crps = H.mean(), H.std(), H.crps(y)
    for index in ([3, 1], 2):
        part = H[index]
        np.testing.assert_allclose(part.mean(), mean[index], rtol=1e-12)
        np.testing.assert_allclose(part.std(), std[index], rtol=1e-12)
        np.testing.assert_allclose(part.crps(y[index]), crps[index], rtol=1e-12)


@pytest.mark.parametrize("name", cases(BATCHES))
def test_concatenating_slices_gives_the_whole_back(name):
    H = law(name)
    rows_agree(concatenate([H[:2], H[2:3], H[3:]]), H, slice(None))


@pytest.mark.parametrize("name", [name for name in PREDICTIONS if any(c.prediction == name for c in PAIRS.values())])
def test_predictions_slice_concatenate_and_print_themselves(name):
    prediction = PREDICTIONS[name](HERE)
    joined = concatenate([prediction[:3], prediction[3:]])
    assert len(joined) == len(prediction) == CALIBRATION + ROWS
    pair = next(pair for pair in PAIRS if PAIRS[pair].prediction == name)
    score = PAIRS[pair].score
    np.testing.assert_array_equal(score(joined, Y), score(prediction, Y))
    np.testing.assert_array_equal(score(prediction[[2]], Y[2:3]), score(prediction, Y)[2:3])
    assert repr(prediction).startswith(type(prediction).__name__)


@every_law
def test_a_law_prints_itself_in_one_line(name):
    H = law(name)
    assert "\n" not in repr(H)
    assert repr(H).startswith(type(H).__name__)
    assert not H.shape or f"n={len(H)}" in repr(H)


# ---- calibration ---------------------------------------------------------------------------------------------------


@every_combination
def test_the_cdf_is_q_of_the_score(name):
    pair, interpolator = COMBINATIONS[name]
    if interpolator.startswith("random"):
        return  # q is another one in each row
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)[CALIBRATION:]
    model = calibrated(pair, interpolator)
    y = Y[CALIBRATION:]
    np.testing.assert_allclose(law(name).cdf(y), model.q.cdf(model.score(prediction, y)), rtol=1e-12)


@every_pair
def test_tails_make_no_difference_to_a_cdf_score(pair):
    first, *others = (H(pair, name).quantiles(P) for name in ("linear", "linear, bounded", "linear, infinite"))
    inner = (P > 1 / 20) & (P < 19 / 20)
    for other in others:
        np.testing.assert_array_equal(other[:, inner], first[:, inner])
    if f"{pair}; linear, bounded" not in COMBINATIONS:
        np.testing.assert_array_equal(others[0], first)


# ---- samples -------------------------------------------------------------------------------------------------------


@every_law
def test_samples_are_the_same_for_the_same_rng(name):
    H = law(name)
    one, two = (H.sample(7, rng=np.random.default_rng(1)) for _ in range(2))
    assert one.shape == (*H.shape, 7)
    np.testing.assert_array_equal(one, two)
    other = H.sample(7, rng=np.random.default_rng(2))
    assert not np.array_equal(one, other)


@every_finite_law
def test_samples_have_the_mean_of_the_law(name):
    H = law(name)
    draws = H.sample(100, rng=np.random.default_rng(0))
    z = (draws.mean(axis=-1) - np.asarray(H.mean())) / np.asarray(H.std()) * 10
    assert np.all(np.abs(z) < 5)


# ---- clip ----------------------------------------------------------------------------------------------------------


@every_law
def test_a_clipped_law_is_that_of_the_clipped_label(name):
    H = law(name)
    low, high = float(np.median(H.ppf(0.15))), float(np.median(H.ppf(0.8)))
    C = H.clip(low, high)
    assert C.shape == H.shape
    np.testing.assert_array_equal(quantiles(C), np.clip(at_P(name), low, high))
    y = np.linspace(low - 1, high + 1, 7)[None, :] + 1e-4
    inside = np.clip(y, low, high)
    F = np.where(y < low, 0.0, np.where(y >= high, 1.0, on_rows(H, "cdf", inside)))
    np.testing.assert_allclose(on_rows(C, "cdf", y), F, rtol=1e-13)
    if C.lattice is None:
        np.testing.assert_array_equal(on_rows(C, "logpdf", y)[:, [0, -1]], -np.inf)


def test_clipping_with_crossed_bounds_raises():
    with pytest.raises(ValueError, match="clip needs lower < upper, got 1"):
        law("normal").clip(1.0, 1.0)


def test_clipping_on_one_side_leaves_the_other_alone():
    clipped = law("residual; linear").clip(lower=15.0)
    np.testing.assert_array_equal(clipped.ppf(0.999), law("residual; linear").ppf(0.999))


# ---- what hypothesis finds -----------------------------------------------------------------------------------------

quick = settings(max_examples=40, deadline=None)
values = st.floats(-1e3, 1e3).map(lambda v: round(v, 1))  # a coarse grid, so that there are ties
labels = st.lists(values, min_size=1, max_size=12)
units = st.sampled_from([1e-12, 1e-3, 1.0, 1e6, 1e12])
interpolators = st.sampled_from(
    [Naive(), Linear(ExponentialTails()), Linear(BoundedTails()), Random(BoundedTails()), INTERPOLATORS["naf"]]
)


def fitted(interpolator, y, world=HERE):
    """Residuals of a prediction of 0."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="one score tells no scale|all scores are equal")
        calibrated = Calibrator(interpolator=interpolator).fit(Point(world.array(np.zeros(len(y)))), world.by(y))
    return calibrated(Point(world.array([1.0, 2.0])), rng=np.random.default_rng(0))


@quick
@given(labels, interpolators)
def test_ties_and_tiny_samples_give_laws(y, interpolator):
    H = fitted(interpolator, y)
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


@quick
@given(labels, interpolators, units)
def test_huge_and_tiny_units_change_nothing_else(y, interpolator, unit):
    here, there = fitted(interpolator, y), fitted(interpolator, y, World(stretch=unit))
    shift = np.array([[1.0], [2.0]])
    p = [0.113, 0.487, 0.911]
    scale = np.max(np.abs(y)) + 1e-9
    np.testing.assert_allclose(
        (there.quantiles(p) - shift) / unit, here.quantiles(p) - shift, rtol=1e-9, atol=(1e-9 + 1e-14 / unit) * scale
    )


@quick
@given(labels, interpolators)
def test_float32_stays_float32_and_close_to_float64(y, interpolator):
    here = fitted(interpolator, np.float32(y).astype(np.float64))
    there = fitted(interpolator, y, World(array=lambda v: np.asarray(v, dtype=np.float32)))
    scale = 1 + np.max(np.abs(y))
    for result, truth in (
        (there.ppf(0.37), here.ppf(0.37)),
        (there.mean(), here.mean()),
        (there.std(), here.std()),
        (there.crps(3.25), here.crps(3.25)),
    ):
        assert result.dtype == np.float32
        np.testing.assert_allclose(result, truth, rtol=1e-4, atol=1e-4 * scale)


@every_combination
def test_float32_in_gives_float32_out_within_1e_4(name):
    pair, interpolator = COMBINATIONS[name]
    if pair in NUMPY_ONLY:
        return  # scipy.stats works in float64
    there = predicted(pair, interpolator, world=World(array=lambda v: np.asarray(v, dtype=np.float32)))
    here = law(name)
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


def test_no_test_rows_give_no_laws():
    H = Calibrator().fit(Normal(LOC[:9], SCALE[:9]), Y[:9])(Normal(LOC[:0], SCALE[:0]))
    assert len(H) == 0
    assert H.mean().shape == H.crps(np.zeros(0)).shape == (0,)
