"""The curves of a forecast, of all rows and of each slice, as the page has them: whole numbers, mostly differences."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import to_numpy
from calibrant.judging.part import LEVELS
from calibrant.judging.rows import Floats, ForecastRows
from calibrant.metrics.calibration import largest_gap
from calibrant.metrics.rounding import rounded
from calibrant.metrics.slices import Slices

COVERAGES = 99
"""1% to 99%: interval k, from 0, is that between the levels 98 - k and 100 + k."""
BINS = 20
"""So many bins are counted; few rows have every two or four of them put together."""
WIDTH_ROWS, WIDTH_ROWS_OF_SLICE = 10_000, 100
"""Rows that the mean widths are taken from: of all rows, and at least of each slice."""
MIDDLE = LEVELS.size // 2

Counts = NDArray[np.int64]


def curves(forecast: ForecastRows, columns: Sequence[Slices]) -> list[dict[str, Any]]:
    """What is drawn of each slice of each column, in this order.

    `pit` counts the PITs in each bin, `below` those that have each level as the first one that is no smaller, `covered`
    the labels for which each interval is the narrowest that holds them. `width` has the mean widths of the intervals.
    """
    drawn = forecast.drawn
    bin_of = np.minimum((drawn * BINS).astype(np.int64), BINS - 1)
    level_of = np.searchsorted(LEVELS, drawn, side="left")
    interval_of = _narrowest(forecast)
    widths = _widths(forecast, columns)
    order = np.argsort(drawn, kind="stable")
    found = []
    for column in columns:
        pit, below, covered = (
            _table(column, values, size)
            for values, size in ((bin_of, BINS), (level_of, LEVELS.size + 1), (interval_of, COVERAGES + 1))
        )
        small = column.index[order].astype(np.int16)  # sorted in one pass
        sorted_parts = np.split(drawn[order[np.argsort(small, kind="stable")]], np.cumsum(column.counts)[:-1])
        for k, m in enumerate(column.counts.tolist()):
            found.append(
                {
                    "pit": pit[k].reshape(bins(m), -1).sum(axis=1).tolist(),
                    "below": below[k, :-1].tolist(),
                    "covered": covered[k, :-1].tolist(),
                    "width": rounded(widths.pop(0)),
                    "gap": rounded(largest_gap(sorted_parts[k]).size),
                }
            )
    return found


def bins(m: int) -> int:
    """As many bins as leave 20 rows for each: 20, 10 or 5.

    >>> bins(50), bins(200), bins(400)
    (5, 10, 20)
    """
    return BINS if m >= 20 * BINS else BINS // 2 if m >= 10 * BINS else BINS // 4


def differences(values: Any) -> list[int]:
    """Whole numbers, each less the one before.

    >>> differences([3, 4, 9])
    [3, 1, 5]
    """
    return [int(step) for step in np.diff(np.rint(values), prepend=0)]


def _table(column: Slices, values: Counts, size: int) -> Counts:
    """How often each value occurs in each slice."""
    count = len(column.labels)
    return np.bincount(column.index * size + values, minlength=count * size).reshape(count, size)


def _narrowest(forecast: ForecastRows) -> Counts:
    """The place of the narrowest interval that holds the label, for each row: all wider ones do too.

    The quantile at a is at most y just if F(y) >= a, and that at b at least y if F(y-) < b.
    """
    above = np.searchsorted(LEVELS, forecast.columns["pit"], side="right")  # levels at or below F(y)
    below = np.searchsorted(LEVELS, forecast.columns["pit_left"], side="right")
    return np.maximum(np.maximum(MIDDLE - above, below - MIDDLE - 1), 0)


def _widths(forecast: ForecastRows, columns: Sequence[Slices]) -> list[Floats]:
    """The mean width of the interval of each coverage, of each slice, from random rows."""
    rng = np.random.default_rng(0)
    order = rng.permutation(len(forecast))
    chosen = []
    for column in columns:
        for k in range(len(column.labels)):
            part = order[:WIDTH_ROWS][column.index[order[:WIDTH_ROWS]] == k]
            few = part.size < WIDTH_ROWS_OF_SLICE
            chosen.append(order[column.index[order] == k][:WIDTH_ROWS_OF_SLICE] if few else part)
    rows = np.unique(np.concatenate(chosen))
    blocks = np.split(rows, range(1024, rows.size, 1024))
    table = np.concatenate([_interval_widths(forecast, block) for block in blocks])
    with np.errstate(invalid="ignore"):
        return [table[np.searchsorted(rows, part)].mean(axis=0) for part in chosen]


def _interval_widths(forecast: ForecastRows, rows: Counts) -> Floats:
    quantiles = np.asarray(to_numpy(forecast.distributions(rows).quantiles(LEVELS)), np.float64)
    quantiles = np.broadcast_to(quantiles, (rows.size, LEVELS.size))
    with np.errstate(invalid="ignore"):
        return np.asarray(quantiles[:, MIDDLE + 1 :] - quantiles[:, MIDDLE - 1 :: -1], np.float64)
