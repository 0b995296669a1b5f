"""Reading that stops: no file, archive or server makes us hold more than `LIMIT` bytes at once."""

from __future__ import annotations

import gzip
import io
import zlib
from collections.abc import Iterator
from pathlib import Path, PurePosixPath
from typing import IO
from zipfile import BadZipFile, ZipFile

from studies.datasets.errors import DatasetError

LIMIT = 2**28
"""Four times the largest of the study's files, uncompressed."""


def read(stream: IO[bytes] | io.BufferedIOBase, what: str) -> bytes:
    """All of a stream, or an error where it has no end in sight."""
    content = stream.read(LIMIT + 1)
    if len(content) > LIMIT:
        raise DatasetError(f"{what} holds more than {LIMIT} bytes, and none of the study's files does")
    return content


def read_file(path: Path) -> bytes:
    """The content of a file, uncompressed if its name ends in .gz."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as stream:
            return read(stream, str(path))
    except (OSError, EOFError, zlib.error) as error:
        raise DatasetError(f"{path} cannot be read: {error}") from error


def members(archive: bytes, name: str, where: str) -> Iterator[bytes]:
    """Every file called `name` in a zip archive, in whatever folder, and in the zips inside it."""
    try:
        yield from _members(archive, name, where, depth=2)
    except (BadZipFile, EOFError, NotImplementedError, RuntimeError, zlib.error) as error:
        raise DatasetError(f"{where} must be a zip archive, got one that cannot be read: {error}") from error


def _members(archive: bytes, name: str, where: str, depth: int) -> Iterator[bytes]:
    with ZipFile(io.BytesIO(archive)) as opened:
        for member in opened.infolist():
            found = PurePosixPath(member.filename).name == name
            inner = depth > 1 and member.filename.lower().endswith(".zip")
            if found or inner:
                with opened.open(member) as stream:
                    content = read(stream, f"{member.filename} in {where}")
                if found:
                    yield content
                else:
                    yield from _members(content, name, where, depth - 1)
