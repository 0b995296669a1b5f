"""The features or names of the rows that are shown."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant.metrics.rounding import shown
from calibrant.metrics.slices import column_values, columns_of, dates_in_words, missing_in

MOST = 30
"""So many columns at most: a row with more is read by nobody."""
LONGEST = 80


def features_of(features: Any, m: int, rows: NDArray[np.int64]) -> list[dict[str, str]]:
    """The values of the rows as texts, by the names of the columns.

    >>> features_of({"id": ["a", "b", "c"], "x": [0.12345, None, 1e9]}, 3, np.array([0, 2]))
    [{'id': 'a', 'x': '0.1235'}, {'id': 'c', 'x': '1e+09'}]
    """
    found: list[dict[str, str]] = [{} for _ in rows]
    if features is None:
        return found
    columns = list(columns_of(features, "id", of="features"))
    if len(columns) > MOST:
        raise ValueError(f"features must have at most {MOST} columns, got {len(columns)}: choose the most informative")
    for name, values in columns:
        column = column_values(f"the column {name!r} of features", values)
        same_length("the forecast", m, f"the column {name!r} of features", column.shape[0])
        chosen = column[rows]
        missing_values = missing_in(chosen)
        known = chosen[~missing_values]
        texts = iter(dates_in_words(known) if known.dtype.kind == "M" else map(_text, known.tolist()))
        for row, missing in zip(found, missing_values, strict=True):
            row[name] = "missing" if missing else next(texts)
    return found


def _text(value: Any) -> str:
    text = shown(value, 4) if isinstance(value, float) else str(value)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
