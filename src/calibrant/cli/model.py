"""A model file: what was calibrated, and which columns it was calibrated on."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Self, cast

from calibrant.calibration import Calibrated
from calibrant.cli.options import PredictionColumns, Texts, checked, names_of, wrong
from calibrant.files import FileError, Stored, read
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.labels.base import Labels
from calibrant.several.calibration import SeveralCalibrated
from calibrant.tables import Columns, TableModel
from calibrant.tracking import Tracker


@dataclass(frozen=True)
class Model:
    """A model file that was read."""

    path: Path
    stored: Stored
    columns: Columns | None
    """None for a file that was saved from Python, without notes, and for several labels."""

    @classmethod
    def read(cls, path: Path) -> Self:
        """From a file."""
        stored = read(path)
        if not stored.notes or "several" in stored.notes:
            return cls(path, stored, None)
        try:
            return cls(path, stored, Columns.of_json(stored.notes))
        except (TypeError, ValueError) as error:
            raise FileError(f"{path}: its notes are not those of `calibrant fit`") from error

    @property
    def by_horizon(self) -> HorizonCalibrated | None:
        """What was calibrated by horizon, if it was."""
        found = self.stored.calibrated
        return found if isinstance(found, HorizonCalibrated) else None

    @cached_property
    def several(self) -> list[Columns]:
        """The columns of each of several labels; none of a model of one."""
        if not isinstance(self.stored.calibrated, SeveralCalibrated):
            return []
        try:
            return [Columns.of_json(each) for each in self.stored.notes["several"]]
        except (KeyError, TypeError, ValueError) as error:
            raise FileError(f"{self.path}: it holds several labels and does not say in which columns") from error

    def of_target(self, target: str | None) -> Self:
        """The model of one of several labels; of one label as it is."""
        for columns in self.several:
            if columns.target == target:
                calibrated = cast(SeveralCalibrated, self.stored.calibrated)[columns.labels_in()]
                return replace(self, stored=replace(self.stored, calibrated=calibrated), columns=columns)
        if self.several:
            known = ", ".join(each.labels_in() for each in self.several)
            raise wrong(f"expected one of {known}, got {target or 'none'}", "target")
        return self

    @property
    def calibrated(self) -> Calibrated:
        """What was calibrated, on one prediction per row."""
        found = self.stored.calibrated
        if isinstance(found, Calibrated):
            return found
        if isinstance(found, Tracker):
            why = "is a tracker, which goes on row by row: load it in Python"
        elif isinstance(found, SeveralCalibrated):
            why = f"holds several labels, {', '.join(found.names)}: name one by --target"
        elif isinstance(found, HorizonCalibrated):
            why = "was calibrated by horizon: predict, evaluate, report and inspect take it"
        else:
            why = "was calibrated fold by fold and needs the predictions of every fold's model: load it in Python"
        raise FileError(f"{self.path}: it {why}")

    def named(
        self, prediction: PredictionColumns, *, target: str | None = None, weights: str | None = None, by: Texts = None
    ) -> TableModel:
        """What was calibrated, with the columns that are named, or else those of the fit."""
        calibrated = self.calibrated
        columns = prediction.columns(self.columns, target=target, weights=weights, by=names_of(by))
        with checked():
            return TableModel(calibrated, columns)

    @property
    def kind_of_labels(self) -> Labels | None:
        """The kind of labels for evaluating the forecasts before calibration; None where it differs by row."""
        found = self.calibrated.labels
        return None if found is None or found.by_row else found
