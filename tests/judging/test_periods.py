"""Periods of rows by time."""

from __future__ import annotations

from datetime import date, datetime, timedelta, timezone

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from calibrant.metrics.slices import periods_of

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
    assert found.ends[1][0] == STARTS[kind]
    assert found.counts.tolist() == [30, 30]


def test_small_periods_join_their_neighbours():
    time = np.repeat([1, 2, 3, 4], [100, 5, 60, 3])
    found = periods_of(time, 168, 8)
    assert found.labels == ("[1, 1]", "[2, 4]")
    assert found.counts.tolist() == [100, 68]
    assert periods_of(np.zeros(168), 168).labels == ("[0, 0]",)
    assert periods_of(np.arange(5), 5).counts.tolist() == [5]


@pytest.mark.parametrize(
    ("m", "counts"), [(39, [39]), (50, [25, 25]), (75, [25, 25, 25]), (199, [22] * 8 + [23]), (300, [30] * 10)]
)
def test_periods_are_as_many_as_have_20_rows_each_and_10_at_most(m, counts):
    assert sorted(periods_of(np.arange(m), m).counts) == counts


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
