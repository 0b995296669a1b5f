"""What evaluate and report have in common: which rows are judged, by which model, or without one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Annotated, Any

from calibrant.cli.model import Model
from calibrant.cli.options import (
    By,
    Csv,
    Missing,
    PredictionColumns,
    Target,
    Text,
    Weights,
    checked,
    labels_of,
    option,
    refuse,
    wrong,
)
from calibrant.cli.reading import opened
from calibrant.guarantee import in_text
from calibrant.labels.base import Labels
from calibrant.predictions import Point, Rates
from calibrant.tables import Columns
from calibrant.tables.counts import SINGLE
from calibrant.tables.in_memory import Rows, read_rows


@dataclass(frozen=True)
class JudgedRows:
    """Which rows of a file are judged, and by which model."""

    model: Annotated[
        Path | None,
        option(
            "The model file that fit wrote; without one the predictions of the file are judged as they are.",
            "--model",
            "-m",
            metavar="FILE",
        ),
    ] = None
    target: Target = None
    time: Annotated[
        Text,
        option("The column of the time, numbers or dates: show the forecasts over time. Rows may come in any order."),
    ] = None
    weights: Weights = None
    by: By = None
    labels: Annotated[
        Text, option("Without --model: what the labels are, as in fit; counts, for instance.", metavar="KIND")
    ] = None
    missing: Missing = "keep"

    def read_model(self) -> Model | None:
        """The model that is named, if one is."""
        if self.model is None:
            return None
        refuse("the model knows what the labels are: leave it out", labels=self.labels)
        return Model.read(self.model)

    def read(
        self, path: Path, csv: Csv, columns: Columns, kind: Labels | None, others: Sequence[str] = (), flat: str = ""
    ) -> Rows:
        """The rows of a file that have a label, all of which were followed to the end, and a prediction."""
        with checked():
            columns.labels_in()
        with opened(path, csv) as table:
            if columns.event not in table.header.names:
                columns = replace(columns, event=None)
            names = [*others, *([] if self.time is None else [self.time])]
            rows = read_rows(table, columns, kind, list(dict.fromkeys(names)), missing=self.missing)
        rows.check_labels()
        rows.report(*([flat] if flat else []))
        return rows

    def read_raw(self, path: Path, csv: Csv, prediction: PredictionColumns, others: Sequence[str] = ()) -> Rows:
        """The same of predictions that are judged as they are, without a model."""
        refuse("it goes with --model only", weights=self.weights, by=self.by)
        if prediction == PredictionColumns():
            why = "name the model file that fit wrote; or, to judge predictions as they are, their columns, by --rate,"
            raise wrong(f"{why} --point and so on", "model")
        if self.target is None:
            raise wrong("without --model the column of the labels must be named", "target")
        kind = labels_of(self.labels, prediction.rate)
        if kind is not None and kind.by_row:
            raise wrong(f"{self.labels} needs a column for each row, which needs --model", "labels")
        rows = self.read(path, csv, prediction.columns(target=self.target), kind, others, SINGLE)
        if kind is None and isinstance(rows.prediction, Rates):  # of labels that are any real number
            return replace(rows, prediction=Point(rows.prediction.values))
        return rows

    def times(self, rows: Rows) -> list[Any] | None:
        """When each row was, if a column says so."""
        return None if self.time is None else rows.others[self.time]


def groups_of(rows: Rows) -> dict[str, list[str | None]]:
    """The groups of the rows as text, under the names of their columns; nothing where there are none."""
    names = rows.columns.by
    if not names:
        return {}
    return {", ".join(names): [None if label is None else in_text(label) for label in rows.known["by"]]}
