"""The options of `calibrant track`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli.console import reported
from calibrant.cli.later import gaps_of, later
from calibrant.cli.options import (
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
    Point,
    QuantileColumns,
    Rate,
    Samples,
    Std,
    Target,
    Time,
    Upper,
    WantedInterval,
    WantedQuantiles,
)
from calibrant.cli.texts import coverages_of, flags_of, levels_of, parts_of

EXAMPLES = (
    "calibrant track june.csv -m m.safetensors --time hour --interval 0.9 -o out.csv",
    "calibrant track june.csv -m m.safetensors --levels 0.1,0.9 --interval 0.8 -o out.csv --after m.safetensors",
)


def track(
    file: Input,
    *,
    model: ModelFile,
    output: Output,
    target: Target = None,
    time: Time = None,
    quantiles: WantedQuantiles = None,
    interval: WantedInterval = None,
    levels: Annotated[
        str | None,
        typer.Option(metavar="LEVEL,...", help="The tracked levels; 0.05,0.25,0.5,0.75,0.95 if not given."),
    ] = None,
    step: Annotated[
        float | None,
        typer.Option(help="Step size in units of the scores; a twentieth of their interquartile range if not given."),
    ] = None,
    after: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Where to save the tracker, to continue with the next file.")
    ] = None,
    keep: Keep = "",
    point: Point = None,
    rate: Rate = None,
    mean: Mean = None,
    std: Std = None,
    lower: Lower = None,
    upper: Upper = None,
    quantile_columns: QuantileColumns = None,
    samples: Samples = None,
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Write quantiles and intervals for rows in time order, each made before its label is used.

    The quantiles at the tracked levels follow the labels, so that in the long run their coverage is right under any
    drift. Labels may be missing, as those of the last rows are.
    """
    with reported(debug=debug, delimiter=delimiter, decimal=decimal):
        wanted = later("predict").wanted_of(levels_of(quantiles), coverages_of(interval))
        found, tracking = later("model").Model.read(model), later("track")
        flags = flags_of(point, rate, mean, std, lower, upper, quantile_columns, samples)
        columns = found.columns(flags, quantiles="--quantile-columns")
        tracker = tracking.started(found, levels_of(levels, "--levels"), step)
        labelled, gaps = found.target(target), gaps_of(missing)
        tracking.track(file, found, columns, labelled, tracker, wanted, parts_of(keep), output, after, time, gaps=gaps)
