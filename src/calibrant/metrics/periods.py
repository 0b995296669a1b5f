"""Rows by time: when each was, and periods of about equally many rows."""

from __future__ import annotations

from contextlib import suppress
from datetime import UTC, datetime
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import first_and_count
from calibrant._types import Values
from calibrant._words import in_all
from calibrant.metrics.slices import SMALLEST, Slices, column_values, ends_of_parts, in_words, missing_in, typed

MOST = 10
"""So many periods, unless that leaves some with fewer than 20 rows."""


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
    wanted = max(1, min(MOST, m // SMALLEST)) if bins is None else int(bins)
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
