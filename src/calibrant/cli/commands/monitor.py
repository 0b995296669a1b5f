"""The options of `calibrant monitor`."""

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
    Json,
    Lower,
    Mean,
    Missing,
    ModelFile,
    Point,
    QuantilePairs,
    Rate,
    Samples,
    Std,
    Target,
    Time,
    Upper,
)
from calibrant.cli.parsing import flags_of

EXAMPLES = (
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
    point: Point = None,
    rate: Rate = None,
    mean: Mean = None,
    std: Std = None,
    lower: Lower = None,
    upper: Upper = None,
    quantiles: QuantilePairs = None,
    samples: Samples = None,
    seed: Annotated[int, typer.Option(min=0, help="Seed of the uniform number of each row.")] = 0,
    missing: Missing = Gap.keep,
    as_json: Json = False,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Test whether later labels are still like the calibration rows: an alarm with few false positives."""
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        found = module_of("model").Model.read(model)
        columns = found.columns(flags_of(point, rate, mean, std, lower, upper, quantiles, samples))
        watching = module_of("monitor")
        seen = watching.monitored(
            file, found, columns, found.target(target), time, threshold, seed, gaps=gaps_of(missing)
        )
        if as_json:
            module_of("results").print_json(watching.to_json(seen))
        else:
            watching.show_monitor(seen)
