"""A table of the user's, from a file."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from calibrant.persistence.atomic import is_special_file
from studies.datasets import DatasetError, RawTable
from studies.datasets.errors import need

_READERS = {".csv": "read_csv", ".parquet": "read_parquet", ".pq": "read_parquet"}


def table_of(path: str | os.PathLike[str], target: str, name: str | None = None) -> RawTable:
    """The features and labels of a csv or parquet file; every other column than `target` is a feature.

    All columns must hold finite numbers: what to make of categories and gaps is the user's to say.
    """
    path = Path(path)
    if path.suffix.lower() not in _READERS:
        raise DatasetError(f"a table must be a file of the kind {', '.join(_READERS)}, got {path}")
    if is_special_file(path):
        raise DatasetError(f"a table must be a file, got {path}, which is a pipe or a device")
    frame: Any = getattr(need("pandas"), _READERS[path.suffix.lower()])(path)
    if target not in frame.columns:
        raise DatasetError(f"{path} must have the column {target!r}, got only {', '.join(map(str, frame.columns))}")
    if len(frame.columns) < 2:
        raise DatasetError(f"{path} must have a column beside {target!r}, got none")
    columns = {str(column): _numbers(path, str(column), frame[column]) for column in frame.columns}
    y = columns.pop(target)
    X = np.ascontiguousarray(np.stack(list(columns.values()), axis=1))
    return RawTable(name or path.stem, X, y, tuple(columns), str(path))


def _numbers(path: Path, column: str, series: Any) -> Any:
    """A column as floats."""
    for row, value in enumerate(series.to_numpy()):
        try:
            fine = bool(np.isfinite(float(value)))
        except (TypeError, ValueError):
            fine = False
        if not fine:
            raise DatasetError(
                f"{path} must hold finite numbers only, got {str(value)!r} in column {column}, row {row}"
            )
    return series.to_numpy(dtype=np.float64)
