"""Rows without a label: they calibrate nothing, so they are left out, and counted."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import array_api_compat
import numpy as np

from calibrant._arrays import anywhere, first_and_count, namespace, to_numpy
from calibrant._arrays import rows as rows_of
from calibrant._words import count, said_of, the_first, warn_user


def labelled(prediction: Any, y: Any, *columns: Any) -> tuple[Any, ...]:
    """The prediction, the labels and what else there is of each row, without the rows whose label is NaN.

    What does not fit together is left as it is: the checks behind this one say what is wrong.
    """
    labels = y if array_api_compat.is_array_api_obj(y) else _array(y)
    if labels is None or labels.ndim != 1 or labels.shape[0] != len(prediction):
        return (prediction, y, *columns)
    xp = namespace(labels)
    if not xp.isdtype(labels.dtype, "real floating") or not bool(xp.any(xp.isnan(labels))):
        return (prediction, y, *columns)
    there = with_label(labels)
    mask = to_numpy(there)
    return (prediction[mask], rows_of(labels, there), *(those(column, mask) for column in columns))


def with_label(labels: Any) -> Any:
    """Which rows have a label, with a warning that counts the others."""
    missing = namespace(labels).isnan(labels)
    if anywhere(missing):
        first, number = first_and_count(missing)
        among = f"{number} of {count(labels.shape[0], 'row')}, {the_first(number, first)}"
        warn_user(f"y is missing in {among}: {said_of(number, 'they are')} left out")
    return ~missing


def _array(y: Any) -> Any:
    """Lists and columns of tables as arrays; None where they hold no floats."""
    try:
        array = np.asarray(y)
    except ValueError:
        return None
    return array if array.dtype.kind == "f" and not isinstance(y, np.ma.MaskedArray) else None


def those(column: Any, mask: Any) -> Any:
    """The rows of whatever holds one entry for each row: an array, a list, a table."""
    if column is None or not hasattr(column, "__len__"):
        return column
    if isinstance(column, Mapping):
        return {name: those(values, mask) for name, values in column.items()}
    if hasattr(column, "iloc"):
        return column.iloc[np.flatnonzero(mask)]
    if len(column) != len(mask):
        return column
    if array_api_compat.is_array_api_obj(column):
        return rows_of(column, mask)
    return (
        column.filter(np.asarray(mask).tolist())  # a list, since not every polars takes numpy's masks
        if hasattr(column, "filter")
        else [item for item, there in zip(column, mask, strict=True) if there]
    )
