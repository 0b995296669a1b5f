"""All complete rows of a table at once, for what needs them together: updates, diagnoses, reports."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant.censored import Censored
from calibrant.labels import Labels
from calibrant.tables.columns import Columns
from calibrant.tables.counts import FLOORED, RowCounts
from calibrant.tables.rows import Batch, Numbers
from calibrant.tables.stream import LocalTable


@dataclass(frozen=True)
class Rows:
    """The rows of a table that have a label and a prediction."""

    batch: Batch
    columns: Columns
    kind: Labels | None
    """What kind of number the labels are."""
    prediction: Any
    known: dict[str, Any]
    """The other arguments of calibration: weights, bounds of the labels, groups."""
    others: dict[str, list[Any]]
    """Other columns, as Python has their values."""
    counts: RowCounts

    @property
    def y(self) -> Numbers:
        """The labels."""
        return self.batch.numbers(self.columns.labels_in())

    @property
    def labels(self) -> Any:
        """The labels, `Censored` if a column says which were seen."""
        event = self.columns.event
        return self.y if event is None else Censored(self.y, self.batch.numbers(event))

    def check_labels(self) -> None:
        """Raise where labels are not of their kind, or were not seen, and cannot be compared with a forecast."""
        self.batch.check_seen(self.columns.event)
        if self.kind is not None:
            with self.naming():
                self.kind.check(self.y, self.known.get("bound"))

    def naming(self) -> AbstractContextManager[None]:
        """Say which table, column and row it is that the library cannot use."""
        return self.batch.naming(self.columns.target)

    def report(self, flat: str = FLOORED) -> None:
        """Warn of rows that were repaired or left out, and say what becomes of those without a width."""
        self.counts.report(self.batch.source, "they are left out", self.kind, flat)


def read_rows(
    table: LocalTable,
    columns: Columns,
    labels: Labels | None = None,
    others: Sequence[str] = (),
    *,
    missing: str = "keep",
) -> Rows:
    """All rows of a table that have a label and a prediction.

    Args:
        table: What `table_of` gives.
        columns: Which columns hold what.
        labels: What kind of number the labels are.
        others: Other columns to read.
        missing: What becomes of rows without a number: "keep" leaves them out and counts them, "error" raises.
    """
    source, columns, counts = table.source, columns.resolve(table.header), RowCounts(missing)
    target, needed = columns.labels_in(), columns.needed(labels)
    numbers, texts = list(dict.fromkeys([target, *needed])), list(dict.fromkeys([*columns.by, *others]))
    names = list(dict.fromkeys([*numbers, *texts]))
    table.header.check(names)
    kept, parts, start = [], [], 0
    for batch in table.batches(numbers, texts):
        complete = counts.complete(batch, needed, target)
        rows = batch.where(complete)
        rows.check_complete(columns.by)
        for name in numbers:  # raises while it is known of which file a row is
            rows.numbers(name)
        kept.append(start + np.flatnonzero(complete))
        parts.append(rows.rows.select(names))
        start += len(batch)
    counts.close(source)
    if not any(map(len, parts)):
        raise ValueError(f"{source}: {'no row has both a label and a prediction' if start else counts.no_rows(source)}")
    (whole,) = pa.Table.from_batches(parts).combine_chunks().to_batches()
    rows = Batch(source, 0, whole, kept=np.concatenate(kept))
    prediction, known = columns.prediction(rows, counts), columns.known(rows, labels)
    return Rows(rows, columns, labels, prediction, known, {n: rows.values(n).to_pylist() for n in others}, counts)
