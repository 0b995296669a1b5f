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
from calibrant.cli.tables import Numbers, TableFile
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
    with progress("reading", table.count) as done:
        rows, labels = table.labelled([target, *columns.names, *model.extra_columns], groups, done=done)
    mender = Mender()
    found = Forecasts(columns.prediction(rows, mender), rows.numbers(target), labels, model.known(rows))
    mender.report(path)
    return found
