"""Clipped distributions, at ordinary and at extreme bounds."""

from __future__ import annotations

from functools import partial

import numpy as np
import pytest
from catalogue import COMBINATIONS, DISTRIBUTIONS, HERE, UGLY, H

from calibrant import Calibrator, LogNormal, Normal, StudentT
from calibrant.interpolators import NAF
from calibrant.metrics.calibration import pit_by
from calibrant.testing import check_distribution


def bounds_of(distribution):
    """Pairs of bounds by name."""
    at = {p: float(np.median(distribution.ppf(p))) for p in (0.0005, 0.15, 0.5, 0.8, 0.9991, 0.9999)}
    spread = at[0.8] - at[0.15]
    return {
        "from below": (at[0.15], np.inf),
        "from above": (-np.inf, at[0.8]),
        "far outside": (at[0.5] - 1e4 * spread, at[0.5] + 1e4 * spread),
        "the upper tail": (at[0.9991], at[0.9999]),
        "beyond the upper tail": (at[0.9999] + spread, at[0.9999] + 3 * spread),
        "the lower tail": (at[0.0005] - 2 * spread, at[0.0005]),
    }


DISTRIBUTION_CASES = {name: DISTRIBUTIONS[name] for name in ("poisson", "student t", "gaussian mixture", "joined")}
DISTRIBUTION_CASES |= {name: UGLY[name] for name in ("half the labels zero, linear", "folds of different scale")}
DISTRIBUTION_CASES |= {
    name: lambda w, name=name: H(*COMBINATIONS[name]) for name in ("quantile; linear", "cdf of laplace; naf")
}


@pytest.mark.parametrize("where", bounds_of(Normal([0.0], [1.0])))
@pytest.mark.parametrize("name", DISTRIBUTION_CASES)
def test_a_distribution_may_be_clipped_on_one_side_far_out_and_in_its_tails(name, where):
    distribution = DISTRIBUTION_CASES[name](HERE)[-1:]
    low, high = bounds_of(distribution)[where]
    C = distribution.clip(low, high)
    check_distribution(C)
    p = np.linspace(0.011, 0.989, 23)
    np.testing.assert_array_equal(C.quantiles(p), np.clip(distribution.quantiles(p), low, high))
    with pytest.raises(ValueError, match="clip needs lower < upper"):
        distribution.clip(low, low)


# ---- what went wrong once --------------------------------------------------------------------------------------------

Z = np.random.default_rng(1).normal(size=49)


def test_an_outlier_far_beyond_the_bounds_does_not_touch_a_clipped_std():
    H = Calibrator().fit(np.zeros(50), np.r_[Z, 1e6])([0.0])
    assert H.clip(-5.0, 5.0).std()[0] == pytest.approx(1.35373, abs=5e-6)


def test_a_clipped_log_normal_with_a_heavy_tail():
    assert LogNormal([0.0], [5.0]).clip(0.0, 10.0).std()[0] == pytest.approx(4.4855, abs=5e-5)


def test_a_clipped_cauchy_has_moments():
    C = StudentT(1.0, [0.0], [1.0]).clip(-1.0, 5.0)
    assert C.mean()[0] == pytest.approx(0.47239, abs=5e-6)
    assert C.crps(0.3)[0] == pytest.approx(0.36395, abs=5e-6)


def test_a_distribution_clipped_on_one_side_keeps_the_tail_of_the_other():
    """The mean of a Cauchy label is infinite also if it is clipped from below."""
    assert StudentT(1.0, [0.0], [1.0]).clip(lower=-1.0).mean()[0] == np.inf
    assert StudentT(1.5, [0.0], [1.0]).clip(lower=-1.0).std()[0] == np.inf
    for distribution in (LogNormal([0.0], [5.0]), LogNormal([0.0], [2.0])):
        assert distribution.clip(lower=1e-9).std()[0] == pytest.approx(distribution.std()[0], rel=1e-9)


def test_naf_takes_an_outlier():
    H = Calibrator(None, NAF()).fit(np.zeros(50), np.r_[Z, 1e6])([0.0])
    assert np.all(np.diff(H.quantiles([0.01, 0.25, 0.5, 0.75, 0.97])[0]) > 0)
    assert np.abs(H.quantiles([0.05, 0.5, 0.9])).max() < 5


def test_a_clip_of_a_clip_that_does_not_meet_it_is_one_point():
    C = Normal([0.0], [1.0]).clip(-1.0, 1.0)
    for low, high, point in ((2.0, 3.0, 2.0), (-3.0, -2.0, -2.0)):
        D = C.clip(low, high)
        assert D.mean()[0] == point
        assert D.std()[0] == 0
        assert D.crps(0.0)[0] == pytest.approx(abs(point), rel=1e-12)


def test_the_pit_of_a_label_on_a_bound_is_drawn_over_the_mass_there():
    distribution, u = Normal([0.0, 1.0, 0.0], 1.0).clip(-0.5, 1.5), np.array([0.25, 0.5, 0.75])
    free = Normal([0.0, 1.0, 0.0], 1.0)
    found = pit_by(distribution, np.array([-0.5, 1.5, 0.3]), u)
    low, high = free[:1].cdf(-0.5)[0], free[1:2].cdf(1.5)[0]
    np.testing.assert_allclose(found, [0.75 * low, 1 - 0.5 * (1 - high), free.cdf([0.3] * 3)[2]], rtol=1e-12)


@pytest.mark.parametrize("upper", [1e4, 1e8, 1e12])
@pytest.mark.parametrize("family", [Normal, partial(StudentT, 5.0)])
def test_a_bound_far_away_changes_no_moment(family, upper):
    forecast = family([3.0], [0.5])
    for clipped, wanted in ((forecast.clip(-np.inf, upper), forecast), (forecast.clip(0, upper), forecast.clip(0))):
        for method in ("mean", "std"):
            np.testing.assert_allclose(getattr(clipped, method)(), getattr(wanted, method)(), rtol=1e-5)
