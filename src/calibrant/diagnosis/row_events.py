"""Events of each row: whether the interval holds the label, whether the label lies below a quantile."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, to_numpy
from calibrant.forecast import NotAvailable
from calibrant.metrics.calibration import drawn_pits
from calibrant.metrics.interval_coverage import Flags, Floats, InsideFlags, inside

LEVELS = (0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95)


@dataclass(frozen=True)
class RowEvents:
    """One answer per row to each question."""

    inside: dict[float, InsideFlags]
    """By coverage: whether the interval holds the label."""
    pit: Floats | None
    """The PITs, drawn over the jump where the distribution has an atom; None where there is no distribution."""
    events: dict[str, Flags]
    """Events that x should not predict, by name: the label lies below a quantile, or inside the forecast's own
    interval."""
    centre: Floats
    width: Floats


def row_events_of(forecast: Any, y: Array, coverages: Sequence[float]) -> RowEvents:
    """The events of a forecast, or an error that names what it lacks."""
    bounds, missing = {}, ""
    for coverage in coverages:
        try:
            bounds[coverage] = tuple(_numbers(bound, y) for bound in forecast.bounds(coverage))
        except NotAvailable as error:
            missing = missing or str(error)
    if not bounds:
        raise TypeError(f"a diagnosis needs intervals of coverage {_listed(coverages)}, and {missing}")
    if forecast.own_bounds and len(bounds) > 1:
        raise ValueError(f"H has intervals of its own: coverages must be their one coverage, got {_listed(coverages)}")
    label = _numbers(y, y)
    lower, upper = next(iter(bounds.values()))
    with np.errstate(invalid="ignore"):
        centre, width = (lower + upper) / 2, upper - lower
    with suppress(NotAvailable):
        centre = _numbers(forecast.quantile(0.5), y)
    counted = {coverage: (low <= label) & (label <= high) for coverage, (low, high) in bounds.items()}
    if forecast.has_distribution:
        found = drawn_pits(forecast.as_distribution(), y)
        pit = np.array(found.values)
        below = {f"PIT <= {level:g}": pit <= level for level in LEVELS}
        by_coverage = {
            c: InsideFlags(flags, inside(pit, c) if found.on_atoms else None) for c, flags in counted.items()
        }
        return RowEvents(by_coverage, pit, below, centre, width)
    by_coverage = {coverage: InsideFlags(flags) for coverage, flags in counted.items()}
    return RowEvents(by_coverage, None, _events(forecast, y, label, counted), centre, width)


def _events(forecast: Any, y: Array, label: Floats, inside: dict[float, Flags]) -> dict[str, Flags]:
    with suppress(NotAvailable):
        levels = forecast.quantile_levels()
        near = {min(levels, key=lambda level: abs(level - wanted)) for wanted in LEVELS}  # of many draws, few
        return {f"y <= quantile {level:.4g}": label <= _numbers(forecast.quantile(level), y) for level in sorted(near)}
    return {f"inside {100 * coverage:.6g}%": flags for coverage, flags in inside.items()}


def _numbers(values: Any, y: Array) -> Floats:
    return np.array(np.broadcast_to(np.asarray(to_numpy(values), np.float64), (y.shape[0],)))


def _listed(coverages: Sequence[float]) -> str:
    return ", ".join(f"{coverage:g}" for coverage in coverages)
