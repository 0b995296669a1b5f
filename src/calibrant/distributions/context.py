"""What is known of the rows beside their predictions: their groups, and their likelihood ratios."""

from __future__ import annotations

import math
from collections.abc import Hashable, Sized
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arguments import one_each
from calibrant._arrays import Array, device_like, floats, refuse, to_numpy
from calibrant._types import ArrayLike, Draws, Values

_LARGEST_RATIO = 1e30  # a row of a larger one has all of its mass in the tails, as has one of this
_PLAIN = {str, int, bool}


@dataclass(frozen=True, eq=False)
class Context:
    """Which rows a distribution is asked for: how many, and what q may depend on beside the score.

    A q that depends on the row takes what it needs from here in a method `for_rows`.
    """

    rows: int
    by: Values | None = None
    """A label for each row, such as its group."""
    weights: ArrayLike | Sized | None = None
    """A weight for each row, such as a likelihood ratio."""
    rng: Draws = None
    """What draws whatever is random, see `calibrant._arguments.generator`."""

    def __post_init__(self) -> None:
        for name in self.unused():
            one_each("the prediction", self.rows, name, getattr(self, name))

    def unused(self) -> tuple[str, ...]:
        """The names of what was said of the rows, for one that uses none of it."""
        return tuple(name for name in ("by", "weights") if getattr(self, name) is not None)

    def ratios(self, like: Array, unit: float) -> Array:
        """The likelihood ratios in a unit, beside `like`: not negative, and given."""
        if self.by is not None:
            raise TypeError("q was weighted by likelihood ratios and takes no by=")
        if self.weights is None:
            raise TypeError("q was weighted by likelihood ratios: pass weights=, those of the new rows, too")
        ratios = floats("weights", self.weights, ndim=1)
        refuse("weights", ratios < 0, "is negative")
        with np.errstate(over="ignore"):
            return device_like(np.minimum(to_numpy(ratios) / unit, _LARGEST_RATIO), like)


def labels_of(by: Any) -> list[Hashable]:
    """One label for each row: text or a whole number, None where it is missing; of several columns a tuple.

    >>> labels_of(["north", None]), labels_of([[1, 2], [3, 4]])
    (['north', None], [(1, 2), (3, 4)])
    """
    if hasattr(by, "columns"):  # a data frame
        columns = [by[name] for name in by.columns]
    else:
        columns = [values := _plain_list(by)]
        if values and all(isinstance(value, (list, tuple)) for value in values):
            width = len(values[0])
            for row, value in enumerate(values):
                if len(value) != width:
                    raise ValueError(
                        f"by must hold as many values in each row, got {width} in row 0, {len(value)} in {row}"
                    )
            columns = list(zip(*values, strict=True))
    columns = [_column(column) for column in columns]
    return columns[0] if len(columns) == 1 else [None if None in row else row for row in zip(*columns, strict=True)]


def _plain_list(values: Any) -> Any:
    if getattr(getattr(values, "dtype", None), "kind", "") in "mM":
        return list(values)  # numpy would make numbers of dates
    for method in ("tolist", "to_list"):
        if hasattr(values, method):
            return getattr(values, method)()
    return list(values)


def _column(given: Any) -> list[Any]:
    """The values as plain Python ones, None where they are missing."""
    values: list[Any] = _plain_list(given)
    if set(map(type, values)) <= _PLAIN:
        return values
    values = [value.item() if hasattr(value, "item") else value for value in values]
    for row, value in enumerate(values):
        if type(value) in _PLAIN:
            continue
        if value is None or str(value) in ("<NA>", "NaT") or (isinstance(value, float) and math.isnan(value)):
            values[row] = None
            continue
        what = "floats" if isinstance(value, float) else f"a {type(value).__name__}"
        raise TypeError(
            f"by must hold names or whole numbers, one group a row, got {what}, {value!r} in row {row}:"
            " cut them into bins, or write them as text"
        )
    return values


def in_words(label: Any) -> str:
    """A label in an error."""
    return ", ".join(map(repr, label)) if isinstance(label, tuple) else repr(label)
