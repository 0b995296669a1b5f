"""`calibrant evaluate` and `calibrant report` without a model: the predictions of a file, evaluated as they are."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import typer

from calibrant.batches.columns import Columns
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.batches.missing import Gaps
from calibrant.batches.repairs import SINGLE
from calibrant.cli.console import show, show_statement, spinner
from calibrant.cli.fit import labels_of
from calibrant.cli.forecasts import Forecasts, read
from calibrant.cli.report import PageOptions
from calibrant.cli.results import (
    headline_json,
    json_number,
    overall_result,
    period_json,
    pvalue_note,
    show_metrics,
    show_periods,
    show_slices,
    slice_json,
)
from calibrant.cli.tables import refuse_overwrite
from calibrant.cli.wording import in_flags
from calibrant.diagnosis.diagnose import forecast_slices
from calibrant.diagnosis.headline import AS_COUNTS, RIGHT_AT_LEVELS, Headline, headline
from calibrant.diagnosis.over_time import Period, time_periods
from calibrant.judging.interface import TERMINAL
from calibrant.labels.base import Labels
from calibrant.metrics import Evaluation
from calibrant.metrics import evaluate as metrics_of
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.interpolated import holds_at_its_levels
from calibrant.metrics.label_kinds import distribution_for_labels, for_labels, look_like_counts
from calibrant.predictions import Point, Rates
from calibrant.reports.forecast import page_path, report_for


@dataclass(frozen=True)
class RawEvaluation:
    """The predictions of a file as they are."""

    metrics: Evaluation
    coverage: float
    headline: Headline | None
    """Whether they are calibrated on these rows, and what to do; None where they are no distributions."""
    slices: tuple[SliceResult, ...] = ()
    periods: tuple[Period, ...] | None = None
    differ: str = ""
    """Why the p-value says something else than the headline, where it does."""

    def show(self) -> None:
        """Print the headline, a table, and one of the slices."""
        if self.headline is not None:
            show_statement(self.headline)
        show_metrics({"": self.metrics})
        if self.metrics.note:
            show(in_flags(self.metrics.note))
        if self.differ:
            show(self.differ)
        show_slices("by slice", self.slices, self.coverage)
        if self.periods is not None:
            show_periods(self.periods, self.coverage)

    def to_json(self) -> dict[str, Any]:
        """As values of strict JSON, like those of `calibrant evaluate` with a model."""
        verdict: dict[str, Any] = {
            "verdict": None if self.headline is None else headline_json(self.headline),
            "base": {name: json_number(getattr(self.metrics, name)) for name in self.metrics.labels if name != "n"},
        }
        if self.periods is not None:
            verdict["over_time"] = [period_json(each) for each in self.periods]
        slices = [slice_json(each) for each in self.slices]
        return {**verdict, "slices": slices, "n": self.metrics.n, "interval": self.coverage}


def labels_of_flags(labels: str | None, rate: str | None) -> Labels | None:
    """The kind of labels, as in `fit`, which must be the same for all rows."""
    kind = labels_of(labels, rate)
    if kind is not None and kind.by_row:
        raise typer.BadParameter(f"{labels} needs a column for each row, which needs --model", param_hint="--labels")
    return kind


def evaluated(
    path: Path,
    columns: Columns,
    target: str,
    coverage: float,
    labels: Labels | None,
    *,
    gaps: Gaps,
    time: str | None = None,
) -> RawEvaluation:
    """The metrics and the verdict on the rows of a file."""
    found = _read(path, columns, target, [] if time is None else [time], labels, gaps)
    with spinner("evaluating"), found.naming():
        metrics = replace(metrics_of(found.prediction, found.y, coverage=coverage, labels=labels), unit=target)
        H = distribution_for_labels(found.prediction, found.y, labels)
        if not H.has_distribution:
            return RawEvaluation(metrics, coverage, None)
        slices = forecast_slices(H, found.y, coverage, None)
        periods = None if time is None else time_periods(H, found.y, found.groups[time], coverage, None)
        overall = overall_result(H, found.y, coverage)
        fails_between = overall.fails and holds_at_its_levels(for_labels(found.prediction, found.y, labels), found.y)
    verdict = headline(overall, slices, periods or (), known="raw", interface=TERMINAL)
    if fails_between:
        verdict = RIGHT_AT_LEVELS
    elif labels is None and verdict.kind == "bad" and look_like_counts(H, found.y):
        verdict = replace(verdict, step=AS_COUNTS.format(TERMINAL.counts))
    return RawEvaluation(metrics, coverage, verdict, slices, periods, pvalue_note(metrics.pit_pvalue, overall))


def report(path: Path, columns: Columns, options: PageOptions, labels: Labels | None, out: Path, *, gaps: Gaps) -> None:
    """Write the page on the rows of a file, and print its verdict."""
    out = page_path(out)
    refuse_overwrite(out, path)
    read_too = dict.fromkeys([*options.groups, *options.features, *([] if options.time is None else [options.time])])
    found = _read(path, columns, options.target, list(read_too), labels, gaps)
    with found.naming():
        has_distribution = distribution_for_labels(found.prediction, found.y, labels).has_distribution
    if not has_distribution:
        raise ValueError(
            f"{path}: {found.prediction!r} is no distribution of each row, and a report is of distributions: calibrate"
            " it with calibrant fit and name the model by --model"
        )
    with spinner("looking"), found.naming():
        page = report_for(
            TERMINAL,
            found.prediction,
            found.y,
            groups={name: found.groups[name] for name in options.groups} or None,
            time=None if options.time is None else found.groups[options.time],
            features={name: found.groups[name] for name in options.features} or None,
            coverage=options.coverage,
            title=options.title,
            label=options.target,
            labels=labels,
        )
    page.save(out)
    for verdict in (page.headline, *page.verdict):
        show_statement(verdict)
    show(f"Wrote {out}: open it in a browser.")


def _read(path: Path, columns: Columns, target: str, groups: list[str], labels: Labels | None, gaps: Gaps) -> Forecasts:
    found = read(path, ExtraColumns(labels=labels), columns, target, groups, gaps=gaps)
    found.say(SINGLE)
    if labels is None and isinstance(found.prediction, Rates):  # of labels that are any real number
        return replace(found, prediction=Point(found.prediction.values))
    return found
