"""The forecasts and labels of a file, for `fit`, `evaluate` and `report`."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.missing import Gaps
from calibrant.batches.repairs import FLOORED, Repairs, silenced
from calibrant.batches.rows import Batch, Numbers, naming
from calibrant.cli.console import progress
from calibrant.cli.model import Model
from calibrant.cli.tables import TableFile
from calibrant.distributions.base import Distribution
from calibrant.guarantee import in_text


@dataclass(frozen=True)
class Forecasts:
    """Predictions and labels of the same rows, with the other columns that were read."""

    path: Path
    target: str
    """The column of the labels."""
    prediction: Any
    y: Numbers
    groups: dict[str, list[Any]]
    known: dict[str, Any]
    """The other arguments of calibration: weights, bounds of the labels, groups."""
    event: Numbers | None
    """1 where the label was seen, where the file is asked for that."""
    complete: NDArray[np.bool_]
    """Which rows of the file these are."""
    say: Callable[..., None]
    """Warns of rows that were repaired or left out; takes the sentence about rows without a width."""

    def naming(self) -> AbstractContextManager[None]:
        """Say which file and which column it is that the library cannot use."""
        return naming(self.path, self.target, lambda row: int(np.flatnonzero(self.complete)[row]))

    def by_group(self, names: Sequence[str]) -> dict[str, list[str | None]]:
        """The groups of the rows as text, under the names of their columns; nothing where there are none."""
        return (
            {", ".join(names): [None if label is None else in_text(label) for label in self.known["by"]]}
            if names
            else {}
        )

    def calibrated(self, model: Model, seed: int | None) -> Distribution:
        """H of every row; the seed is that of a randomised q."""
        with silenced():
            return model.calibrated(self.prediction, **self.known, seed=seed)


def read(
    path: Path, extra: ExtraColumns, columns: Columns, target: str, groups: Sequence[str] = (), *, gaps: Gaps
) -> Forecasts:
    """All rows of a file that have a label and a prediction."""
    found, rows = _read(path, extra, columns, target, groups, gaps)
    return replace(found, event=None if extra.event is None else rows.numbers(extra.event))


def read_forecasts(
    path: Path, model: Model, columns: Columns, target: str, groups: Sequence[str] = (), *, gaps: Gaps
) -> Forecasts:
    """The same, for evaluation: all labels must have been observed, since a censored one cannot be evaluated."""
    extra = model.extra
    if extra.event is not None and extra.event not in TableFile(path).names:
        extra = replace(extra, event=None)
    found, rows = _read(path, extra, columns, target, groups, gaps)
    if extra.event is not None:
        censored = rows.numbers(extra.event) == 0
        if censored.any():
            raise ValueError(
                f"{path}: column {extra.event!r} says that {int(censored.sum())} labels were not seen, the first in"
                f" row {rows.number_of(int(censored.argmax()))}: forecasts are evaluated on rows whose labels were all"
                " followed to the end"
            )
    labels = model.calibrated.labels
    if labels is not None:
        with found.naming():
            labels.check(found.y, found.known.get("bound"))
    found.say()
    return found


def _read(
    path: Path, extra: ExtraColumns, columns: Columns, target: str, groups: Sequence[str], gaps: Gaps
) -> tuple[Forecasts, Batch]:
    table = TableFile(path)
    columns = columns.resolve(table.header, target)
    needed = [*columns.names, *extra.names]
    with progress("reading", table.count) as done:
        rows, labels = table.labelled([target, *needed], [*groups, *extra.by], gaps=not gaps.refused, done=done)
    complete = gaps.complete(rows, needed, target)
    if not complete.any():
        raise ValueError(f"{path}: no row has both a label and a prediction")
    repairs, rows = Repairs(), rows.where(complete)
    columns_of_rows = {
        name: [value for value, known in zip(values, complete, strict=True) if known] for name, values in labels.items()
    }
    prediction, y = columns.prediction(rows, repairs), rows.numbers(target)

    def say(flat: str = FLOORED) -> None:
        repairs.report(path, extra.labels, flat)
        gaps.report(path, "they are left out")

    known = extra.known(rows) | extra.group(columns_of_rows)
    slices = {name: columns_of_rows[name] for name in groups}
    return Forecasts(path, target, prediction, y, slices, known, None, complete, say), rows
