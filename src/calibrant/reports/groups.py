"""Groups as they come, one column, columns by name, or a data frame; and those that every forecast has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calibrant.metrics.by_slice import PARTS, SMALLEST, own_slices
from calibrant.metrics.slices import Slices, columns_of, slices_of
from calibrant.reports.scored_forecast import ScoredForecast

MOST = 10
"""So many columns at most: each has up to 31 slices, and a page of more is read by nobody."""


def groupings(groups: Any, m: int) -> list[Slices]:
    """The slices of m rows by each column of a frame or a mapping, or by one array, which is called "group".

    >>> [slices.name for slices in groupings({"region": ["n", "s"], "year": [2023, 2024]}, 2)]
    ['region', 'year']
    """
    if groups is None:
        return []
    columns = list(columns_of(groups, "group"))
    if len(columns) > MOST:
        raise ValueError(f"groups must have at most {MOST} columns, got {len(columns)}")
    return [slices_of(name, values, m) for name, values in columns]


def own_groupings(side: ScoredForecast, taken: Sequence[str]) -> list[Slices]:
    """The slices by predicted value and by width, where there are rows enough to judge each of the five."""
    if side.y.shape[0] < PARTS * SMALLEST:
        return []
    return own_slices(side.columns["median"], side.columns["width"], taken)
