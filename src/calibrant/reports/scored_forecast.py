"""The metrics of a forecast row by row, computed in blocks, so that only these columns are in memory."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arguments import same_length
from calibrant._arrays import Array, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.forecast import NotAvailable
from calibrant.metrics.calibration import drawn_pit, randomised_pit
from calibrant.metrics.forecasts import forecast as forecast_of
from calibrant.metrics.forecasts import paired
from calibrant.metrics.interval_coverage import InsideFlags, inside
from calibrant.metrics.scores import interval_score_rows, nll_rows

Floats = NDArray[np.float64]
BLOCK = 2**14  # rows at a time


@dataclass(frozen=True)
class ScoredForecast:
    """A forecast and what it says of the labels, before calibration or after."""

    forecast: Any
    y: Array
    """The labels, where the forecast's own arrays are."""
    columns: Mapping[str, Floats]
    """nll, crps, interval_score, covered, width, std, pit, pit_left and median: one value per row, where it says so."""

    @property
    def is_distribution(self) -> bool:
        """Whether there is a distribution per row, and so curves of it."""
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
        """Whether some label lies on an atom of its distribution."""
        return self.is_distribution and bool((self.columns["pit"] > self.columns["pit_left"]).any())

    @cached_property
    def drawn(self) -> Floats:
        """The PITs, each drawn over its jump where the distribution has an atom at the label."""
        return self.columns.get("drawn", randomised_pit(self.columns["pit"], self.columns["pit_left"]))

    def inside(self, coverage: float) -> InsideFlags:
        """Whether the interval of each row holds its label; `coverage` is the one that the columns were made for."""
        return InsideFlags(self.columns["covered"] > 0, inside(self.drawn, coverage) if self.has_atoms else None)


def scored_forecast(forecast: Any, y: Floats, coverage: float) -> ScoredForecast:
    """The columns of a forecast."""
    forecast, labels = paired(forecast, y)
    columns: dict[str, list[Floats]] = {}
    for start in range(0, y.shape[0], BLOCK):
        block = slice(start, start + BLOCK)
        for name, values in _columns(rows_of(forecast, block), labels[block], coverage).items():
            columns.setdefault(name, []).append(values)
    if isinstance(forecast, Distribution) and forecast.lattice is not None:
        columns["drawn"] = [drawn_pit(forecast, labels)]
    return ScoredForecast(forecast, labels, {name: np.concatenate(parts) for name, parts in columns.items()})


def rows_of(forecast: Any, index: Any) -> Any:
    """Some rows of a forecast; a single distribution as it is."""
    return forecast[index] if forecast.shape else forecast


def _columns(forecast: Any, y: Array, coverage: float) -> dict[str, Floats]:
    lower, upper = None, None
    with suppress(NotAvailable):
        lower, upper = forecast.bounds(coverage)
    asked: dict[str, Callable[[], Any]] = {
        "nll": lambda: nll_rows(forecast.as_distribution(), y),
        "crps": lambda: forecast.crps_rows(y),
        "std": lambda: forecast.std_rows(),
        "pit": lambda: forecast.as_distribution().cdf(y),
        "pit_left": lambda: forecast.as_distribution().cdf_left(y),
        "median": lambda: forecast.as_distribution().median(),
    }
    if lower is not None:
        asked["covered"] = lambda: (lower <= y) & (y <= upper)
        asked["width"] = lambda: upper - lower
        if not forecast.own_bounds:  # its bounds have no level
            asked["interval_score"] = lambda: interval_score_rows(forecast, y, coverage)
    columns = {}
    for name, ask in asked.items():
        with suppress(NotAvailable), np.errstate(invalid="ignore"):
            columns[name] = np.broadcast_to(np.asarray(to_numpy(ask()), np.float64), (y.shape[0],))
    return columns


def checked_base(base: Any, m: int) -> Any:
    """A forecast of any kind with a row for each of the m labels, or a single distribution."""
    found = forecast_of(base)
    if found.shape:
        same_length("the forecast", m, "base", len(found))
    return found


def checked_distribution(H: Any, name: str = "H") -> Any:
    """A distribution per row, or a single one, or a TypeError that says what else came and the way out."""
    if not H.has_distribution:
        raise TypeError(
            f"{name} must be a distribution for each row, got {H!r}: calibrate it, with Calibrator().fit on other rows,"
            " and pass what that gives as H and this as base"
        )
    return H
