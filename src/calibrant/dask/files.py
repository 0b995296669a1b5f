"""Folders of parquet files: a partition for each file, and output that is written atomically."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from pyarrow import parquet

from calibrant.batches.header import Header
from calibrant.batches.stream import check_schema
from calibrant.dask.frames import FILE

TEXT = {kind: pd.StringDtype("pyarrow") for kind in (pa.string(), pa.large_string())}


def read_parquet(
    path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]], columns: Sequence[str] | None = None
) -> dd.DataFrame:
    """A Dask frame of a folder of parquet files, or of a list of them, with a partition for each file.

    All files must have the schema of the first. A file that cannot be read, or has another schema, is named in the
    error, which `dask.dataframe.read_parquet` leaves out.

    Args:
        path: A folder of parquet files, or a list of files.
        columns: The columns to read; all of them by default.
    """
    files = _files(path)
    schema = _named_schema(files[0])
    names = list(schema.names) if columns is None else list(columns)
    Header(files[0], tuple(schema.names)).check(names)
    expected = pa.schema([schema.field(name) for name in names])
    meta = expected.empty_table().to_pandas(types_mapper=TEXT.get)
    frame: dd.DataFrame = dd.from_map(_read, files, expected=expected, first=files[0], meta=meta)
    return frame


def to_parquet(ddf: dd.DataFrame, folder: str | os.PathLike[str]) -> None:
    """Write a Dask frame as a folder of parquet files, which gets its name when all of them are written.

    Until then it has a name that begins with a dot and ends in "unfinished". A run that fails removes it; one that is
    killed leaves it under that name. An index without a name is not written.

    Args:
        ddf: A Dask frame.
        folder: The folder to write, which must not exist.
    """
    target = Path(os.path.abspath(folder))
    if target.exists():
        raise FileExistsError(f"{target} is there already: name a new folder, or remove it first")
    if not target.parent.is_dir():
        raise FileNotFoundError(f"there is no folder {target.parent}")
    unfinished = target.with_name(f".{target.name}-{secrets.token_hex(4)}-unfinished")
    try:
        ddf.to_parquet(unfinished, write_index=ddf.index.name is not None)
        os.rename(unfinished, target)
    except BaseException:
        shutil.rmtree(unfinished, ignore_errors=True)
        raise


def _files(path: str | os.PathLike[str] | Sequence[str | os.PathLike[str]]) -> list[str]:
    if not isinstance(path, (str, os.PathLike)):
        files = [os.fspath(each) for each in path]
        if not files:
            raise ValueError("expected at least one parquet file, got none")
        return files
    if not os.path.isdir(path):
        return [os.fspath(path)]
    found = sorted(Path(path).glob("*.parquet"), key=_by_number)
    if not found:
        raise ValueError(f"{os.fspath(path)}: there is no parquet file in this folder")
    return [os.fspath(each) for each in found]


def _by_number(path: Path) -> tuple[Any, ...]:
    """part.10 behind part.9."""
    return tuple((0, int(part), "") if part.isdigit() else (1, 0, part) for part in path.name.split("."))


def _named_schema(file: str) -> pa.Schema:
    try:
        return parquet.read_schema(file).remove_metadata()
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error


def _read(file: str, expected: pa.Schema, first: str) -> pd.DataFrame:
    """One file, which must have the columns of the first."""
    schema = _named_schema(file)
    found = pa.schema([schema.field(name) for name in expected.names if name in schema.names])
    check_schema(found, expected, file, first)
    try:
        table = parquet.read_table(file, columns=expected.names, partitioning=None)
    except (pa.ArrowException, OSError) as error:
        raise _unreadable(file, error) from error
    frame: pd.DataFrame = table.replace_schema_metadata().to_pandas(types_mapper=TEXT.get)
    frame.attrs[FILE] = file
    return frame


def _unreadable(file: str, error: Exception) -> ValueError:
    return ValueError(f"{file}: this cannot be read as parquet ({str(error).splitlines()[0].rstrip('.')})")
