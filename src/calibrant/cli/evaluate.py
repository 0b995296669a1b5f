"""`calibrant evaluate`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from calibrant._arrays import to_numpy
from calibrant.batches.columns import Columns
from calibrant.batches.missing import Gaps
from calibrant.batches.rows import naming
from calibrant.cli.console import show, tell, working
from calibrant.cli.forecasts import judged
from calibrant.cli.model import Model
from calibrant.diagnosis.diagnose import by_forecast
from calibrant.diagnosis.headline import Headline, headline
from calibrant.diagnosis.over_time import Stretch, along_time
from calibrant.diagnosis.whole import whole_of
from calibrant.guarantee import calibration_rows
from calibrant.metrics import Evaluation
from calibrant.metrics import evaluate as metrics_of
from calibrant.metrics.by_slice import SMALLEST, SliceResult
from calibrant.metrics.calibration import drawn_pit
from calibrant.metrics.evaluation import blocks_of
from calibrant.metrics.forecasts import beside
from calibrant.metrics.slices import slices_of


@dataclass(frozen=True)
class SideBySide:
    """The forecasts of a file as they are, and calibrated."""

    base: Evaluation
    calibrated: Evaluation
    slices: tuple[SliceResult, ...]
    """The calibrated ones by predicted value, by width and by group."""
    guarantee: str
    coverage: float
    headline: Headline
    """Whether the calibrated ones are calibrated on these rows, and what to do."""
    met: bool
    """Whether these rows leave the guarantee standing."""
    stretches: tuple[Stretch, ...] | None = None
    """The calibrated ones by stretches of time, where a column says when each row was."""

    def show(self) -> None:
        """Print the headline, a table, and one of the slices."""
        from rich import box
        from rich.table import Table as RichTable

        tell(self.headline)
        head = "", "base", "calibrated", "better", "in units of"
        table = RichTable(*head, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for column in table.columns[1:3]:
            column.justify = "right"
        for column in table.columns[:-1]:
            column.no_wrap = True
        table.columns[-1].overflow = "fold"  # a target's name may be long, and all of it counts
        for block in blocks_of({"base": self.base, "calibrated": self.calibrated}):
            for row in block:
                table.add_row(row.label, *row.cells, row.better, row.unit)
            table.add_section()
        show(table)
        show("Narrower intervals and smaller deviations are better only where the coverage is right.")
        if self.slices:
            self._show_slices()
        if self.stretches is not None:
            self._show_stretches(self.stretches)
        if self.met:
            show(self.guarantee)
        else:
            tell(Headline("bad", "The guarantee is not met on these rows.", f"What was promised: {self.guarantee}"))

    def _show_slices(self) -> None:
        from rich import box
        from rich.table import Table as RichTable

        head = "calibrated, by slice", "rows", f"in {100 * self.coverage:.6g}% intervals", "chance allows"
        table = RichTable(*head, box=box.SIMPLE_HEAD, pad_edge=False)
        for column in table.columns[1:]:
            column.justify = "right"
        for each in self.slices:
            (held,) = each.held
            shares = (f"{100 * share:.1f}%" for share in (held.share, held.low, held.high))
            said, low, high = shares
            table.add_row(each.name, f"{each.m:,}", said + " *" * each.off, f"{low} to {high}")
        show(table)
        if any(each.off for each in self.slices):
            show("* Off by more than chance allows, in the coverage shown or elsewhere; calibrant report says more.")

    def _show_stretches(self, stretches: tuple[Stretch, ...]) -> None:
        from rich import box
        from rich.table import Table as RichTable

        if not stretches:
            show(f"Over time there is nothing to say: a stretch needs {SMALLEST} rows.")
            return
        head = "from", "to", "rows", f"in {100 * self.coverage:.6g}%", "chance", "PIT gap", "chance", "forecasts"
        table = RichTable(*head, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
        for column in table.columns[:2]:
            column.overflow = "fold"  # a moment is long, and all of it counts
        for column in table.columns[2:]:
            column.no_wrap = True
        for column in table.columns[2:-1]:
            column.justify = "right"
        for each in stretches:
            (held,) = each.held
            share, low, high = (f"{100 * part:.1f}" for part in (held.share, held.low, held.high))
            fault = f"too {each.direction}" if each.off else ""
            shares = f"{share}%", f"{low}-{high}%"
            table.add_row(
                each.start, each.end, f"{each.m:,}", *shares, f"{each.gap or 0.0:.3f}", f"{each.allowed:.3f}", fault
            )
        show(table)
        show("Chance allows so much in all stretches at once; the PIT gap is the largest |share of PITs <= c - c|.")

    def to_json(self) -> dict[str, Any]:
        """As values of strict JSON: null where a forecast says nothing, "Infinity" or "NaN" where it says that."""
        sides = {"base": self.base, "calibrated": self.calibrated}
        metrics: dict[str, Any] = {
            side: {name: strict(getattr(said, name)) for name in said.labels if name != "n"}
            for side, said in sides.items()
        }
        slices = [
            {"by": each.by, "value": each.value, "rows": each.m, "coverage": each.held[0].share, "off": each.off}
            for each in self.slices
        ]
        if self.stretches is not None:
            metrics["over_time"] = [_stretch(each) for each in self.stretches]
        said = {"kind": self.headline.kind, "text": self.headline.text, "next": self.headline.step}
        promise = {"guarantee": self.guarantee, "guarantee_met": self.met}
        return {"verdict": said, **metrics, "slices": slices, **promise, "n": self.base.n, "interval": self.coverage}


def _stretch(each: Stretch) -> dict[str, Any]:
    (held,) = each.held
    return {
        "from": each.start,
        "to": each.end,
        "rows": each.m,
        "coverage": held.share,
        "chance_allows": [held.low, held.high],
        "pit_deviation": each.gap,
        "pit_deviation_allowed": each.allowed,
        "mean_pit": each.mean,
        "off": each.off,
        "direction": each.direction if each.off else None,
    }


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
    promise = model.calibrated.guarantee
    found = judged(path, model, columns, target, [] if time is None else [time], gaps=gaps)
    with working("evaluating"), naming(found.where):
        H = found.calibrated(model, seed)
        sides = beside(found.prediction, H), H
        measured = (metrics_of(forecast, found.y, coverage=coverage) for forecast in sides)
        base, after = (replace(each, unit=target) for each in measured)
        own, groups = getattr(promise, "sizes", None), found.by_group(model.by)
        by = [slices_of(name, values, len(found.y)) for name, values in groups.items()]
        n = calibration_rows(promise)
        slices = by_forecast(H, found.y, coverage, n, by, own)
        stretches = None if time is None else along_time(H, found.y, found.groups[time], coverage, n, by, own)
        whole = whole_of(to_numpy(drawn_pit(H, found.y)), coverage, promise)
    said = headline(whole, slices, stretches or ())
    return SideBySide(base, after, slices, str(promise), coverage, said, whole.keeps(promise), stretches)


def strict(value: float | None) -> float | str | None:
    """A number that JSON can spell; others as the text that both Python and JavaScript read as that number."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def strict_all(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Two layers of such numbers."""
    return {key: {name: strict(value) for name, value in each.items()} for key, each in values.items()}


def print_json(value: Any) -> None:
    """One object on stdout."""
    print(json.dumps(value, indent=2, allow_nan=False))
