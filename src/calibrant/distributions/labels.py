"""The group of each row: names and whole numbers as Python has them, in one column or in several."""

from __future__ import annotations

import math
from collections.abc import Callable, Hashable
from itertools import chain
from typing import Any

_PLAIN = {str, int, bool}


def labels_of(by: Any) -> list[Hashable]:
    """One label for each row, None where it is missing; of several columns a tuple.

    >>> labels_of(["north", None]), labels_of([[1, 2], [3, 4]])
    (['north', None], [(1, 2), (3, 4)])
    """
    if hasattr(by, "columns"):  # a data frame
        columns = [_column(by[name]) for name in by.columns]
        return columns[0] if len(columns) == 1 else _rows(list(map(list, zip(*columns, strict=True))))
    values = _plain_list(by)
    if values and all(isinstance(value, (list, tuple)) for value in values):
        width = len(values[0])
        odd = next((row for row, value in enumerate(values) if len(value) != width), None)
        if odd is not None:
            raise ValueError(
                f"by must hold as many values in each row, got {width} in row 0, {len(values[odd])} in {odd}"
            )
        flat = _column(list(chain.from_iterable(values)), lambda place: place // max(width, 1))
        rows = [flat[start : start + width] for start in range(0, len(flat), width)]
        return [row[0] for row in rows] if width == 1 else _rows(rows)
    return _column(values)


def _rows(rows: list[list[Hashable]]) -> list[Hashable]:
    return [None if None in row else tuple(row) for row in rows]


def _plain_list(values: Any) -> list[Any]:
    if getattr(getattr(values, "dtype", None), "kind", "") in "mM":
        return list(values)  # numpy would make numbers of dates
    for method in ("tolist", "to_list"):
        if hasattr(values, method):
            found: list[Any] = getattr(values, method)()
            return found
    return list(values)


def _column(values: Any, row_of: Callable[[int], int] = lambda place: place) -> list[Hashable]:
    """The values as plain Python ones, None where they are missing."""
    values = _plain_list(values)
    if set(map(type, values)) <= _PLAIN:
        return list(values)
    values = [value.item() if hasattr(value, "item") else value for value in values]
    found: list[Hashable] = []
    for place, value in enumerate(values):
        if type(value) in _PLAIN:
            found.append(value)
        elif _missing(value):
            found.append(None)
        else:
            what = "floats" if isinstance(value, float) else f"a {type(value).__name__}"
            raise TypeError(
                f"by must hold names or whole numbers, one group a row, got {what}, {value!r} in row {row_of(place)}:"
                " cut them into bins, or write them as text"
            )
    return found


def _missing(value: Any) -> bool:
    """None, NaN, and what pandas has for them."""
    return value is None or (isinstance(value, float) and math.isnan(value)) or str(value) in ("<NA>", "NaT")


def said(label: Any) -> str:
    """A label in an error."""
    return ", ".join(map(repr, label)) if isinstance(label, tuple) else repr(label)
