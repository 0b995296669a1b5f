"""`calibrant horizons`: forecasts in a long table, by horizon; and what predict and evaluate do with such a model."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa

from calibrant import Calibrator
from calibrant._words import count
from calibrant.batches.rows import naming
from calibrant.cli.console import guarantee_text, put, show, spinner
from calibrant.cli.results import json_numbers, print_json
from calibrant.cli.tables import TableFile, refuse_overwrite, written
from calibrant.files import save
from calibrant.horizons import HorizonCalibrator
from calibrant.horizons.calibration import HorizonCalibrated, HorizonEvaluation
from calibrant.labels import Labels
from calibrant.reports import report as report_of


def fit(path: Path, out: Path, labels: Labels | None, columns: dict[str, Any]) -> None:
    """Calibrate the forecasts of a file by horizon and keep the result."""
    refuse_overwrite(out, path)
    calibrator = HorizonCalibrator(Calibrator(labels=labels))
    table = _read(path)
    with spinner("calibrating"), naming(str(path)):
        calibrated = calibrator.fit(table, **columns, rng=np.random.default_rng(0))
    save(out, calibrated)
    forecast, horizons = calibrated.columns.forecast, calibrated.horizons
    show(
        f"Calibrated {calibrated.columns.target} given {', '.join(forecast.names)} of {forecast.model}, on"
        f" {count(calibrated.guarantee.n, 'row')} of {path}: {len(horizons)} horizons, {horizons[0]} to {horizons[-1]}."
    )
    show(guarantee_text(calibrated.guarantee))
    show(f"Wrote {out}.")


def predict(path: Path, calibrated: HorizonCalibrated, model: Path, out: Path, seed: int | None) -> None:
    """Write the table of a file with calibrated numbers in the columns of its forecast."""
    refuse_overwrite(out, path, model)
    table = _read(path)
    with spinner("predicting"), naming(str(path)):
        result = calibrated.predict(table, seed=seed)
    forecast = calibrated.columns.forecast
    new = [name for name in result.column_names if name in {*forecast.names, forecast.point}]
    with written(out, result.schema, new) as write:
        for batch in result.combine_chunks().to_batches():
            write(batch)
    show(f"Wrote {count(result.num_rows, 'row')} to {out}, with other numbers in {', '.join(new)}.")


def evaluated(path: Path, calibrated: HorizonCalibrated, coverage: float, seed: int | None) -> HorizonEvaluation:
    """How the forecasts of a file do at each horizon."""
    table = _read(path)
    with spinner("evaluating"), naming(str(path)):
        return calibrated.evaluate(table, coverage=coverage, seed=seed)


def show_evaluation(found: HorizonEvaluation, *, as_json: bool) -> None:
    """Print a table, or JSON."""
    if as_json:
        sides = found.to_dict()
        print_json({"horizons": {str(h): json_numbers(each) for h, each in sides.items()}, "interval": found.interval})
    else:
        put(found)


def report(path: Path, calibrated: HorizonCalibrated, model: Path, out: Path, options: Any, seed: int | None) -> None:
    """Write the page on the rows of a file, sliced by horizon, and print its verdict."""
    refuse_overwrite(out, path, model)
    table = _read(path)
    with spinner("looking"), naming(str(path)):
        rows = calibrated.labelled(table)
        page = report_of(
            calibrated(rows, seed=seed),
            rows.y,  # type: ignore[arg-type]
            base=rows.prediction,
            groups={"horizon": list(map(str, rows.horizon))},
            guarantee=calibrated.guarantee,
            coverage=options.coverage,
            title=options.title,
            label=calibrated.columns.target,
        )
    page.save(out)
    show(str(page))
    show(f"Wrote {out}: open it in a browser.")


def _read(path: Path) -> pa.Table:
    """A whole file: horizons are counted over all of its rows."""
    table = TableFile(path)
    return pa.Table.from_batches([batch.rows for batch in table.batches([], table.names)])
