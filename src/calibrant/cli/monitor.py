"""`calibrant monitor`."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import typer

from calibrant.batches.columns import Columns
from calibrant.batches.missing import Gaps
from calibrant.batches.repairs import silenced
from calibrant.batches.rows import naming
from calibrant.cli.console import show, spinner
from calibrant.cli.forecasts import read_forecasts
from calibrant.cli.model import Model
from calibrant.cli.results import json_number
from calibrant.cli.time_order import check_order
from calibrant.monitoring import Monitor


class MonitorResult(NamedTuple):
    """The alarm after the rows of a file, and their times, if a column has them."""

    seen: Monitor
    times: list[Any] | None


def monitored(
    path: Path,
    model: Model,
    columns: Columns,
    target: str,
    time: str | None,
    threshold: float,
    seed: int,
    *,
    gaps: Gaps,
) -> MonitorResult:
    """The alarm after all rows of a file, in the order of the file."""
    if not 1 < threshold < math.inf:
        raise typer.BadParameter(f"expected a number above 1, got {threshold:g}", param_hint="--threshold")
    calibrated = model.calibrated
    with naming(str(model.path)):
        start = Monitor(calibrated, threshold)
    rows = read_forecasts(path, model, columns, target, [] if time is None else [time], gaps=gaps)
    known = {name: value for name, value in rows.known.items() if name == "bound"}
    with spinner("watching"), rows.naming(), silenced():
        if time is not None:
            check_order(time, rows.groups[time])
        rng = np.random.default_rng(seed)
        seen = start.update(rows.prediction, rows.y, **known, rng=rng)
    return MonitorResult(seen, None if time is None else list(rows.groups[time]))


def show_monitor(found: MonitorResult) -> None:
    """Print it as a few sentences."""
    show(str(found.seen))
    alarm = found.seen.alarm
    if alarm is not None and found.times is not None:
        show(f"It rings at {found.times[alarm.row]}, since about {found.times[alarm.since]}.")


def to_json(found: MonitorResult) -> dict[str, Any]:
    """As JSON values; rows that have a label are counted from 0."""
    seen, times = found
    result: dict[str, Any] | None = None
    if (alarm := seen.alarm) is not None:
        result = {"row": alarm.row, "since": alarm.since, "direction": alarm.direction.name, "words": str(alarm)}
        if times is not None:
            result |= {"time": str(times[alarm.row]), "since_time": str(times[alarm.since])}
    return {
        "rows": len(seen),
        "threshold": seen.threshold,
        "log_capital": json_number(float(seen.log_capital[-1])),
        "alarm": result,
    }
