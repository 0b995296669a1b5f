"""The rows of one split of a table, and tables from files of one's own."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from studies.datasets import DatasetError, RawTable
from studies.datasets.dataset import need
from studies.learners.recipe import splits

Floats = NDArray[np.float64]

FEWEST = 100
"""A table must have so many rows: 20 calibration rows are the fewest that give a 90% interval."""
_READERS = {".csv": "read_csv", ".parquet": "read_parquet", ".pq": "read_parquet"}


@dataclass(frozen=True, eq=False)
class Split:
    """80% of the rows to fit and calibrate with, as one wishes, and 20% to test on.

    Labels are in standard deviations. Methods that must hold rows out for calibration take the last quarter of the 80%.
    """

    X: Floats
    y: Floats
    X_new: Floats
    y_new: Floats
    train: int
    """How many of the rows train where the others calibrate."""
    seed: int

    @classmethod
    def of(cls, table: RawTable, number: int, most: int) -> Split:
        """A random split of a table, of which at most so many rows are used."""
        if len(table.y) < FEWEST:
            raise ValueError(f"the league needs tables of at least {FEWEST} rows, got {len(table.y)} in {table.name}")
        drawn = splits(len(table.y), number + 1, 0)[number]
        counts = (round(0.6 * most), round(0.8 * most) - round(0.6 * most), most - round(0.8 * most))
        train, cal, new = (
            part[:count] for part, count in zip((drawn.train, drawn.calibration, drawn.test), counts, strict=True)
        )
        location, scale = float(np.mean(table.y[train])), float(np.std(table.y[train]))
        if not scale > 0:
            raise ValueError(
                f"the training labels of {table.name}, split {number}, must differ, got {location:g} in all"
            )
        y, both = (table.y - location) / scale, np.concatenate([train, cal])
        return cls(table.X[both], y[both], table.X[new], y[new], len(train), number)


def table_of(path: str | os.PathLike[str], target: str) -> RawTable:
    """The features and labels of a csv or parquet file of finite numbers; every column but `target` is a feature."""
    path = Path(path)
    if path.suffix.lower() not in _READERS or not path.is_file():
        raise DatasetError(f"a table must be a file of the kind {', '.join(_READERS)}, got {path}")
    pandas = need("pandas")
    frame: Any = getattr(pandas, _READERS[path.suffix.lower()])(path)
    if target not in frame.columns:
        raise DatasetError(f"{path} must have the column {target!r}, got only {', '.join(map(str, frame.columns))}")
    if len(frame.columns) < 2:
        raise DatasetError(f"{path} must have a column beside {target!r}, got none")
    numbers = frame.apply(pandas.to_numeric, errors="coerce").astype(float)
    rows, columns = np.nonzero(~np.isfinite(numbers.to_numpy()))
    if len(rows):
        value, column = frame.iloc[rows[0], columns[0]], frame.columns[columns[0]]
        raise DatasetError(
            f"{path} must hold finite numbers only, got {str(value)!r} in column {column}, row {rows[0]}"
        )
    X = numbers.drop(columns=target)
    return RawTable(path.stem, X.to_numpy(), numbers[target].to_numpy(), tuple(map(str, X.columns)), str(path))
