"""`calibrant evaluate`."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calibrant.batches.columns import Columns
from calibrant.batches.missing import Gaps
from calibrant.cli.console import guarantee_text, show, show_statement, spinner
from calibrant.cli.forecasts import read_forecasts
from calibrant.cli.model import Model
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
from calibrant.diagnosis.diagnose import forecast_slices
from calibrant.diagnosis.headline import Headline, headline, known_by
from calibrant.diagnosis.over_time import Period, time_periods
from calibrant.judging.interface import TERMINAL
from calibrant.metrics import Evaluation
from calibrant.metrics import evaluate as metrics_of
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.forecasts import comparable
from calibrant.metrics.slices import slices_of
from calibrant.metrics.table import OF_A_POINT
from calibrant.predictions import Point


@dataclass(frozen=True)
class SideBySide:
    """The forecasts of a file as they are, and calibrated."""

    base: Evaluation
    calibrated: Evaluation
    slices: tuple[SliceResult, ...]
    """The calibrated ones by predicted value, by width and by group."""
    guarantee: Any
    coverage: float
    headline: Headline
    """Whether the calibrated ones are calibrated on these rows, and what to do."""
    met: bool
    """Whether these rows are consistent with the guarantee."""
    periods: tuple[Period, ...] | None = None
    """The calibrated ones by periods, where a column says when each row was."""
    differ: str = ""
    """Why the p-value says something else than the headline, where it does."""
    note: str = ""
    """A note on the table."""

    def show(self) -> None:
        """Print the headline, a table, and one of the slices."""
        show_statement(self.headline)
        show_metrics({"base": self.base, "calibrated": self.calibrated})
        for verdict in filter(None, (self.note, self.differ)):
            show(verdict)
        show_slices("calibrated, by slice", self.slices, self.coverage)
        if self.periods is not None:
            show_periods(self.periods, self.coverage)
        promised = guarantee_text(self.guarantee, self.coverage)
        if self.met:
            show(promised)
        else:
            show_statement(Headline("bad", "The guarantee is not met on these rows.", f"What was promised: {promised}"))

    def to_json(self) -> dict[str, Any]:
        """As values of strict JSON: null where a forecast says nothing, "Infinity" or "NaN" where it says that."""
        sides = {"base": self.base, "calibrated": self.calibrated}
        metrics: dict[str, Any] = {
            side: {name: json_number(getattr(verdict, name)) for name in verdict.labels if name != "n"}
            for side, verdict in sides.items()
        }
        slices = [slice_json(each) for each in self.slices]
        if self.periods is not None:
            metrics["over_time"] = [period_json(each) for each in self.periods]
        verdict = headline_json(self.headline)
        promise = {"guarantee": str(self.guarantee), "guarantee_met": self.met}
        return {"verdict": verdict, **metrics, "slices": slices, **promise, "n": self.base.n, "interval": self.coverage}


def compared(
    path: Path,
    model: Model,
    columns: Columns,
    target: str,
    coverage: float,
    seed: int | None,
    *,
    gaps: Gaps,
    time: str | None = None,
) -> SideBySide:
    """The metrics on the rows of a file."""
    guarantee = model.calibrated.guarantee
    found = read_forecasts(path, model, columns, target, [] if time is None else [time], gaps=gaps)
    with spinner("evaluating"), found.naming():
        H = found.calibrated(model, seed)
        raw = comparable(found.prediction, H)
        measured = (
            metrics_of(raw, found.y, coverage=coverage, labels=model.kind_of_labels),
            metrics_of(H, found.y, coverage=coverage),
        )
        base, after = (replace(each, unit=target) for each in measured)
        own, groups = guarantee.sizes, found.by_group(model.by)
        by = [slices_of(name, values, len(found.y)) for name, values in groups.items()]
        n = guarantee.calibration_rows
        slices = forecast_slices(H, found.y, coverage, n, by, own)
        periods = None if time is None else time_periods(H, found.y, found.groups[time], coverage, n, by, own)
        overall = overall_result(H, found.y, coverage, guarantee)
    verdict = headline(overall, slices, periods or (), known=known_by(guarantee), interface=TERMINAL)
    differ = pvalue_note(after.pit_pvalue, overall)
    note = OF_A_POINT if isinstance(raw, Point) else ""
    return SideBySide(
        base, after, slices, guarantee, coverage, verdict, overall.is_consistent_with(guarantee), periods, differ, note
    )
