"""The rows that a report shows one by one, and their features."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant.judging.rows import Floats, ForecastRows
from calibrant.metrics.rounding import shown
from calibrant.metrics.slices import Slices, column_values, columns_of, dates_in_words, missing_in

MOST = 500
WORST = 10
AMONG = 20_000
"""Random rows among which those of a slice are looked for."""
COLUMNS, LONGEST = 30, 80
"""So many features at most, and so many characters of each: a row with more is read by nobody."""

Index = NDArray[np.int64]


@dataclass(frozen=True)
class Shown:
    """The rows that are shown one by one, in the order of the file."""

    rows: Index
    sample: NDArray[np.bool_]
    """Whether a row is one of a random sample of all rows; the others are there for their group, or as misses."""
    misses: Sequence[int]
    """The rows with the largest CRPS, the worst first."""
    drawn: bool
    """Whether there is a sample, or all rows are shown, or those that were asked for."""


def chosen_rows(forecast: ForecastRows, columns: Sequence[Slices], forecasts: int) -> Shown:
    """100 random rows, two more of every slice, and the 10 with the largest CRPS; fewer of many forecasts."""
    m, size = len(forecast), min(100, max(20, 200 // forecasts))
    misses = _misses(forecast.columns["crps"])
    if m <= size + 2 * WORST:
        return Shown(np.arange(m), np.ones(m, np.bool_), misses, drawn=False)
    some = np.random.default_rng(0).permutation(m)[:AMONG]
    rows = [*some[:size], *misses]
    for column in columns:
        for k in range(len(column.labels)):
            inside = some[column.index[some] == k]
            rows += list((inside if inside.size else np.flatnonzero(column.index == k))[: 4 // (forecasts + 1)])
    kept = np.unique(np.array(rows, np.int64))
    return Shown(kept, np.isin(kept, some[:size]), misses, drawn=True)


def named_rows(forecast: ForecastRows, rows: Any) -> Shown:
    """The rows that the caller names."""
    index, m = np.asarray(rows), len(forecast)
    if index.ndim != 1 or index.size == 0 or index.dtype.kind not in "iu":
        raise TypeError(f"rows must be a list of row numbers, got {rows!r}")
    if index.size > MOST:
        raise ValueError(f"rows must name at most {MOST} rows, got {index.size}")
    bad = (index < 0) | (index >= m)
    if bad.any():
        raise ValueError(f"rows must lie in 0..{m - 1}, got {index[bad][0]}")
    index = np.unique(index.astype(np.int64))
    misses = index[_misses(forecast.columns["crps"][index])].tolist()
    return Shown(index, np.ones(index.size, np.bool_), misses, drawn=False)


def _misses(crps: Floats) -> list[int]:
    """The places of the largest numbers, the largest first; the first of equal ones."""
    largest = np.argpartition(-crps, WORST)[:WORST] if crps.size > WORST else np.arange(crps.size)
    return [int(k) for k in largest[np.lexsort((largest, -crps[largest]))]]


def features_of(features: Any, m: int, rows: Index) -> list[dict[str, str]]:
    """The values of the rows as texts, by the names of the columns.

    >>> features_of({"id": ["a", "b", "c"], "x": [0.12345, None, 1e9]}, 3, np.array([0, 2]))
    [{'id': 'a', 'x': '0.1235'}, {'id': 'c', 'x': '1e+09'}]
    """
    found: list[dict[str, str]] = [{} for _ in rows]
    columns = [] if features is None else list(columns_of(features, "id", of="features"))
    if len(columns) > COLUMNS:
        raise ValueError(
            f"features must have at most {COLUMNS} columns, got {len(columns)}: choose the most informative"
        )
    for name, values in columns:
        column = column_values(f"the column {name!r} of features", values)
        same_length("the forecast", m, f"the column {name!r} of features", column.shape[0])
        missing = missing_in(column[rows])
        known = column[rows][~missing]
        texts = iter(dates_in_words(known) if known.dtype.kind == "M" else map(_text, known.tolist()))
        for row, absent in zip(found, missing, strict=True):
            row[name] = "missing" if absent else next(texts)
    return found


def _text(value: Any) -> str:
    text = shown(value, 4) if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
