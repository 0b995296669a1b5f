"""Whether mean and std exist where NAF calibrates the CDFs of Student t: the power of the tails decides."""

import numpy as np
import pytest

from calibrant import Calibrator, StudentT
from calibrant.interpolators import NAF
from calibrant.scores import CDFScore

CLOSE = 0.1  # to a power of 1 or 2: nearer than that, whether an integral exists is a matter of rounding


def calibrated(df, seed):
    rng = np.random.default_rng(seed)
    loc = rng.normal(size=200)
    y = loc + rng.standard_t(df, 200)
    return Calibrator(CDFScore(), NAF()).fit(StudentT(df, loc, 1.0), y)(StudentT(df, loc[:1], 1.0))


def powers(H):
    """With which powers P(Y < -y) and P(Y > y) fall, far out."""
    low, high = (H.cdf([[-1e12, -1e14]])[0], H.sf([[1e12, 1e14]])[0])
    return [float(np.log(near / far) / np.log(100)) for near, far in (low, high)]


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("df", [1.5, 3.0, 5.0])
def test_mean_and_std_exist_where_the_powers_say_so(df, seed):
    H = calibrated(df, seed)
    low, high = powers(H)
    if min(abs(power - whole) for power in (low, high) for whole in (1, 2)) < CLOSE:
        pytest.skip("a power too close to where mean or std begin to exist")
    mean = {(True, True): H.mean()[0], (False, True): -np.inf, (True, False): np.inf}.get((low > 1, high > 1), np.nan)
    np.testing.assert_array_equal(H.mean(), mean)
    assert np.isfinite(H.std()[0]) == (min(low, high) > 2)
    assert np.isfinite(mean) or not np.isfinite(H.std()[0])


@pytest.mark.parametrize(("df", "mean_exists"), [(1.0, False), (1.5, True), (2.0, True)])
def test_linear_leaves_the_tails_as_they_are_so_there_are_no_more_moments_than_those_of_the_base(df, mean_exists):
    rng = np.random.default_rng(0)
    base = StudentT(df, rng.normal(size=52), 1.0)
    H = Calibrator(CDFScore()).fit(base[:50], rng.standard_t(6, 50))(base[50:])
    assert not np.any(np.isfinite(H.std()))
    assert np.all(np.isfinite(H.mean()) == mean_exists)
