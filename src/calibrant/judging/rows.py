"""What a forecast says of each label: its scores, its PIT, its interval; computed in blocks of rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.forecast import NotAvailable
from calibrant.metrics.calibration import drawn_pit, randomised_pit
from calibrant.metrics.forecasts import paired
from calibrant.metrics.scores import interval_score_rows, nll_rows

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
BLOCK = 2**14


@dataclass(frozen=True, eq=False)
class ForecastRows:
    """A forecast and its labels, row by row."""

    forecast: Any
    y: Array
    """The labels, where the forecast's own arrays are."""
    coverage: float
    """The probability of the intervals; a forecast with bounds of its own has these."""
    columns: Mapping[str, Floats]
    """nll, crps, interval_score, covered, above, width, std, pit, pit_left, median, centre: where the forecast says."""

    def __len__(self) -> int:
        return int(self.y.shape[0])

    @property
    def is_distribution(self) -> bool:
        """Whether there is a distribution for each row."""
        return "pit" in self.columns

    def rows(self, index: Any) -> Any:
        """The forecast of some rows; a single distribution is that of every row."""
        return rows_of(self.forecast, index)

    def only(self, index: Any) -> ForecastRows:
        """These rows alone."""
        drawn = {"drawn": self.drawn} if self.is_distribution else {}
        columns = {name: values[index] for name, values in {**self.columns, **drawn}.items()}
        return ForecastRows(self.rows(index), self.y[index], self.coverage, columns)

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
        return self.columns.get("drawn", randomised_pit(self.columns["pit"], self.columns["pit_left"]))

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
    """The columns of a forecast."""
    forecast, labels = paired(forecast, y)
    columns: dict[str, list[Floats]] = {}
    for start in range(0, labels.shape[0], BLOCK):
        block = slice(start, start + BLOCK)
        for name, values in _columns(rows_of(forecast, block), labels[block], coverage).items():
            columns.setdefault(name, []).append(values)
    if isinstance(forecast, Distribution) and forecast.lattice is not None:
        columns["drawn"] = [drawn_pit(forecast, labels)]
    return ForecastRows(forecast, labels, coverage, {name: np.concatenate(parts) for name, parts in columns.items()})


def rows_of(forecast: Any, index: Any) -> Any:
    """Some rows of a forecast; a single distribution as it is."""
    return forecast[index] if forecast.shape else forecast


def _columns(forecast: Any, y: Array, coverage: float) -> dict[str, Floats]:
    asked: dict[str, Callable[[], Any]] = {
        "nll": lambda: nll_rows(forecast.as_distribution(), y),
        "crps": lambda: forecast.crps_rows(y),
        "std": lambda: forecast.std_rows(),
        "pit": lambda: forecast.as_distribution().cdf(y),
        "pit_left": lambda: forecast.as_distribution().cdf_left(y),
        "median": lambda: forecast.as_distribution().median(),
    }
    with suppress(NotAvailable):
        lower, upper = forecast.bounds(coverage)
        asked["covered"] = lambda: (lower <= y) & (y <= upper)
        asked["above"] = lambda: y > upper
        asked["width"] = lambda: upper - lower
        asked["centre"] = lambda: (lower + upper) / 2
        if not forecast.own_bounds:  # its bounds have no level
            asked["interval_score"] = lambda: interval_score_rows(forecast, y, coverage)
    columns = {}
    for name, ask in asked.items():
        with suppress(NotAvailable), np.errstate(invalid="ignore"):
            columns[name] = np.broadcast_to(np.asarray(to_numpy(ask()), np.float64), (y.shape[0],))
    return columns
