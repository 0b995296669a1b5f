"""The results of a run: one file of JSON lines that survives a kill at any moment, and one run that writes it."""

from __future__ import annotations

import json
import os
import sys
from collections import Counter
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from calibrant.atomic import is_special_file
from studies.design import design_of
from studies.names import Cell

FILE = "cells.jsonl"


class StudyError(ValueError):
    """A folder of results that this run cannot go on with."""


class Store:
    """The file of results, open for appending: each line is on disk before the next cell is asked for.

    `done` are the cells that have their line, or whatever `key` makes of a line; `undefined` counts the values that are
    null there.
    """

    def __init__(self, path: Path, file: IO[bytes], key: Callable[[dict[str, Any]], Hashable] = Cell.of) -> None:
        self.path: Path = path
        self._file, self._key = file, key
        self.header: dict[str, Any] | None = None
        self.done: set[Any] = set()
        self.undefined: Counter[str] = Counter()
        self._read()

    def append(self, *lines: dict[str, Any]) -> None:
        """Write lines of strict JSON, through to the disk."""
        try:
            self._file.write(b"".join(json.dumps(line, allow_nan=False).encode() + b"\n" for line in lines))
            self._file.flush()
            os.fsync(self._file.fileno())
        except OSError as error:
            raise StudyError(f"{self.path} cannot be written: {str(error.strerror).lower()}") from error
        for line in lines:
            if "dataset" in line:
                self._count(line)

    def check(self, about: dict[str, Any]) -> None:
        """Raise unless the results there, if any, are of the same study; versions and devices may differ."""
        held = about if self.header is None else self.header
        if design_of(held) != design_of(about):
            raise StudyError(
                f"{self.path} holds a study of the design {design_of(held)!r}, and this run has {design_of(about)!r}: "
                "choose another folder"
            )
        for name in ("seed", "recipe"):
            there, given = json.dumps(held[name]), json.dumps(about[name])
            if there != given:
                raise StudyError(
                    f"{self.path} holds a study with {name} {there}, and this run has {given}: choose another folder"
                )

    def begin(self, about: dict[str, Any]) -> None:
        """Write what the run is: the first in full, a later one what may differ."""
        if self.header is None:
            self.header = about
            self.append({"study": about})
        else:
            mine = {name: about[name] for name in ("started", "versions", "device")}
            self.append({"phase": {"name": "resumed", **mine}})

    def _read(self) -> None:
        """Take in the lines that are there, and cut off a torn last one."""
        content = self._file.read()
        lines = content.split(b"\n")
        kept = 0
        for number, line in enumerate(lines):
            record = _parsed(line)
            whole = number < len(lines) - 1
            if record is None or not whole:
                if any(rest.strip() for rest in lines[number + 1 :]):
                    raise StudyError(
                        f"{self.path} must hold a JSON object in every line, got none in line {number + 1}"
                    )
                break
            self._take(record, number)
            kept += len(line) + 1
        self._file.seek(kept)
        self._file.truncate()

    def _take(self, record: dict[str, Any], number: int) -> None:
        if number == 0 and "study" not in record:
            raise StudyError(f"{self.path} must begin with the line of a study, got {str(record)[:60]}")
        if "study" in record:
            self.header = record["study"]
        elif "dataset" in record:
            self._count(record)

    def _count(self, line: dict[str, Any]) -> None:
        self.done.add(self._key(line))
        self.undefined.update(name for name, value in line.items() if value is None)


def refuse_odd(path: str | os.PathLike[str]) -> None:
    """Raise for a pipe or a device."""
    if is_special_file(path):
        raise StudyError(f"{os.fspath(path)} must be a file of results, got a pipe or a device")


def _parsed(line: bytes) -> dict[str, Any] | None:
    try:
        record = json.loads(line)
    except ValueError:
        return None
    return record if isinstance(record, dict) else None


@contextmanager
def opened(folder: Path, key: Callable[[dict[str, Any]], Hashable] = Cell.of) -> Iterator[Store]:
    """The results in a folder, for one run at a time; the lock goes when the run ends, however it ends."""
    folder.mkdir(parents=True, exist_ok=True)
    path, guard = folder / FILE, folder / f"{FILE}.lock"
    for each in (path, guard):
        refuse_odd(each)
    with guard.open("ab") as lock:
        try:
            _lock(lock)
        except OSError as error:
            raise StudyError(
                f"{folder} is in use by another run of the study: wait for it, or choose another"
            ) from error
        path.touch()
        with path.open("r+b") as file:
            yield Store(path, file, key)


def _lock(file: IO[bytes]) -> None:
    """Lock a file for this process, or raise OSError; the operating system unlocks it when the process is gone."""
    if sys.platform == "win32":
        import msvcrt

        file.seek(0)
        msvcrt.locking(file.fileno(), msvcrt.LK_NBLCK, 1)
    else:
        import fcntl

        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
