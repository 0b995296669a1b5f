"""Rows that no law can be made of as they are: bounds that cross, and widths of zero.

The library mends them batch by batch. A file comes in batches of no meaning, so here the usual width is learned once,
when the model is fitted, and kept in its notes: what a row becomes then depends on that row alone.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from calibrant.cli.tables import Batch, Numbers


class Tally:
    """How many rows of a file there were of a kind, and which was the first."""

    def __init__(self) -> None:
        self.count, self.first = 0, 0

    def add(self, bad: NDArray[np.bool_], start: int) -> None:
        """Count the true ones among the rows from `start` on."""
        if not self.count:
            self.first = start + int(np.argmax(bad))
        self.count += int(bad.sum())


class Mender:
    """Sorts what crosses, gives a millionth of the `usual` width to what has none, and counts both.

    Without a usual width the first batch tells it: its median width, as in the library.
    """

    def __init__(self, usual: float | None = None) -> None:
        self.usual = usual
        self._crossing, self._flat = Tally(), Tally()

    def increasing(self, values: Numbers, batch: Batch, columns: Sequence[str]) -> Numbers:
        """The rows sorted and strictly increasing."""
        crossing = _rows(values[:, 1:] < values[:, :-1])
        if crossing.any():
            self._crossing.add(crossing, batch.start)
            values = np.where(crossing[:, None], np.sort(values, axis=1), values)
        width = values[:, 1:] - values[:, :-1]
        wider = self.widened(width, values[:, 1:], batch, columns)
        if wider is width:
            return values
        apart = values[:, :1] + np.cumsum(wider, axis=1)
        moved = _rows(width <= 0)[:, None]
        return np.where(moved, np.concatenate([values[:, :1], apart], axis=1), values)

    def widened(self, width: Numbers, centre: Numbers, batch: Batch, columns: Sequence[str]) -> Numbers:
        """`width` with every zero lifted to a millionth of the usual one, or what floats at `centre` can tell apart."""
        if self.usual is None:
            self.usual = _usual(width, centre)
        flat = width <= 0
        if not flat.any():
            return width
        self._flat.add(_rows(flat), batch.start)
        if not self.usual:
            raise ValueError(
                f"{batch.path}: {' and '.join(map(repr, columns))} have zero width in every row (the first is"
                f" row {self._flat.first}), so nothing tells their scale"
            )
        floor = np.maximum(1e-6 * self.usual, 4 * np.finfo(np.float64).eps * np.abs(centre))
        return np.where(flat, floor, width)

    def report(self, path: Path) -> None:
        """Warn of what was mended."""
        for tally, what in (
            (self._crossing, "have bounds or quantiles that cross: they are sorted"),
            (self._flat, "have zero width somewhere: they are given a millionth of the usual one"),
        ):
            if tally.count:
                warnings.warn(f"{path}: {tally.count} rows, the first is row {tally.first}, {what}", stacklevel=2)


def _rows(entries: NDArray[np.bool_]) -> NDArray[np.bool_]:
    """Which rows have a true entry."""
    return np.asarray(entries.any(axis=1))


def _usual(width: Numbers, centre: Numbers) -> float:
    positive = np.sort(width[width > 0])
    if positive.size:
        return float(positive[positive.size // 2])
    return float(np.ptp(centre)) if centre.size else 0.0
