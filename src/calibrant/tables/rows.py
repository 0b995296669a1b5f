"""Some rows of a table as checked numbers, and whose rows they are, for errors."""

from __future__ import annotations

import math
import re
import reprlib
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass, replace
from difflib import get_close_matches
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray
from pyarrow import types

from calibrant._words import NAMED

Numbers = NDArray[np.float64]
Source = str | Path
"""What errors call the rows: a file, or such as "partition 3"."""
_ROW = re.compile(r"(?<!['\w])row (\d+)\b")


@dataclass(frozen=True)
class Batch:
    """Some rows of a source, the first of which is row `start`."""

    source: Source
    start: int
    rows: pa.RecordBatch
    part: int = 0
    """The number of the part of the table that the source is: with the number of the row it is a row's id."""
    kept: NDArray[np.int64] | None = None
    """Which rows these are, counted from `start`; None where none is left out."""

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def parts(self, size: int) -> Iterator[Batch]:
        """The same rows, `size` at a time; of no rows one batch."""
        for offset in range(0, max(len(self), 1), size):
            yield replace(self, start=self.start + offset, rows=self.rows.slice(offset, size))

    def where(self, complete: NDArray[np.bool_]) -> Batch:
        """Some of these rows, which know where in the source they are."""
        if complete.all():
            return self
        own = np.flatnonzero(complete)
        numbers = own if self.kept is None else self.kept[own]
        return replace(self, rows=self.rows.filter(pa.array(complete)), kept=numbers)

    def number_of(self, row: int) -> int:
        """Which row of the source this one is."""
        return self.start + (row if self.kept is None else int(self.kept[row]))

    def known(self, columns: Sequence[str]) -> NDArray[np.bool_]:
        """The rows in which all of these columns have a number."""
        found = np.ones(len(self), np.bool_)
        for column in columns:
            kind = self.rows[column].type
            if self.rows[column].null_count or types.is_floating(kind) or types.is_dictionary(kind):
                found &= ~np.isnan(self.numbers(column, gaps=True))
        return found

    def values(self, column: str) -> pa.Array:
        """A column; one that is kept as a dictionary is spelt out, as a stream may have a new one in each batch."""
        values = self.rows[column]
        return values.dictionary_decode() if types.is_dictionary(values.type) else values

    def numbers(self, column: str, *, gaps: bool = False) -> Numbers:
        """A column as float64, without a copy where it is that already; the first value that is no number raises."""
        values = self.values(column)
        kind = values.type
        if values.null_count and not gaps:
            self._reject(column, "is missing", values.is_null())
        if types.is_null(kind):
            return np.full(len(self), np.nan)
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind)):
            shown = f"{kind} ({reprlib.repr(values[0].as_py())})" if len(values) else f"{kind}"
            raise no_number(self.source, column, shown, self.number_of(0) if len(values) else 0)
        if kind != pa.float64():
            values = values.cast(pa.float64(), safe=False)
        values = values.fill_null(math.nan) if values.null_count else values
        array: Numbers = np.asarray(np.from_dlpack(values), np.float64)  # to_numpy imports pandas, where there is one
        bad = np.isinf(array) if gaps else ~np.isfinite(array)
        if bad.any():
            self._reject(column, "is NaN or infinite", bad)
        return array

    def not_negative(self, column: str) -> Numbers:
        """A column of numbers of which none is below zero."""
        array = self.numbers(column)
        if (array < 0).any():
            self._reject(column, "is negative", array < 0)
        return array

    def check_complete(self, columns: Sequence[str], of: str = "") -> None:
        """Raise for the first row in which one of these columns, of any kind, is missing."""
        for column in columns:
            if self.rows[column].null_count:
                self._reject(column, f"{of}is missing", self.values(column).is_null())

    def check_seen(self, event: str | None) -> None:
        """Raise for the first row whose label was not seen: it cannot be compared with a forecast."""
        if event is not None and (unseen := self.numbers(event) == 0).any():
            self._reject(event, "says that the label was not seen", unseen)

    def naming(self, target: str | None = None) -> AbstractContextManager[None]:
        """Put the source in front of what the library says of these rows, with their numbers there."""
        return naming(self.source, target, self.number_of)

    def _reject(self, column: str, what: str, bad: Any) -> None:
        row = self.number_of(int(np.argmax(np.asarray(bad))))
        raise ValueError(f"{self.source}: column {column!r} {what} in row {row} (counting from 0)")


@dataclass(frozen=True)
class Header:
    """The names of the columns of a source, in order."""

    source: Source
    names: tuple[str, ...]
    hint: str = ""
    """What to say of a column that is not there; without it, which others are."""

    def check(self, columns: Sequence[str]) -> None:
        """Raise unless it has each of these columns, once."""
        for name in columns:
            found = self.names.count(name)
            if found > 1:
                raise ValueError(f"{self.source}: there are {found} columns named {name!r}")
            if not found:
                raise ValueError(f"{self.source}: there is no column {name!r}; {self.hint or self._meant(name)}")

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """The columns that these names and patterns such as 's*' choose, in the order of the source."""
        chosen: set[str] = set()
        for pattern in patterns:
            found = [pattern] if pattern in self.names else [n for n in self.names if fnmatchcase(n, pattern)]
            self.check(found or [pattern])
            chosen.update(found)
        return [name for name in self.names if name in chosen]

    def _meant(self, name: str) -> str:
        same = [other for other in self.names if other.lower() == name.lower()]
        near = same or get_close_matches(name, self.names, 1, cutoff=0.75)
        return f"did you mean {near[0]!r}?" if near else f"the columns are {listed(list(map(repr, self.names)))}"


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first few names, and how many more there are; one more is named too."""
    most = len(names) if len(names) == most + 1 else most
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")


def as_arrow(column: Numbers) -> pa.Array:
    """An Arrow array of the same memory; pa.array would import pandas, where there is one."""
    return pa.Array.from_buffers(pa.float64(), len(column), [None, pa.py_buffer(column)])


def no_number(source: Source, column: str, what: str, row: int, hint: str = "") -> ValueError:
    """The error of a value that is none."""
    way = f": {hint}" if hint else ""
    return ValueError(f"{source}: column {column!r} must hold numbers, got {what} in row {row} (counting from 0){way}")


def partition(number: int, file: str | None = None) -> str:
    """What errors call a partition, with the file that it was read from if that is known.

    >>> partition(3), partition(3, "a/part.3.parquet")
    ('partition 3', 'partition 3 (a/part.3.parquet)')
    """
    return f"partition {number}" + (f" ({file})" if file else "")


@contextmanager
def naming(source: Source, target: str | None = None, number_of: Callable[[int], int] = int) -> Iterator[None]:
    """Put the source in front of what the library says of its own arguments; of y by the name of its column."""

    def named(message: str) -> str:
        message = f"{target or 'y'} is {message[5:]}" if message.startswith("y is ") else message
        message = _ROW.sub(lambda found: f"row {number_of(int(found[1]))}", message)
        return f"{source}: {message}"

    outside = NAMED.set(lambda message: named(message) if _ROW.search(message) else message)
    try:
        yield
    except (ValueError, TypeError) as error:
        raise ValueError(named(str(error))) from error
    finally:
        NAMED.reset(outside)
