"""Rows that need repair: bounds that cross, and rows without a width of their own.

Crossing bounds are sorted here. Rows without a width get the floor that was learned when the model was fitted, or one
from their labels. Both are counted over the whole source, not by batch.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from threading import Lock

import numpy as np
from numpy.typing import NDArray

from calibrant._words import count, singular_if_one, the_first
from calibrant.batches.rows import Batch, Numbers, Source
from calibrant.labels import Labels

FLOORED = "they are given the floor that was learned when fitting"
SINGLE = "they are evaluated as a single value each"
"""What becomes of rows without a width: with a model, and without."""


class RowCount:
    """The number of rows of one kind in a source, and the first of them."""

    def __init__(self) -> None:
        self.count: int = 0
        self.first: int = 0
        self.source: Source = ""

    def add(self, bad: NDArray[np.bool_], batch: Batch) -> None:
        """Count the flagged rows of a batch."""
        if not self.count and bad.any():
            self.first, self.source = batch.number_of(int(np.argmax(bad))), batch.source
        self.count += int(bad.sum())

    def merge(self, module_of: RowCount) -> None:
        """Count those of another source too."""
        if not self.count:
            self.first, self.source = module_of.first, module_of.source
        self.count += module_of.count

    def sentence(self, source: Source, what: str) -> str:
        """A sentence: how many there were, which was the first, and `what` about them, worded for several."""
        of = "" if self.source == source else f" of {self.source}"
        rows = f"{count(self.count, 'row')}, {the_first(self.count, self.first)}{of}"
        return f"{source}: {rows}, {singular_if_one(self.count, what)}"


class Repairs:
    """Sorts what crosses, and counts that and the rows without a width of their own."""

    def __init__(self) -> None:
        self.crossing: RowCount = RowCount()
        self.flat: RowCount = RowCount()

    def ordered(self, values: Numbers, batch: Batch) -> Numbers:
        """The rows, sorted."""
        crossing = np.asarray((values[:, 1:] < values[:, :-1]).any(axis=1))
        self.crossing.add(crossing, batch)
        if crossing.any():
            values = np.where(crossing[:, None], np.sort(values, axis=1), values)
        if values.shape[1] > 1:
            self.count_flat(values[:, -1] - values[:, 0], batch)
        return values

    def count_flat(self, width: Numbers, batch: Batch) -> None:
        """Count the rows whose own width this is, where it is zero."""
        self.flat.add(width <= 0, batch)

    def merge(self, module_of: Repairs) -> None:
        """Add the counts of another one."""
        self.crossing.merge(module_of.crossing)
        self.flat.merge(module_of.flat)

    def report(self, source: Source, labels: Labels | None, flat: str = FLOORED) -> None:
        """Warn of repaired rows, and of rows without a width, unless labels of this kind need none."""
        if self.crossing.count:
            what = "have bounds or quantiles that cross: they are sorted"
            warnings.warn(self.crossing.sentence(source, what), stacklevel=2)
        if self.flat.count and not (labels is not None and labels.draws):
            warnings.warn(self.flat.sentence(source, f"have no width of their own: {flat}"), stacklevel=2)


class _Quiet:
    """Filters of warnings, set while any thread needs them."""

    def __init__(self) -> None:
        self._lock, self._users, self._outside = Lock(), 0, warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._outside = warnings.catch_warnings()
                self._outside.__enter__()
                for words in ("has zero width", "ha(ve|s) no width of (their|its) own", "(they are|it is) skipped"):
                    warnings.filterwarnings("ignore", message=f".*{words}")
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._outside.__exit__(None, None, None)


_QUIET = _Quiet()


@contextmanager
def silenced() -> Iterator[None]:
    """Silence warnings of single batches about what `Repairs` counts once for the whole source."""
    with _QUIET:
        yield
