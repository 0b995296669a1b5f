"""The commands and their options; what they do is in the files beside this one."""

from __future__ import annotations

import csv
from enum import StrEnum
from importlib import import_module
from pathlib import Path
from typing import Annotated, Any

import typer

from calibrant._hints import percentage
from calibrant._version import library_version
from calibrant.cli.console import needing, reported
from calibrant.cli.usage import Commands

app: typer.Typer = typer.Typer(
    cls=Commands,
    help="Calibrated predictive distributions from the predictions of any regression model.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    epilog="Try: calibrant demo. Files may be .csv, .csv.gz, .parquet, .pq, .feather, .arrow or .ipc.",
)


class Study(StrEnum):
    """What `calibrant study` can run."""

    paper = "paper"
    tabular = "tabular"


class Gap(StrEnum):
    """What becomes of rows that lack a number."""

    keep = "keep"
    error = "error"


PREDICTION = "Columns of the prediction"
Input = Annotated[Path, typer.Argument(metavar="FILE", help="A csv, parquet or feather file.", show_default=False)]
MaybeModel = Annotated[
    Path | None,
    typer.Option(
        "--model",
        "-m",
        metavar="FILE",
        help="The model file that fit wrote; without one the predictions of the file are judged as they are.",
        show_default=False,
    ),
]
Kind = Annotated[
    str | None,
    typer.Option(
        "--labels",
        metavar="KIND",
        help="Without --model: what the labels are, as in fit; counts, for instance.",
        show_default=False,
    ),
]
ModelFile = Annotated[
    Path, typer.Option("--model", "-m", metavar="FILE", help="The model file that fit wrote.", show_default=False)
]
Output = Annotated[
    Path, typer.Option("--output", "-o", metavar="FILE", help="The file to write; an old one is replaced.")
]
Point = Annotated[str | None, typer.Option(metavar="NAME", help="A point prediction.", rich_help_panel=PREDICTION)]
Rate = Annotated[
    str | None,
    typer.Option(
        metavar="NAME", help="The mean of a count, such as a Poisson model predicts.", rich_help_panel=PREDICTION
    ),
]
Mean = Annotated[str | None, typer.Option(metavar="NAME", help="A mean, with --std.", rich_help_panel=PREDICTION)]
Std = Annotated[str | None, typer.Option(metavar="NAME", help="A standard deviation.", rich_help_panel=PREDICTION)]
Lower = Annotated[
    str | None, typer.Option(metavar="NAME", help="A lower bound, with --upper.", rich_help_panel=PREDICTION)
]
Upper = Annotated[str | None, typer.Option(metavar="NAME", help="An upper bound.", rich_help_panel=PREDICTION)]
_PAIRS = {"metavar": "NAME:LEVEL,...", "help": "Quantiles and their levels.", "rich_help_panel": PREDICTION}
QuantilePairs = Annotated[str | None, typer.Option("--quantiles", **_PAIRS)]
QuantileColumns = Annotated[str | None, typer.Option("--quantile-columns", **_PAIRS)]
Samples = Annotated[
    str | None,
    typer.Option(metavar="NAME,...", help="Draws; 's*' is every column that matches.", rich_help_panel=PREDICTION),
]
Target = Annotated[
    str | None,
    typer.Option(
        "--target", metavar="NAME", help="The column of the labels; as in fit if not given.", show_default=False
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(
        "--weights",
        metavar="NAME",
        help="A column of likelihood ratios, of new rows to calibration rows; as in fit if not given.",
        show_default=False,
    ),
]
By = Annotated[
    list[str] | None,
    typer.Option(
        "--by",
        metavar="NAME,...",
        help="The columns that name the group of a row; as in fit if not given.",
        show_default=False,
    ),
]
Seed = Annotated[int | None, typer.Option(min=0, help="Seed of the random interpolation: one draw per row.")]
Missing = Annotated[
    Gap,
    typer.Option(
        "--missing", help="Rows with a missing number: left out and counted (predict writes NaN), or an error."
    ),
]
WantedQuantiles = Annotated[
    str | None, typer.Option(metavar="LEVEL,...", help="Write the quantiles at these levels, as q0.05 and so on.")
]
WantedInterval = Annotated[
    list[float] | None,
    typer.Option(
        metavar="COVERAGE",
        help="Write the bounds of the centred interval, as lower and upper; given again, as lower_0.5 and so on.",
    ),
]
WantedProbabilities = Annotated[
    str | None,
    typer.Option(
        metavar="NUMBER,...", help="Write the probability of a label up to each number, as cdf_100 and so on."
    ),
]
Keep = Annotated[
    str,
    typer.Option(metavar="NAME,...", help="Columns to copy, before the new ones; '*' copies all.", show_default=False),
]
Time = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="NAME",
        help="The column of the time, numbers or dates, which must not decrease; the order of the file if not given.",
        show_default=False,
    ),
]
Along = Annotated[
    str | None,
    typer.Option(
        "--time",
        metavar="NAME",
        help="The column of the time, numbers or dates: show the forecasts over time. Rows may come in any order.",
        show_default=False,
    ),
]
Json = Annotated[bool, typer.Option("--json", help="Print one JSON object.")]
Delimiter = Annotated[
    str, typer.Option(metavar="CHARACTER", help="The separator of columns in csv files, read and written.")
]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an error.")]


def examples(*lines: str) -> str:
    """The foot of a help page."""
    return "\n\n".join(["Examples:", *lines])


def _version(asked: bool) -> None:  # noqa: FBT001 - typer calls it
    if asked:
        print(library_version())
        raise typer.Exit


@app.callback()
def calibrant(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Print the version.")
    ] = False,
) -> None:
    """Calibrated predictive distributions from the predictions of any regression model."""


@app.command(
    epilog=examples(
        "calibrant fit cal.parquet --target y --mean mu --std sigma -o m.safetensors",
        "calibrant fit cal.csv --target y --point f --interpolator naf -o m.safetensors",
        "calibrant fit cal.csv --target y --quantiles lo:0.1,hi:0.9 -o m.safetensors",
        "calibrant fit cal.feather --target y --samples 's*' -o m.safetensors",
        "calibrant fit cal.csv --target y --point f --labels 0: -o m.safetensors",
        "calibrant fit cal.csv --target a,b --point 'f_{}' -o m.safetensors",
    )
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
    last: Annotated[
        int | None,
        typer.Option(min=1, metavar="ROWS", help="Only the last rows count; rows are in the order of time."),
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
            help="For --sample: columns that tell rows apart, by which they are drawn; row numbers if not given.",
            show_default=False,
        ),
    ] = None,
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    debug: Debug = False,
) -> None:
    """Calibrate on predictions and labels of rows that the model was not trained on."""
    with reported(debug=debug, delimiter=delimiter):
        fitting, flags = _later("fit"), _flags(point, rate, mean, std, lower, upper, quantiles, samples)
        groups = tuple(_names(by or []))
        made_by = fitting.by_groups(fitting.interpolator_of(interpolator, tails), groups, unseen)
        chosen = fitting.score_of(score), made_by, fitting.labels_of(labels, rate)
        calibrator = fitting.Calibrator(*chosen, forget=fitting.forget_of(last, half_life))
        beside = _later("beside").beside_of(weights, event, chosen[2], groups)
        if (several := _later("several")).has_several(flags):
            if sample is not None:
                raise typer.BadParameter("it is for one label", param_hint="--sample")
            several.refuse(beside)
            each = several.columns_of(flags, _split(target))
            several.fit(file, each, calibrator, training, output, gaps=_gaps(missing))
            return
        if training is not None:
            raise typer.BadParameter(
                "it is for several labels, with {} in the prediction's columns", param_hint="--training"
            )
        columns = _later("columns").of_flags(flags)
        named = tuple(_names(ids or []))
        if named and sample is None:
            raise typer.BadParameter("it is for --sample", param_hint="--ids")
        sampled = None if sample is None else fitting.Sampled(sample)
        fitting.fit(file, target, columns, calibrator, output, beside, gaps=_gaps(missing), sample=sampled, ids=named)


@app.command(
    epilog=examples(
        "calibrant horizons cv.csv -o m.safetensors",
        "calibrant horizons cv.parquet --forecast AutoARIMA -o m.safetensors",
        "calibrant horizons prophet.csv --coverage 0.95 -o m.safetensors",
    )
)
def horizons(
    file: Input,
    *,
    output: Output,
    forecast: Annotated[
        str | None,
        typer.Option(
            metavar="NAME",
            help="The model whose columns are calibrated: NAME, NAME-lo-90, NAME-hi-90, NAME_lower, NAME-q-0.1 and the"
            " like; the only one if not given.",
            show_default=False,
        ),
    ] = None,
    target: Annotated[str, typer.Option(metavar="NAME", help="The column of the labels.")] = "y",
    series: Annotated[str, typer.Option(metavar="NAME", help="The column that names the series.")] = "unique_id",
    time: Annotated[str, typer.Option(metavar="NAME", help="The column of the time that is forecast.")] = "ds",
    cutoff: Annotated[str, typer.Option(metavar="NAME", help="When the forecast was made.")] = "cutoff",
    horizon: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="A column of steps ahead; they are counted if not given.", show_default=False
        ),
    ] = None,
    coverage: Annotated[
        float, typer.Option(help="Coverage of bounds whose names do not state it, such as yhat_lower.")
    ] = 0.8,
    labels: Annotated[
        str | None, typer.Option(metavar="KIND", help="What kind of number a label is, as in fit.", show_default=False)
    ] = None,
    delimiter: Delimiter = ",",
    debug: Debug = False,
) -> None:
    """Calibrate forecasts of a long table by horizon: rows of series, time, cutoff, label and forecast.

    predict then writes the same table back, with calibrated numbers in the columns of the forecast.
    """
    with reported(debug=debug, delimiter=delimiter):
        names = {"model": forecast, "target": target, "series": series, "time": time}
        names |= {"cutoff": cutoff, "horizon": horizon}
        level = _unit(str(coverage), "--coverage")
        _later("horizons").fit(file, output, _later("fit").labels_of(labels), {**names, "coverage": level})


@app.command(
    epilog=examples(
        "calibrant update m.safetensors june.csv -o m.safetensors",
        "calibrant update m.safetensors june.parquet --time hour -o june.safetensors",
    )
)
def update(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model file that fit wrote.", show_default=False)],
    file: Input,
    *,
    output: Output,
    target: Target = None,
    time: Time = None,
    refit: Annotated[bool, typer.Option("--refit", help="Fit naf again to all scores.")] = False,
    weights: Weights = None,
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    debug: Debug = False,
) -> None:
    """Add the rows of a file to those that a model was calibrated on. The columns are those of fit."""
    with reported(debug=debug, delimiter=delimiter):
        found = _later("model").Model.read(model).weighted_by(weights)
        labelled = found.target(target)
        _later("update").update(file, found, labelled, time, output, refit=refit, gaps=_gaps(missing))


@app.command(
    epilog=examples(
        "calibrant monitor june.csv -m m.safetensors --time hour",
        "calibrant monitor june.parquet -m m.safetensors --threshold 1000 --json",
    )
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
    debug: Debug = False,
) -> None:
    """Test whether later labels are still like the calibration rows: an alarm with few false positives."""
    with reported(debug=debug, delimiter=delimiter):
        found = _later("model").Model.read(model)
        columns = found.columns(_flags(point, rate, mean, std, lower, upper, quantiles, samples))
        watching = _later("monitor")
        seen = watching.watched(file, found, columns, found.target(target), time, threshold, seed, gaps=_gaps(missing))
        if as_json:
            _later("judging").print_json(watching.to_json(seen))
        else:
            watching.show_monitor(seen)


@app.command(
    epilog=examples(
        "calibrant track june.csv -m m.safetensors --time hour --interval 0.9 -o out.csv",
        "calibrant track june.csv -m m.safetensors --levels 0.1,0.9 --interval 0.8 -o out.csv --after m.safetensors",
    )
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
    debug: Debug = False,
) -> None:
    """Write quantiles and intervals for rows in the order of time, each made before its label is used.

    The quantiles at the tracked levels follow the labels, so that in the long run their coverage is right under any
    drift. Labels may be missing, as those of the last rows are.
    """
    with reported(debug=debug, delimiter=delimiter):
        wanted = _later("predict").wanted_of(_levels(quantiles), _coverages(interval))
        found, tracking = _later("model").Model.read(model), _later("track")
        flags = _flags(point, rate, mean, std, lower, upper, quantile_columns, samples)
        columns = found.columns(flags, quantiles="--quantile-columns")
        tracker = tracking.started(found, _levels(levels, "--levels"), step)
        labelled, gaps = found.target(target), _gaps(missing)
        tracking.track(file, found, columns, labelled, tracker, wanted, _split(keep), output, after, time, gaps=gaps)


@app.command(
    epilog=examples(
        "calibrant predict test.parquet -m m.safetensors --interval 0.9 -o out.parquet",
        "calibrant predict test.csv -m m.safetensors --quantiles 0.1,0.5,0.9 -o out.csv",
        "calibrant predict new.csv -m m.safetensors --interval 0.9 --keep id -o out.csv",
        "calibrant predict new.csv -m m.safetensors --probabilities 100 -o out.csv",
    )
)
def predict(
    file: Input,
    *,
    model: ModelFile,
    output: Output,
    quantiles: WantedQuantiles = None,
    interval: WantedInterval = None,
    probabilities: WantedProbabilities = None,
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
    debug: Debug = False,
) -> None:
    """Write calibrated quantiles, intervals and probabilities for each row. Files larger than memory are fine.

    The columns of the prediction are those that the model was fitted on, unless you name others.
    """
    with reported(debug=debug, delimiter=delimiter):
        found = _later("model").Model.read(model)
        if by_horizon := found.by_horizon:
            if quantiles is not None or interval or probabilities is not None:
                raise typer.BadParameter(f"{model} was calibrated by horizon and writes the columns that it read")
            _later("horizons").predict(file, by_horizon, model, output, seed)
            return
        wanted = _later("predict").wanted_of(_levels(quantiles), _coverages(interval), _numbers(probabilities))
        found = found.weighted_by(weights)
        flags = _flags(point, rate, mean, std, lower, upper, quantile_columns, samples)
        if joint and not interval:
            raise typer.BadParameter("it is for --interval", param_hint="--joint")
        if notes := (several := _later("several")).targets_of(found):
            if probabilities is not None:
                raise typer.BadParameter(f"{model} holds several labels", param_hint="--probabilities")
            source = several.Forecaster.of(found, notes, flags)
            several.predict(file, source, wanted, _split(keep), output, seed, joint=joint, gaps=_gaps(missing))
            return
        if joint:
            raise typer.BadParameter(f"{model} holds one label", param_hint="--joint")
        columns = found.columns(flags, quantiles="--quantile-columns")
        found = found.grouped_by(_names(by or []))
        _later("predict").predict(file, found, columns, wanted, _split(keep), output, seed, gaps=_gaps(missing))


@app.command(
    epilog=examples(
        "calibrant evaluate test.parquet -m m.safetensors --target y",
        "calibrant evaluate test.csv -m m.safetensors --coverage 0.8 --json",
        "calibrant evaluate test.csv -m m.safetensors --time day",
        "calibrant evaluate test.csv --target count --rate rate",
    )
)
def evaluate(
    file: Input,
    *,
    model: MaybeModel = None,
    target: Target = None,
    time: Along = None,
    coverage: Annotated[
        float, typer.Option(help="Coverage of the interval that is evaluated, beside the 95% interval.")
    ] = 0.9,
    point: Point = None,
    rate: Rate = None,
    mean: Mean = None,
    std: Std = None,
    lower: Lower = None,
    upper: Upper = None,
    quantiles: QuantilePairs = None,
    samples: Samples = None,
    weights: Weights = None,
    by: By = None,
    labels: Kind = None,
    seed: Seed = None,
    missing: Missing = Gap.keep,
    as_json: Json = False,
    delimiter: Delimiter = ",",
    debug: Debug = False,
) -> None:
    """Score the predictions before and after calibration, side by side; without --model, as they are.

    What a prediction does not say is left out: a point has its absolute error as CRPS and no NLL.
    """
    with reported(debug=debug, delimiter=delimiter):
        level = _unit(str(coverage), "--coverage")
        if model is None:
            _needs_model({"--weights": weights, "--by": by, "--seed": seed})
            alone = _later("alone")
            columns, label = _raw(target, point, rate, mean, std, lower, upper, quantiles, samples)
            kind = alone.labels_of_flag(labels)
            judged = alone.evaluated(file, columns, label, level, kind, gaps=_gaps(missing), time=time)
            if as_json:
                _later("judging").print_json(judged.to_json())
            else:
                judged.show()
            return
        _not_with_model(labels)
        found = _later("model").Model.read(model).weighted_by(weights)
        if by_horizon := found.by_horizon:
            long = _later("horizons")
            long.show_evaluation(long.evaluated(file, by_horizon, level, seed), as_json=as_json)
            return
        flags = _flags(point, rate, mean, std, lower, upper, quantiles, samples)
        if notes := (several := _later("several")).targets_of(found):
            if target is None:
                if time is not None:
                    raise typer.BadParameter("it is for one label: name it by --target", param_hint="--time")
                source = several.Forecaster.of(found, notes, flags)
                metrics = several.evaluated(file, source, level, seed, gaps=_gaps(missing))
                if as_json:
                    _later("judging").print_json(_later("judging").strict_all(metrics.to_dict()))
                else:
                    print(metrics)
                return
            found = several.one_target(found, notes, target)
        found = found.grouped_by(_names(by or []))
        columns = found.columns(flags)
        labelled = found.target(target)
        compared = _later("evaluate").compared
        comparison = compared(file, found, columns, labelled, level, seed, gaps=_gaps(missing), time=time)
        if as_json:
            _later("judging").print_json(comparison.to_json())
        else:
            comparison.show()


@app.command(
    epilog=examples(
        "calibrant report test.parquet -m m.safetensors --target y -o report.html",
        "calibrant report test.csv -m m.safetensors --groups region,year --time day -o report.html",
        "calibrant report test.csv -m m.safetensors --beside other.safetensors --features id -o report.html",
        "calibrant report test.csv --target count --rate rate -o report.html",
    )
)
def report(
    file: Input,
    *,
    model: MaybeModel = None,
    output: Output,
    target: Target = None,
    groups: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Columns to slice the rows by: text, numbers or dates. May be repeated; a name with a comma in it goes"
            " in double quotes.",
            show_default=False,
        ),
    ] = None,
    features: Annotated[
        list[str] | None,
        typer.Option(
            metavar="NAME,...",
            help="Columns to show beside a row that is chosen on the page: its features, or an id.",
            show_default=False,
        ),
    ] = None,
    beside: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Another model file, to compare on the same rows. May be repeated; the page is on that of --model.",
            show_default=False,
        ),
    ] = None,
    time: Along = None,
    coverage: Annotated[float, typer.Option(help="Coverage of the intervals in the verdict and the table.")] = 0.9,
    title: Annotated[str | None, typer.Option(help="Title of the page.", show_default=False)] = None,
    point: Point = None,
    rate: Rate = None,
    mean: Mean = None,
    std: Std = None,
    lower: Lower = None,
    upper: Upper = None,
    quantiles: QuantilePairs = None,
    samples: Samples = None,
    weights: Weights = None,
    by: By = None,
    labels: Kind = None,
    seed: Seed = None,
    missing: Missing = Gap.keep,
    delimiter: Delimiter = ",",
    debug: Debug = False,
) -> None:
    """Write a page with text and charts: how good the forecasts are, before and after calibration.

    Without --model it is on the predictions as they are. It is one HTML file that opens in any browser, without a
    network.
    """
    with reported(debug=debug, delimiter=delimiter):
        reporting = _later("report")
        level = _unit(str(coverage), "--coverage")
        slices, shown = (_names(each or []) for each in (groups, features))
        if model is None:
            _needs_model({"--weights": weights, "--by": by, "--seed": seed, "--beside": beside})
            alone = _later("alone")
            columns, label = _raw(target, point, rate, mean, std, lower, upper, quantiles, samples)
            wanted = reporting.PageWanted(label, slices, level, title, time, shown)
            alone.report(file, columns, wanted, alone.labels_of_flag(labels), output, gaps=_gaps(missing))
            return
        _not_with_model(labels)
        found = _later("model").Model.read(model).weighted_by(weights)
        if by_horizon := found.by_horizon:
            asked = {"--groups": groups, "--features": features, "--time": time, "--beside": beside}
            for name, given in asked.items():
                if given:
                    raise typer.BadParameter("a model of horizons is reported by horizon alone", param_hint=name)
            wanted = reporting.PageWanted("", [], level, title)
            _later("horizons").report(file, by_horizon, model, output, wanted, seed)
            return
        if notes := (several := _later("several")).targets_of(found):
            found = several.one_target(found, notes, target)
        found = found.grouped_by(_names(by or []))
        columns = found.columns(_flags(point, rate, mean, std, lower, upper, quantiles, samples))
        wanted = reporting.PageWanted(found.target(target), slices, level, title, time, shown)
        others = [_beside(each, model, wanted.target) for each in dict.fromkeys(beside or [])]
        reporting.report(file, found, columns, wanted, output, seed, gaps=_gaps(missing), others=others)


@app.command(epilog=examples("calibrant inspect m.safetensors", "calibrant inspect m.safetensors --json"))
def inspect(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="The model file that fit wrote.", show_default=False)],
    *,
    as_json: Json = False,
    debug: Debug = False,
) -> None:
    """Show what a model file holds, and what it guarantees."""
    with reported(debug=debug):
        found = _later("model").Model.read(model)
        if as_json:
            _later("judging").print_json(_later("inspect").description(found))
        else:
            _later("inspect").show_description(found)


@app.command(epilog=examples("calibrant demo", "calibrant demo --to demo"))
def demo(
    *,
    to: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Where to write; a new temporary folder if not given.")
    ] = None,
    debug: Debug = False,
) -> None:
    """Run the other commands on a small example."""
    with reported(debug=debug):
        _later("demo").demo(to, lambda arguments: app(list(arguments), standalone_mode=False))


Data = Annotated[
    Path | None,
    typer.Option(metavar="FOLDER", help="Where the original files are, a folder for each.", show_default=False),
]


@app.command(epilog=examples("calibrant datasets", "calibrant datasets --data raw --json"))
def datasets(*, data: Data = None, as_json: Json = False, debug: Debug = False) -> None:
    """List the datasets of the paper's study, and which of them are available."""
    with reported(debug=debug), needing("study"):
        listing = _later("datasets")
        if as_json:
            _later("judging").print_json(listing.listed(data))
        else:
            listing.show_list(data)


TABULAR = "Of the tabular design"


@app.command(
    epilog=examples(
        "calibrant study --quick",
        "calibrant study --data raw --device cuda --jobs 16 --folder results/study",
        "calibrant study --tables-only --folder results/study --docs docs",
        "calibrant study --design tabular --quick",
        "calibrant study --design tabular --table sales.csv --target price",
        "calibrant study --design tabular --data raw --jobs 16 --splits 0:3 --folder results/league",
    )
)
def study(
    *,
    design: Annotated[
        Study, typer.Option(help="paper: the paper's study; tabular: the league of methods on tabular models.")
    ] = Study.paper,
    folder: Annotated[
        Path | None,
        typer.Option(
            help="Folder of the results; a stopped run continues there. 'study', or 'league' if tabular.",
            show_default=False,
        ),
    ] = None,
    quick: Annotated[
        bool, typer.Option("--quick", help="Three small datasets, and few splits: 4, or 2 if tabular.")
    ] = False,
    only: Annotated[
        str,
        typer.Option("--datasets", metavar="NAME,...", help="All that are available if not given.", show_default=False),
    ] = "",
    splits: Annotated[
        str | None,
        typer.Option(
            metavar="COUNT",
            help="Splits of each dataset: 16, or 10 if tabular, which may be run in parts: 0:3, then 3:10.",
            show_default=False,
        ),
    ] = None,
    data: Data = None,
    table: Annotated[
        list[str] | None,
        typer.Option(
            metavar="FILE",
            help="A csv or parquet file of your own, of numbers, in place of the datasets. May be repeated.",
            show_default=False,
            rich_help_panel=TABULAR,
        ),
    ] = None,
    target: Annotated[
        str | None,
        typer.Option(
            metavar="NAME", help="Its column of labels, with --table.", show_default=False, rich_help_panel=TABULAR
        ),
    ] = None,
    bases: Annotated[
        str,
        typer.Option(
            metavar="NAME,...",
            help="Base models among hgb, rf, ridge and lightgbm; all that are installed if not given.",
            show_default=False,
            rich_help_panel=TABULAR,
        ),
    ] = "",
    jobs: Annotated[int, typer.Option(help="Cells measured at a time; -1 is one for each core.")] = -1,
    device: Annotated[
        str, typer.Option(help="Where the networks of the paper's study are trained: cpu or cuda.")
    ] = "cpu",
    seed: Annotated[int, typer.Option(min=0, help="Seed of splits and draws.")] = 0,
    docs: Annotated[
        Path | None, typer.Option(metavar="FOLDER", help="Folder of the page; that of the results if not given.")
    ] = None,
    tables_only: Annotated[
        bool, typer.Option("--tables-only", help="Only write the tables, from results that exist.")
    ] = False,
    debug: Debug = False,
) -> None:
    """Run an empirical study, the paper's or the league of tabular models, and write its tables."""
    with reported(debug=debug), needing("study"):
        which = None if splits is None else _range(splits)
        studying = _later("league" if design is Study.tabular else "study")
        folder = folder or Path("league" if design is Study.tabular else "study")
        if tables_only:
            studying.tables(folder, docs)
            return
        names = _split(only) or None
        if design is Study.tabular:
            _not_for("tabular", {"--device": device != "cpu"})
            options = studying.options_of(
                datasets=names,
                splits=which,
                data=data,
                own=table or [],
                target=target,
                bases=_split(bases) or None,
                jobs=jobs,
                seed=seed,
                quick=quick,
            )
            studying.league(folder, options, docs)
            return
        _not_for("paper", {"--table": bool(table), "--target": target is not None, "--bases": bool(bases)})
        if which is not None and which.start:
            raise typer.BadParameter(
                f"the paper's study takes a number of splits, got {splits!r}", param_hint="--splits"
            )
        options = studying.options_of(
            datasets=names,
            splits=None if which is None else which.stop,
            data=data,
            jobs=jobs,
            device=device,
            seed=seed,
            quick=quick,
        )
        studying.study(folder, options, docs)


def _range(text: str) -> range:
    """The splits of a count, "3", or of a part of a run, "3:6"."""
    first, colon, last = text.partition(":")
    try:
        found = range(int(first), int(last)) if colon else range(int(first))
    except ValueError:
        found = range(0)
    if not found or found.start < 0:
        raise typer.BadParameter(f"a count from 1 on, or FIRST:END, is wanted, got {text!r}", param_hint="--splits")
    return found


def _not_for(design: str, given: dict[str, bool]) -> None:
    for flag, there in given.items():
        if there:
            raise typer.BadParameter(f"the {design} design has no such option", param_hint=flag)


def _later(command: str) -> Any:
    """The file of a command, imported when it is run: `--help` waits for no library that only some commands need."""
    return import_module(f"calibrant.cli.{command}")


def _gaps(missing: Gap) -> Any:
    return import_module("calibrant.batches.missing").Gaps(refused=missing is Gap.error)


def _flags(
    point: str | None,
    rate: str | None,
    mean: str | None,
    std: str | None,
    lower: str | None,
    upper: str | None,
    quantiles: str | None,
    samples: str | None,
) -> dict[str, str | None]:
    return {
        "point": point,
        "rate": rate,
        "mean": mean,
        "std": std,
        "lower": lower,
        "upper": upper,
        "quantiles": quantiles,
        "samples": samples,
    }


def _raw(target: str | None, *flags: str | None) -> tuple[Any, str]:
    """The columns of predictions that are judged without a model, and that of the labels."""
    if not any(flags):
        raise typer.BadParameter(
            "name the model file that fit wrote; or, to judge predictions as they are, their columns, by --rate,"
            " --point and so on",
            param_hint="--model",
        )
    columns = _later("columns").of_flags(_flags(*flags))
    if target is None:
        raise typer.BadParameter("without --model the column of the labels must be named", param_hint="--target")
    return columns, target


def _needs_model(given: dict[str, Any]) -> None:
    for flag, value in given.items():
        if value:
            raise typer.BadParameter("it goes with --model only", param_hint=flag)


def _not_with_model(labels: str | None) -> None:
    if labels is not None:
        raise typer.BadParameter("the model knows what the labels are: leave it out", param_hint="--labels")


def _beside(path: Path, model: Path, target: str) -> Any:
    """Another model of the same label."""
    if path == model:
        raise typer.BadParameter(f"{path} is the model that the page is on", param_hint="--beside")
    found = _later("model").Model.read(path)
    notes = (several := _later("several")).targets_of(found)
    return several.one_target(found, notes, target) if notes else found


def _names(options: list[str]) -> list[str]:
    """The names of an option that may be repeated, as csv has them: "a, b" in double quotes is one name."""
    parts = (part.strip() for row in csv.reader(options, skipinitialspace=True) for part in row)
    return list(dict.fromkeys(part for part in parts if part))


def _split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]


def _levels(text: str | None, flag: str = "--quantiles") -> tuple[float, ...]:
    levels = tuple(_unit(part, flag) for part in _split(text or ""))
    if len(set(levels)) < len(levels):
        raise typer.BadParameter(f"each level is wanted once, got {text!r}", param_hint=flag)
    return levels


def _coverages(interval: list[float] | None) -> tuple[float, ...]:
    return tuple(_unit(str(each), "--interval") for each in interval or ())


def _numbers(text: str | None) -> tuple[float, ...]:
    try:
        return tuple(float(part) for part in _split(text or ""))
    except ValueError:
        raise typer.BadParameter(f"numbers are wanted, got {text!r}", param_hint="--probabilities") from None


def _unit(text: str, flag: str) -> float:
    try:
        number = float(text)
    except ValueError:
        number = -1.0
    if not 0 < number < 1:
        wanted = f"a number strictly inside (0, 1) is wanted, got {text!r}{percentage(number)}"
        raise typer.BadParameter(wanted, param_hint=flag)
    return number
