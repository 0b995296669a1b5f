"""Tables in files: checked numbers, a bounded batch of rows at a time, and output that appears whole or not at all."""

from __future__ import annotations

import math
import os
import reprlib
import stat
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from difflib import get_close_matches
from fnmatch import fnmatchcase
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import typer
from numpy.typing import NDArray
from pyarrow import types

from calibrant.cli.dialect import Dialect
from calibrant.cli.formats import BATCH, Format, format_of, no_number
from calibrant.persistence import FileError
from calibrant.persistence.atomic import replacing

Numbers = NDArray[np.float64]


@dataclass(frozen=True)
class Batch:
    """Some rows of a file, the first of which is row `start`."""

    path: Path
    start: int
    rows: pa.RecordBatch
    kept: NDArray[np.int64] | None = None
    """Which rows these are, counted from `start`; None where none is left out."""

    def __len__(self) -> int:
        return int(self.rows.num_rows)

    def parts(self, size: int) -> Iterator[Batch]:
        """The same rows, `size` at a time."""
        for offset in range(0, len(self), size):
            yield Batch(self.path, self.start + offset, self.rows.slice(offset, size))

    def those(self, there: NDArray[np.bool_]) -> Batch:
        """Some of these rows, which know where in the file they are."""
        if there.all():
            return self
        return Batch(self.path, self.start, self.rows.filter(pa.array(there)), np.flatnonzero(there))

    def number_of(self, row: int) -> int:
        """Which row of the file this one is."""
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
        """A column as float64, without a copy where it is that already; the first value that is no number raises.

        With `gaps`, one that is missing is NaN.
        """
        values = self.values(column)
        kind = values.type
        if values.null_count and not gaps:
            self._complain(column, "is missing", values.is_null())
        if not (types.is_floating(kind) or types.is_integer(kind) or types.is_decimal(kind)):
            raise no_number(self.path, column, f"{kind} ({reprlib.repr(values[0].as_py())})", self.number_of(0))
        if kind != pa.float64():
            values = values.cast(pa.float64(), safe=False)
        values = values.fill_null(math.nan) if values.null_count else values
        array: Numbers = np.asarray(np.from_dlpack(values), np.float64)  # to_numpy imports pandas, where there is one
        bad = np.isinf(array) if gaps else ~np.isfinite(array)
        if bad.any():
            self._complain(column, "is NaN or infinite", bad)
        return array

    def not_negative(self, column: str) -> Numbers:
        """A column of numbers of which none is below zero."""
        array = self.numbers(column)
        if (array < 0).any():
            self._complain(column, "is negative", array < 0)
        return array

    def _complain(self, column: str, what: str, bad: Any) -> None:
        row = self.number_of(int(np.argmax(np.asarray(bad))))
        raise ValueError(f"{self.path}: column {column!r} {what} in row {row} (counting from 0)")


@dataclass(frozen=True)
class TableFile:
    """A file of rows under names."""

    path: Path

    @cached_property
    def format(self) -> Format:
        """What the name of the file says."""
        return format_of(self.path)

    @cached_property
    def schema(self) -> pa.Schema:
        """The names and types of its columns."""
        _nameable(self.path)
        with suppress(OSError):  # one that is not there is told below
            if not stat.S_ISREG(self.path.stat().st_mode):
                what = "a folder" if self.path.is_dir() else "a pipe or a device"
                raise ValueError(f"{self.path}: this is {what}, not a file")
        with self._named():
            return self.format.schema(self.path)

    @cached_property
    def count(self) -> int | None:
        """The number of rows, where the file tells."""
        with self._named():
            return self.format.count(self.path)

    @property
    def names(self) -> list[str]:
        """The names of its columns."""
        with self._named():
            return list(self.schema.names)

    def check(self, columns: Sequence[str]) -> None:
        """Raise unless it has each of these columns, once."""
        for name in columns:
            found = self.names.count(name)
            if found == 1:
                continue
            if found:
                raise ValueError(f"{self.path}: there are {found} columns named {name!r}")
            raise ValueError(f"{self.path}: there is no column {name!r}; {self._hint(name)}")

    def _hint(self, name: str) -> str:
        """What may have been meant."""
        only = self.names[0] if len(self.names) == 1 and self.format.name == "csv" else ""
        for delimiter, spelt in ((";", "';'"), ("\t", "$'\\t'"), ("|", "'|'")):
            if delimiter in only and Dialect.delimiter == ",":
                return f"the only one is {only!r}: try --delimiter {spelt}"
        same = [other for other in self.names if other.lower() == name.lower()]
        near = same or get_close_matches(name, self.names, 1, cutoff=0.75)
        return f"did you mean {near[0]!r}?" if near else f"the columns are {listed(list(map(repr, self.names)))}"

    def matching(self, patterns: Sequence[str]) -> list[str]:
        """The columns that these names and patterns such as 's*' choose, in the order of the file."""
        chosen: set[str] = set()
        for pattern in patterns:
            found = [pattern] if pattern in self.names else [n for n in self.names if fnmatchcase(n, pattern)]
            self.check(found or [pattern])
            chosen.update(found)
        return [name for name in self.names if name in chosen]

    def batches(
        self, numbers: Sequence[str], others: Sequence[str] = (), *, done: Callable[[int], None] = lambda rows: None
    ) -> Iterator[Batch]:
        """These columns, at most `BATCH` rows at a time; `done` hears of each batch that was worked off."""
        wanted = list(dict.fromkeys([*numbers, *others]))
        self.check(wanted)
        start = 0
        with self._named():
            for rows in self.format.batches(self.path, wanted, numbers):
                for batch in Batch(self.path, start, rows).parts(BATCH):
                    yield batch
                    start += len(batch)
                    done(len(batch))
        if not start:
            raise ValueError(f"{self.path}: there are no rows")

    def labelled(
        self,
        numbers: Sequence[str],
        labels: Sequence[str] = (),
        *,
        gaps: bool = False,
        done: Callable[[int], None] = lambda rows: None,
    ) -> tuple[Batch, dict[str, list[Any]]]:
        """All rows of columns that must be numbers, and of others of any kind: as Python has them, None if missing.

        With `gaps`, a number that is missing is NaN.
        """
        names = list(dict.fromkeys(numbers))
        parts: list[list[Numbers]] = []
        found: dict[str, list[Any]] = {name: [] for name in labels}
        for batch in self.batches(names, labels, done=done):
            parts.append([batch.numbers(name, gaps=gaps) for name in names])
            for name, values in found.items():
                values.extend(batch.values(name).to_pylist())
        columns = [as_arrow(np.concatenate(column)) for column in zip(*parts, strict=True)]
        return Batch(self.path, 0, pa.RecordBatch.from_arrays(columns, names)), found

    @contextmanager
    def _named(self) -> Iterator[None]:
        """Say which file it is that Arrow cannot read."""
        try:
            yield
        except FileNotFoundError:
            raise FileNotFoundError(f"{self.path}: there is no such file") from None
        except UnicodeDecodeError as error:
            raise ValueError(f"{self.path}: this is not UTF-8 ({error}): save it as UTF-8") from error
        except (pa.ArrowException, OSError) as error:
            if str(error).startswith(f"{self.path}"):
                raise
            raise ValueError(f"{self.path}: this cannot be read as {self.format.name} ({_reason(error)})") from error


@contextmanager
def written(path: Path, schema: pa.Schema, plain: Sequence[str]) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """A file that appears under its name only when all is written; gives the function that takes the batches."""
    _nameable(path)
    if path.is_dir():
        raise ValueError(f"{path}: this is a folder")
    if not path.resolve().parent.is_dir():
        raise ValueError(f"{path}: there is no folder {path.parent}")
    try:
        with (
            replacing(path) as temporary,
            pa.OSFile(temporary, "wb") as stream,
            format_of(path).writer(stream, schema, plain) as writer,
            ThreadPoolExecutor(1) as behind,  # one batch is written while the next is made
        ):
            writing = behind.submit(lambda: None)

            def write(batch: pa.RecordBatch) -> None:
                nonlocal writing
                writing.result()
                writing = behind.submit(writer.write_batch, batch)

            yield write
            writing.result()
    except (pa.ArrowException, OSError, FileError) as error:
        raise ValueError(f"{path}: this cannot be written ({_reason(error)})") from error


def _nameable(path: Path) -> None:
    """Raise where Arrow could not open a file of this name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{str(path)!a}: the name of a file must be UTF-8") from None


def as_arrow(column: Numbers) -> pa.Array:
    """An Arrow array of the same memory; pa.array would import pandas, where there is one."""
    return pa.Array.from_buffers(pa.float64(), len(column), [None, pa.py_buffer(column)])


def not_over(out: Path, *read: Path) -> None:
    """Raise if the file to write is one of those that are read."""
    for path in read:
        if out.exists() and path.exists() and os.path.samefile(out, path):
            raise typer.BadParameter(f"{out} is read, so it cannot be written over", param_hint="--output")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return str(error).splitlines()[0].rstrip(".") if number is None else os.strerror(number).lower()


def listed(names: Sequence[str], most: int = 10) -> str:
    """The first few names, and how many more there are."""
    return ", ".join(names[:most]) + (f" and {len(names) - most} more" if len(names) > most else "")
