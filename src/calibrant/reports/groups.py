"""Groups as they come: one column, columns by name, or a data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from calibrant._slices import Slices, slices_of

MOST = 10
"""So many columns at most: each has up to 31 slices, and a page of more is read by nobody."""


def groupings(groups: Any, m: int) -> list[Slices]:
    """The slices of m rows by each column of a frame or a mapping, or by one array, which is called "group".

    >>> [slices.name for slices in groupings({"region": ["n", "s"], "year": [2023, 2024]}, 2)]
    ['region', 'year']
    """
    if groups is None:
        return []
    if isinstance(groups, (str, bytes)):
        raise TypeError(f"groups must be an array, a mapping of names to arrays or a data frame, got {groups!r}")
    columns = list(_columns(groups))
    if len(columns) > MOST:
        raise ValueError(f"groups must have at most {MOST} columns, got {len(columns)}")
    return [slices_of(str(name), values, m) for name, values in columns]


def _columns(groups: Any) -> Iterator[tuple[Any, Any]]:
    if isinstance(groups, Mapping):
        yield from groups.items()
    elif hasattr(groups, "columns"):  # pandas, polars and narwhals keep names there, pyarrow the columns themselves
        names = groups.column_names if hasattr(groups, "column_names") else groups.columns
        yield from ((name, groups[name]) for name in names)
    else:
        name = getattr(groups, "name", None)  # a series has one
        yield name if isinstance(name, str) and name else "group", groups
