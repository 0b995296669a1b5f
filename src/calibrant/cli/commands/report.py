"""The options of `calibrant report`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

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
    Kind,
    Lower,
    MaybeModel,
    Mean,
    Missing,
    Output,
    Point,
    QuantilePairs,
    Rate,
    Samples,
    Seed,
    Std,
    Target,
    TimeAxis,
    Upper,
    Weights,
)
from calibrant.cli.parsing import flags_of, level_of, names_of
from calibrant.cli.without_model import needs_model, not_with_model, raw_columns

EXAMPLES = (
    "calibrant report test.parquet -m m.safetensors --target y -o report.html",
    "calibrant report test.csv -m m.safetensors --groups region,year --time day -o report.html",
    "calibrant report test.csv -m m.safetensors --compare other.safetensors --features id -o report.html",
    "calibrant report test.csv --target count --rate rate -o report.html",
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
            help="Columns to show with the row chosen on the page: its features, or an id.",
            show_default=False,
        ),
    ] = None,
    compare: Annotated[
        list[Path] | None,
        typer.Option(
            metavar="FILE",
            help="Another model file, to compare on the same rows. May be repeated; the page is on that of --model.",
            show_default=False,
        ),
    ] = None,
    time: TimeAxis = None,
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
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Write a page with text and charts: how good the forecasts are, before and after calibration.

    Without --model it is on the predictions as they are. It is one HTML file that opens in any browser, without a
    network.
    """
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        reporting = module_of("report")
        level = level_of(str(coverage), "--coverage")
        slices, shown = (names_of(each or []) for each in (groups, features))
        if model is None:
            needs_model({"--weights": weights, "--by": by, "--seed": seed, "--compare": compare})
            raw = module_of("predictions_only")
            columns, label = raw_columns(target, point, rate, mean, std, lower, upper, quantiles, samples)
            options = reporting.PageOptions(label, slices, level, title, time, shown)
            raw.report(file, columns, options, raw.labels_of_flags(labels, rate), output, gaps=gaps_of(missing))
            return
        not_with_model(labels)
        found = module_of("model").Model.read(model).weighted_by(weights)
        if by_horizon := found.by_horizon:
            asked = {"--groups": groups, "--features": features, "--time": time, "--compare": compare}
            for name, given in asked.items():
                if given:
                    raise typer.BadParameter("a model of horizons is reported by horizon alone", param_hint=name)
            options = reporting.PageOptions("", [], level, title)
            module_of("horizons").report(file, by_horizon, model, output, options, seed)
            return
        if notes := (several := module_of("several")).targets_of(found):
            found = several.one_target(found, notes, target)
        found = found.grouped_by(names_of(by or []))
        columns = found.columns(flags_of(point, rate, mean, std, lower, upper, quantiles, samples))
        options = reporting.PageOptions(found.target(target), slices, level, title, time, shown)
        others = [_compared_model(each, model, options.target) for each in dict.fromkeys(compare or [])]
        reporting.report(file, found, columns, options, output, seed, gaps=gaps_of(missing), others=others)


def _compared_model(path: Path, model: Path, target: str) -> Any:
    """Another model of the same label."""
    if path == model:
        raise typer.BadParameter(f"{path} is the model that the page is on", param_hint="--compare")
    found = module_of("model").Model.read(path)
    notes = (several := module_of("several")).targets_of(found)
    return several.one_target(found, notes, target) if notes else found
