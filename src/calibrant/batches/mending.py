"""Rows that need mending: bounds that cross, and rows without a width of their own.

What crosses is sorted here. Rows without a width are left to the library, whose floor was learned when the model was
fitted, or whose labels give them one. Both are counted over the whole source, since its batches mean nothing to the
user.
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
SINGLE = "they are judged as a single value each"
"""What becomes of rows without a width: with a model, and without."""


class Tally:
    """How many rows of a source there were of a kind, and which was the first."""

    def __init__(self) -> None:
        self.count: int = 0
        self.first: int = 0
        self.source: Source = ""

    def add(self, bad: NDArray[np.bool_], batch: Batch) -> None:
        """Count the true ones among the rows of a batch."""
        if not self.count and bad.any():
            self.first, self.source = batch.number_of(int(np.argmax(bad))), batch.source
        self.count += int(bad.sum())

    def then(self, later: Tally) -> None:
        """Count those of another source too."""
        if not self.count:
            self.first, self.source = later.first, later.source
        self.count += later.count

    def said(self, source: Source, what: str) -> str:
        """How many there were, where the first was, and what is to be said of them, in words for several."""
        of = "" if self.source == source else f" of {self.source}"
        rows = f"{count(self.count, 'row')}, {the_first(self.count, self.first)}{of}"
        return f"{source}: {rows}, {singular_if_one(self.count, what)}"


class Mender:
    """Sorts what crosses, and counts that and the rows without a width of their own."""

    def __init__(self) -> None:
        self.crossing: Tally = Tally()
        self.flat: Tally = Tally()

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

    def then(self, later: Mender) -> None:
        """Count what another one has mended too."""
        self.crossing.then(later.crossing)
        self.flat.then(later.flat)

    def report(self, source: Source, labels: Labels | None, flat: str = FLOORED) -> None:
        """Warn of what was mended, and what becomes of rows without a width, unless labels of this kind widen them."""
        if self.crossing.count:
            what = "have bounds or quantiles that cross: they are sorted"
            warnings.warn(self.crossing.said(source, what), stacklevel=2)
        if self.flat.count and not (labels is not None and labels.widens):
            warnings.warn(self.flat.said(source, f"have no width of their own: {flat}"), stacklevel=2)


class _Quiet:
    """Filters of warnings that are set while anybody needs them: threads share them."""

    def __init__(self) -> None:
        self._lock, self._users, self._outside = Lock(), 0, warnings.catch_warnings()

    def __enter__(self) -> None:
        with self._lock:
            if not self._users:
                self._outside = warnings.catch_warnings()
                self._outside.__enter__()
                for words in ("has zero width", "ha(ve|s) no width of (their|its) own", "(they are|it is) no step"):
                    warnings.filterwarnings("ignore", message=f".*{words}")
            self._users += 1

    def __exit__(self, *error: object) -> None:
        with self._lock:
            self._users -= 1
            if not self._users:
                self._outside.__exit__(None, None, None)


_QUIET = _Quiet()


@contextmanager
def counted() -> Iterator[None]:
    """Keep the library from counting, batch by batch, what a `Mender` counts once for the whole source."""
    with _QUIET:
        yield
