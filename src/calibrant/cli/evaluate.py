"""`calibrant evaluate`."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from calibrant.cli.columns import Columns
from calibrant.cli.console import naming, show, working
from calibrant.cli.forecasts import judged
from calibrant.cli.missing import Gaps
from calibrant.cli.model import Model
from calibrant.diagnosis.diagnose import by_forecast
from calibrant.guarantee import calibration_rows
from calibrant.metrics import Evaluation, compare
from calibrant.metrics import evaluate as metrics_of
from calibrant.metrics.by_slice import SliceResult
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

    def show(self) -> None:
        """Print a table, and one of the slices."""
        from rich import box
        from rich.table import Table as RichTable

        table = RichTable("", "base", "calibrated", box=box.SIMPLE_HEAD, pad_edge=False)
        for column in table.columns[1:]:
            column.justify = "right"
        for line in compare({"base": self.base, "calibrated": self.calibrated}).splitlines()[1:]:
            table.add_row(*line.rsplit(maxsplit=2))
        show(table)
        if self.slices:
            self._show_slices()
        show(self.guarantee)

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

    def to_json(self) -> dict[str, Any]:
        """As values of strict JSON: null where a forecast says nothing, "Infinity" or "NaN" where it says that."""
        sides = {"base": self.base, "calibrated": self.calibrated}
        metrics = {
            side: {name: strict(getattr(said, name)) for name in said.labels if name != "n"}
            for side, said in sides.items()
        }
        slices = [
            {"by": each.by, "value": each.value, "rows": each.m, "coverage": each.held[0].share, "off": each.off}
            for each in self.slices
        ]
        return {**metrics, "slices": slices, "guarantee": self.guarantee, "n": self.base.n, "interval": self.coverage}


def compared(
    path: Path, model: Model, columns: Columns, target: str, coverage: float, seed: int | None, *, gaps: Gaps
) -> SideBySide:
    """The metrics on the rows of a file."""
    promise = model.calibrated.guarantee
    found = judged(path, model, columns, target, gaps=gaps)
    with working("evaluating"), naming(found.where):
        H = found.calibrated(model, seed)
        base, after = (metrics_of(forecast, found.y, coverage=coverage) for forecast in (found.prediction, H))
        own, groups = getattr(promise, "sizes", None), found.by_group(model.by)
        by = [slices_of(name, values, len(found.y)) for name, values in groups.items()]
        slices = by_forecast(H, found.y, coverage, calibration_rows(promise), by, own)
    return SideBySide(base, after, slices, str(promise), coverage)


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
