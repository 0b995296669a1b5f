"""The features as slices of rows, whatever they are: numbers, text, dates, with values missing."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arguments import same_length
from calibrant._arrays import to_numpy
from calibrant.metrics.slices import Slices, columns_of, distinct_label, slices_of

PARTS = 5
"""So many slices are made of many different numbers."""
OWN = ("predicted value", "width")


def feature_slices(X: Any, m: int) -> list[Slices]:
    """The slices of m rows by each feature: quintiles, or a value each where there are few; constants are left out.

    >>> [column.name for column in feature_slices([[1, "a"], [2, "b"], [3, "b"]], 3)]
    ['x0', 'x1']
    """
    columns = [] if X is None else list(_columns(X, m))
    twice = {name for k, (name, _) in enumerate(columns) if name in [other for other, _ in columns[:k]]}
    if twice:
        raise ValueError(f"the columns of X must have different names, got {min(twice)!r} twice")
    made = [slices_of(name, values, m, parts=PARTS, of="X") for name, values in columns]
    return [column for column in made if len(column.labels) > 1]


def own_slices(centre: Any, width: Any, taken: Sequence[str] = ()) -> list[Slices]:
    """The rows by the forecast's own centre and the width of its interval, in five parts each.

    A column with one value makes no slices. Widths are compared to six digits, so that rounding does not matter.
    """
    names = [distinct_label(name, taken) for name in OWN]
    with np.errstate(divide="ignore", invalid="ignore"):
        power = 10.0 ** np.clip(5 - np.floor(np.log10(np.abs(width))), -300, 300)
        short = np.round(width * power) / power
    columns = [centre, np.where(np.isfinite(short), short, width)]
    made = [slices_of(name, values, len(values), parts=PARTS) for name, values in zip(names, columns, strict=True)]
    return [column for column in made if len(column.labels) > 1]


def _columns(X: Any, m: int) -> Iterator[tuple[str, Any]]:
    table = to_numpy(X) if array_api_compat.is_array_api_obj(X) else X
    if isinstance(X, (list, tuple)):
        table = np.array(X, object)
    if hasattr(X, "columns") or getattr(table, "ndim", 1) == 1:
        yield from columns_of(X, "x0", of="X")
        return
    if table.ndim != 2:
        raise ValueError(f"X must have a row for each label and a column for each feature, got shape {table.shape}")
    if not isinstance(table, np.ndarray):
        raise TypeError(f"X must be an array, a mapping of names to arrays or a data frame, got {type(X).__name__}")
    same_length("the forecast", m, "X", table.shape[0])
    yield from ((f"x{k}", table[:, k]) for k in range(table.shape[1]))
