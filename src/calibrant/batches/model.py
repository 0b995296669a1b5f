"""A calibrated model and the columns of a table that it was calibrated on."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calibrant import files
from calibrant.batches.columns import Columns, columns_of
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.notes import Notes
from calibrant.calibration import Calibrated
from calibrant.distributions.grouped import Grouped
from calibrant.files import FileError


@dataclass(frozen=True)
class TableModel:
    """A calibrator that knows its columns: `calibrant.batches`, Dask and the command line take it.

    >>> from calibrant import Calibrator
    >>> TableModel.of(Calibrator().fit([1.0, 2.0], [1.5, 2.0]), point="f", target="y").columns
    PointColumns(point='f')
    """

    calibrated: Calibrated
    notes: Notes
    """The columns of the prediction, the label, the weights and the groups."""

    def __post_init__(self) -> None:
        if not isinstance(self.calibrated, Calibrated):
            raise TypeError(f"a TableModel holds what Calibrator.fit gives, got {type(self.calibrated).__name__}")
        if isinstance(self.calibrated.q, Grouped) and not self.notes.by:
            raise ValueError("the model was calibrated by group and does not say by which columns: by= names them")

    @classmethod
    def of(
        cls,
        calibrated: Calibrated,
        *,
        target: str = "y",
        by: str | Sequence[str] = (),
        weights: str | None = None,
        **columns: str | Sequence[str] | Mapping[str, float] | None,
    ) -> TableModel:
        """Of what was calibrated elsewhere, with the names of the columns as `fit` takes them.

        Args:
            calibrated: A fitted calibrator, as `Calibrator.fit` returns it.
            target: The column with the labels.
            by: The column or columns that name the group of a row.
            weights: The column with the likelihood ratios.
            columns: The columns of the prediction, named as in `fit`.
        """
        return cls(calibrated, Notes(columns_of(columns), target, weights=weights, by=names_of(by)))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> TableModel:
        """From a file that `save` or `calibrant fit` has written.

        Args:
            path: The file to read.
        """
        stored = files.read(path)
        try:
            notes = Notes.of_json(stored.notes)
        except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
            raise FileError(
                f"{os.fspath(path)}: it does not say which columns it was fitted on: load it, and name them by"
                " TableModel.of"
            ) from error
        return cls(stored.calibrated, notes)  # type: ignore[arg-type] # __post_init__ checks it

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `TableModel.read` and the command line read; a crash leaves an older file whole.

        Args:
            path: The file to write; an older one is replaced.
        """
        files.save(path, self.calibrated, notes=self.notes.to_json())

    @property
    def columns(self) -> Columns:
        """The columns of the prediction."""
        return self.notes.columns

    @property
    def extra(self) -> ExtraColumns:
        """The columns that are read besides those of the prediction."""
        return ExtraColumns(self.notes.weights, self.notes.event, self.calibrated.labels, self.notes.by)


def names_of(by: str | Sequence[str] | None) -> tuple[str, ...]:
    """One name or several."""
    return (by,) if isinstance(by, str) else tuple(by or ())


def named_columns(given: Mapping[str, Any], target: str) -> Columns:
    """The columns of a prediction, none of which is the target."""
    columns = columns_of(given)
    if target in columns.names:
        raise ValueError(f"{target!r} is the target, and among the columns of the prediction too")
    return columns
