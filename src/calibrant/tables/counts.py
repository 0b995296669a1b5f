"""Rows of a table that lack a number or need repair: counted over the whole table, and told of once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from calibrant._words import NAMED, count, singular_if_one, the_first, warn_user
from calibrant.labels import Labels
from calibrant.tables.rows import Batch, Numbers, Source, listed

FLOORED = "they are given the floor that was learned when fitting"
SINGLE = "they are evaluated as a single value each"
"""What becomes of rows without a width: with a model, and without."""
COUNTED = ("has zero width", " no width of ", "they are skipped", "it is skipped")
"""Words of warnings about single batches; what they say is counted here."""


class RowCount:
    """The number of rows of one kind, and the first of them."""

    def __init__(self) -> None:
        self.count: int = 0
        self.first: int = 0
        self.source: Source = ""

    def add(self, bad: NDArray[np.bool_], batch: Batch) -> None:
        """Count the flagged rows of a batch."""
        if not self.count and bad.any():
            self.first, self.source = batch.number_of(int(np.argmax(bad))), batch.source
        self.count += int(bad.sum())

    def merge(self, other: RowCount) -> None:
        """Count those of later rows too."""
        if not self.count:
            self.first, self.source = other.first, other.source
        self.count += other.count

    def warn(self, source: Source, what: str) -> None:
        """Say how many there are, which is the first, and `what` about them, worded for several."""
        if self.count:
            of = "" if self.source == source else f" of {self.source}"
            rows = f"{count(self.count, 'row')}, {the_first(self.count, self.first)}{of}"
            warn_user(f"{source}: {rows}, {singular_if_one(self.count, what)}")


class Counts:
    """The rows that were read, and those among them that were left out or repaired."""

    def __init__(self, missing: str = "keep") -> None:
        if missing not in ("keep", "error"):
            raise ValueError(f'missing must be "keep" or "error", got {missing!r}')
        self.refused: bool = missing == "error"
        self.rows: int = 0
        self.empty: list[Source] = []
        """The parts without rows."""
        self.crossing: RowCount = RowCount()
        self.flat: RowCount = RowCount()
        self.unlabelled: RowCount = RowCount()
        self.unpredicted: RowCount = RowCount()
        self._source: Source = ""
        self._of_source: int = 0
        self._lacking: list[str] | None = None

    def complete(self, batch: Batch, columns: Sequence[str], *targets: str) -> NDArray[np.bool_]:
        """The rows that have all of these numbers; or all rows, where a missing number is an error.

        Args:
            batch: Some rows.
            columns: What is needed beside the labels.
            targets: The labels.
        """
        if batch.source != self._source:
            self.close()
            self._source, self._of_source, self._lacking = batch.source, 0, None
        self.rows += len(batch)
        self._of_source += len(batch)
        if self.refused:
            return np.ones(len(batch), np.bool_)
        known = batch.known(columns)
        self.unpredicted.add(~known, batch)
        if targets:
            labelled = batch.known(targets)
            self.unlabelled.add(~labelled, batch)
            known = known & labelled
        asked = [*targets, *columns] if self._lacking is None else self._lacking
        self._lacking = [] if known.any() else [each for each in asked if not batch.known([each]).any()]
        return known

    def close(self, source: Source = "") -> None:
        """Raise if a column had no number in any row of the last source, which is seldom what was meant.

        Args:
            source: What to call a source that gave no batch.
        """
        if not self._of_source:
            self.empty += [self._source or source] if self._source or source else []
        elif self._lacking:
            every = "its only row" if self._of_source == 1 else f"all {count(self._of_source, 'row')}"
            raise ValueError(f"{self._source}: column {self._lacking[0]!r} is missing in {every}")

    def ordered(self, values: Numbers, batch: Batch) -> Numbers:
        """Bounds, quantiles or draws that do not decrease in any row.

        Args:
            values: One row for each of the batch.
            batch: Whose rows they are.
        """
        crossing = np.asarray((values[:, 1:] < values[:, :-1]).any(axis=1))
        self.crossing.add(crossing, batch)
        if crossing.any():
            values = np.where(crossing[:, None], np.sort(values, axis=1), values)
        if values.shape[1] > 1:
            self.count_flat(values[:, -1] - values[:, 0], batch)
        return values

    def count_flat(self, width: Numbers, batch: Batch) -> None:
        """Count the rows whose own width is zero."""
        self.flat.add(width <= 0, batch)

    @staticmethod
    @contextmanager
    def silenced() -> Iterator[None]:
        """Silence what the library says of single batches and is counted here."""
        named = NAMED.get()
        outside = NAMED.set(lambda message: "" if any(words in message for words in COUNTED) else named(message))
        try:
            yield
        finally:
            NAMED.reset(outside)

    def merge(self, other: Counts) -> None:
        """Count what was counted of later rows too."""
        self.rows += other.rows
        self.empty += other.empty
        for name in ("crossing", "flat", "unlabelled", "unpredicted"):
            getattr(self, name).merge(getattr(other, name))

    def report(self, source: Source, fate: str, labels: Labels | None = None, flat: str = FLOORED) -> None:
        """Warn of rows that were repaired or left out.

        Args:
            source: What messages call the table.
            fate: What becomes of rows that lack a number.
            labels: What kind of number the labels are: some need no width.
            flat: What becomes of rows without a width.
        """
        self.crossing.warn(source, "have bounds or quantiles that cross: they are sorted")
        if labels is None or not labels.draws:
            self.flat.warn(source, f"have no width of their own: {flat}")
        self.unlabelled.warn(source, f"have no label: {fate}")
        self.unpredicted.warn(source, f"have no prediction: {fate}")
        if self.empty and self.rows:
            warn_user(f"{source}: {self.no_rows()}")

    def no_rows(self, source: Source = "") -> str:
        """Which parts have no rows."""
        parts = [str(each) for each in self.empty if each != source]
        return f"there are no rows in {listed(parts)}" if parts else "there are no rows"
