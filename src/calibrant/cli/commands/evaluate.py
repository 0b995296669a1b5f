"""The options of `calibrant evaluate`."""

from __future__ import annotations

from typing import Annotated

import typer

from calibrant.cli.console import put, report_errors
from calibrant.cli.lazy import gaps_of, module_of
from calibrant.cli.options import (
    By,
    Debug,
    Decimal,
    Delimiter,
    Gap,
    Input,
    Json,
    Kind,
    Lower,
    MaybeModel,
    Mean,
    Missing,
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
    "calibrant evaluate test.parquet -m m.safetensors --target y",
    "calibrant evaluate test.csv -m m.safetensors --coverage 0.8 --json",
    "calibrant evaluate test.csv -m m.safetensors --time day",
    "calibrant evaluate test.csv --target count --rate rate",
)


def evaluate(
    file: Input,
    *,
    model: MaybeModel = None,
    target: Target = None,
    time: TimeAxis = None,
    coverage: Annotated[
        float, typer.Option(help="Coverage of the interval that is evaluated, in addition to the 95% interval.")
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
    decimal: Decimal = ".",
    debug: Debug = False,
) -> None:
    """Score the predictions before and after calibration, side by side; without --model, as they are.

    Metrics that a prediction does not define are a dash: a point has its absolute error as CRPS and no NLL.
    """
    with report_errors(debug=debug, delimiter=delimiter, decimal=decimal):
        level = level_of(str(coverage), "--coverage")
        if model is None:
            needs_model({"--weights": weights, "--by": by, "--seed": seed})
            raw = module_of("predictions_only")
            columns, label = raw_columns(target, point, rate, mean, std, lower, upper, quantiles, samples)
            kind = raw.labels_of_flags(labels, rate)
            evaluation = raw.evaluated(file, columns, label, level, kind, gaps=gaps_of(missing), time=time)
            if as_json:
                module_of("results").print_json(evaluation.to_json())
            else:
                evaluation.show()
            return
        not_with_model(labels)
        found = module_of("model").Model.read(model).weighted_by(weights)
        if by_horizon := found.by_horizon:
            long = module_of("horizons")
            long.show_evaluation(long.evaluated(file, by_horizon, level, seed), as_json=as_json)
            return
        flags = flags_of(point, rate, mean, std, lower, upper, quantiles, samples)
        if notes := (several := module_of("several")).targets_of(found):
            if target is None:
                if time is not None:
                    raise typer.BadParameter("it is for one label: name it by --target", param_hint="--time")
                source = several.Forecaster.of(found, notes, flags)
                metrics = several.evaluated(file, source, level, seed, gaps=gaps_of(missing))
                if as_json:
                    module_of("results").print_json(module_of("results").json_numbers(metrics.to_dict()))
                else:
                    put(metrics)
                return
            found = several.one_target(found, notes, target)
        found = found.grouped_by(names_of(by or []))
        columns = found.columns(flags)
        labelled = found.target(target)
        compared = module_of("evaluate").compared
        comparison = compared(file, found, columns, labelled, level, seed, gaps=gaps_of(missing), time=time)
        if as_json:
            module_of("results").print_json(comparison.to_json())
        else:
            comparison.show()
