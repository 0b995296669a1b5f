"""Files that are read: under a bar where they are large, in the order of time where it counts, never written over."""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import replace
from datetime import date
from itertools import pairwise
from pathlib import Path
from typing import Any

from calibrant.cli.console import LARGE, progress
from calibrant.cli.options import Csv, wrong
from calibrant.tables.files import Files, TableFile
from calibrant.tables.stream import LocalTable


@contextmanager
def opened(path: Path, csv: Csv, text: str = "reading") -> Iterator[LocalTable]:
    """The table of a file, or of the files of a folder."""
    if path.is_dir():
        yield Files.of(path, csv.dialect)
        return
    table = TableFile(path, csv.dialect)
    large = path.is_file() and path.stat().st_size >= LARGE
    with progress(text, table.count if large else None, show=large) as done:
        yield replace(table, done=done)


def check_order(column: str, times: Sequence[Any]) -> None:
    """Raise where time is missing, is neither a number nor a date, or runs backwards."""
    for row, value in enumerate(times):
        if value is None or value != value:
            raise ValueError(f"column {column!r} is missing in row {row} (counting from 0)")
        if isinstance(value, bool) or not isinstance(value, (int, float, date)):
            raise ValueError(f"column {column!r} must hold numbers or dates, got {value!r} in row {row}")
    for row, (before, now) in enumerate(pairwise(times), start=1):
        if now < before:
            raise ValueError(
                f"column {column!r} runs backwards in row {row} (counting from 0), from {before} to {now}: sort the"
                " rows"
            )


def refuse_overwrite(out: Path, *read: Path) -> None:
    """Raise if the file to write is one of those that are read."""
    for path in read:
        if out.exists() and path.exists() and os.path.samefile(out, path):
            raise wrong(f"{out} is read, so it cannot be written over", "output")
