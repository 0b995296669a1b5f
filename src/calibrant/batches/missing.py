"""Rows with a missing number: those without a label are not evaluated, those without a prediction get NaN."""

from __future__ import annotations

import warnings
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from calibrant._words import count
from calibrant.batches.repairs import RowCount
from calibrant.batches.rows import Batch, Source


class Gaps:
    """Leaves out the rows with a missing number, and counts them; or, where `refused`, lets them raise."""

    def __init__(self, *, refused: bool) -> None:
        self.refused = refused
        self.unlabelled: RowCount = RowCount()
        self.unpredicted: RowCount = RowCount()
        self.seen: int = 0
        self.lacking: list[str] | None = None
        """The columns that no row so far has a number of; None before the first row."""

    @classmethod
    def of(cls, missing: str) -> Gaps:
        """From what is to become of such rows: "keep" or "error"."""
        if missing not in ("keep", "error"):
            raise ValueError(f'missing must be "keep" or "error", got {missing!r}')
        return cls(refused=missing == "error")

    def complete(self, batch: Batch, columns: Sequence[str], *targets: str) -> NDArray[np.bool_]:
        """The rows that have all of these numbers."""
        if self.refused:
            return np.ones(len(batch), np.bool_)
        known = batch.known(columns)
        self.unpredicted.add(~known, batch)
        if targets:
            labelled = batch.known(targets)
            self.unlabelled.add(~labelled, batch)
            known = known & labelled
        self.seen += len(batch)
        asked = [*targets, *columns] if self.lacking is None else self.lacking
        self.lacking = [] if known.any() else [each for each in asked if not batch.known([each]).any()]
        return known

    def check(self, source: Source) -> None:
        """Raise if a column has no number in any row that was seen, which is seldom what was meant."""
        if self.seen and self.lacking:
            every = "its only row" if self.seen == 1 else f"all {count(self.seen, 'row')}"
            raise ValueError(f"{source}: column {self.lacking[0]!r} is missing in {every}")

    def merge(self, module_of: Gaps) -> None:
        """Count what was missing elsewhere too."""
        self.unlabelled.merge(module_of.unlabelled)
        self.unpredicted.merge(module_of.unpredicted)

    def report(self, source: Source, fate: str) -> None:
        """Warn of missing numbers, and say what happens to these rows."""
        for counter, what in ((self.unlabelled, "label"), (self.unpredicted, "prediction")):
            if counter.count:
                warnings.warn(counter.sentence(source, f"have no {what}: {fate}"), stacklevel=2)
