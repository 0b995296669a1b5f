"""The options of `calibrant fit`."""

from __future__ import annotations

from pathlib import Path
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
    Lower,
    Mean,
    Missing,
    Output,
    Point,
    QuantilePairs,
    Rate,
    Samples,
    Std,
    Time,
    Upper,
)
from calibrant.cli.parsing import flags_of, names_of, parts_of

EXAMPLES = (
    "calibrant fit cal.parquet --target y --mean mu --std sigma -o m.safetensors",
    "calibrant fit cal.csv --target y --point f --interpolator naf -o m.safetensors",
    "calibrant fit cal.csv --target y --quantiles lo:0.1,hi:0.9 -o m.safetensors",
    "calibrant fit cal.feather --target y --samples 's*' -o m.safetensors",
    "calibrant fit cal.csv --target y --point f --labels 0: -o m.safetensors",
    "calibrant fit cal.csv --target a,b --point 'f_{}' -o m.safetensors",
)


def fit(
    file: Input,
    *,
    target: Annotated[
        str,
        typer.Option(
            metavar="NAME", help="The column of the labels; a,b for several, where {} in a prediction's column is each."
        ),
    ],
    output: Output,
    point: Point = None,
    rate: Rate = None,
    mean: Mean = None,
    std: Std = None,
    lower: Lower = None,
    upper: Upper = None,
    quantiles: QuantilePairs = None,
    samples: Samples = None,
    score: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="residual, relative, sqrt, log, interval, quantile, samples, zscore or cdf; the prediction decides if"
            " not given. log:1 and sqrt:1 set c, zscore:0.01 and the like a floor.",
        ),
    ] = None,
    interpolator: Annotated[str, typer.Option(metavar="NAME", help="linear, naive, random or naf.")] = "linear",
    tails: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="exponential, bounded or infinite; of linear and random.", show_default=False
        ),
    ] = None,
    weights: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A column of likelihood ratios p_new(x) / p(x), where x of new rows is distributed differently.",
            show_default=False,
        ),
    ] = None,
    event: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="A column of 1 where the label was seen and 0 where it is only known to be larger.",
            show_default=False,
        ),
    ] = None,
    by: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Columns that name the group of a row: each group is calibrated, and small ones borrow from all.",
            show_default=False,
        ),
    ] = None,
    unseen: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="Rows of unknown groups: refuse (an error) or pooled (calibrated with all groups, no guarantee).",
            show_default=False,
        ),
    ] = None,
    labels: Annotated[
        str | None,
        typer.Option(
            metavar="KIND",
            help="What kind of number a label is: log, log1p, sqrt, logit, yeo-johnson:0.5; 0: is from 0 on, 0:1 from 0"
            " to 1, 0:NAME up to that column; 0:,log1p is both. counts are 0, 1, 2, ..., counts:0.05 steps of 0.05,"
            " integers of both signs; atom:0:NAME has many zeros, with their probability in that column. real is any"
            " number. With --rate the default is counts, else real.",
            show_default=False,
        ),
    ] = None,
    training: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="For several labels: other rows, which make the labels comparable for a joint box. Points need it.",
            show_default=False,
        ),
    ] = None,
    time: Time = None,
    last: Annotated[
        int | None,
        typer.Option(min=1, metavar="ROWS", help="Only the last rows count; rows are in time order."),
    ] = None,
    half_life: Annotated[
        float | None,
        typer.Option("--half-life", metavar="ROWS", help="A row weighs half as much after so many more rows."),
    ] = None,
    sample: Annotated[
        int | None,
        typer.Option(
            min=1, metavar="ROWS", help="Calibrate on a random sample of so many rows; the file may exceed memory."
        ),
    ] = None,
    ids: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="For --sample: columns that identify rows, by which they are sampled; row numbers if not given.",
            show_default=False,
        ),
    ] = None,
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Calibrate on predictions and labels of rows that the model was not trained on."""
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        fitting, flags = module_of("fit"), flags_of(point, rate, mean, std, lower, upper, quantiles, samples)
        groups = tuple(names_of(by or []))
        made_by = fitting.by_groups(fitting.interpolator_of(interpolator, tails), groups, unseen)
        chosen = fitting.score_of(score), made_by, fitting.labels_of(labels, rate)
        calibrator = fitting.Calibrator(*chosen, forget=fitting.forget_of(last, half_life))
        extra = module_of("columns").extra_columns_of(weights, event, chosen[2], groups)
        if (several := module_of("several")).has_several(flags):
            if sample is not None:
                raise typer.BadParameter("it is for one label", param_hint="--sample")
            if time is not None:
                raise typer.BadParameter("it is for one label", param_hint="--time")
            several.refuse(extra)
            each = several.columns_of(flags, parts_of(target))
            several.fit(file, each, calibrator, training, output, gaps=gaps_of(missing))
            return
        if training is not None:
            raise typer.BadParameter(
                "it is for several labels, with {} in the prediction's columns", param_hint="--training"
            )
        columns = module_of("columns").of_flags(flags)
        named = tuple(names_of(ids or []))
        if named and sample is None:
            raise typer.BadParameter("it is for --sample", param_hint="--ids")
        if sample is not None and time is not None:
            raise typer.BadParameter("a sample has no order", param_hint="--time")
        fitting.fit(
            file,
            target,
            columns,
            calibrator,
            output,
            extra,
            gaps=gaps_of(missing),
            sample=sample,
            ids=named,
            time=time,
            labels_unspecified=labels is None and rate is None,
        )
