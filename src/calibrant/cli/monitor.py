"""`calibrant monitor`."""

from __future__ import annotations

import math
from typing import Annotated, Any

import numpy as np
import typer

from calibrant.cli.commands import command
from calibrant.cli.console import put_json, show, spinner
from calibrant.cli.judging import JudgedRows
from calibrant.cli.model import Model
from calibrant.cli.options import Csv, Input, Json, Missing, ModelFile, PredictionColumns, Seed, Target, Time, wrong
from calibrant.cli.reading import check_order
from calibrant.monitoring import Monitor
from calibrant.tables.counts import RowCounts
from calibrant.tables.rows import naming


@command(
    "calibrant monitor june.csv -m m.safetensors --time hour",
    "calibrant monitor june.parquet -m m.safetensors --threshold 1000 --json",
)
def monitor(
    file: Input,
    *,
    model: ModelFile,
    target: Target = None,
    time: Time = None,
    threshold: Annotated[
        float,
        typer.Option(help="The alarm rings at this capital. Its false alarm probability is at most 1/threshold."),
    ] = 100.0,
    prediction: PredictionColumns,
    seed: Seed = 0,
    missing: Missing = "keep",
    as_json: Json = False,
    csv: Csv,
) -> None:
    """Test whether later labels are still like the calibration rows: an alarm with few false positives."""
    if not 1 < threshold < math.inf:
        raise wrong(f"expected a number above 1, got {threshold:g}", "threshold")
    named = Model.read(model).named(prediction, target=target)
    with naming(str(model)):
        start = Monitor(named.calibrated, threshold)
    judged = JudgedRows(time=time, missing=missing)
    rows = judged.read(file, csv, named.columns, named.calibrated.labels)
    known, times = {name: value for name, value in rows.known.items() if name == "bound"}, judged.times(rows)
    with spinner("watching"), rows.naming(), RowCounts.silenced():
        if time is not None:
            check_order(time, rows.others[time])
        seen = start.update(rows.prediction, rows.y, **known, rng=np.random.default_rng(seed))
    if as_json:
        put_json(_to_json(seen, times))
        return
    show(str(seen))
    if seen.alarm is not None and times is not None:
        show(f"It rings at {times[seen.alarm.row]}, since about {times[seen.alarm.since]}.")


def _to_json(seen: Monitor, times: list[Any] | None) -> dict[str, Any]:
    """As JSON values; rows that have a label are counted from 0."""
    result: dict[str, Any] | None = None
    if (alarm := seen.alarm) is not None:
        result = {"row": alarm.row, "since": alarm.since, "direction": alarm.direction.name, "words": str(alarm)}
        if times is not None:
            result |= {"time": str(times[alarm.row]), "since_time": str(times[alarm.since])}
    return {
        "rows": len(seen),
        "threshold": seen.threshold,
        "log_capital": float(seen.log_capital[-1]),
        "alarm": result,
    }
