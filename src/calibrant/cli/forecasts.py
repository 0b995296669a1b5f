"""The forecasts and labels of a file, which `evaluate` and `report` look at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibrant.cli.columns import Columns
from calibrant.cli.console import progress
from calibrant.cli.mending import Mender, counted
from calibrant.cli.model import Model
from calibrant.cli.tables import Batch, Numbers, TableFile
from calibrant.distributions.base import Distribution


@dataclass(frozen=True)
class Forecasts:
    """Predictions and labels of the same rows, and what else the file says of them."""

    prediction: Any
    y: Numbers
    groups: dict[str, list[Any]]
    known: dict[str, Any]
    """What q depends on beside the prediction: weights, if the model has any."""

    def calibrated(self, model: Model, seed: int | None) -> Distribution:
        """H of every row; the seed is that of a randomised q."""
        with counted():
            return model.calibrated(self.prediction, **self.known, seed=seed)


def read(path: Path, model: Model, columns: Columns, target: str, groups: Sequence[str] = ()) -> Forecasts:
    """All rows of a file; what had to be mended is said."""
    table = TableFile(path)
    columns = columns.found_in(table, target)
    event = _event(table, model)
    with progress("reading", table.count) as done:
        rows, labels = table.labelled([target, *columns.names, *model.extra_columns, *event], groups, done=done)
    for column in event:
        _seen(rows, column)
    mender = Mender()
    found = Forecasts(columns.prediction(rows, mender), rows.numbers(target), labels, model.known(rows))
    mender.report(path)
    return found


def _event(table: TableFile, model: Model) -> list[str]:
    """The column that says which labels were seen, if the model was fitted with one and the file has it."""
    name = None if model.notes is None else model.notes.event
    return [name] if name is not None and name in table.names else []


def _seen(rows: Batch, column: str) -> None:
    """Raise unless every label was seen: a censored one is no label to be judged by."""
    censored = rows.numbers(column) == 0
    if censored.any():
        raise ValueError(
            f"{rows.path}: column {column!r} says that {int(censored.sum())} labels were not seen, the first in row"
            f" {int(censored.argmax())}: forecasts are judged by rows whose labels were all followed to the end"
        )
