"""Bugs that were found once, each told as a test."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.stats
import torch

from calibrant import (
    Calibrator,
    Ensemble,
    Interval,
    Mixture,
    Normal,
    Point,
)
from calibrant.distributions import StudentT
from calibrant.interpolators import NAF, Linear, Naive, Random
from calibrant.scores import CDFScore, EnsembleScore, LocationScaleScore, ZScore

RNG = np.random.default_rng(11)
F = RNG.normal(size=60)
Y = F + RNG.normal(size=60)


def test_a_label_beyond_the_support_of_a_forecast_has_no_density_and_a_true_crps():
    forecast = scipy.stats.uniform(F - 10, 20)
    H = Calibrator(CDFScore()).fit(forecast, Y)(scipy.stats.uniform([-10.0], 20))
    assert H.logpdf([-50.0])[0] == -np.inf
    t = np.linspace(-50, 10, 600_001)
    expected = np.trapezoid((H.cdf(np.broadcast_to(t, (1, t.size))) - 1) ** 2, t)
    assert H.crps([-50.0])[0] == pytest.approx(expected[0], rel=1e-5)


def test_two_training_steps_can_follow_one_calibration():
    mean = torch.tensor(F, requires_grad=True)
    calibrated = Calibrator().fit(Normal(mean, torch.ones(60, dtype=torch.float64)), torch.tensor(Y))
    for _ in range(2):
        calibrated(Normal(mean, torch.ones(60, dtype=torch.float64))).crps(torch.tensor(Y)).mean().backward()
    assert not calibrated.q.knots.requires_grad


def test_a_piecewise_constant_log_density_has_a_gradient_of_zero_and_not_none():
    calibrated = Calibrator().fit(Point(F), Y)
    values = torch.zeros(3, dtype=torch.float64, requires_grad=True)
    calibrated(Point(values)).logpdf(torch.full((3,), 0.1, dtype=torch.float64)).sum().backward()
    np.testing.assert_array_equal(values.grad.numpy(), np.zeros(3))


def test_an_upper_bound_is_kept_to_the_last_bit():
    assert Interval([-1e16], [1.0]).upper[0] == 1.0


@pytest.mark.parametrize(
    ("components", "weights", "message"),
    [
        ([Normal([0.0], 1.0)] * 2, [1.0, 1.0], "sum to 1"),
        ([Normal([0.0], 1.0), Normal([0.0, 1.0], 1.0)], [0.5, 0.5], r"components\[1\]"),
        ([], [], "at least one"),
        ([Normal(0.0, 1.0)] * 2, [0.5, 0.25, 0.25], "one row for each of the 2 rows of Mixture.components, got 3"),
    ],
)
def test_a_mixture_refuses_what_is_no_mixture(components, weights, message):
    with pytest.raises((TypeError, ValueError), match=message):
        Mixture(components, weights)


def test_random_clipped_above_still_has_its_mass_at_minus_infinity():
    H = Calibrator(interpolator=Random()).fit(Point(F), Y)([0.0], rng=np.random.default_rng(0))
    assert H.clip(upper=5.0).mean()[0] == -np.inf
    assert H.clip(lower=-5.0).mean()[0] == np.inf


@pytest.mark.parametrize("interpolator", [Linear(), Random(), NAF()], ids=["linear", "random", "naf"])
def test_no_distribution_of_scores_reaches_beyond_their_support(interpolator):
    q = interpolator.fit(np.asarray([0.1, 0.5, 0.9]), support=(0.0, 1.0))
    assert q.cdf(-1e-9) == 0
    assert q.cdf(1.0) == 1


def test_a_score_may_give_one_scale_for_all_rows():
    class Halves(LocationScaleScore):
        def loc_scale(self, prediction):
            return prediction.values, 0.5

    np.testing.assert_allclose(Halves()(Point(F), Y), 2 * (Y - F))


@pytest.mark.parametrize("index", [None, True, np.zeros((2, 2), dtype=int)], ids=["None", "True", "2-d"])
def test_rows_are_not_chosen_by_what_is_no_row(index):
    H = Calibrator().fit(Point(F), Y)(Point(F))
    with pytest.raises(TypeError, match="rows are chosen by"):
        H[index]


def test_a_nested_ensemble_of_cdf_scores_keeps_its_weight_in_a_sum():
    one, two = Normal(F, 1.0), Normal(F + 1, 2.0)
    nested = Ensemble([Ensemble([one, two], [2, 3]), one], [1, 1])
    flat = EnsembleScore([EnsembleScore(CDFScore()), ZScore()])(nested, Y)
    np.testing.assert_allclose(flat, 2 * one.cdf(Y) + 3 * two.cdf(Y) + (Y - F), rtol=1e-12)


@pytest.mark.filterwarnings("ignore:there is only one calibration row")
def test_naf_does_not_make_a_density_of_a_single_score():
    assert not np.isfinite(Calibrator(interpolator=NAF()).fit([0.0], [1.0])([0.0]).std()[0])


def test_equal_calibrators_are_equal_and_say_what_they_are():
    assert Calibrator(CDFScore()) == Calibrator(CDFScore())
    assert (
        repr(Calibrator(CDFScore()))
        == "Calibrator(score=CDFScore(), interpolator=Linear(tails=ExponentialTails()), labels=None, forget=None)"
    )


@pytest.mark.slow
def test_a_pool_with_a_cauchy_member_has_no_mean_and_says_so():
    """Rows with a bend and heavy tails are integrated piece by piece, where nothing tells that a tail is too heavy."""

    def pool(rows):
        zero, one = np.zeros(rows), np.ones(rows)
        return Mixture([StudentT(1.0, zero, one), Normal(zero, one)], [0.5, 0.5])

    H = Calibrator(CDFScore()).fit(pool(60), np.random.default_rng(0).standard_t(1, 60))(pool(1))
    assert np.isnan(H.mean()[0])
    assert np.isposinf(H.clip(lower=-3).mean()[0])
    assert np.isposinf(H.clip(lower=-3).std()[0])
    assert 0.4 < H.crps([0.3])[0] < 0.6


def test_one_score_in_single_precision_is_an_atom():
    def pool(rows):
        zero, one = np.zeros(rows, np.float32), np.ones(rows, np.float32)
        return Mixture([Normal(zero, one), Normal(one, 2 * one)], [0.5, 0.5])

    H = Calibrator(CDFScore(), Naive()).fit(pool(1), np.ones(1, np.float32))(pool(1))
    np.testing.assert_allclose(H.crps([0.3]), [0.7], rtol=1e-5)


def test_the_repr_of_what_was_calibrated_has_no_arrays_in_it():
    found = repr(Calibrator().fit(np.zeros(50), np.random.default_rng(0).normal(size=50)))
    assert found.startswith("calibration on 50 rows")
    assert "array" not in found
