"""The forecasts and labels of a file, which `evaluate` and `report` look at."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibrant.cli.columns import Columns
from calibrant.cli.console import progress
from calibrant.cli.mending import Mender, counted
from calibrant.cli.missing import Gaps, where
from calibrant.cli.model import Model
from calibrant.cli.tables import Batch, Numbers, TableFile
from calibrant.distributions.base import Distribution
from calibrant.labels import Labels


@dataclass(frozen=True)
class Forecasts:
    """Predictions and labels of the same rows, and what else the file says of them."""

    where: str
    """How its rows are counted, for errors."""
    prediction: Any
    y: Numbers
    groups: dict[str, list[Any]]
    bound: dict[str, Numbers] | None
    """What the labels are bounded by, where that is a column."""
    say: Callable[[], None]
    """Says what had to be mended or left out."""

    def calibrated(self, model: Model, seed: int | None) -> Distribution:
        """H of every row; the seed is that of a randomised q."""
        with counted():
            return model.calibrated(self.prediction, bound=self.bound, seed=seed)


def read(
    path: Path, kind: Labels | None, columns: Columns, target: str, groups: Sequence[str] = (), *, gaps: Gaps
) -> Forecasts:
    """All rows of a file that have a label and a prediction."""
    table = TableFile(path)
    columns = columns.found_in(table, target)
    needed = [*columns.names, *bounds_of(kind)]
    with progress("reading", table.count) as done:
        rows, labels = table.labelled([target, *needed], groups, gaps=not gaps.refused, done=done)
    there = gaps.there(rows, needed, target)
    if not there.any():
        raise ValueError(f"{path}: no row has both a label and a prediction")
    mender, rows = Mender(), rows.those(there)
    kept = {
        name: [value for value, known in zip(values, there, strict=True) if known] for name, values in labels.items()
    }
    prediction, y = columns.prediction(rows, mender), rows.numbers(target)

    def say() -> None:
        mender.report(path)
        gaps.report(path, "they are left out")

    return Forecasts(where(path, there), prediction, y, kept, bound_of(kind, rows), say)


def bounds_of(kind: Labels | None) -> tuple[str, ...]:
    """The columns that bound the labels."""
    return () if kind is None else kind.columns


def bound_of(kind: Labels | None, rows: Batch) -> dict[str, Numbers] | None:
    """What bounds the labels of these rows."""
    return {name: rows.numbers(name) for name in bounds_of(kind)} or None
