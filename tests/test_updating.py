"""More rows after `fit`: the same distribution as that of a fit on all rows."""

from dataclasses import replace

import numpy as np
import pytest

from calibrant import Calibrator, HalfLife, Interval, Normal, Point, Quantiles, Window, load
from calibrant.interpolators import NAF, BoundedTails, Linear, Naive, Random
from calibrant.interpolators.weights import CalibrationWeights
from calibrant.labels import Counts, Real
from calibrant.scores import CDFScore, LogScore, ZScore

RNG = np.random.default_rng(0)
F, NOISE = RNG.normal(size=(2, 300))
Y = F + NOISE
NEW = np.linspace(-2, 2, 7)
MERGING = [Linear(), Linear(BoundedTails()), Naive(), Random(), Random(BoundedTails())]


def same_bits(one, two):
    """Of all that a distribution is made of."""
    assert type(one) is type(two)
    for name, value in vars(one).items():
        if isinstance(value, np.ndarray):
            assert value.dtype == getattr(two, name).dtype
            assert value.tobytes() == getattr(two, name).tobytes(), name
        elif isinstance(value, float | int):
            assert value == getattr(two, name), name
        elif hasattr(value, "_cdf"):
            same_bits(value, getattr(two, name))


@pytest.mark.parametrize("interpolator", MERGING, ids=repr)
@pytest.mark.parametrize("score", [None, CDFScore(), ZScore(floor=0.1)], ids=repr)
def test_an_update_has_the_same_bits_as_a_fit_on_all_rows(interpolator, score):
    calibrator = Calibrator(score, interpolator)
    sigma = np.exp(F / 9)
    calibrated = calibrator.fit(Normal(F[:100], sigma[:100]), Y[:100])
    for rows in (slice(100, 101), slice(101, 250), slice(250, 300)):
        calibrated = calibrated.update(Normal(F[rows], sigma[rows]), Y[rows])
    whole = calibrator.fit(Normal(F, sigma), Y)
    if score is None:  # the first fit's floor stays
        whole = Calibrator(replace(whole.score, floor=calibrated.score.floor), interpolator).fit(Normal(F, sigma), Y)
    same_bits(calibrated.q, whole.q)
    assert calibrated.guarantee == whole.guarantee
    assert calibrated.score == whole.score


def test_a_value_does_not_change_when_it_is_updated():
    calibrated = Calibrator().fit(F[:100], Y[:100])
    before = calibrated([0.0]).interval(0.9)
    calibrated.update(F[100:], Y[100:] + 50)([0.0])
    assert calibrated([0.0]).interval(0.9) == before
    assert calibrated.guarantee.n == 100


@pytest.mark.parametrize("interpolator", [Linear(), Naive(), Random()], ids=repr)
def test_weights_come_along(interpolator):
    w = RNG.uniform(0.1, 3, 300)
    calibrated = Calibrator(interpolator=interpolator).fit(F[:100], Y[:100], weights=w[:100])
    calibrated = calibrated.update(F[100:], Y[100:], weights=w[100:])
    whole = Calibrator(interpolator=interpolator).fit(F, Y, weights=w)
    same_bits(calibrated.q, whole.q)
    assert calibrated.guarantee == whole.guarantee


def test_labels_are_spread_and_bounded_as_in_fit():
    rate = np.exp(F)
    y = RNG.poisson(rate).astype(float)
    first, second = np.random.default_rng(1), np.random.default_rng(1)
    counts = Calibrator(labels=Counts())
    calibrated = counts.fit(rate[:100], y[:100], rng=first).update(rate[100:], y[100:], rng=first)
    same_bits(calibrated.q, counts.fit(rate, y, rng=second).q)
    with pytest.raises(ValueError, match=r"y is 0\.5 in row 1 \(the only such row\)"):
        calibrated.update(rate[:2], [1.0, 0.5])
    bounded = Calibrator(labels=Real(0, upper="capacity"))
    capacity = y + 1
    calibrated = bounded.fit(rate[:100], y[:100], bound=capacity[:100])
    same_bits(calibrated.update(rate[100:], y[100:], bound=capacity[100:]).q, bounded.fit(rate, y, bound=capacity).q)
    with pytest.raises(TypeError, match="needs bound="):
        calibrated.update(rate[100:], y[100:])


@pytest.mark.parametrize("forget", [Window(120), HalfLife(40)], ids=repr)
@pytest.mark.parametrize("interpolator", [Linear(), Naive(), Random()], ids=repr)
def test_what_is_forgotten_is_forgotten_by_fit_and_update_alike(interpolator, forget):
    calibrator = Calibrator(interpolator=interpolator, forget=forget)
    calibrated = calibrator.fit(F[:100], Y[:100])
    for start in range(100, 300, 40):
        calibrated = calibrated.update(F[start : start + 40], Y[start : start + 40])
    same_bits(calibrated.q, calibrator.fit(F, Y).q)
    assert calibrated.guarantee == calibrator.fit(F, Y).guarantee


def test_a_window_is_the_fit_on_its_last_rows():
    window = Calibrator(forget=Window(120)).fit(F, Y)
    same_bits(window.q, Calibrator().fit(F[-120:], Y[-120:]).q)
    assert window.guarantee.n == 120
    assert window.guarantee.kind == "marginal"


def test_a_half_life_weighs_by_age_and_promises_nothing():
    faded = Calibrator(forget=HalfLife(40)).fit(F, Y)
    weights = CalibrationWeights(2.0 ** -(np.arange(299, -1, -1) / 40))
    same_bits(faded.q, Calibrator().fit(F, Y, weights=weights).q)
    assert faded.guarantee.kind == "no claim"
    assert "under a change nothing is promised" in str(faded.guarantee)


def test_rows_older_than_sixty_half_lives_are_dropped():
    calibrated = Calibrator(forget=HalfLife(2)).fit(F, Y)
    assert calibrated.history.scores.shape == (120,)
    assert calibrated.update(F, Y).history.scores.shape == (120,)


def test_naf_is_refitted_when_asked():
    calibrated = Calibrator(interpolator=NAF()).fit(F[:100], Y[:100])
    with pytest.raises(TypeError, match="NAF fits q to all scores at once and cannot add to it: pass refit=True"):
        calibrated.update(F[100:], Y[100:])
    updated = calibrated.update(F[100:], Y[100:], refit=True)
    np.testing.assert_allclose(updated(NEW).median(), Calibrator(interpolator=NAF()).fit(F, Y)(NEW).median())
    assert updated.guarantee.n == 300


@pytest.mark.few
@pytest.mark.parametrize("interpolator", [*MERGING, NAF()], ids=repr)
@pytest.mark.parametrize("forget", [None, Window(120), HalfLife(40)], ids=repr)
def test_a_loaded_calibrator_is_updated_to_the_same_bits(tmp_path, interpolator, forget):
    calibrated = (
        Calibrator(interpolator=interpolator, forget=forget)
        .fit(F[:100], Y[:100])
        .update(F[100:150], Y[100:150], refit=True)
    )
    calibrated.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors")
    one, two = (each.update(F[150:], Y[150:], refit=True) for each in (calibrated, again))
    same_bits(one.q, two.q)
    assert one.guarantee == two.guarantee


def test_weights_survive_a_file(tmp_path):
    weights = np.arange(1.0, 301.0)
    calibrated = Calibrator().fit(F[:100], Y[:100], weights=weights[:100])
    calibrated.save(tmp_path / "m.safetensors")
    again = load(tmp_path / "m.safetensors").update(F[100:], Y[100:], weights=weights[100:])
    same_bits(again.q, Calibrator().fit(F, Y, weights=weights).q)


def test_bad_updates_are_one_sentence_and_change_nothing():
    calibrated = Calibrator().fit(F, Y)
    before = calibrated.history.scores.copy()
    for error, match, call in (
        (ValueError, "y must have one row for each of the 3 rows of the prediction, got 2", ([1.0, 2, 3], [1.0, 2])),
        (ValueError, "intervals", (Interval([1.0], [2.0]), [1.0])),
        (ValueError, "quantiles", (Quantiles([0.1, 0.9], [[1.0, 2.0]]), [1.0])),
        (ValueError, r"y .*row 1", ([1.0, 2.0], [1.0, np.inf])),
    ):
        with pytest.raises((error, TypeError), match=match):
            calibrated.update(*call)
    with pytest.raises(TypeError, match="fitted without weights"):
        calibrated.update([1.0], [1.0], weights=[1.0])
    weighted = Calibrator().fit(F, Y, weights=np.ones(300))
    with pytest.raises(TypeError, match="fitted with weights=: update needs weights= of each row"):
        weighted.update([1.0], [1.0])
    with pytest.raises(TypeError, match="got CalibrationWeights"):
        weighted.update([1.0], [1.0], weights=CalibrationWeights([1.0]))
    with pytest.raises(ValueError, match="weights must have one"):
        weighted.update([1.0], [1.0], weights=[1.0, 2.0])
    np.testing.assert_array_equal(calibrated.history.scores, before)


def test_what_cannot_be_updated_says_so():
    from calibrant import Censored

    censored = Calibrator().fit(F, Censored(np.exp(Y), np.arange(300) % 3 > 0))
    with pytest.raises(TypeError, match="does not know its scores"):
        censored.update(F, Y)
    with pytest.raises(TypeError, match="Censored, come in fit alone"):
        Calibrator().fit(F, Y).update(F, Censored(Y, np.ones(300)))
    with pytest.raises(TypeError, match="HalfLife gives rows weights of its own"):
        Calibrator(forget=HalfLife(3)).fit(F, Y, weights=np.ones(300))
    with pytest.raises(ValueError, match=r"Window\.last must be a number of rows, 1 or more, got 0"):
        Window(0)
    with pytest.raises(ValueError, match=r"HalfLife\.rows must be positive"):
        HalfLife(-1)
    with pytest.raises(TypeError, match=r"Calibrator\.forget"):
        Calibrator(forget=3)


def test_rows_without_a_label_are_left_out():
    calibrated = Calibrator().fit(F[:100], Y[:100], weights=np.ones(100))
    with pytest.warns(UserWarning, match="y is missing in 1 of 2 rows"):
        assert calibrated.update([1.0, 2.0], [np.nan, 1.0], weights=[1.0, 2.0]).guarantee.n == 101


def test_no_rows_update_nothing():
    calibrated = Calibrator().fit(F, Y)
    same_bits(calibrated.update([], []).q, calibrated.q)


def test_the_floor_of_the_first_fit_stays_and_its_rows_are_counted():
    sigma = np.where(np.arange(300) == 3, 1e-9, 1.0)
    with pytest.warns(UserWarning, match="no width"):
        calibrated = Calibrator().fit(Normal(F[:100], sigma[:100]), np.where(sigma < 1, F, Y)[:100])
    updated = calibrated.update(Normal(F[100:], 5.0), Y[100:])
    assert updated.score.floor == calibrated.score.floor
    assert updated.guarantee.floored == calibrated.guarantee.floored == 1
    assert updated.guarantee.kind == "approximate"


def test_an_infinite_score_is_refused():
    calibrated = Calibrator(LogScore()).fit(np.exp(F), np.exp(Y))
    with pytest.raises(ValueError, match="row 1"):
        calibrated.update([1.0, 1.0], [1.0, -1.0])


def test_float32_and_torch_predictions_join():
    torch = pytest.importorskip("torch")
    calibrated = Calibrator().fit(Point(torch.tensor(F[:100])), torch.tensor(Y[:100]))
    updated = calibrated.update(Point(torch.tensor(F[100:])), torch.tensor(Y[100:]))
    np.testing.assert_array_equal(updated.q.knots.numpy(), Calibrator().fit(F, Y).q.knots)
    from_numpy = Calibrator().fit(F[:100], Y[:100]).update(Point(torch.tensor(F[100:])), torch.tensor(Y[100:]))
    np.testing.assert_array_equal(from_numpy.q.knots, Calibrator().fit(F, Y).q.knots)
