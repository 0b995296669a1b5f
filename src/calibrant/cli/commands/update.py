"""The options of `calibrant update`."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant.cli.console import report_errors
from calibrant.cli.lazy import gaps_of, module_of
from calibrant.cli.options import (
    Debug,
    Decimal,
    Delimiter,
    Gap,
    Input,
    Missing,
    ModelArgument,
    Output,
    Target,
    Time,
    Weights,
)

EXAMPLES = (
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
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Add the rows of a file to those that a model was calibrated on. The columns are those of fit."""
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        found = module_of("model").Model.read(model).weighted_by(weights)
        labelled = found.target(target)
        module_of("update").update(file, found, labelled, time, output, refit=refit, gaps=gaps_of(missing))
