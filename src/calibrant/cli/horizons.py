"""`calibrant horizons`: forecasts in a long table, by horizon; and what other commands do with such a model."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
import pyarrow as pa
import typer

from calibrant import Calibrator
from calibrant._words import count
from calibrant.cli.commands import command
from calibrant.cli.console import guarantee_text, put, put_json, show, spinner
from calibrant.cli.options import Csv, Input, Output, Text, labels_of, level, option
from calibrant.cli.reading import opened, refuse_overwrite
from calibrant.files import save
from calibrant.horizons import HorizonCalibrator
from calibrant.horizons.calibration import HorizonCalibrated
from calibrant.tables.files import written
from calibrant.tables.rows import naming


@command(
    "calibrant horizons cv.csv -o m.safetensors",
    "calibrant horizons cv.parquet --forecast AutoARIMA -o m.safetensors",
    "calibrant horizons prophet.csv --coverage 0.95 -o m.safetensors",
)
def horizons(
    file: Input,
    *,
    output: Output,
    forecast: Annotated[
        Text,
        option(
            "The model whose columns are calibrated: NAME, NAME-lo-90, NAME-hi-90, NAME_lower, NAME-q-0.1 and the like;"
            " the only one if not given."
        ),
    ] = None,
    target: Annotated[str, typer.Option(metavar="NAME", help="The column of the labels.")] = "y",
    series: Annotated[str, typer.Option(metavar="NAME", help="The column that names the series.")] = "unique_id",
    time: Annotated[str, typer.Option(metavar="NAME", help="The column of the time that is forecast.")] = "ds",
    cutoff: Annotated[str, typer.Option(metavar="NAME", help="When the forecast was made.")] = "cutoff",
    horizon: Annotated[Text, option("A column of steps ahead; they are counted if not given.")] = None,
    coverage: Annotated[
        float, typer.Option(help="Coverage of bounds whose names do not state it, such as yhat_lower.")
    ] = 0.8,
    labels: Annotated[Text, option("What kind of number a label is, as in fit.", metavar="KIND")] = None,
    csv: Csv,
) -> None:
    """Calibrate forecasts of a long table by horizon: rows of series, time, cutoff, label and forecast.

    predict then writes the same table back, with calibrated numbers in the columns of the forecast.
    """
    names = {"model": forecast, "target": target, "series": series, "time": time, "cutoff": cutoff, "horizon": horizon}
    calibrator = HorizonCalibrator(Calibrator(labels=labels_of(labels)))
    within = level(coverage, "coverage")
    refuse_overwrite(output, file)
    rows = read(file, csv)
    with spinner("calibrating"), naming(str(file)):
        made = calibrator.fit(rows, **names, coverage=within, rng=np.random.default_rng(0))  # type: ignore[arg-type]
    save(output, made)
    columns, steps = made.columns, made.horizons
    show(
        f"Calibrated {columns.target} given {', '.join(columns.forecast.names)} of {columns.forecast.model}, on"
        f" {count(made.guarantee.n, 'row')} of {file}: {len(steps)} horizons, {steps[0]} to {steps[-1]}."
    )
    show(guarantee_text(made.guarantee))
    show(f"Wrote {output}.")


def predict(path: Path, csv: Csv, calibrated: HorizonCalibrated, model: Path, out: Path, seed: int) -> None:
    """Write the table of a file with calibrated numbers in the columns of its forecast."""
    refuse_overwrite(out, path, model)
    table = read(path, csv)
    with spinner("predicting"), naming(str(path)):
        result = calibrated.predict(table, seed=seed)
    forecast = calibrated.columns.forecast
    new = [name for name in result.column_names if name in {*forecast.names, forecast.point}]
    with written(out, result.schema, new, csv.dialect) as write:
        for batch in result.combine_chunks().to_batches():
            write(batch)
    show(f"Wrote {count(result.num_rows, 'row')} to {out}, with other numbers in {', '.join(new)}.")


def evaluate(path: Path, csv: Csv, calibrated: HorizonCalibrated, coverage: float, seed: int, *, as_json: bool) -> None:
    """Print how the forecasts of a file do at each horizon."""
    table = read(path, csv)
    with spinner("evaluating"), naming(str(path)):
        found = calibrated.evaluate(table, coverage=coverage, seed=seed)
    if as_json:
        by_horizon: Mapping[Any, Any] = found.to_dict()
        put_json({"horizons": {str(h): each for h, each in by_horizon.items()}, "interval": found.interval})
    else:
        put(found)


def read(path: Path, csv: Csv) -> pa.Table:
    """A whole file: horizons are counted over all of its rows."""
    with opened(path, csv) as table:
        return pa.Table.from_batches([batch.rows for batch in table.batches([], table.header.names)])
