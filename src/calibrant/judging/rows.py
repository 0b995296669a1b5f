"""What a forecast says of each label: its scores, its PIT, its interval; computed when asked for, in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.forecast import NotAvailable
from calibrant.metrics.calibration import drawn_pits, randomised_pit
from calibrant.metrics.forecasts import paired
from calibrant.metrics.scores import interval_score_of, nll_rows

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
BLOCK = 2**14
_ASKED: dict[str, Callable[[Any, Array, float], Any]] = {
    "nll": lambda H, y, c: nll_rows(H.as_distribution(), y),
    "crps": lambda H, y, c: H.crps_rows(y),
    "std": lambda H, y, c: H.std_rows(),
    "pit": lambda H, y, c: H.as_distribution().cdf(y),
    "pit_left": lambda H, y, c: H.as_distribution().cdf_left(y),
    "median": lambda H, y, c: H.as_distribution().median(),
    "lower": lambda H, y, c: H.bounds(c)[0],
    "upper": lambda H, y, c: H.bounds(c)[1],
}
_DERIVED: dict[str, Callable[[Floats, Floats, Floats, float], Any]] = {
    "covered": lambda lower, upper, y, c: (lower <= y) & (y <= upper),
    "above": lambda lower, upper, y, c: y > upper,
    "width": lambda lower, upper, y, c: upper - lower,
    "centre": lambda lower, upper, y, c: (lower + upper) / 2,
    "interval_score": interval_score_of,
}
"""Columns that follow from the bounds of an interval and the labels."""


class RowColumns(Mapping[str, Floats]):
    """One value per row under each name that the forecast has something to say to."""

    def __init__(self, forecast: Any, y: Array, coverage: float) -> None:
        self._of = forecast, y, coverage
        self._known: dict[str, Floats] = {}
        self._names = [name for name in _ASKED if self._has(name)]
        if "lower" in self._names:
            # bounds of its own have no level
            self._names += [name for name in _DERIVED if name != "interval_score" or not forecast.own_bounds]

    def __getitem__(self, name: str) -> Floats:
        if name not in self._names:
            raise KeyError(name)
        if name not in self._known:
            with np.errstate(invalid="ignore"):
                self._known[name] = self._derived(name) if name in _DERIVED else self._asked(name)
        return self._known[name]

    def __contains__(self, name: object) -> bool:
        return name in self._names

    def __iter__(self) -> Iterator[str]:
        return iter(self._names)

    def __len__(self) -> int:
        return len(self._names)

    def _block(self, name: str, block: slice) -> Any:
        forecast, y, coverage = self._of
        return _ASKED[name](rows_of(forecast, block), y[block], coverage)

    def _has(self, name: str) -> bool:
        with suppress(NotAvailable), np.errstate(invalid="ignore"):
            self._block(name, slice(0, 1))
            return True
        return False

    def _asked(self, name: str) -> Floats:
        m, parts = self._of[1].shape[0], []
        for start in range(0, m, BLOCK):
            values = np.asarray(to_numpy(self._block(name, slice(start, start + BLOCK))), np.float64)
            parts.append(np.broadcast_to(values, (min(BLOCK, m - start),)))
        return np.concatenate(parts)

    def _derived(self, name: str) -> Floats:
        _, y, coverage = self._of
        known = np.asarray(to_numpy(y), np.float64)
        return np.asarray(_DERIVED[name](self["lower"], self["upper"], known, coverage), np.float64)


@dataclass(frozen=True, eq=False)
class ForecastRows:
    """A forecast and its labels, row by row."""

    forecast: Any
    y: Array
    """The labels, where the forecast's own arrays are."""
    coverage: float
    """The probability of the intervals; a forecast with bounds of its own has these."""
    columns: Mapping[str, Floats]
    """nll, crps, std, pit, pit_left, median, lower, upper, covered, above, width, centre, interval_score."""

    def __len__(self) -> int:
        return int(self.y.shape[0])

    @property
    def is_distribution(self) -> bool:
        """Whether there is a distribution for each row."""
        return "pit" in self.columns

    def rows(self, index: Any) -> Any:
        """The forecast of some rows; a single distribution is that of every row."""
        return rows_of(self.forecast, index)

    def distributions(self, index: Any) -> Distribution:
        """The distributions of some rows, where it is a distribution."""
        found: Distribution = self.rows(index).as_distribution()
        return found

    @cached_property
    def has_atoms(self) -> bool:
        """Whether some label lies on an atom of its distribution, as counts do."""
        return self.is_distribution and bool((self.columns["pit"] > self.columns["pit_left"]).any())

    @cached_property
    def drawn(self) -> Floats:
        """The PITs, each drawn over its jump where the distribution has an atom at the label."""
        if isinstance(self.forecast, Distribution) and self.forecast.lattice is not None:
            return drawn_pits(self.forecast, self.y).values
        return randomised_pit(self.columns["pit"], self.columns["pit_left"])

    @property
    def covered(self) -> Flags:
        """Whether the interval of each row holds its label."""
        return np.asarray(self.columns["covered"] > 0)

    @cached_property
    def tested(self) -> Flags:
        """The same with ties at the ends of intervals split: true with probability `coverage` if H is right."""
        if not self.has_atoms:
            return self.covered
        low, high = (1 - self.coverage) / 2, (1 + self.coverage) / 2
        return np.asarray((self.drawn > low) & (self.drawn <= high))


def forecast_rows(forecast: Any, y: Any, coverage: float) -> ForecastRows:
    """A forecast and its labels, checked."""
    forecast, labels = paired(forecast, y)
    return ForecastRows(forecast, labels, coverage, RowColumns(forecast, labels, coverage))


def rows_of(forecast: Any, index: Any) -> Any:
    """Some rows of a forecast; a single distribution as it is."""
    return forecast[index] if forecast.shape else forecast
