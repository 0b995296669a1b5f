"""A q that depends on the group of a row, and the labels of groups."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from functools import cache
from types import SimpleNamespace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import generator
from calibrant._batch import shared, take_rows
from calibrant._words import about, count, singular_if_one, warn_user
from calibrant.distributions.base import Context, Distribution
from calibrant.distributions.forwarding import Forwarding
from calibrant.distributions.joined import Joined

Numbers = NDArray[np.int64]

_PLAIN = {str, int, bool}


@dataclass(frozen=True, eq=False, repr=False)
class Grouped(Forwarding):
    """The distribution of each group, in the order of `labels`; one more is that of all rows, for groups never seen.

    `for_rows` gives each row the distribution of its group.
    """

    distributions: Distribution
    labels: tuple[Hashable, ...] = shared()

    def __post_init__(self) -> None:
        if len(self.distributions) - len(self.labels) not in (0, 1):
            raise ValueError(f"{len(self.labels)} groups do not go with {len(self.distributions)} distributions")

    @property
    def base(self) -> Distribution:  # type: ignore[override]
        return self.distributions

    def for_rows(self, context: Context) -> Distribution:
        """Row i has the distribution of the group by[i]."""
        if context.weights is not None:
            raise about("weights", TypeError("q was made by groups without weights=, so it takes none"))
        if context.by is None:
            raise about("by", TypeError(f"q depends on the group of a row, one of {len(self.labels)}: pass by="))
        distributions = take_rows(self.distributions, self._numbers(context.by))
        if not isinstance(distributions, Joined):
            return distributions
        uniforms = cache(lambda: generator(context.rng).random(context.rows))  # of all rows, whatever their groups

        def own(distribution: Distribution, rows: Numbers) -> Distribution:
            return distribution.for_rows(Context(rows.size, rng=SimpleNamespace(random=lambda _: uniforms()[rows])))

        return distributions.mapped(own)

    def known(self, by: Any) -> NDArray[np.bool_]:
        """Whether each row's group is one that calibration rows had: only for those is anything promised."""
        return np.asarray([label in self._index for label in labels_of(by)], bool)

    @property
    def _index(self) -> dict[Hashable, int]:
        return self.remember("_kept_index", lambda: {label: number for number, label in enumerate(self.labels)})

    def _numbers(self, by: Any) -> Numbers:
        """The number of each row's distribution; a new group is an error, or gets a warning and that of all rows."""
        labels, missing = labels_of(by), len(self.labels)
        numbers = np.asarray([self._index.get(label, missing) for label in labels], np.int64)
        rows = np.flatnonzero(numbers == missing)
        if not rows.size:
            return numbers
        first = labels[rows[0]]
        what = "is missing" if first is None else f"is {in_words(first)}, which no calibration row had"
        some = f"{count(rows.size, 'row')} of {len(labels)} {singular_if_one(rows.size, 'are')} of no known group"
        where = f"by {what}, in row {rows[0]} ({some})"
        if len(self.distributions) == len(self.labels):
            raise about("unseen", ValueError(f"{where}: unseen='pooled' gives such rows the distribution of all"))
        warn_user(f"{where}: the answer is the distribution of all groups, for which nothing is promised")
        return numbers

    def __getitem__(self, index: Any) -> Distribution:
        """The distributions of some groups, by their number."""
        return self.distributions[index]


# ---- labels ----------------------------------------------------------------------------------------------------------


def labels_of(by: Any) -> list[Hashable]:
    """One label for each row: text or a whole number, None where it is missing; of several columns a tuple.

    >>> labels_of(["north", None]), labels_of([[1, 2], [3, 4]])
    (['north', None], [(1, 2), (3, 4)])
    """
    columns = [by[name] for name in by.columns] if hasattr(by, "columns") else [_plain_list(by)]
    values = columns[0] if columns else None
    if isinstance(values, list) and values and all(isinstance(value, (list, tuple)) for value in values):
        widths = [len(value) for value in values]
        for row, width in enumerate(widths):
            if width != widths[0]:
                raise ValueError(f"by must hold as many values in each row, got {widths[0]} in row 0, {width} in {row}")
        columns = list(zip(*values, strict=True))
    columns = [_column(column) for column in columns]
    return columns[0] if len(columns) == 1 else [None if None in row else row for row in zip(*columns, strict=True)]


def _plain_list(values: Any) -> Any:
    if getattr(getattr(values, "dtype", None), "kind", "") in "mM":
        return list(values)  # numpy would make numbers of dates
    own = getattr(values, "tolist", None) or getattr(values, "to_list", None)
    return own() if own else list(values)


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
