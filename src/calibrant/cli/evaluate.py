"""`calibrant evaluate`."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from calibrant.cli import horizons
from calibrant.cli.commands import command
from calibrant.cli.console import guarantee_text, put, put_json, show, show_statement, spinner, table
from calibrant.cli.judging import JudgedRows, groups_of
from calibrant.cli.model import Model
from calibrant.cli.options import Csv, Input, Json, PredictionColumns, Seed, level, refuse
from calibrant.cli.several import Forecaster
from calibrant.judging.interface import TERMINAL
from calibrant.judging.judge import Judgement, judge
from calibrant.judging.part import Part
from calibrant.judging.words import Statement
from calibrant.metrics import Evaluation
from calibrant.metrics import evaluate as metrics_of
from calibrant.metrics.evaluation import blocks_of
from calibrant.metrics.label_kinds import distribution_for_labels
from calibrant.metrics.rounding import fixed
from calibrant.predictions import Point
from calibrant.tables.counts import RowCounts
from calibrant.tables.in_memory import Rows


@command(
    "calibrant evaluate test.parquet -m m.safetensors --target y",
    "calibrant evaluate test.csv -m m.safetensors --coverage 0.8 --json",
    "calibrant evaluate test.csv -m m.safetensors --time day",
    "calibrant evaluate test.csv --target count --rate rate",
)
def evaluate(
    file: Input,
    *,
    rows: JudgedRows,
    coverage: Annotated[
        float, typer.Option(help="Coverage of the interval that is evaluated, in addition to the 95% interval.")
    ] = 0.9,
    prediction: PredictionColumns,
    seed: Seed = 0,
    as_json: Json = False,
    csv: Csv,
) -> None:
    """Score the predictions before and after calibration, side by side; without --model, as they are.

    Metrics that a prediction does not define are a dash: a point has its absolute error as CRPS and no NLL.
    """
    within, model = level(coverage, "coverage"), rows.read_model()
    if model is None:
        raw = rows.read_raw(file, csv, prediction)
        with spinner("evaluating"), raw.naming():
            if isinstance(distribution_for_labels(raw.prediction, raw.y, raw.kind), Point):
                _show_point(metrics_of(raw.prediction, raw.y, coverage=within), raw, as_json=as_json)
                return
            judged = judge(raw.prediction, raw.y, time=rows.times(raw), coverage=within, labels=raw.kind)
        _show(judged.using(TERMINAL), raw, as_json=as_json)
    elif by_horizon := model.by_horizon:
        horizons.evaluate(file, csv, by_horizon, within, seed, as_json=as_json)
    elif model.several and rows.target is None:
        refuse("it is for one label: name it by --target", time=rows.time)
        source = Forecaster.of(model, prediction, rows.weights)
        metrics = source.evaluated(file, csv, within, seed, rows.missing)
        if as_json:
            put_json(metrics.to_dict())
        else:
            put(metrics)
    else:
        _show(*_judged(file, csv, model.of_target(rows.target), rows, prediction, within, seed), as_json=as_json)


def _judged(
    file: Path, csv: Csv, model: Model, rows: JudgedRows, prediction: PredictionColumns, coverage: float, seed: int
) -> tuple[Judgement, Rows]:
    """The calibrated forecasts of a file, and what they are made from, judged."""
    named = model.named(prediction, target=rows.target, weights=rows.weights, by=rows.by)
    calibrated = named.calibrated
    found = rows.read(file, csv, named.columns, calibrated.labels)
    with spinner("evaluating"), found.naming():
        with RowCounts.silenced():
            H = calibrated(found.prediction, **found.known, seed=seed)
        judged = judge(
            H,
            found.y,
            time=rows.times(found),
            by=groups_of(found) or None,
            base=found.prediction,
            guarantee=calibrated.guarantee,
            coverage=coverage,
            labels=model.kind_of_labels,
        )
    return judged.using(TERMINAL), found


def _show_point(metrics: Evaluation, rows: Rows, *, as_json: bool) -> None:
    """Points have metrics and no verdict: they are no distributions."""
    if as_json:
        put_json({"kind": None, "metrics": metrics.to_dict(), "interval": metrics.coverage})
        return
    _show_metrics({"": metrics}, rows)
    show(metrics.note)


def _show(judged: Judgement, rows: Rows, *, as_json: bool) -> None:
    """Print the judgement: its headline, the metrics, all its parts, and whether the guarantee is met."""
    guarantee = judged.guarantee
    if as_json:
        promise = {} if guarantee is None else {"guarantee": str(guarantee), "guarantee_met": judged.guarantee_met}
        put_json({**judged.to_dict(), **promise, "n": judged.m, "interval": judged.coverage})
        return
    show_statement(judged.headline)
    sides = {"": judged.metrics} if judged.base is None else {"base": judged.base, "calibrated": judged.metrics}
    _show_metrics(sides, rows)
    if judged.base is not None and judged.base.note:
        show(judged.base.note)
    _show_parts(judged)
    for statement in judged.statements:
        if statement.topic == "notes":
            show_statement(statement)
    if guarantee is None:
        return
    promised = guarantee_text(guarantee, judged.coverage)
    if judged.guarantee_met:
        show(promised)
    else:
        show_statement(Statement("bad", f"The guarantee is not met on these rows. What was promised: {promised}"))


def _show_metrics(sides: dict[str, Evaluation], rows: Rows) -> None:
    """The metrics of forecasts, one column each."""
    named = {side: replace(metrics, unit=rows.columns.labels_in()) for side, metrics in sides.items()}
    head = "", *(side or "value" for side in named), "better", "in units of"
    show(table(head, list(blocks_of(named)), texts=(0, len(head) - 2, len(head) - 1)))
    show("Narrower intervals and smaller deviations are better only where the coverage is right.")


def _show_parts(judged: Judgement) -> None:
    """What the intervals of each slice and period hold, what chance allows, and what is wrong."""
    split = judged.overall.split_share is not None
    inside = f"in {100 * judged.coverage:.6g}%", *(["split"] if split else [])
    chosen = judged.slices, judged.groups, judged.periods or ()
    blocks = [[_line(part, split=split) for part in parts] for parts in chosen if parts]
    head = "part", "rows", *inside, "chance", "fault"
    if blocks:
        parts = table(head, blocks, texts=(0, len(head) - 1))
        parts.columns[-1].max_width = 10  # rather than the names of parts, faults of several words are folded
        show(parts)
        show("The column chance has the shares that calibrated forecasts may come to, in all parts at once.")
        if split:
            show(
                "A count is inside an interval or outside; the column split has ties at the ends split, and is tested."
            )
    if judged.periods == ():
        show("There is no result over time: too few rows for two periods.")


def _line(part: Part, *, split: bool) -> tuple[str, ...]:
    """A line of the table of parts."""
    share, tested, low, high = (f"{fixed(100 * each, 1)}%" for each in (part.share, part.tested, part.low, part.high))
    name = f"{part.start} to {part.end}" if part.start else part.name
    return name, f"{part.m:,}", share, *([tested] if split else []), f"{low[:-1]}-{high}", part.fault
