"""`calibrant predict`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated

import typer

from calibrant._words import count
from calibrant.cli import horizons
from calibrant.cli.commands import command
from calibrant.cli.console import show
from calibrant.cli.model import Model
from calibrant.cli.options import (
    By,
    Csv,
    Input,
    Missing,
    ModelFile,
    NewPredictionColumns,
    Output,
    Seed,
    Texts,
    Weights,
    level,
    names_of,
    numbers_of,
    option,
    refuse,
    wrong,
)
from calibrant.cli.reading import opened, refuse_overwrite
from calibrant.cli.several import Forecaster, SeveralPredicting
from calibrant.tables.files import written
from calibrant.tables.predicting import Outputs, Predicting

PANEL = "Columns to write"


@dataclass(frozen=True)
class Wanted:
    """The columns to write."""

    levels: Annotated[
        Texts,
        option(
            "The quantiles at these levels, as q0.05 and so on.",
            "--quantiles",
            metavar="LEVEL,...",
            rich_help_panel=PANEL,
        ),
    ] = None
    interval: Annotated[
        Texts,
        option(
            "The bounds of the centred interval, as lower and upper; of several, as lower_0.5 and so on.",
            metavar="COVERAGE,...",
            rich_help_panel=PANEL,
        ),
    ] = None
    probabilities: Annotated[
        Texts,
        option(
            "The probability of a label up to each number, as cdf_100 and so on.",
            metavar="NUMBER,...",
            rich_help_panel=PANEL,
        ),
    ] = None
    exceedances: Annotated[
        Texts,
        option(
            "The probability of a label above each number, as sf_100 and so on.",
            metavar="NUMBER,...",
            rich_help_panel=PANEL,
        ),
    ] = None
    joint: Annotated[
        bool,
        typer.Option(
            "--joint", help="For several labels: the bounds of a box that holds all of them.", rich_help_panel=PANEL
        ),
    ] = False
    keep: Annotated[
        Texts,
        option("Columns to copy, before the new ones; '*' copies all.", metavar="NAME,...", rich_help_panel=PANEL),
    ] = None

    def outputs(self) -> Outputs:
        """The new columns."""
        if not (self.levels or self.interval or self.probabilities or self.exceedances):
            raise typer.BadParameter(
                "say what to write, with --quantiles, --interval, --probabilities or --exceedances"
            )
        if self.joint and not self.interval:
            raise wrong("it is for --interval", "joint")
        return Outputs(
            numbers_of(self.levels, "quantiles", level),
            numbers_of(self.interval, "interval", level),
            numbers_of(self.probabilities, "probabilities"),
            numbers_of(self.exceedances, "exceedances"),
        )


@command(
    "calibrant predict test.parquet -m m.safetensors --interval 0.9 -o out.parquet",
    "calibrant predict test.csv -m m.safetensors --quantiles 0.1,0.5,0.9 -o out.csv",
    "calibrant predict new.csv -m m.safetensors --interval 0.9 --keep id -o out.csv",
    "calibrant predict new.csv -m m.safetensors --exceedances 100 -o out.csv",
)
def predict(
    file: Input,
    *,
    model: ModelFile,
    output: Output,
    wanted: Wanted,
    prediction: NewPredictionColumns,
    weights: Weights = None,
    by: By = None,
    seed: Seed = 0,
    missing: Missing = "keep",
    csv: Csv,
) -> None:
    """Write calibrated quantiles, intervals and probabilities for each row. Files larger than memory are fine.

    The columns of the prediction are those that the model was fitted on, unless you name others.
    """
    found = Model.read(model)
    if by_horizon := found.by_horizon:
        if wanted != Wanted():
            raise typer.BadParameter(f"{model} was calibrated by horizon and writes the columns that it read")
        horizons.predict(file, csv, by_horizon, model, output, seed)
        return
    outputs, keep, total = wanted.outputs(), names_of(wanted.keep), 0
    refuse_overwrite(output, file, model)
    with opened(file, csv, "predicting") as rows:
        if found.several:
            why = f"{model} holds several labels"
            refuse(why, probabilities=outputs.probabilities, exceedances=outputs.exceedances)
            source = Forecaster.of(found, prediction, weights)
            work: Predicting | SeveralPredicting = SeveralPredicting.on(
                rows.header, source, outputs, keep, seed, missing, joint=wanted.joint
            )
        else:
            refuse(f"{model} holds one label", joint=wanted.joint)
            named = found.named(prediction, weights=weights, by=by)
            work = Predicting(named, outputs, seed, missing).on(rows.header, keep)
        schema = work.schema(rows.schema(work.numbers))
        with written(output, schema, schema.names[len(work.kept) :], csv.dialect) as write:
            for batch in rows.batches(work.numbers, work.read):
                write(work(batch))
                total += len(batch)
            work.report(rows.source)  # where it raises, nothing is written
    show(f"Wrote {count(total, 'row')} to {output}: {', '.join(schema.names)}.")
