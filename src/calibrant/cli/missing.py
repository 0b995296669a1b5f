"""Rows of a file that lack a number: without a label they judge nothing, without a prediction they get no answer."""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibrant.cli.mending import Tally
from calibrant.cli.tables import Batch


def where(path: Path, there: NDArray[np.bool_], start: int = 0) -> str:
    """The file, and from where on its rows are counted, for errors of the library."""
    counted = f"{path}, counted from row {start}" if start else f"{path}"
    return counted if there.all() else f"{counted}{'' if start else ', counted'} without the rows that are left out"


class Gaps:
    """Takes out the rows that lack a number, and counts them; or, where `refused`, leaves them to raise."""

    def __init__(self, *, refused: bool) -> None:
        self.refused = refused
        self._unlabelled, self._unpredicted = Tally(), Tally()

    def there(self, batch: Batch, columns: Sequence[str], *targets: str) -> NDArray[np.bool_]:
        """The rows that have all of these numbers."""
        if self.refused:
            return np.ones(len(batch), np.bool_)
        known = batch.known(columns)
        self._unpredicted.add(~known, batch)
        if targets:
            labelled = batch.known(targets)
            self._unlabelled.add(~labelled, batch)
            known = known & labelled
        return known

    def report(self, path: Path, fate: str) -> None:
        """Warn of what was missing, and what becomes of it."""
        for tally, what in ((self._unlabelled, "label"), (self._unpredicted, "prediction")):
            if tally.count:
                many = f"{tally.count} rows, the first is row {tally.first}, have no {what}"
                warnings.warn(f"{path}: {many}: {fate}", stacklevel=2)
