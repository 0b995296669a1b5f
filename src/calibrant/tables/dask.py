"""Dask data frames: partition by partition, on any scheduler; and folders of parquet files."""

from __future__ import annotations

import os
import secrets
import shutil
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibrant._arguments import needs

needs("calibrant.tables.dask", "dask", "dask", "pyarrow")

import dask.dataframe as dd
import pandas as pd
import pyarrow as pa
from dask.dataframe.dispatch import make_meta
from dask.delayed import delayed

from calibrant.tables.files import Files, TableFile
from calibrant.tables.predicting import Predicting
from calibrant.tables.rows import Batch, Header, partition
from calibrant.tables.stream import Engine
from calibrant.tables.work import PartResult, Work

__all__ = ["read_parquet", "to_parquet"]

TOGETHER = 8
"""How many results merge at a time."""
FILE = "file"
"""Under which name a partition's `attrs` say what file it was read from."""
TEXT = {kind: pd.StringDtype("pyarrow") for kind in (pa.string(), pa.large_string())}


@dataclass(frozen=True)
class DaskFrame(Engine):
    """The partitions of a Dask frame."""

    frame: Any
    source: str = "the frame"

    @property
    def header(self) -> Header:
        """The names of its columns."""
        return Header(self.source, tuple(map(str, self.frame.columns)))

    def merged(self, work: Work) -> PartResult:
        """What is found in each partition, merged in a tree of tasks, on the scheduler that is set."""
        shared = delayed(work)
        parts = [delayed(_part)(shared, each, number) for number, each in enumerate(self.frame.to_delayed())]
        while len(parts) > 1:
            together = [parts[start : start + TOGETHER] for start in range(0, len(parts), TOGETHER)]
            parts = [delayed(_merge)(shared, some) for some in together]
        found: PartResult = parts[0].compute()
        return found

    def mapped(self, work: Predicting) -> dd.DataFrame:
        """A frame with the new columns."""
        numbers = dd.from_map(_number, range(self.frame.npartitions), meta=_number(0).iloc[:0])
        new = {name: pd.Series(dtype="float64") for name in work.outputs.names}
        shared = delayed(work)  # one object for all partitions, sent to a worker once
        meta = _with_new(make_meta(self.frame), work, new)
        found: dd.DataFrame = dd.map_partitions(
            _predicted, self.frame, numbers, shared, align_dataframes=False, meta=meta
        )
        return found


def _part(work: Work, frame: pd.DataFrame, number: int) -> PartResult:
    name = _name(frame, number)
    return work.part(_rows(frame, work.read, name), name, number)


def _merge(work: Work, parts: Sequence[PartResult]) -> PartResult:
    return work.merge(parts)


def _predicted(frame: pd.DataFrame, number: pd.Series, shared: Predicting) -> pd.DataFrame:
    """One partition with its new columns."""
    work, name = shared.afresh(), _name(frame, int(number.iloc[0]))
    needed = list(dict.fromkeys([*work.numbers, *work.model.columns.by]))
    new = work.new(Batch(name, 0, _rows(frame, needed, name)))
    work.report(name)
    return _with_new(frame, work, dict(zip(work.outputs.names, new, strict=True)))


def _with_new(frame: pd.DataFrame, work: Predicting, new: Mapping[str, Any]) -> pd.DataFrame:
    kept = frame[list(work.kept)]
    return pd.concat([kept, pd.DataFrame(dict(new)).set_index(kept.index)], axis=1)


def _rows(frame: pd.DataFrame, columns: Sequence[str], name: str) -> pa.RecordBatch:
    """Some columns of a partition, for Arrow."""
    Header(name, tuple(map(str, frame.columns))).check(columns)
    try:
        return pa.RecordBatch.from_pandas(frame[list(columns)], preserve_index=False)
    except pa.ArrowException as error:
        raise ValueError(f"{name}: its columns cannot be read ({' '.join(map(str, error.args))})") from error


def _name(frame: pd.DataFrame, number: int) -> str:
    return partition(number, frame.attrs.get(FILE))


def _number(number: int) -> pd.Series:
    return pd.Series([number])


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
    files = Files.of(path).files
    header, schema = files[0].header, files[0].schema().remove_metadata()
    names = list(header.names) if columns is None else list(columns)
    header.check(names)
    expected = pa.schema([schema.field(name) for name in names])
    meta = expected.empty_table().to_pandas(types_mapper=TEXT.get)
    frame: dd.DataFrame = dd.from_map(_read, files, expected=expected, first=str(files[0].path), meta=meta)
    return frame


def _read(file: TableFile, expected: pa.Schema, first: str) -> pd.DataFrame:
    """One file, which must have the columns of the first."""
    batches = [batch.rows for batch in file.read([], expected.names, expected, first)]
    frame: pd.DataFrame = pa.Table.from_batches(batches, expected).to_pandas(types_mapper=TEXT.get)
    frame.attrs[FILE] = str(file.path)
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
