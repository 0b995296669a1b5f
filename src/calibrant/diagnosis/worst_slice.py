"""The worst slice: found on one half of the rows, measured on the other."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from calibrant.metrics.bands import reliability_band, share_interval
from calibrant.metrics.by_slice import SMALLEST, rows_named
from calibrant.metrics.interval_coverage import InsideFlags, IntervalResult
from calibrant.metrics.slices import Slices

SEARCHED = 50_000
"""Of more than twice as many rows, so many are searched and all others measured."""


@dataclass(frozen=True)
class WorstSlice:
    """A slice of one or two features, its coverage where it was found and where it was measured."""

    name: str
    found: float
    """The share on the rows that it was found on: too bad to be true, since it was looked for."""
    m: int
    """Its rows among those that it was measured on."""
    interval: IntervalResult
    """The share there, and what chance allows."""
    low: float
    high: float
    """The interval of Clopper and Pearson for the share that is tested. It is exact: these rows did not choose it."""
    confidence: float

    @property
    def off(self) -> bool:
        """Whether chance does not explain it."""
        return self.interval.off


def worst_slice(
    columns: Sequence[Slices],
    coverage: float,
    flags: InsideFlags,
    rng: np.random.Generator,
    *,
    confidence: float,
    risk: float,
    n: int | None,
) -> WorstSlice | None:
    """The cell of at least 20 rows with the largest |share - coverage| - 2 standard errors; None without such a one."""
    tested = flags.tested
    order = rng.permutation(tested.shape[0])
    first = min(tested.shape[0] // 2, SEARCHED)
    searched, measured = order[:first], order[first:]
    best: tuple[float, float, tuple[tuple[Slices, int], ...]] | None = None
    for cell_columns, index, size in _cells(columns, searched):
        counts = np.bincount(index, minlength=size)
        enough = np.flatnonzero(counts >= SMALLEST)
        if not enough.size:
            continue
        share = np.bincount(index, tested[searched], size)[enough] / counts[enough]
        surely = np.abs(share - coverage) - 2 * np.sqrt(coverage * (1 - coverage) / counts[enough])
        at = int(np.argmax(surely))
        if best is None or surely[at] > best[0]:
            places = np.unravel_index(enough[at], [len(column.labels) for column in cell_columns])
            cell = tuple((column, int(place)) for column, place in zip(cell_columns, places, strict=True))
            best = float(surely[at]), float(share[at]), cell
    if best is None:
        return None
    _, found, cell = best
    inside = np.all([column.index[measured] == place for column, place in cell], axis=0)
    m, hits = int(inside.sum()), int(tested[measured][inside].sum())
    if m == 0:
        return None
    counted = float(np.mean(flags.counted[measured][inside]))
    (least,), (most,) = reliability_band(m, [coverage], 1 - risk, n=n)
    low, high = share_interval(hits, m, confidence)
    name = ", ".join(rows_named(column.name, column.labels[place]) for column, place in cell)
    split_share = None if flags.drawn is None else hits / m
    return WorstSlice(
        name,
        found,
        m,
        IntervalResult(coverage, counted, float(least), float(most), split_share),
        float(low),
        float(high),
        confidence,
    )


def _cells(
    columns: Sequence[Slices], rows: NDArray[np.int64]
) -> Iterator[tuple[tuple[Slices, ...], NDArray[np.int64], int]]:
    """Each column and each pair of columns: which cell every row is in, and how many cells there are."""
    index = [column.index[rows] for column in columns]
    yield from (((column,), index[k], len(column.labels)) for k, column in enumerate(columns))
    for a, b in combinations(range(len(columns)), 2):
        width = len(columns[b].labels)
        yield (columns[a], columns[b]), index[a] * width + index[b], len(columns[a].labels) * width
