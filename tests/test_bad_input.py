"""Nothing silently wrong: whatever comes in, one clear sentence names the argument, the first row and the count."""

import warnings

import numpy as np
import pytest
import scipy.stats as st

from calibrant import (
    Calibrator,
    Ensemble,
    Guarantee,
    HalfLife,
    Interval,
    Logistic,
    LogNormal,
    Mixture,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
    Window,
    concatenate,
    required_n,
    required_n_for_interval,
)
from calibrant.distributions import GaussianMixture, ZeroInflated, from_scipy
from calibrant.distributions.standard_families import Laplace
from calibrant.interpolators import BoundedTails, ExponentialTails, InfiniteTails, Linear, Naive, Random
from calibrant.interpolators.naf import NAF
from calibrant.intervals import AbsoluteResidual
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    LogScore,
    QuantileScore,
    ResidualScore,
    SamplesScore,
    ZScore,
    signed,
)

nan, inf = np.nan, np.inf
FOUR = [1.0, 2.0, 3.0, 4.0]
CALIBRATED = Calibrator().fit(FOUR, [1.1, 1.9, 3.3, 4.2])
H = CALIBRATED(FOUR)
LEVELS = [0.1, 0.5, 0.9]


def wide(values):
    """The values in each of three columns."""
    stack = np.ma.stack if isinstance(values, np.ma.MaskedArray) else np.stack
    return stack([values] * 3, axis=1)


# Every door that takes one number per row: how to knock, and the name its complaint must use.
DOORS = {
    "Point": (Point, "Point.values"),
    "a bare array": (lambda v: Calibrator().fit(v, FOUR), "Point.values"),
    "Interval.lower": (lambda v: Interval(v, [9.0] * 4), "Interval.lower"),
    "Interval.upper": (lambda v: Interval([-9.0] * 4, v), "Interval.upper"),
    "Quantiles": (lambda v: Quantiles(LEVELS, wide(v)), "Quantiles.values"),
    "Samples": (lambda v: Samples(wide(v)), "Samples.values"),
    "an ensemble's member": (lambda v: Ensemble([Point(FOUR), v]), "Point.values"),
    "an ensemble's weights": (lambda v: Ensemble([FOUR] * 4, weights=v), "Ensemble.weights"),
    "Normal.loc": (lambda v: Normal(v, np.ones(4)), "Normal.loc"),
    "Normal.scale": (lambda v: Normal(np.zeros(4), v), "Normal.scale"),
    "Logistic.loc": (lambda v: Logistic(v, np.ones(4)), "Logistic.loc"),
    "Logistic.scale": (lambda v: Logistic(np.zeros(4), v), "Logistic.scale"),
    "Laplace.loc": (lambda v: Laplace(v, np.ones(4)), "Laplace.loc"),
    "Laplace.scale": (lambda v: Laplace(np.zeros(4), v), "Laplace.scale"),
    "fit's y": (lambda v: Calibrator().fit(FOUR, v), "y"),
    "cdf's y": (lambda v: Calibrator(CDFScore()).fit(Normal(FOUR, 1.0), v), "y"),
    "random's y": (lambda v: Calibrator(CDFScore(), Random()).fit(Normal(FOUR, 1.0), v), "y"),
    "a score's y": (lambda v: ResidualScore()(Point(FOUR), v), "y"),
    "a calibrated's prediction": (CALIBRATED, "Point.values"),
    "Naive": (Naive().fit, "scores"),
    "Linear": (Linear().fit, "scores"),
    "Random": (Random().fit, "scores"),
    "NAF": (NAF().fit, "scores"),
    "cdf": (H.cdf, "y"),
    "sf": (H.sf, "y"),
    "pdf": (H.pdf, "y"),
    "logpdf": (H.logpdf, "y"),
    "crps": (H.crps, "y"),
    "ppf": (H.ppf, "p"),
    "quantiles": (H.quantiles, "levels"),
}
INFINITE_IS_FINE = {"cdf", "sf"}
MISSING_IS_FINE = {"fit's y", "cdf's y", "random's y"}
doors = pytest.mark.parametrize("door", DOORS)


def complaint(error, call, *arguments, **options):
    """What the error says: one sentence, on one line."""
    with pytest.raises(error) as raised:
        call(*arguments, **options)
    said = str(raised.value)
    assert "\n" not in said
    assert len(said) < 250
    return said


# ---- numbers that are none -------------------------------------------------------------------------------


@pytest.mark.parametrize("door", [door for door in DOORS if door not in MISSING_IS_FINE])
def test_nan_names_the_argument_the_first_row_and_the_count(door):
    knock, name = DOORS[door]
    said = complaint(ValueError, knock, np.array([0.5, 0.6, nan, nan]))
    assert said.startswith(f"{name} is NaN")
    assert "in row 2 (2 rows in all)" in said


@pytest.mark.parametrize("door", [door for door in DOORS if door not in INFINITE_IS_FINE])
@pytest.mark.parametrize("infinity", [inf, -inf])
def test_infinity_names_the_argument_the_first_row_and_the_count(door, infinity):
    knock, name = DOORS[door]
    said = complaint(ValueError, knock, np.array([0.5, infinity, 0.6, 0.7]))
    assert said.startswith(name)
    assert "infinite" in said
    assert "in row 1 (the only such row)" in said


@pytest.mark.parametrize("calibrator", [Calibrator(), Calibrator(interpolator=Naive())])
def test_cdf_and_sf_take_infinity(calibrator):
    distribution = calibrator.fit(FOUR, [1.1, 1.9, 3.3, 4.2])(FOUR)
    np.testing.assert_array_equal(distribution.cdf([-inf, inf, -inf, inf]), [0, 1, 0, 1])
    np.testing.assert_array_equal(distribution.sf([-inf, inf, -inf, inf]), [1, 0, 1, 0])


WRONG_KINDS = {
    "object": np.array([1.0, 2.0, None, 4.0], dtype=object),
    "numbers held as objects": np.array([0.1, 0.2, 0.3, 0.4], dtype=object),
    "string": np.array(["0.1", "0.2", "0.3", "0.4"]),
    "bool": np.array([True, False, True, True]),
    "complex": np.array([0.1, 0.2, 0.3, 0.4j]),
    "date": np.array(["2024-01-01"] * 4, dtype="datetime64[D]"),
}


@doors
@pytest.mark.parametrize("kind", WRONG_KINDS)
def test_a_wrong_dtype_names_the_argument_and_the_dtype(door, kind):
    knock, name = DOORS[door]
    values = WRONG_KINDS[kind]
    said = complaint(TypeError, knock, values)
    assert said.startswith(f"{name} must hold real numbers, got dtype")


@doors
def test_a_wrong_dtype_in_a_list_is_caught_as_in_an_array(door):
    knock, _ = DOORS[door]
    for values in (["a", "b", "c", "d"], [None] * 4, [True] * 4, [1j] * 4):
        complaint(TypeError, knock, values)


@doors
def test_a_masked_array_with_masked_entries_is_refused_not_read_through_its_mask(door):
    knock, name = DOORS[door]
    values = np.ma.masked_array([0.1, 0.2, 0.3, 0.4], mask=[False, False, True, False])
    said = complaint((TypeError, ValueError), knock, values)
    assert said.startswith(name)


def test_a_masked_array_without_masked_entries_is_an_array():
    assert len(Point(np.ma.masked_array(FOUR, mask=False))) == 4


@pytest.mark.parametrize("kind", ["bool", "complex64"])
def test_a_torch_tensor_of_a_wrong_dtype_names_the_argument(kind):
    torch = pytest.importorskip("torch")
    said = complaint(TypeError, Point, torch.ones(3, dtype=getattr(torch, kind)))
    assert said == f"Point.values must hold real numbers, got dtype torch.{kind}"


def test_nan_in_a_torch_tensor_names_the_argument_the_first_row_and_the_count():
    torch = pytest.importorskip("torch")
    said = complaint(ValueError, Point, torch.tensor([1.0, nan, nan]))
    assert said == "Point.values is NaN or infinite in row 1 (2 rows in all)"


@pytest.mark.parametrize("door", sorted(MISSING_IS_FINE))
def test_missing_labels_are_counted_and_left_out(door):
    with pytest.warns(UserWarning, match="y is missing in 2 of 4 rows, the first is row 2: they are left out"):
        DOORS[door][0](np.array([0.5, 0.6, nan, nan]))


def test_missing_labels_of_torch_are_left_out_too():
    torch = pytest.importorskip("torch")
    with pytest.warns(UserWarning, match="y is missing in 1 of 3 rows, row 1: it is left out"):
        found = Calibrator().fit(torch.arange(3.0), torch.tensor([1.0, nan, 2.5]))
    assert found.q.knots.tolist() == [0.5, 1.0]


def test_rows_of_unequal_length_are_named_as_such():
    assert complaint(ValueError, Samples, [[1.0], [1.0, 2.0]]).startswith("Samples.values must be an array of numbers")


def test_labels_of_another_array_library_are_named():
    torch = pytest.importorskip("torch")
    said = complaint(TypeError, Calibrator().fit, Point(FOUR), torch.ones(4))
    assert said.startswith("y is a torch array where numpy is expected")


def test_members_of_different_array_libraries_are_named():
    torch = pytest.importorskip("torch")
    said = complaint(TypeError, Ensemble, [Point([1.0, 2.0]), Point(torch.ones(2))])
    assert "Ensemble.members[1]" in said


# ---- shapes ----------------------------------------------------------------------------------------------

ONE_D = [d for d in DOORS if d not in {"Quantiles", "Samples", "cdf", "sf", "pdf", "logpdf", "crps", "ppf"}]


@pytest.mark.parametrize("door", ONE_D)
@pytest.mark.parametrize("shape", [(4, 1), (2, 2, 1)], ids=str)
def test_too_many_dimensions_name_the_argument_and_the_shape(door, shape):
    knock, name = DOORS[door]
    said = complaint(ValueError, knock, np.full(shape, 0.5))
    assert name.split(".")[0] in said
    assert str(shape) in said


@pytest.mark.parametrize("method", ["cdf", "sf", "pdf", "logpdf", "crps", "ppf"])
def test_a_length_that_does_not_fit_the_batch_raises(method):
    call = getattr(H, method)
    assert "4 rows of the batch, got 3" in complaint(ValueError, call, [0.5] * 3)
    assert "4 rows of the batch, got 3" in complaint(ValueError, call, np.full((3, 2), 0.5))
    assert "(4, 1, 1)" in complaint(ValueError, call, np.full((4, 1, 1), 0.5))
    assert call(np.full((1, 2), 0.5)).shape == (4, 2)


def test_an_array_of_a_length_that_does_not_fit_names_both_lengths():
    wanted = "y must have one row for each of the 4 rows of the prediction, got 3"
    assert complaint(ValueError, Calibrator().fit, FOUR, FOUR[:3]) == wanted
    assert complaint(ValueError, ResidualScore(), Point(FOUR), FOUR[:3]) == wanted
    assert "Interval.upper" in complaint(ValueError, Interval, FOUR, FOUR[:3])
    assert "Normal.scale" in complaint(ValueError, Normal, FOUR, FOUR[:3])
    assert "Ensemble.members[1]" in complaint(ValueError, Ensemble, [FOUR, FOUR[:3]])
    assert "Ensemble.weights" in complaint(ValueError, Ensemble, [FOUR, FOUR], [1.0])
    assert "2 levels, got 3" in complaint(ValueError, Quantiles, [0.1, 0.9], [[1.0, 2.0, 3.0]])


def test_a_prediction_by_quantiles_or_samples_must_be_2_d():
    assert "must be 2-d, got shape (4,)" in complaint(ValueError, Quantiles, [0.5], FOUR)
    assert "must be 2-d, got shape (4,)" in complaint(ValueError, Samples, FOUR)


def test_samples_without_columns_are_refused():
    assert complaint(ValueError, Samples, np.empty((3, 0))) == "Samples.values must have at least one column"


def test_a_mask_of_the_wrong_length_raises():
    assert "the mask" in complaint(ValueError, Point(FOUR).__getitem__, np.array([True, False]))
    assert "the mask" in complaint(ValueError, H.__getitem__, np.array([True, False]))


@pytest.mark.parametrize("batch", [Point(FOUR), H], ids=["prediction", "distribution"])
def test_a_row_that_is_not_there_raises(batch):
    with pytest.raises(IndexError):
        batch[4]
    with pytest.raises(IndexError):
        batch[-5]


# ---- nothing there ---------------------------------------------------------------------------------------


EMPTY = {
    "bare": [],
    "point": Point([]),
    "interval": Interval([], []),
    "quantiles": Quantiles(LEVELS, np.empty((0, 3))),
    "samples": Samples(np.empty((0, 3))),
    "ensemble": Ensemble([Point([]), Point([])]),
    "normal": Normal(np.empty(0), np.empty(0)),
}


@pytest.mark.parametrize("kind", EMPTY)
def test_calibration_on_zero_rows_raises(kind):
    assert complaint(ValueError, Calibrator().fit, EMPTY[kind], []) == "calibration needs at least one row, got none"


@pytest.mark.parametrize("interpolator", [Naive(), Linear(), Random(), NAF()], ids=lambda psi: type(psi).__name__)
def test_interpolation_of_zero_scores_raises(interpolator):
    assert complaint(ValueError, interpolator.fit, []) == "calibration needs at least one score, got none"


@pytest.mark.parametrize("kind", EMPTY)
def test_prediction_of_zero_rows_gives_zero_distributions(kind):
    some = {
        "bare": FOUR,
        "point": FOUR,
        "interval": Interval(FOUR, np.array(FOUR) + 1),
        "quantiles": Quantiles(LEVELS, np.array([[0.0, 1.0, 2.0]]) + np.array(FOUR)[:, None]),
        "samples": Samples(np.array([[0.0, 1.0, 2.0]]) + np.array(FOUR)[:, None]),
        "ensemble": Ensemble([FOUR, FOUR]),
        "normal": Normal(FOUR, 1.0),
    }[kind]
    distribution = Calibrator().fit(some, [1.1, 1.9, 3.3, 4.2])(EMPTY[kind])
    assert len(distribution) == 0
    assert (
        distribution.cdf([]).shape
        == distribution.crps([]).shape
        == distribution.mean().shape
        == distribution.std().shape
        == (0,)
    )
    assert distribution.quantiles(LEVELS).shape == (0, 3)


def test_an_ensemble_without_members_is_refused():
    assert "Ensemble.members" in complaint(ValueError, Ensemble, [])


def test_nothing_cannot_be_concatenated():
    assert "at least one" in complaint(ValueError, concatenate, [])


def test_different_kinds_cannot_be_concatenated():
    assert "Point with a Interval" in complaint(TypeError, concatenate, [Point(FOUR), Interval([0.0], [1.0])])
    complaint(ValueError, concatenate, [Quantiles([0.1], [[1.0]]), Quantiles([0.2], [[1.0]])])


# ---- levels ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "levels",
    [[0.5, 0.1, 0.9], [0.1, 0.5, 0.5], [0.0, 0.5, 0.9], [0.1, 0.5, 1.0], [-0.1, 0.5, 0.9], [0.1, 0.5, 90.0]],
    ids=str,
)
def test_levels_that_do_not_increase_strictly_inside_0_and_1_are_shown(levels):
    said = complaint(ValueError, Quantiles, levels, [[1.0, 2.0, 3.0]])
    assert said == f"Quantiles.levels must increase strictly inside (0, 1), got {[float(a) for a in levels]}"


def test_levels_that_are_no_1_d_array_of_numbers_are_named():
    for levels in ([], [0.1, nan, 0.9], 0.5, [[0.1, 0.5, 0.9]]):
        assert complaint(ValueError, Quantiles, levels, [[1.0, 2.0, 3.0]]).startswith("Quantiles.levels")
    for levels in (["a", "b", "c"], [True, False, True], None):
        assert complaint(TypeError, Quantiles, levels, [[1.0, 2.0, 3.0]]).startswith("Quantiles.levels")


@pytest.mark.parametrize("probability", [-0.1, 1.1, 90.0])
def test_probabilities_outside_0_and_1_are_named_with_row_and_count(probability):
    for call, name in ((H.ppf, "p"), (H.quantiles, "levels")):
        said = complaint(ValueError, call, [0.5, probability, 0.5, probability])
        assert said == f"{name} lies outside [0, 1] in row 1 (2 rows in all)"
    complaint(ValueError, H.ppf, probability)


def test_quantiles_want_a_list_of_levels():
    assert "levels must be 1-d" in complaint(ValueError, H.quantiles, 0.5)
    assert "levels must be 1-d" in complaint(ValueError, H.quantiles, [[0.5]])


# ---- a single number inside (0, 1) -----------------------------------------------------------------------

SHARES = {
    "interval": (H.interval, "coverage"),
    "required_n": (required_n, "epsilon"),
    "required_n's confidence": (lambda c: required_n(0.1, confidence=c), "confidence"),
    "required_n_for_interval": (required_n_for_interval, "coverage"),
    "conditional": (Guarantee(10, 0.0).conditional, "confidence"),
}


@pytest.mark.parametrize("door", SHARES)
@pytest.mark.parametrize("value", [0, 1, -0.5, 1.5, 90, nan, inf])
def test_a_share_outside_0_and_1_is_named_and_shown(door, value):
    call, name = SHARES[door]
    meant = ": did you mean 0.9?" if value == 90 else ""
    assert complaint(ValueError, call, value) == f"{name} must lie strictly inside (0, 1), got {value!r}{meant}"


@pytest.mark.parametrize("door", SHARES)
@pytest.mark.parametrize("value", ["0.9", "90%", [0.9], [0.5, 0.9], 0.9j, np.array([0.9])], ids=repr)
def test_a_share_that_is_not_one_number_is_named_and_shown(door, value):
    call, name = SHARES[door]
    said = complaint(TypeError, call, value)
    assert said.startswith(f"{name} must be one number inside (0, 1), got")


@pytest.mark.parametrize("door", SHARES)
def test_a_share_that_is_a_bool_is_refused(door):
    call, name = SHARES[door]
    assert complaint((TypeError, ValueError), call, True).startswith(name)


# ---- crossing and zero width -----------------------------------------------------------------------------

CROSSING = {
    "Interval": lambda: Interval([0.0, 3.0, 5.0], [1.0, 2.0, 4.0]),
    "Quantiles": lambda: Quantiles(LEVELS, [[1.0, 2.0, 3.0], [3.0, 2.0, 4.0], [5.0, 4.0, 3.0]]),
}
FLAT = {
    "Interval": lambda: Interval([0.0, 2.0, 4.0], [1.0, 2.0, 4.0]),
    "Quantiles": lambda: Quantiles(LEVELS, [[1.0, 2.0, 3.0], [3.0, 3.0, 3.0], [5.0, 5.0, 5.0]]),
    "Samples": lambda: Samples([[1.0, 2.0, 3.0], [4.0, 4.0, 4.0], [5.0, 5.0, 5.0]]),
    "Normal": lambda: Normal([0.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
    "Logistic": lambda: Logistic([0.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
    "Laplace": lambda: Laplace([0.0, 1.0, 2.0], [1.0, 0.0, 0.0]),
}


def warned(make):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        made = make()
    assert len(caught) == 1
    return made, caught[0]


@pytest.mark.parametrize("kind", CROSSING)
def test_crossing_is_sorted_and_counted_in_one_warning(kind):
    prediction, warning = warned(CROSSING[kind])
    assert str(warning.message).startswith(kind)
    assert "crosses in 2 rows, the first is row 1" in str(warning.message)
    values = prediction.values if kind == "Quantiles" else np.stack([prediction.lower, prediction.upper], axis=1)
    assert np.all(np.diff(values, axis=1) > 0)


OF_A_SCALE = ("Normal", "Logistic", "Laplace")  # a distribution must have one; the other kinds are left to their score


@pytest.mark.filterwarnings("ignore:.*has zero width")
@pytest.mark.parametrize("kind", FLAT)
def test_zero_width_is_counted_in_one_warning_by_fit_and_by_each_later_call(kind):
    prediction = FLAT[kind]()
    calibrated, of_fit = warned(lambda: Calibrator().fit(prediction, [0.5, 2.0, 4.5]))
    distribution, of_call = warned(lambda: calibrated(prediction))
    for warning in (of_fit, of_call):
        assert "Score: 2 rows, the first is row 1, have no width of their own" in str(warning.message)
        assert warning.filename == __file__
    assert np.all(distribution.ppf(0.6) > distribution.ppf(0.4))


@pytest.mark.parametrize("kind", OF_A_SCALE)
def test_zero_scale_is_lifted_and_counted_in_one_warning(kind):
    _, warning = warned(FLAT[kind])
    assert str(warning.message).startswith(kind)
    assert "zero width in 2 rows, the first is row 1" in str(warning.message)


def test_draws_that_are_equal_or_next_to_equal_stay_apart_in_the_score_without_a_word():
    draws = np.sort(np.random.default_rng(0).normal(5.0, 1.0, (1, 8)))
    draws[:, 4] = draws[:, 3]
    draws[:, 6] = np.nextafter(draws[:, 5], 99)
    for values in (draws, np.array([[1.0, 2.0, 2.0], [3.0, 3.0, 7.0]])):
        knots = SamplesScore().transform_of(Samples(values)).values
        assert np.all(np.diff(knots, axis=1) > 0)
        np.testing.assert_allclose(knots, values, rtol=1e-5)


def test_a_negative_scale_names_the_first_row_and_the_count():
    said = complaint(ValueError, Normal, np.zeros(3), [1.0, -1.0, -2.0])
    assert said == "Normal.scale is negative in row 1 (2 rows in all)"
    assert "Normal.scale is negative" in complaint(ValueError, Normal, np.zeros(3), -1.0)


@pytest.mark.parametrize("kind", OF_A_SCALE)
def test_the_warning_of_zero_width_points_at_the_users_line(kind):
    assert warned(lambda: FLAT[kind]())[1].filename == __file__


@pytest.mark.parametrize("kind", CROSSING)
def test_the_warning_of_crossing_points_at_the_users_line(kind):
    assert warned(lambda: CROSSING[kind]())[1].filename == __file__


def test_one_score_warns_that_the_tails_are_infinite():
    with pytest.warns(UserWarning, match="there is only one calibration row"):
        distribution = Calibrator().fit([1.0], [1.5])([1.0])
    assert distribution.interval(0.9) == (-inf, inf)


def test_equal_scores_warn_that_the_tails_are_infinite():
    with pytest.warns(UserWarning, match="all scores are equal"):
        Calibrator().fit(FOUR, FOUR)


# ---- weights, slopes, tails, promises --------------------------------------------------------------------


@pytest.mark.parametrize("weights", [[1.0, 0.0], [1.0, -1.0]])
def test_weights_that_are_not_positive_are_shown(weights):
    assert complaint(ValueError, Ensemble, [FOUR, FOUR], weights) == f"Ensemble.weights must be positive, got {weights}"


@pytest.mark.parametrize("members", [3, None, Point(FOUR), Normal(FOUR, 1.0)], ids=lambda m: type(m).__name__)
def test_members_that_are_no_list_of_predictions_are_refused(members):
    """A Point in their place is one member without brackets, not four members of one row."""
    assert "Ensemble.members" in complaint(TypeError, Ensemble, members)


@pytest.mark.parametrize("slope", [0, -1.0, nan, inf])
def test_an_outer_slope_that_is_not_positive_and_finite_is_shown(slope):
    said = complaint(ValueError, QuantileScore, outer_slope=slope)
    assert said.startswith("QuantileScore.outer_slope must be positive")
    assert str(slope) in said


def test_an_outer_slope_that_is_no_number_is_named():
    assert "outer_slope" in complaint(TypeError, QuantileScore, outer_slope="1")


def test_random_refuses_exponential_tails():
    assert "InfiniteTails or BoundedTails" in complaint(TypeError, Random, ExponentialTails())


@pytest.mark.parametrize("interpolator", [Linear, Random])
@pytest.mark.parametrize("tails", ["bounded", BoundedTails, None], ids=str)
def test_tails_that_are_none_are_named(interpolator, tails):
    assert "tails" in complaint(TypeError, lambda: interpolator(tails).fit(FOUR))


@pytest.mark.parametrize("units", [1, 0, -5])
def test_too_few_units_are_shown(units):
    assert complaint(ValueError, NAF, units=units) == f"NAF.units must be at least 2, got {units}"


@pytest.mark.parametrize("units", [2.5, "200", None])
def test_units_that_are_no_integer_are_named(units):
    assert "NAF.units" in complaint(TypeError, NAF, units=units)


@pytest.mark.parametrize("promise", [-1.0, nan])
def test_a_promise_that_no_distribution_can_keep_is_refused(promise):
    """A lambda of -1 is how a randomised q is known to be exact: a learned one must not pass for it."""
    said = complaint(
        ValueError, Calibrator(interpolator=NAF(promise=lambda n: promise)).fit, FOUR, [1.1, 2.3, 2.9, 4.0]
    )
    assert "promise" in said


@pytest.mark.parametrize("interpolator", [Naive(), Linear(), Random(), NAF()], ids=lambda psi: type(psi).__name__)
def test_scores_outside_the_support_name_the_first_row_and_the_count(interpolator):
    said = complaint(ValueError, interpolator.fit, [0.0, 1.0, 2.0], support=(0.5, 1.5))
    assert said.startswith("scores lies outside the support (0.5, 1.5)")
    assert "in row 0 (2 rows in all)" in said


@pytest.mark.parametrize("support", [(1.0, 0.0), (0.0, 0.0), (nan, 1.0)], ids=str)
def test_a_support_that_is_empty_is_shown(support):
    assert complaint(ValueError, Linear().fit, FOUR, support=support).startswith("support needs lower < upper")


# ---- the wrong thing in the wrong place ------------------------------------------------------------------


@pytest.mark.parametrize("prediction", [5.0, None, "abc", {"a": 1.0}, object()], ids=lambda p: type(p).__name__)
def test_what_is_no_prediction_is_named_by_its_type(prediction):
    for call in (lambda: Calibrator().fit(prediction, FOUR), lambda: CALIBRATED(prediction)):
        said = complaint(TypeError, call)
        assert said.startswith("a prediction must be a Point")
        assert said.endswith(f"got {type(prediction).__name__}")


def test_a_single_distribution_is_no_prediction():
    said = complaint(ValueError, Calibrator().fit, Normal(0.0, 1.0), [1.0])
    assert said.startswith("a prediction needs one distribution per row")


def test_a_score_says_what_kind_of_prediction_it_wants():
    assert complaint(TypeError, Calibrator(QuantileScore()).fit, FOUR, FOUR).startswith("QuantileScore takes Quantiles")
    assert complaint(TypeError, Calibrator(CDFScore()).fit, FOUR, FOUR).startswith("CDFScore takes Distribution")
    assert complaint(TypeError, CALIBRATED.score, Normal(FOUR, 1.0), FOUR).startswith("ResidualScore takes Point")


@pytest.mark.parametrize("score", ["residual", ResidualScore, 3], ids=str)
def test_a_score_that_is_none_is_named(score):
    assert "score" in complaint(TypeError, lambda: Calibrator(score).fit(FOUR, [1.1, 1.9, 3.3, 4.2])).split(",")[0]


@pytest.mark.parametrize("interpolator", ["linear", Linear, None], ids=str)
def test_an_interpolator_that_is_none_is_named(interpolator):
    said = complaint(TypeError, lambda: Calibrator(interpolator=interpolator).fit(FOUR, [1.1, 1.9, 3.3, 4.2]))
    assert "interpolator" in said


def test_a_score_and_an_interpolator_in_each_others_place_are_named():
    said = complaint(TypeError, lambda: Calibrator(Linear(), ResidualScore()).fit(FOUR, [1.1, 1.9, 3.3, 4.2]))
    assert "score" in said


def test_a_seed_in_place_of_a_generator_is_named():
    calibrated = Calibrator(interpolator=Random()).fit(FOUR, [1.1, 1.9, 3.3, 4.2])
    assert "rng" in complaint(TypeError, calibrated, FOUR, rng=3)
    assert "rng" in complaint(TypeError, H.sample, 2, rng=3)


@pytest.mark.parametrize("size", [-1, 2.5, "3", None], ids=repr)
def test_a_sample_size_that_is_no_count_is_named(size):
    assert "size" in complaint((TypeError, ValueError), H.sample, size)


@pytest.mark.parametrize("bounds", [(1.0, 0.0), (1.0, 1.0), (nan, 1.0), (0.0, nan)], ids=str)
def test_bounds_that_leave_nothing_are_shown(bounds):
    said = complaint(ValueError, H.clip, *bounds)
    assert said == f"clip needs lower < upper, got {bounds[0]} and {bounds[1]}"


@pytest.mark.parametrize("bound", ["a", "0"], ids=repr)
def test_a_bound_that_is_not_one_number_is_named(bound):
    assert "clip" in complaint(TypeError, H.clip, bound)


def test_one_score_for_each_member_is_asked_for():
    said = complaint(ValueError, Calibrator(EnsembleScore([ResidualScore()])).fit, Ensemble([FOUR, FOUR]), FOUR)
    assert said == "EnsembleScore.scores must hold one score for each of 2 members, got 1"


def test_a_forecast_without_a_finite_std_is_pointed_to_the_cdf_score():
    """H with infinite tails has none."""
    forecast = Calibrator(interpolator=Linear(InfiniteTails())).fit(FOUR, [1.1, 1.9, 3.3, 4.2])(FOUR)
    said = complaint(ValueError, Calibrator(ZScore()).fit, forecast, FOUR)
    assert said.startswith(
        "a finite mean and std, which ZScore needs and CDFScore does not, is missing in row 0 (4 rows"
    )


def test_a_label_with_an_infinite_score_names_the_score_the_first_row_and_the_count():
    forecast = Normal([0.0, 0.0, 0.0], 1.0).clip(-1, 1)
    said = complaint(ValueError, Calibrator(CDFScore()).fit, forecast, [0.0, 5.0, -5.0])
    assert said.startswith("the score of CDFScore is not finite")
    assert "in row 1 (2 rows in all)" in said


def test_a_users_scale_that_is_not_positive_names_the_score_the_first_row_and_the_count():
    from calibrant.scores import LocationScaleScore

    class PercentageError(LocationScaleScore):
        def loc_scale(self, prediction):
            return prediction.values, prediction.values

    said = complaint(ValueError, Calibrator(PercentageError()).fit, [1.0, -1.0, 0.0], [1.0, 2.0, 3.0])
    assert said == "the scale of PercentageError is not positive in row 1 (2 rows in all)"


def test_no_n_is_enough_for_an_interpolator_that_promises_nothing():
    class Careless(Linear):
        def accuracy(self, n):
            return n

    assert "however large n is" in complaint(ValueError, required_n, 0.1, interpolator=Careless())


def test_a_single_distribution_has_neither_a_length_nor_rows():
    assert complaint(TypeError, len, Normal(0.0, 1.0)) == "a single distribution has no length"
    assert complaint(TypeError, lambda: Normal(0.0, 1.0)[0]) == "a single distribution has no rows to index"


WRONG_PARAMETERS = {
    "LogNormal takes one mu per row, got shape (1, 2)": lambda: LogNormal([[0.0, 1.0]], 1.0),
    "LogNormal takes one sigma per row, got shape (2, 1)": lambda: LogNormal(0.0, [[1.0], [2.0]]),
    "LogNormal.sigma must have one row for each of the 3 rows of LogNormal.mu, got 1": (
        lambda: LogNormal([0.0, 1.0, 2.0], [1.0])
    ),
    "LogNormal.sigma is negative in row 1 (the only such row)": lambda: LogNormal(0.0, [1.0, -1.0]),
    "StudentT takes one df per row, got shape (1, 2)": lambda: StudentT([[3.0, 4.0]], FOUR, 1.0),
    "StudentT.df is not positive in row 0 (2 rows in all)": lambda: StudentT([0.0, 3.0, -1.0, 2.0], FOUR, 1.0),
    "StudentT.df must have one row for each of the 4 rows of StudentT.loc, got 1": lambda: StudentT([3.0], FOUR, 1.0),
    "Normal.scale must have one row for each of the 4 rows of Normal.loc, got 1": lambda: Normal(FOUR, [1.0]),
    "gamma must have parameters of shape () or (n,), got (2, 1)": lambda: from_scipy(st.gamma([[2.0], [3.0]])),
    "gamma has parameters outside their domain in row 1 (the only such row)": lambda: from_scipy(st.gamma([2.0, -1.0])),
    "GaussianMixture.stds is not positive in row 1 (the only such row)": (
        lambda: GaussianMixture([[0.5, 0.5]] * 2, [[0.0, 1.0]] * 2, [[1.0, 1.0], [1.0, 0.0]])
    ),
    "GaussianMixture.weights is negative in row 1 (the only such row)": (
        lambda: GaussianMixture([[0.5, 0.5], [1.5, -0.5]], [[0.0, 1.0]] * 2, [[1.0, 1.0]] * 2)
    ),
    "GaussianMixture.weights does not sum to 1 in row 0 (the only such row)": (
        lambda: GaussianMixture([[0.5, 0.6], [0.5, 0.5]], [[0.0, 1.0]] * 2, [[1.0, 1.0]] * 2)
    ),
    "GaussianMixture.stds must have one row for each of the 2 rows of GaussianMixture.means, got 3": (
        lambda: GaussianMixture([0.5, 0.5], [[0.0, 1.0]] * 2, [[1.0, 1.0]] * 3)
    ),
    "scores is larger than 1e+150, too large to square, in row 1 (the only such row)": (
        lambda: Linear().fit([0.0, -2e150])
    ),
    "q must have one row for each of the 4 rows of the prediction, got 1": (
        lambda: ResidualScore().pull_back(Normal([0.0], 1.0), Point(FOUR))
    ),
    "clip's upper must have one row for each of the 4 rows of the batch, got 1": lambda: H.clip(FOUR, [9.0]),
    "clip's lower is above its upper in row 3 (the only such row)": lambda: H.clip(FOUR, [3.5] * 4),
    "y must be one label a row, got shape (4, 1)": lambda: H.pit([[1.0]] * 4, [0.5] * 4),
    "y must have one row for each of the 4 rows of the batch, got 1": lambda: H.pit([1.0], [0.5] * 4),
    "u must have one row for each of the 4 rows of the batch, got 1": lambda: H.pit(FOUR, [0.5]),
    "a 2-d argument must have one row for each of the 4 rows of the batch, got 2": lambda: H.cdf([[1.0], [2.0]]),
    "what is True in the mask must have one row for each of the 4 rows of the batch, got 1": (
        lambda: H.among([True, False])
    ),
    "Mixture.weights must have one row for each of the 2 rows of Mixture.components, got 3": (
        lambda: Mixture([Normal(FOUR, 1.0)] * 2, [0.2, 0.3, 0.5])
    ),
}


@pytest.mark.parametrize("said", WRONG_PARAMETERS)
def test_parameters_and_arguments_that_do_not_fit_a_distribution_are_named(said):
    assert complaint(ValueError, WRONG_PARAMETERS[said]) == said


@pytest.mark.parametrize("row", [3, -4])
def test_a_row_that_is_not_there_is_named(row):
    with pytest.raises(IndexError, match=f"row {row} is not among the 3 rows of the batch"):
        Normal([1.0, 2.0, 3.0], 1.0)[row]


@pytest.mark.parametrize("forget", [5, "30 days", object()])
def test_what_is_to_be_forgotten_is_a_window_or_a_half_life(forget):
    with pytest.raises(TypeError, match=r"Calibrator\.forget must be a Window or a HalfLife"):
        Calibrator(forget=forget)


KEPT = {
    "an offset": lambda number: LogScore(c=number).c,
    "a floor": lambda number: ZScore(floor=number).floor,
    "the scale of a signed score": lambda number: signed(AbsoluteResidual(), scale=number).scale,
    "a half-life": lambda number: HalfLife(number).rows,
}


@pytest.mark.parametrize("kept", KEPT)
@pytest.mark.parametrize("number", [3, np.float32(3), np.array(3.0)], ids=repr)
def test_a_number_of_any_kind_is_kept_as_a_float(kept, number):
    found = KEPT[kept](number)
    assert type(found) is float
    assert found == 3.0


@pytest.mark.parametrize("rows", [0.0, -1.0, np.inf])
def test_a_half_life_is_positive_and_finite(rows):
    assert complaint(ValueError, HalfLife, rows) == f"HalfLife.rows must be positive and finite, got {rows!r}"


def test_a_distribution_below_zero_cannot_have_more_zeros():
    said = "ZeroInflated.base takes negative values"
    for distribution in (from_scipy(st.skellam(3.0, 1.0)), from_scipy(st.poisson(3.0, loc=-2))):
        assert complaint(ValueError, ZeroInflated, distribution, 0.2).startswith(said)


def test_the_rows_of_a_window_are_kept_as_a_whole_number():
    assert type(Window(np.int64(3)).last) is int
    assert repr(Window(np.int64(3))) == "Window(last=3)"
