"""The curves of a forecast, of all rows and of each slice, as counts on a grid of levels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import to_numpy
from calibrant.metrics.by_slice import LEVELS, gaps_by_slice
from calibrant.metrics.slices import Slices
from calibrant.reports.scored_forecast import Floats, ScoredForecast

COVERAGES = np.arange(1, 100) / 100
"""Coverage k is that of the interval between the levels 98 - k and 100 + k."""
BINS = 20
"""So many bins are counted; few rows have every two or four of them put together."""
WIDTH_ROWS, WIDTH_ROWS_OF_SLICE = 10_000, 100
"""Rows that the mean widths are taken from: of all rows, and at least of each slice."""

Counts = NDArray[np.int64]


@dataclass(frozen=True)
class Curves:
    """What is drawn of the m rows of a slice."""

    m: int
    pit: Counts
    """PITs in each bin: 20 of them, or fewer where m is small."""
    below: Floats
    """The share of PITs at or below each level."""
    covered: Floats
    """The share of labels inside the interval of each coverage."""
    width: Floats
    """The mean width of that interval."""
    crps: float
    gap: float
    """sup_c |share of PITs <= c - c|."""


def curves(side: ScoredForecast, groupings: Sequence[Slices]) -> list[Curves]:
    """The curves of every slice of every grouping, in this order."""
    drawn = side.drawn
    # the place of a PIT among the levels: level k is at or above it for k >= place
    place = np.searchsorted(LEVELS, drawn, side="left")
    cell = np.minimum((drawn * BINS).astype(np.int64), BINS - 1)
    first = _first_covered(side)
    crps = side.columns["crps"]
    widths = _widths(side, groupings)
    order = np.argsort(drawn, kind="stable")
    found = []
    for slices in groupings:
        counts = slices.counts
        pit, level, inside = (
            _table(slices, values, size)
            for values, size in ((cell, BINS), (place, LEVELS.size + 1), (first, COVERAGES.size + 1))
        )
        with np.errstate(invalid="ignore"):
            mean = np.bincount(slices.index, crps, len(counts)) / counts
        gaps = gaps_by_slice(slices, drawn, order)
        for k, m in enumerate(counts.tolist()):
            below, covered = np.cumsum(level[k])[:-1] / m, np.cumsum(inside[k])[:-1] / m
            bars = pit[k].reshape(bins(m), -1).sum(axis=1)
            found.append(Curves(m, bars, below, covered, widths.pop(0), float(mean[k]), gaps[k].size))
    return found


def bins(m: int) -> int:
    """As many bins as leave 20 rows for each: 20, 10 or 5.

    >>> bins(50), bins(200), bins(400)
    (5, 10, 20)
    """
    return BINS if m >= 20 * BINS else BINS // 2 if m >= 10 * BINS else BINS // 4


def _table(slices: Slices, values: Counts, size: int) -> Counts:
    """How often each value occurs in each slice."""
    shape = len(slices.labels), size
    return np.bincount(slices.index * size + values, minlength=shape[0] * shape[1]).reshape(shape)


def _first_covered(side: ScoredForecast) -> Counts:
    """The place of the narrowest interval that holds the label, for each row: all wider ones do too.

    The quantile at a is at most y just if F(y) >= a, and that at b at least y if F(y-) < b.
    """
    above = np.searchsorted(LEVELS, side.columns["pit"], side="right")  # levels at or below F(y)
    below = np.searchsorted(LEVELS, side.columns["pit_left"], side="right")
    middle = LEVELS.size // 2
    return np.maximum(np.maximum(middle - above, below - middle - 1), 0)


def _widths(side: ScoredForecast, groupings: Sequence[Slices]) -> list[Floats]:
    """The mean width of the interval of each coverage, of each slice, from random rows."""
    rng = np.random.default_rng(0)
    m = side.y.shape[0]
    general = np.sort(rng.permutation(m)[:WIDTH_ROWS])
    chosen = []
    for slices in groupings:
        order = np.argsort(slices.index[general], kind="stable")
        ends = np.cumsum(np.bincount(slices.index[general], minlength=len(slices.labels)))
        for k, part in enumerate(np.split(general[order], ends[:-1])):
            chosen.append(part if part.size >= WIDTH_ROWS_OF_SLICE else _some_rows(slices, k, rng))
    rows = np.unique(np.concatenate(chosen))
    table = np.concatenate([_interval_widths(side, part) for part in np.split(rows, range(1024, rows.size, 1024))])
    with np.errstate(invalid="ignore"):
        return [table[np.searchsorted(rows, part)].mean(axis=0) for part in chosen]


def _some_rows(slices: Slices, k: int, rng: np.random.Generator) -> Counts:
    rows = np.flatnonzero(slices.index == k)
    return np.sort(rng.permutation(rows)[:WIDTH_ROWS_OF_SLICE])


def _interval_widths(side: ScoredForecast, rows: Counts) -> Floats:
    quantiles = np.asarray(to_numpy(side.distributions(rows).quantiles(LEVELS)), np.float64)
    quantiles = np.broadcast_to(quantiles, (rows.size, LEVELS.size))
    middle = LEVELS.size // 2
    with np.errstate(invalid="ignore"):
        return np.asarray(quantiles[:, middle + 1 :] - quantiles[:, middle - 1 :: -1], np.float64)
