"""Tables in files: checked numbers, a bounded batch of rows at a time, and output that is written atomically."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import typer

from calibrant.atomic import is_special_file, replacing
from calibrant.batches.header import Header
from calibrant.batches.rows import Batch, Numbers, as_arrow
from calibrant.cli.dialect import hint_of_names
from calibrant.cli.formats import BATCH, Format, format_of


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
        for what, is_it in (("a folder", os.path.isdir), ("a pipe or a device", is_special_file)):
            if is_it(self.path):
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

    @cached_property
    def header(self) -> Header:
        """The names of its columns, and what to say of one that it lacks."""
        only = self.names[0] if len(self.names) == 1 else ""
        hint = hint_of_names(only) if self.format.name == "csv" else ""
        return Header(self.path, tuple(self.names), f"the only one is {only!r}: {hint}" if hint else "")

    def batches(
        self, numbers: Sequence[str], others: Sequence[str] = (), *, done: Callable[[int], None] = lambda rows: None
    ) -> Iterator[Batch]:
        """These columns, at most `BATCH` rows at a time; `done` hears of each batch that was worked off."""
        expected = list(dict.fromkeys([*numbers, *others]))
        self.header.check(expected)
        start = 0
        with self._named():
            for rows in self.format.batches(self.path, expected, numbers):
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
            message = f"{self.path}: this cannot be read as {self.format.name} ({_reason(error)})"
            hint = hint_of_names(self.format.first_line(self.path))
            raise ValueError(f"{message}: {hint}" if hint else message) from error


@contextmanager
def written(path: Path, schema: pa.Schema, plain: Sequence[str]) -> Iterator[Callable[[pa.RecordBatch], None]]:
    """A file that appears under its name only when all is written; gives the function that takes the batches."""
    _nameable(path)
    for what, is_it in (("a folder", os.path.isdir), ("a pipe or a device", is_special_file)):
        if is_it(path):
            raise ValueError(f"{path}: this is {what}, not a file")
    if not os.path.isdir(os.path.dirname(os.path.realpath(path))):
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
    except (pa.ArrowException, OSError) as error:
        raise ValueError(f"{path}: this cannot be written ({_reason(error)})") from error


def _nameable(path: Path) -> None:
    """Raise where Arrow could not open a file of this name."""
    try:
        str(path).encode()
    except UnicodeEncodeError:
        raise ValueError(f"{str(path)!a}: the name of a file must be UTF-8") from None


def refuse_overwrite(out: Path, *read: Path) -> None:
    """Raise if the file to write is one of those that are read."""
    for path in read:
        if out.exists() and path.exists() and os.path.samefile(out, path):
            raise typer.BadParameter(f"{out} is read, so it cannot be written over", param_hint="--output")


def _reason(error: Exception) -> str:
    number = getattr(error, "errno", None)
    return str(error).splitlines()[0].rstrip(".") if number is None else os.strerror(number).lower()
