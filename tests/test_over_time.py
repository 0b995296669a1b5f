"""Coverage and PITs along time."""

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant import Calibrator, Interval, Normal
from calibrant.diagnosis.over_time import over_time, time_periods
from calibrant.metrics import coverage
from calibrant.metrics.calibration import kolmogorov_pvalue
from calibrant.metrics.periods import periods_of
from calibrant.metrics.slices import slices_of

RNG = np.random.default_rng(0)
M = 1003
Y = RNG.normal(size=M)
H = Normal(np.zeros(M), 1.0)


def test_each_period_is_its_rows():
    found = over_time(H, Y, bins=4, coverages=(0.9, 0.5))
    assert [each.m for each in found] == [251, 251, 251, 250]
    assert [each.name for each in found][-1] == "row in [753, 1002]"
    start = 0
    for each in found:
        rows = slice(start, start + each.m)
        assert [held.share for held in each.intervals] == [
            pytest.approx(coverage(H[rows], Y[rows], c)) for c in (0.9, 0.5)
        ]
        start += each.m


def test_a_change_is_off_where_it_is():
    y = np.where(np.arange(M) < 500, Y, Y + 1)
    assert [each.off for each in over_time(H, y, bins=4)] == [False, False, True, True]


def test_a_calibrated_forecast_is_seldom_off_anywhere():
    rng, runs = np.random.default_rng(1), 400
    off = sum(any(each.off for each in over_time(H, rng.normal(size=M))) for _ in range(runs))
    assert off / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_time_names_the_periods():
    days = np.datetime64("2024-01-01") + np.arange(M) // 24
    found = over_time(H, Y, days, bins=2)
    assert [each.name for each in found] == ["time in [2024-01-01, 2024-01-21]", "time in [2024-01-22, 2024-02-11]"]
    assert [(each.start, each.end) for each in found][1] == ("2024-01-22", "2024-02-11")
    assert [each.m for each in found] == [21 * 24, M - 21 * 24]  # a day is in one period


def test_the_order_of_the_rows_does_not_matter():
    order = np.random.default_rng(2).permutation(M)
    days = np.datetime64("2024-01-01T00:30") + np.arange(M) // 5 * np.timedelta64(1, "h")
    y = np.where(np.arange(M) < 500, Y, Y + 1)
    mixed, in_order = over_time(H, y[order], days[order]), over_time(H, y, days)
    assert mixed == in_order
    np.testing.assert_allclose([each.mean for each in mixed], [each.mean for each in in_order], rtol=1e-12)


@pytest.mark.parametrize(
    ("labels", "direction"), [(Y + 0.5, "low"), (Y - 0.5, "high"), (1.5 * Y, "narrow"), (Y / 1.5, "wide")]
)
def test_the_direction_is_what_was_done_to_the_labels(labels, direction):
    found = over_time(H, labels, bins=2)
    assert [(each.off, each.direction) for each in found] == [(True, direction)] * 2


def test_intervals_without_pits_are_narrow_or_wide():
    for reach, direction in ((1.0, "narrow"), (3.0, "wide")):
        (found,) = over_time(Interval(np.full(M, -reach), np.full(M, reach)), Y, bins=1)
        assert (found.off, found.direction, found.mean) == (True, direction, None)


def test_the_gap_that_chance_allows_is_where_a_period_becomes_off():
    for n in (None, 300):
        for each in over_time(H, Y + np.linspace(0, 0.4, M), bins=5, n=n):
            (held,) = each.intervals
            assert each.off == (each.gap > each.allowed or held.off)
            assert each.comparisons * kolmogorov_pvalue(each.allowed, each.size) == pytest.approx(0.05, rel=1e-4)


ZONE = timezone(timedelta(hours=2))
TIMES = {
    "dates": [date(2024, 1, 1) + timedelta(k) for k in range(60)],
    "moments": [datetime(2024, 1, 1, 12) + timedelta(k) for k in range(60)],
    "moments with a zone": [datetime(2024, 1, 1, 1, tzinfo=ZONE) + timedelta(k) for k in range(60)],
    "texts": [f"{date(2024, 1, 1) + timedelta(k)} 00:00:00" for k in range(60)],
    "texts with a zone": np.array([f"{date(2024, 1, 1) + timedelta(k)}T00:00:00+01:00" for k in range(60)]),
    "whole numbers": list(range(60)),
    "numbers": np.linspace(0.0, 1.0, 60),
    "pandas": pd.Series(pd.date_range("2024-01-01", periods=60)),
    "pandas with a zone": pd.Series(pd.date_range("2024-01-01", periods=60, tz="Europe/Berlin")),
    "polars": pl.Series(range(60)),
    "pyarrow": pa.array([date(2024, 1, 1) + timedelta(k) for k in range(60)]),
}
STARTS = {
    "dates": "2024-01-31",
    "moments": "2024-01-31 12:00",
    "moments with a zone": "2024-01-30 23:00",
    "texts": "2024-01-31",
    "texts with a zone": "2024-01-30 23:00",
    "whole numbers": "30",
    "numbers": "0.5085",
    "pandas": "2024-01-31",
    "pandas with a zone": "2024-01-30 23:00",
    "polars": "30",
    "pyarrow": "2024-01-31",
}


@pytest.mark.parametrize("kind", TIMES)
def test_numbers_and_dates_of_any_kind_are_times(kind):
    found = periods_of(TIMES[kind], 60, 2)
    assert found.starts[1] == STARTS[kind]
    assert found.slices.counts.tolist() == [30, 30]


def test_small_periods_join_their_neighbours():
    time = np.repeat([1, 2, 3, 4], [100, 5, 60, 3])
    found = periods_of(time, 168, 8)
    assert found.slices.labels == ("[1, 1]", "[2, 4]")
    assert found.slices.counts.tolist() == [100, 68]
    assert periods_of(np.zeros(168), 168).slices.labels == ("[0, 0]",)
    assert periods_of(np.arange(5), 5).slices.counts.tolist() == [5]


@pytest.mark.parametrize(
    ("m", "counts"), [(39, [39]), (50, [25, 25]), (75, [25, 25, 25]), (199, [22] * 8 + [23]), (300, [30] * 10)]
)
def test_periods_are_as_many_as_have_20_rows_each_and_10_at_most(m, counts):
    assert sorted(periods_of(np.arange(m), m).slices.counts) == counts


@pytest.mark.parametrize(
    ("time", "message"),
    [
        ([1.0, np.nan, 3.0, np.nan], r"time is missing in row 1 \(2 rows in all\)"),
        ([1, None, 3, 4], r"time is missing in row 1 \(the only such row\)"),
        (np.array(["2024", "NaT", "2025", "2026"], "datetime64[D]"), "time is missing in row 1"),
        ([1.0, 2.0, np.inf, 3.0], r"time is infinite in row 2 \(the only such row\)"),
        (
            ["a", "b", "c", "d"],
            "time must hold numbers or dates, and one kind .* got 'a' in row 0: pd.to_datetime",
        ),
        ([True, False, True, True], "time must hold numbers or dates, and one kind in all rows, got True in row 0"),
        ([1, date(2024, 1, 1), 2, 3], "time must hold numbers or dates, and one kind in all rows, got both"),
        ("day", "time must be an array of numbers or dates, one for each row, got 'day'"),
        (7, "time must be an array of numbers or dates, one for each row, got 7"),
        ([1, 2, 3], "time must have one row for each of the 4 rows of the forecast, got 3"),
        (np.zeros((4, 2)), r"time must be 1-d, got shape \(4, 2\)"),
    ],
)
def test_times_that_are_none_are_one_sentence(time, message):
    with pytest.raises((ValueError, TypeError), match=message):
        periods_of(time, 4)


def test_intervals_have_coverage_alone():
    found = over_time(Interval(np.full(M, -1.645), np.full(M, 1.645)), Y, bins=2)
    assert [each.gap for each in found] == [None, None]


def test_bad_input_is_one_sentence():
    with pytest.raises(ValueError, match="time must have one row for each of the 1003 rows"):
        over_time(H, Y, np.arange(5))
    with pytest.raises(ValueError, match="bins must be a count, at least 1, got 0"):
        over_time(H, Y, bins=0)
    with pytest.raises(ValueError, match="100 periods need 2000 rows, 20 each, got 1003"):
        over_time(H, Y, bins=100)


def test_a_forecast_that_few_rows_calibrated_is_seldom_off_anywhere():
    rng, runs, n = np.random.default_rng(3), 300, 100
    off = 0
    for _ in range(runs):
        distribution = Calibrator().fit(np.zeros(n), rng.normal(size=n))(np.zeros(M))
        y = rng.normal(size=M)
        off += any(each.off for each in time_periods(distribution, y, np.arange(M), 0.9, n))
    assert off / runs <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / runs)


def test_rows_behind_a_period_are_those_of_its_groups():
    group = slices_of("g", np.where(np.arange(M) < 500, "small", "large"), M)
    found = time_periods(H, Y, np.arange(M), 0.9, 1100, [group], {"small": 100, "large": 1000})
    widths = [each.intervals[0].high - each.intervals[0].low for each in found]
    assert found[0].size == 101 * 100 // 201
    assert found[-1].size == 100 * 1000 // 1100
    assert widths[0] > widths[-1]
