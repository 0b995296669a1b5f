"""The rows of one split: training, calibration and test."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from studies.datasets import RawTable
from studies.learners.recipe import splits

Floats = NDArray[np.float64]

FEWEST = 100
"""A table must have so many rows: 20 calibration rows are the fewest that give a 90% interval."""


@dataclass(frozen=True, eq=False)
class Cut:
    """60% of the rows train, 20% calibrate, 20% test; labels are in standard deviations of the training labels."""

    X_train: Floats
    y_train: Floats
    X_cal: Floats
    y_cal: Floats
    X_test: Floats
    y_test: Floats

    @classmethod
    def of(cls, table: RawTable, split: int, rows: int, seed: int) -> Cut:
        """A split of a table, of which at most `rows` rows are used."""
        if len(table.y) < FEWEST:
            raise ValueError(f"the league needs tables of at least {FEWEST} rows, got {len(table.y)} in {table.name}")
        drawn = splits(len(table.y), split + 1, seed)[split]
        most = (round(0.6 * rows), round(0.8 * rows) - round(0.6 * rows), rows - round(0.8 * rows))
        train, cal, test = (
            part[:count] for part, count in zip((drawn.train, drawn.calibration, drawn.test), most, strict=True)
        )
        location, scale = float(np.mean(table.y[train])), float(np.std(table.y[train]))
        if not scale > 0:
            raise ValueError(
                f"the training labels of {table.name}, split {split}, must differ, got {location:g} in all"
            )
        y = (table.y - location) / scale
        return cls(table.X[train], y[train], table.X[cal], y[cal], table.X[test], y[test])
