"""A calibrated model and the columns of a table that it was calibrated on."""

from __future__ import annotations

import os
from dataclasses import dataclass
from typing import Any

from calibrant import files
from calibrant.calibration import Calibrated
from calibrant.distributions.grouped import Grouped
from calibrant.files import FileError
from calibrant.tables.columns import Columns, ColumnsError


@dataclass(frozen=True)
class TableModel:
    """A calibrator that knows its columns, as `calibrant.tables.fit` and the command line make it.

    Args:
        calibrated: What `Calibrator.fit` returned.
        columns: The columns of the prediction, the label, the weights and the groups.

    >>> from calibrant import Calibrator
    >>> TableModel(Calibrator().fit([1.0, 2.0], [1.5, 2.0]), Columns(point="f", target="y")).columns.names
    ('f',)
    """

    calibrated: Calibrated
    columns: Columns

    def __post_init__(self) -> None:
        if not isinstance(self.calibrated, Calibrated):
            raise TypeError(f"a TableModel holds what Calibrator.fit gives, got {type(self.calibrated).__name__}")
        if isinstance(self.calibrated.q, Grouped) and not self.columns.by:
            raise ColumnsError("the model was calibrated by group: name the columns of the groups with ", ("by",))

    @classmethod
    def read(cls, path: str | os.PathLike[str]) -> TableModel:
        """From a file that `save` or `calibrant fit` has written.

        Args:
            path: The file to read.
        """
        stored = files.read(path)
        try:
            columns = Columns.of_json(stored.notes)
        except (TypeError, ValueError) as error:
            raise FileError(
                f"{os.fspath(path)}: it does not say which columns it was fitted on: load it, and name them by"
                " TableModel(calibrated, Columns(...))"
            ) from error
        return cls(stored.calibrated, columns)  # type: ignore[arg-type] # __post_init__ checks it

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write a file that `TableModel.read` and the command line read; a crash leaves an older file whole.

        Args:
            path: The file to write; an older one is replaced.
        """
        files.save(path, self.calibrated, notes=self.columns.to_json())


def check_model(model: Any) -> None:
    """Raise unless a model says which columns it was fitted on."""
    if not isinstance(model, TableModel):
        raise TypeError(
            "model must say which columns it was fitted on, as what calibrant.tables.fit gives, got"
            f" {type(model).__name__}: TableModel(calibrated, Columns(mean=..., std=...)) names them"
        )
