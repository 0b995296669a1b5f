"""Rows by the value of a column, or by time: which slices there are, and which one each row is in."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from decimal import Decimal
from fractions import Fraction
from itertools import pairwise
from typing import Any, Literal

import array_api_compat
import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import first_and_count, to_numpy
from calibrant._types import Values
from calibrant._words import in_all

FEW = 12
"""So many different numbers, or fewer, are a slice each."""
MOST = 30
"""The largest number of slices that text is cut into."""
MOST_PERIODS = 10
"""So many periods, unless that leaves some with fewer than 20 rows."""
BINS = 4
SMALLEST = 20
"""Slices of fewer rows are not judged."""

Index = NDArray[np.int64]

_NUMBERS = (int, float, np.integer, np.floating, Decimal, Fraction)
_LONGEST = 60
"""Characters of a text that its label has."""


@dataclass(frozen=True)
class Slices:
    """The rows of a batch by one column: row i is in slice `labels[index[i]]`, and no slice is empty."""

    name: str
    labels: tuple[str, ...]
    index: Index
    ends: tuple[tuple[str, str], ...] = field(default=(), repr=False)
    """Of periods: the time of the first and of the last row of each."""

    @property
    def counts(self) -> Index:
        """The number of rows in each slice."""
        return np.bincount(self.index, minlength=len(self.labels))


def all_rows(m: int) -> Slices:
    """All m rows as one slice."""
    return Slices("", ("all rows",), np.zeros(m, np.int64))


def slices_of(name: str, values: Any, m: int, *, parts: int = BINS, of: str = "groups") -> Slices:
    """The slices of m rows by a column of text, booleans, numbers or dates.

    Text, booleans, and up to 12 different numbers or dates are one slice per value; more are cut into `parts` of about
    equal size, four if not given. Texts are in natural order, "a 2" before "a 10". Of more than 30 texts the 29
    most frequent are kept and the others are one slice. Rows without a value (None, NaN, an empty text) are a slice
    "missing". `of` is what the column belongs to, for errors.

    >>> slices_of("region", ["north", "south", None, "north"], 4)
    Slices(name='region', labels=('north', 'south', 'missing'), index=array([0, 1, 2, 0]))
    >>> slices_of("age", range(100), 100).labels
    ('[0, 24]', '(24, 49]', '(49, 74]', '(74, 99]')
    """
    column = column_values(f"the column {name!r} of {of}", values)
    same_length("the forecast", m, f"the column {name!r} of {of}", column.shape[0])
    missing = missing_in(column)
    labels, inside = _parts(column[~missing], parts)
    index = np.full(m, len(labels), np.int64)
    index[~missing] = inside
    if missing.any():
        labels = [*labels, distinct_label("missing", labels)]
    return Slices(str(name), tuple(labels), index)


def columns_of(groups: Any, name: str, *, of: str = "groups") -> Iterator[tuple[str, Any]]:
    """(name, values) of each column of a mapping or a frame; or of a single one, which has `name` if none of its own.

    >>> [name for name, _ in columns_of({"region": ["n", "s"], "year": [2023, 2024]}, "")]
    ['region', 'year']
    """
    if isinstance(groups, (str, bytes)) or not (hasattr(groups, "__iter__") or hasattr(groups, "__getitem__")):
        raise TypeError(f"{of} must be an array, a mapping of names to arrays or a data frame, got {groups!r}")
    if isinstance(groups, Mapping):
        yield from ((str(key), values) for key, values in groups.items())
    elif hasattr(groups, "columns"):  # pandas, polars and narwhals keep names there, pyarrow the columns themselves
        names = groups.column_names if hasattr(groups, "column_names") else groups.columns
        yield from ((str(key), groups[key]) for key in names)
    else:
        own = getattr(groups, "name", None)  # a series has one
        yield own if isinstance(own, str) and own else name, groups


def column_values(what: str, values: Any) -> NDArray[Any]:
    """A column of any kind as a 1-d array."""
    if array_api_compat.is_array_api_obj(values):
        values = to_numpy(values)
    # np.asarray of a list would give every text the size of the longest
    column = np.asarray(values) if hasattr(values, "__array__") else np.fromiter(values, object)
    if column.ndim != 1:
        raise ValueError(f"{what} must be 1-d, got shape {column.shape}")
    return column


def missing_in(column: NDArray[Any]) -> NDArray[np.bool_]:
    """None, NaN, NaT, pandas' NA and an empty text: what is not there, or does not equal itself."""
    if column.dtype.kind == "O":
        return np.fromiter((_is_missing(value) for value in column), np.bool_, column.shape[0])
    if column.dtype.kind in "fcmM":
        return np.asarray(column != column)
    return np.asarray(column == "") if column.dtype.kind == "U" else np.zeros(column.shape[0], np.bool_)


def _is_missing(value: Any) -> bool:
    if value is None:
        return True
    try:
        return bool(value != value) or (isinstance(value, str) and not value)
    except TypeError:  # pandas' NA, which is neither equal nor not
        return True


def _parts(column: NDArray[Any], parts: int) -> tuple[list[str], Index]:
    if column.dtype.kind == "O" and column.size:
        column = typed(column)
    if column.dtype.kind in "iufM":
        return _ordered(column, parts)
    return _texts(column)


def typed(column: NDArray[Any]) -> NDArray[Any]:
    """A column of objects that are all numbers, or all dates, as such."""
    kinds = set(map(type, column))
    if kinds == {int} and all(abs(value) < 2**63 for value in column):
        return column.astype(np.int64)
    if all(issubclass(kind, _NUMBERS) and kind is not bool for kind in kinds):
        return column.astype(np.float64)
    if all(issubclass(kind, date) for kind in kinds) and not any(getattr(day, "tzinfo", None) for day in column):
        return column.astype("datetime64[us]")
    return column


def _ordered(column: NDArray[Any], parts: int) -> tuple[list[str], Index]:
    different, inverse = np.unique(column, return_inverse=True)
    if different.size <= FEW:
        return in_words(different), inverse.astype(np.int64)
    ordered = np.sort(column)
    ends = ends_of_parts(ordered, parts)
    index = np.searchsorted(ends, column, side="left")
    texts = in_words(np.array([ordered[0], *ends], column.dtype))
    if ends[0] == ordered[0]:  # a part of one value
        labels = [texts[0], *(f"({a}, {b}]" for a, b in pairwise(texts[1:]))]
    else:
        labels = [f"{'(' if k else '['}{texts[k]}, {texts[k + 1]}]" for k in range(len(ends))]
    return labels, index.astype(np.int64)


def ends_of_parts(ordered: NDArray[Any], parts: int) -> NDArray[Any]:
    """The last value of each part: values that are there, by their ranks, so that ties may merge parts."""
    return np.unique(ordered[[-(-k * ordered.size // parts) - 1 for k in range(1, parts + 1)]])


def in_words(values: NDArray[Any]) -> list[str]:
    """Numbers or dates, all in one way."""
    return dates_in_words(values) if values.dtype.kind == "M" else _numbers_in_words(values)


def _numbers_in_words(values: NDArray[Any]) -> list[str]:
    """Numbers with as many digits as distinguish them, at least four."""
    texts: list[str] = []
    for digits in range(4, 18):
        texts = [_number(value, digits) for value in values.tolist()]
        if len(set(texts)) == len(set(values.tolist())):
            break
    return texts


def _number(value: float, digits: int) -> str:
    whole = isinstance(value, int) or (value.is_integer() and abs(value) < 1e9)
    return str(int(value)) if whole else f"{value:.{digits}g}"


def dates_in_words(values: NDArray[Any]) -> list[str]:
    """Dates without the part of the clock that they all share with midnight.

    >>> dates_in_words(np.array(["2024-03-24T11:00:00", "2024-03-25T00:00:00"], "datetime64[s]"))
    ['2024-03-24 11:00', '2024-03-25 00:00']
    """
    units: tuple[Literal["D", "m", "s"], ...] = ("D", "m", "s")
    unit = next((unit for unit in units if (values == values.astype(f"datetime64[{unit}]")).all()), None)
    return [str(text).replace("T", " ") for text in np.datetime_as_string(values, unit=unit)]


def _texts(column: NDArray[Any]) -> tuple[list[str], Index]:
    texts = [str(value) for value in column.tolist()]
    counts = Counter(texts)
    frequent = list(counts)
    if len(counts) > MOST:  # of those of one size, the first in order
        frequent = sorted(counts, key=lambda text: (-counts[text], natural_order(text)))[: MOST - 1]
    place = {text: k for k, text in enumerate(sorted(frequent, key=natural_order))}
    labels = _short(place)
    if len(counts) > MOST:
        labels.append(distinct_label(f"{len(counts) - len(place)} others", labels))
    return labels, np.fromiter((place.get(text, len(place)) for text in texts), np.int64, len(texts))


def _short(texts: Iterable[str]) -> list[str]:
    """Texts cut to a length that a label may have, still different."""
    labels: list[str] = []
    for text in texts:
        short = text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
        labels.append(distinct_label(short, labels))
    return labels


def distinct_label(label: str, labels: Sequence[str]) -> str:
    """The label, in brackets if it is taken."""
    return label if label not in labels else distinct_label(f"({label})", labels)


def natural_order(text: str) -> tuple[Any, ...]:
    """A key to sort by: numbers by their value, before all other texts; in these, digits by the number that they make.

    >>> sorted(["10", "b", "9", "-1", "a10", "a9"], key=natural_order)
    ['-1', '9', '10', 'a9', 'a10', 'b']
    """
    if re.fullmatch(r"-?\d+(\.\d+)?", text):
        return (0, float(text), text)
    parts = re.split(r"(\d+)", text)
    # digits by their length and then as texts, however many they are: int() takes only so many
    return (1, [(len(part.lstrip("0")), part.lstrip("0")) if k % 2 else part for k, part in enumerate(parts)], text)


def periods_of(time: Values, m: int, bins: int | None = None, *, name: str = "time") -> Slices:
    """The m rows by `time`, numbers or dates in any order, in `bins` periods of about equally many rows.

    One period follows the other, each from its first to its last row.

    Rows of one moment are in one period, and no period has fewer than 20 rows unless it is the only one. So there may
    be fewer than `bins`, which are 10 if not given.

    >>> day = np.datetime64("2024-01-01") + np.arange(90)
    >>> found = periods_of(day[::-1], 90, 3)
    >>> list(found.ends)
    [('2024-01-01', '2024-01-30'), ('2024-01-31', '2024-02-29'), ('2024-03-01', '2024-03-30')]
    >>> found.index[[0, -1]]
    array([2, 0])
    """
    when = times_of(time, m)
    ordered = np.sort(when)
    wanted = max(1, min(MOST_PERIODS, m // SMALLEST)) if bins is None else int(bins)
    last = _large(ends_of_parts(ordered, wanted), when)
    index = np.searchsorted(last, when, side="left").astype(np.int64)
    first = ordered[np.searchsorted(ordered, last[:-1], side="right")]
    texts = in_words(np.concatenate([ordered[:1], first, last]))
    ends = tuple(zip(texts[: len(last)], texts[len(last) :], strict=True))
    return Slices(name, tuple(f"[{a}, {b}]" for a, b in ends), index, ends)


def times_of(time: Values, m: int) -> NDArray[Any]:
    """When each of m rows was, as numbers or datetime64, or one sentence that says what is wrong.

    Texts in ISO format, as a CSV file has them, are dates. Moments with a time zone are put into UTC.
    """
    if isinstance(time, (str, bytes)) or not (hasattr(time, "__iter__") or hasattr(time, "__array__")):
        raise TypeError(f"time must be an array of numbers or dates, one for each row, got {time!r}")
    column = column_values("time", time)
    same_length("the forecast", m, "time", column.shape[0])
    missing = missing_in(column)
    if missing.any():
        row, count = first_and_count(missing)
        raise ValueError(f"time is missing in row {row} ({in_all(count)})")
    if column.dtype.kind in "OU" and column.size:
        column = typed(_moments(column))
    if column.dtype.kind not in "iufM":
        first, numbers = column.tolist()[0], {isinstance(value, (int, float)) for value in column}
        what = "both" if len(numbers) > 1 else f"{first!r} in row 0"
        way = ": pd.to_datetime(time) makes dates of texts" if isinstance(first, str) else ""
        raise TypeError(f"time must hold numbers or dates, and one kind in all rows, got {what}{way}")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        row, count = first_and_count(~np.isfinite(column))
        raise ValueError(f"time is infinite in row {row} ({in_all(count)})")
    return column


def _moments(column: NDArray[Any]) -> NDArray[Any]:
    """Texts in ISO format as times, and moments with a time zone in UTC, where all rows are such."""
    values = column.tolist()
    if all(isinstance(value, str) for value in values):
        with suppress(ValueError):
            values = [datetime.fromisoformat(value) for value in values]
    if all(isinstance(value, datetime) and value.tzinfo is not None for value in values):
        values = [value.astimezone(UTC).replace(tzinfo=None) for value in values]
    return np.fromiter(values, object, len(values))


def _large(last: NDArray[Any], when: NDArray[Any]) -> NDArray[Any]:
    """The ends of periods, without those that leave a period with fewer than 20 rows."""
    while len(last) > 1:
        counts = np.bincount(np.searchsorted(last, when, side="left"), minlength=len(last))
        small = int(np.argmin(counts))
        if counts[small] >= SMALLEST:
            break
        # it joins the smaller of its neighbours
        joins_next = small == 0 or (small < len(last) - 1 and counts[small + 1] < counts[small - 1])
        last = np.delete(last, small if joins_next else small - 1)
    return last
