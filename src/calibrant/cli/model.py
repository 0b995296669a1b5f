"""A model file: what was calibrated, and which columns it was calibrated on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.notes import Notes
from calibrant.calibration import Calibrated
from calibrant.cli.columns import extra_columns_of, of_flags
from calibrant.distributions.grouped import Grouped
from calibrant.files import FileError, Stored, read, save
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.labels.base import Labels
from calibrant.several.calibration import SeveralCalibrated
from calibrant.tracking import Tracker


@dataclass(frozen=True)
class Model:
    """A model file that was read."""

    path: Path
    stored: Stored
    notes: Notes | None
    """None for a file that was saved from Python, without notes."""
    weights: str | None = None
    """The column of the likelihood ratios of new rows, if it was fitted with some."""
    by: tuple[str, ...] = ()
    """The columns that name the group of a row, if it was calibrated by group."""

    @classmethod
    def read(cls, path: Path) -> Model:
        """From a file."""
        stored = read(path)
        if not stored.notes or "several" in stored.notes:  # of several labels: see `calibrant.cli.several`
            return cls(path, stored, None)
        try:
            notes = Notes.of_json(stored.notes)
            return cls(path, stored, notes, notes.weights, notes.by)
        except (KeyError, TypeError, ValueError, AttributeError, StopIteration) as error:
            raise FileError(f"{path}: its notes are not those of `calibrant fit`") from error

    @property
    def by_horizon(self) -> HorizonCalibrated | None:
        """What was calibrated by horizon, if it was."""
        found = self.stored.calibrated
        return found if isinstance(found, HorizonCalibrated) else None

    @property
    def calibrated(self) -> Calibrated:
        """What was calibrated, on one prediction per row."""
        if isinstance(self.stored.calibrated, Tracker):
            raise FileError(f"{self.path}: it is a tracker, which goes on row by row: load it in Python")
        if isinstance(self.stored.calibrated, SeveralCalibrated):
            names = ", ".join(self.stored.calibrated.names)
            raise FileError(f"{self.path}: it holds several labels, {names}: name one by --target")
        if isinstance(self.stored.calibrated, HorizonCalibrated):
            raise FileError(f"{self.path}: it was calibrated by horizon: predict, evaluate, report and inspect take it")
        if not isinstance(self.stored.calibrated, Calibrated):
            raise FileError(
                f"{self.path}: it was calibrated fold by fold and needs the predictions of every fold's model: load it"
                " in Python"
            )
        return self.stored.calibrated

    @property
    def kind_of_labels(self) -> Labels | None:
        """The kind of labels for evaluating the forecasts before calibration; None where it differs by row."""
        found = self.calibrated.labels
        return None if found is None or found.by_row else found

    def columns(self, flags: Mapping[str, str | None], *, quantiles: str = "--quantiles") -> Columns:
        """The columns that the flags name, or else those of the notes."""
        return of_flags(flags, None if self.notes is None else self.notes.columns, quantiles=quantiles)

    def weighted_by(self, column: str | None) -> Model:
        """With the column of weights that is given, or else that of the notes."""
        return self if column is None else replace(self, weights=column)

    def grouped_by(self, columns: Sequence[str]) -> Model:
        """With the columns of the groups that are given, or else those of the notes."""
        by = tuple(columns) or self.by
        if not by and isinstance(self.stored.calibrated, Calibrated) and isinstance(self.stored.calibrated.q, Grouped):
            raise typer.BadParameter(
                "the model was calibrated by group and does not say by which columns", param_hint="--by"
            )
        return replace(self, by=by)

    @property
    def extra(self) -> ExtraColumns:
        """The columns that are read besides those of the prediction."""
        event = None if self.notes is None else self.notes.event
        return extra_columns_of(self.weights, event, self.calibrated.labels, self.by)

    def target(self, given: str | None) -> str:
        """The column of the labels that is given, or else that of the notes."""
        if given is not None:
            return given
        if self.notes is None:
            raise typer.BadParameter("the model does not say what it was fitted on", param_hint="--target")
        return self.notes.target


def write(path: Path, calibrated: Any, notes: Notes) -> None:
    """Keep what was calibrated."""
    save(path, calibrated, notes=notes.to_json())
