"""A backtest of a long table, cutoff by cutoff."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.distributions.base import Distribution
from calibrant.distributions.joined import join
from calibrant.horizons.calibration import HorizonCalibrator, distributions_of
from calibrant.horizons.table import LongRows, columns_of, read

Rows = NDArray[np.int64]


def backtest_table(
    calibrator: HorizonCalibrator,
    frame: Any,
    least: int,
    every: int,
    *,
    model: str | None = None,
    target: str = "y",
    series: str | None = "unique_id",
    time: str = "ds",
    cutoff: str = "cutoff",
    horizon: str | None = None,
    coverage: float = 0.8,
) -> tuple[LongRows, Distribution, Rows]:
    """All rows of the table; and the distributions of those forecast, with their numbers, cutoff by cutoff."""
    columns = columns_of(frame, model, target, series, time, cutoff, horizon, coverage)
    if columns.cutoff is None:
        raise ValueError(f"a backtest must know when each forecast was made: there is no column {cutoff!r}")
    rows = read(frame, columns, labels=True, bounds=calibrator.bounds)
    distributions: list[Distribution] = []
    which: list[Rows] = []
    fitted: Any = None
    age = 0
    for now in np.unique(rows.cutoff).tolist():  # type: ignore[arg-type]
        asked, known = forecasts_made_at(rows, now), labels_known_at(rows, now)
        counts = np.bincount(rows.horizon[known], minlength=int(rows.horizon.max()) + 1)
        if not asked.size or counts[rows.horizon[asked]].min() < least:
            continue
        if fitted is None or age >= every or not set(rows.horizon[asked].tolist()) <= set(fitted.q.labels):
            fitted, age = calibrator.fitted(rows[known]), 0
        distributions.append(distributions_of(fitted, rows[asked]))
        which.append(asked)
        age += 1
    if not distributions:
        raise ValueError(
            f"there is no cutoff by which each of its horizons had {least} known labels: the table has"
            f" {len(np.unique(rows.cutoff))} cutoffs; take more, or fewer by least="  # type: ignore[arg-type]
        )
    return rows, join(distributions), np.concatenate(which)


def forecasts_made_at(rows: LongRows, now: int) -> Rows:
    """The forecasts made at a cutoff, of those that have a label to judge them by."""
    return np.flatnonzero((rows.cutoff == now) & ~np.isnan(rows.y))  # type: ignore[arg-type]


def labels_known_at(rows: LongRows, now: int) -> Rows:
    """The rows whose labels were known at a cutoff: for a time no later than that, whenever they were made."""
    return np.flatnonzero((rows.time <= now) & ~np.isnan(rows.y))  # type: ignore[arg-type]
