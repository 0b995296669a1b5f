"""Groups as they come: one column, columns by name, or a data frame."""

from __future__ import annotations

from typing import Any

from calibrant.metrics.slices import Slices, columns_of, slices_of

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
