"""`calibrant update`."""

from __future__ import annotations

from typing import Annotated

import numpy as np
import typer

from calibrant._words import count
from calibrant.cli.commands import command
from calibrant.cli.console import guarantee_text, show, spinner
from calibrant.cli.model import Model
from calibrant.cli.options import Csv, Input, Missing, ModelArgument, Output, PredictionColumns, Target, Time, Weights
from calibrant.cli.reading import check_order, opened, refuse_overwrite
from calibrant.files import FileError
from calibrant.tables import TableModel
from calibrant.tables.counts import RowCounts
from calibrant.tables.in_memory import read_rows
from calibrant.tables.rows import naming
from calibrant.updating import known_history


@command(
    "calibrant update m.safetensors june.csv -o m.safetensors",
    "calibrant update m.safetensors june.parquet --time hour -o june.safetensors",
)
def update(
    model: ModelArgument,
    file: Input,
    *,
    output: Output,
    target: Target = None,
    time: Time = None,
    refit: Annotated[bool, typer.Option("--refit", help="Fit naf again to all scores.")] = False,
    weights: Weights = None,
    missing: Missing = "keep",
    csv: Csv,
) -> None:
    """Add the rows of a file to those that a model was calibrated on. The columns are those of fit."""
    found = Model.read(model)
    refuse_overwrite(output, file)
    if found.columns is None and not found.several:
        raise FileError(f"{model}: it does not say which columns it was fitted on: update it in Python")
    named = found.named(PredictionColumns(), target=target, weights=weights)
    before = named.calibrated
    with naming(str(model)):
        known_history(before)
    with opened(file, csv) as table:
        rows = read_rows(table, named.columns, before.labels, [] if time is None else [time], missing=missing)
    rows.check_labels()
    with spinner("updating"), rows.naming(), RowCounts.silenced():
        if time is not None:
            check_order(time, rows.others[time])
        # labels that are spread are drawn: others than before, and the same for the same files
        rng = None if before.labels is None else np.random.default_rng(before.guarantee.n)
        calibrated = before.update(rows.prediction, rows.y, **rows.known, rng=rng, refit=refit)
    rows.report()
    TableModel(calibrated, named.columns).save(output)
    show(f"Updated {model} with {count(len(rows.y), 'row')} of {file}: it had n = {before.guarantee.n:,}.")
    show(guarantee_text(calibrated.guarantee))
    show(f"Wrote {output}.")
