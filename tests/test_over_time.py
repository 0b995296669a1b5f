"""Coverage and PITs along time."""

import numpy as np
import pytest

from calibrant import Interval, Normal
from calibrant.diagnosis import over_time
from calibrant.metrics import coverage

RNG = np.random.default_rng(0)
M = 1003
Y = RNG.normal(size=M)
H = Normal(np.zeros(M), 1.0)


def test_each_stretch_is_its_rows():
    found = over_time(H, Y, bins=4, coverages=(0.9, 0.5))
    assert [each.m for each in found] == [251, 251, 251, 250]
    assert [each.name for each in found][-1] == "row in [753, 1002]"
    start = 0
    for each in found:
        rows = slice(start, start + each.m)
        assert [held.share for held in each.held] == [pytest.approx(coverage(H[rows], Y[rows], c)) for c in (0.9, 0.5)]
        start += each.m


def test_a_change_is_off_where_it_is():
    y = np.where(np.arange(M) < 500, Y, Y + 1)
    assert [each.off for each in over_time(H, y, bins=4)] == [False, False, True, True]


def test_a_calibrated_forecast_is_seldom_off_anywhere():
    rng, runs = np.random.default_rng(1), 400
    off = sum(any(each.off for each in over_time(H, rng.normal(size=M))) for _ in range(runs))
    assert off / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_time_names_the_stretches():
    days = np.datetime64("2024-01-01") + np.arange(M) // 24
    found = over_time(H, Y, days, bins=2)
    assert [each.name for each in found] == ["time in [2024-01-01, 2024-01-21]", "time in [2024-01-21, 2024-02-11]"]


def test_intervals_have_coverage_alone():
    found = over_time(Interval(np.full(M, -1.645), np.full(M, 1.645)), Y, bins=2)
    assert [each.gap for each in found] == [None, None]


def test_bad_input_is_one_sentence():
    time = np.arange(M)
    time[7] = 3
    with pytest.raises(ValueError, match=r"time runs backwards in row 7 \(1 rows in all\): sort the rows"):
        over_time(H, Y, time)
    with pytest.raises(ValueError, match="time must have one row for each of the 1003 rows"):
        over_time(H, Y, time[:5])
    with pytest.raises(ValueError, match="bins must be a count, at least 1, got 0"):
        over_time(H, Y, bins=0)
    with pytest.raises(ValueError, match="100 stretches need 2000 rows, 20 each, got 1003"):
        over_time(H, Y, bins=100)
