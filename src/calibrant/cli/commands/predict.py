"""The options of `calibrant predict`."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant.cli.console import report_errors
from calibrant.cli.lazy import gaps_of, module_of
from calibrant.cli.options import (
    By,
    Debug,
    Decimal,
    Delimiter,
    Gap,
    Input,
    Keep,
    Lower,
    Mean,
    Missing,
    ModelFile,
    Output,
    OutputInterval,
    OutputQuantiles,
    Point,
    QuantileColumns,
    Rate,
    Samples,
    Seed,
    Std,
    Upper,
    Weights,
)
from calibrant.cli.parsing import coverages_of, flags_of, levels_of, names_of, numbers_of, parts_of

EXAMPLES = (
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
    quantiles: OutputQuantiles = None,
    interval: OutputInterval = None,
    probabilities: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER,...", help="Write the probability of a label up to each number, as cdf_100 and so on."
        ),
    ] = None,
    exceedances: Annotated[
        str | None,
        typer.Option(
            metavar="NUMBER,...", help="Write the probability of a label above each number, as sf_100 and so on."
        ),
    ] = None,
    joint: Annotated[
        bool, typer.Option("--joint", help="For several labels: the bounds of a box that holds all of them.")
    ] = False,
    keep: Keep = "",
    point: Point = None,
    rate: Rate = None,
    mean: Mean = None,
    std: Std = None,
    lower: Lower = None,
    upper: Upper = None,
    quantile_columns: QuantileColumns = None,
    samples: Samples = None,
    weights: Weights = None,
    by: By = None,
    seed: Seed = None,
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Write calibrated quantiles, intervals and probabilities for each row. Files larger than memory are fine.

    The columns of the prediction are those that the model was fitted on, unless you name others.
    """
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        found = module_of("model").Model.read(model)
        if by_horizon := found.by_horizon:
            if interval or any(each is not None for each in (quantiles, probabilities, exceedances)):
                raise typer.BadParameter(f"{model} was calibrated by horizon and writes the columns that it read")
            module_of("horizons").predict(file, by_horizon, model, output, seed)
            return
        outputs = module_of("predict").outputs_of(
            levels_of(quantiles),
            coverages_of(interval),
            below=numbers_of(probabilities, "--probabilities"),
            above=numbers_of(exceedances, "--exceedances"),
        )
        found = found.weighted_by(weights)
        flags = flags_of(point, rate, mean, std, lower, upper, quantile_columns, samples)
        if joint and not interval:
            raise typer.BadParameter("it is for --interval", param_hint="--joint")
        if notes := (several := module_of("several")).targets_of(found):
            for flag, given in (("--probabilities", probabilities), ("--exceedances", exceedances)):
                if given is not None:
                    raise typer.BadParameter(f"{model} holds several labels", param_hint=flag)
            source = several.Forecaster.of(found, notes, flags)
            several.predict(file, source, outputs, parts_of(keep), output, seed, joint=joint, gaps=gaps_of(missing))
            return
        if joint:
            raise typer.BadParameter(f"{model} holds one label", param_hint="--joint")
        columns = found.columns(flags, quantiles="--quantile-columns")
        found = found.grouped_by(names_of(by or []))
        module_of("predict").predict(file, found, columns, outputs, parts_of(keep), output, seed, gaps=gaps_of(missing))
