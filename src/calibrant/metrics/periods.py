"""Rows by time: when each was, and periods of about equally many rows."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import first_and_count
from calibrant._types import Values
from calibrant._words import in_all
from calibrant.metrics.slices import (
    SMALLEST,
    Slices,
    column_values,
    dates_in_words,
    missing_in,
    numbers_in_words,
    typed,
)

MOST = 10
"""So many periods, unless that leaves some with fewer than 20 rows."""


@dataclass(frozen=True)
class Periods:
    """The rows of a batch by time, one period after the other, each from its first to its last row."""

    slices: Slices
    starts: tuple[str, ...]
    ends: tuple[str, ...]


def periods_of(time: Values, m: int, bins: int | None = None, *, name: str = "time") -> Periods:
    """The m rows by `time`, numbers or dates in any order, in `bins` periods of about equally many rows.

    Rows of one moment are in one period, and no period has fewer than 20 rows unless it is the only one. So there may
    be fewer than `bins`, which are 10 if not given.

    >>> day = np.datetime64("2024-01-01") + np.arange(90)
    >>> found = periods_of(day[::-1], 90, 3)
    >>> list(zip(found.starts, found.ends))
    [('2024-01-01', '2024-01-30'), ('2024-01-31', '2024-02-29'), ('2024-03-01', '2024-03-30')]
    >>> found.slices.index[[0, -1]]
    array([2, 0])
    """
    when = times_of(time, m)
    ordered = np.sort(when)
    wanted = max(1, min(MOST, m // SMALLEST)) if bins is None else int(bins)
    last = np.unique(ordered[[-(-k * m // wanted) - 1 for k in range(1, wanted + 1)]])
    last = _large(last, when)
    index = np.searchsorted(last, when, side="left").astype(np.int64)
    first = ordered[np.searchsorted(ordered, last[:-1], side="right")]
    ends = np.concatenate([ordered[:1], first, last])
    texts = times_in_words(ends)
    starts, stops = tuple(texts[: len(last)]), tuple(texts[len(last) :])
    labels = tuple(f"[{a}, {b}]" for a, b in zip(starts, stops, strict=True))
    return Periods(Slices(name, labels, index), starts, stops)


def times_in_words(when: NDArray[Any]) -> list[str]:
    """Numbers or dates, all in one way."""
    return dates_in_words(when) if when.dtype.kind == "M" else numbers_in_words(when)


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
        column = typed(_in_utc(_from_iso(column)))
    if column.dtype.kind not in "iufM":
        first = column.tolist()[0]
        what = "both" if column.dtype.kind == "O" and _some_numbers(column) else f"{first!r} in row 0"
        way = ": pd.to_datetime(time) makes dates of texts" if isinstance(first, str) else ""
        raise TypeError(f"time must hold numbers or dates, and one kind in all rows, got {what}{way}")
    if column.dtype.kind == "f" and not np.isfinite(column).all():
        row, count = first_and_count(~np.isfinite(column))
        raise ValueError(f"time is infinite in row {row} ({in_all(count)})")
    return column


def _from_iso(column: NDArray[Any]) -> NDArray[Any]:
    """Texts as times, if all are in ISO format."""
    if not all(isinstance(value, str) for value in column):
        return column
    try:
        return np.fromiter(map(datetime.fromisoformat, column.tolist()), object, column.shape[0])
    except ValueError:
        return column


def _in_utc(column: NDArray[Any]) -> NDArray[Any]:
    """Moments with a time zone, if all have one, without it."""
    if not all(isinstance(value, datetime) and value.tzinfo is not None for value in column):
        return column
    return np.fromiter((value.astimezone(UTC).replace(tzinfo=None) for value in column), object, column.shape[0])


def _some_numbers(column: NDArray[Any]) -> bool:
    return len({isinstance(value, (int, float)) for value in column}) > 1


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
