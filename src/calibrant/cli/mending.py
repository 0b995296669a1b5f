"""Rows of a file that need mending: bounds that cross, and rows without a width of their own.

What crosses is sorted here. Rows without a width are left to the library, whose floor was learned when the model was
fitted. Both are counted over the whole file, since its batches mean nothing to the user.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibrant.cli.tables import Batch, Numbers


class Tally:
    """How many rows of a file there were of a kind, and which was the first."""

    def __init__(self) -> None:
        self.count, self.first = 0, 0

    def add(self, bad: NDArray[np.bool_], batch: Batch) -> None:
        """Count the true ones among the rows of a batch."""
        if not self.count and bad.any():
            self.first = batch.number_of(int(np.argmax(bad)))
        self.count += int(bad.sum())


class Mender:
    """Sorts what crosses, and counts that and the rows without a width of their own."""

    def __init__(self) -> None:
        self._crossing, self._flat = Tally(), Tally()

    def ordered(self, values: Numbers, batch: Batch) -> Numbers:
        """The rows, sorted."""
        crossing = np.asarray((values[:, 1:] < values[:, :-1]).any(axis=1))
        self._crossing.add(crossing, batch)
        if crossing.any():
            values = np.where(crossing[:, None], np.sort(values, axis=1), values)
        if values.shape[1] > 1:
            self.count_flat(values[:, -1] - values[:, 0], batch)
        return values

    def count_flat(self, width: Numbers, batch: Batch) -> None:
        """Count the rows whose own width this is, where it is zero."""
        self._flat.add(width <= 0, batch)

    def report(self, path: Path) -> None:
        """Warn of what was mended."""
        for tally, what in (
            (self._crossing, "have bounds or quantiles that cross: they are sorted"),
            (self._flat, "have no width of their own: they are given the floor that was learned when fitting"),
        ):
            if tally.count:
                warnings.warn(f"{path}: {tally.count} rows, the first is row {tally.first}, {what}", stacklevel=2)


@contextmanager
def counted() -> Iterator[None]:
    """Keep the library from counting, batch by batch, what a `Mender` counts once for the whole file."""
    with warnings.catch_warnings():
        for words in ("has zero width", "have no width of their own", "they are no steps"):
            warnings.filterwarnings("ignore", message=f".*{words}")
        yield
