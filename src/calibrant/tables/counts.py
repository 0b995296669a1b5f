"""Rows of a table that lack a number or need repair: counted over the whole table, and told of once."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

import numpy as np
from numpy.typing import NDArray

from calibrant._words import NAMED, count, singular_if_one, the_first, warn_user
from calibrant.labels import Labels
from calibrant.tables.rows import Batch, Numbers, Source, listed

CROSSING, FLAT = "have bounds or quantiles that cross: they are sorted", "have no width of their own"
UNLABELLED, UNPREDICTED = "have no label", "have no prediction"
FLOORED = "they are given the floor that was learned when fitting"
SINGLE = "they are evaluated as a single value each"
"""What becomes of rows without a width: with a model, and without."""
COUNTED = ("has zero width", " no width of ", "they are skipped", "it is skipped")
"""Words of warnings about single batches; what they say is counted here."""


class RowCounts:
    """The rows that were read, and those among them that were left out or repaired."""

    def __init__(self, missing: str = "keep") -> None:
        if missing not in ("keep", "error"):
            raise ValueError(f'missing must be "keep" or "error", got {missing!r}')
        self.refused: bool = missing == "error"
        self.rows: int = 0
        self.empty: list[Source] = []
        """The parts without rows."""
        self.found: dict[str, tuple[int, int, Source]] = {}
        """How many rows were found wanting in what, the first of them, and where that is."""
        self._source: Source = ""
        self._of_source: int = 0
        self._lacking: list[str] | None = None

    def add(self, what: str, bad: NDArray[np.bool_], batch: Batch) -> None:
        """Count the flagged rows of a batch."""
        if bad.any():
            self._add(what, int(bad.sum()), batch.number_of(int(np.argmax(bad))), batch.source)

    def _add(self, what: str, number: int, first: int, source: Source) -> None:
        before, first, source = self.found.get(what, (0, first, source))
        self.found[what] = before + number, first, source

    def complete(self, batch: Batch, columns: Sequence[str], *targets: str) -> NDArray[np.bool_]:
        """The rows that have all of these numbers; or all rows, where a missing number is an error."""
        if batch.source != self._source:
            self.close()
            self._source, self._of_source, self._lacking = batch.source, 0, None
        self.rows += len(batch)
        self._of_source += len(batch)
        if self.refused:
            return np.ones(len(batch), np.bool_)
        known = batch.known(columns)
        self.add(UNPREDICTED, ~known, batch)
        if targets:
            labelled = batch.known(targets)
            self.add(UNLABELLED, ~labelled, batch)
            known = known & labelled
        asked = [*targets, *columns] if self._lacking is None else self._lacking
        self._lacking = [] if known.any() else [each for each in asked if not batch.known([each]).any()]
        return known

    def close(self, source: Source = "") -> None:
        """Raise if a column had no number in any row of the last source, which is seldom what was meant.

        `source` is the name of a source that gave no batch.
        """
        if not self._of_source:
            self.empty += [each for each in [self._source or source] if each]
        elif self._lacking:
            every = "its only row" if self._of_source == 1 else f"all {count(self._of_source, 'row')}"
            raise ValueError(f"{self._source}: column {self._lacking[0]!r} is missing in {every}")

    def ordered(self, values: Numbers, batch: Batch) -> Numbers:
        """Bounds, quantiles or draws that do not decrease in any row."""
        crossing = np.asarray((values[:, 1:] < values[:, :-1]).any(axis=1))
        self.add(CROSSING, crossing, batch)
        if crossing.any():
            values = np.where(crossing[:, None], np.sort(values, axis=1), values)
        if values.shape[1] > 1:
            self.add(FLAT, values[:, -1] <= values[:, 0], batch)
        return values

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

    def merge(self, other: RowCounts) -> None:
        """Count what was counted of later rows too."""
        self.rows += other.rows
        self.empty += other.empty
        for what, found in other.found.items():
            self._add(what, *found)

    def report(self, source: Source, fate: str, labels: Labels | None = None, flat: str = FLOORED) -> None:
        """Warn of rows that were repaired or left out: `fate` is theirs, `flat` that of rows without a width."""
        fates = {CROSSING: "", FLAT: f": {flat}", UNLABELLED: f": {fate}", UNPREDICTED: f": {fate}"}
        if labels is not None and labels.draws:
            del fates[FLAT]  # such labels need no width
        for what, then in fates.items():
            if what not in self.found:
                continue
            number, first, place = self.found[what]
            of = "" if place == source else f" of {place}"
            rows = f"{source}: {count(number, 'row')}, {the_first(number, first)}{of}"
            warn_user(f"{rows}, {singular_if_one(number, what + then)}")
        if self.empty and self.rows:
            warn_user(f"{source}: {self.no_rows()}")

    def no_rows(self, source: Source = "") -> str:
        """Which parts have no rows."""
        parts = [str(each) for each in self.empty if each != source]
        return f"there are no rows in {listed(parts)}" if parts else "there are no rows"
