"""The first screen in numbers: three tiles and a small picture."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calibrant.diagnosis.headline import Kind
from calibrant.metrics.rounding import fixed, percent, shown
from calibrant.reports.bootstrap import Estimate
from calibrant.reports.curves import Curves
from calibrant.reports.findings import Findings
from calibrant.reports.table import TableLine

WIDTH, HEIGHT = 240.0, 72.0
"""Of the small picture, in its own units."""
OUTCOMES: dict[str | None, tuple[Kind, str]] = {
    "better": ("good", "better"),
    "worse": ("bad", "worse"),
    "same": ("info", "no clear change"),
}


@dataclass(frozen=True)
class Tile:
    """One number, with its target or its former value."""

    label: str
    value: str
    unit: str
    aside: str
    kind: Kind = "info"
    word: str = ""
    """A word or two of judgement, in the colour of the kind."""


def tiles(found: Findings, label: str) -> list[Tile]:
    """Coverage against its target, CRPS and width with their change, in the unit of y."""
    lines, target = found.comparison.lines, f"{100 * found.comparison.coverage:.6g}%"
    covered, unit = lines["covered"], unit_of(label)
    was = "" if covered.before is None else f", was {percent(covered.before.value, found.m)}"
    coverage = Tile(
        f"{target} interval coverage",
        percent(covered.after.value, found.m),
        "",
        f"target {target}{was}{_ties_split(found)}",
        *_coverage(found),
    )
    crps, width, base = lines["crps"], lines["width"], found.comparison.before
    note = "" if base is None else base.forecast.crps_note.removeprefix("the ").partition(" of ")[0]
    return [
        coverage,
        Tile("CRPS", shown(crps.after.value), unit, _change(crps, note) or "smaller is better", *_outcome(crps)),
        Tile(f"{target} interval width", shown(width.after.value), unit, _change(width)),
    ]


def unit_of(label: str) -> str:
    """The unit in the brackets at the end of a name; none where there are none.

    >>> unit_of("output (MW)"), unit_of("demand")
    ('MW', '')
    """
    name, bracket, unit = label.rpartition("(")
    return unit[:-1].strip() if name.strip() and bracket and unit.endswith(")") else ""


def _coverage(found: Findings) -> tuple[Kind, str]:
    covers = found.overall.coverage_fault
    if not covers:
        return ("info", "few rows") if found.overall.state == "few" else ("good", "within chance")
    return ("bad" if found.overall.clearly_undercovers else "info" if found.one_sided else "warn"), covers


def _ties_split(found: Findings) -> str:
    """The tested share, where it differs from the counted one: the verdict of the tile is about it."""
    interval = found.overall.interval
    if interval.split_share is None or percent(interval.split_share, found.m) == percent(interval.share, found.m):
        return ""
    return f"; {percent(interval.split_share, found.m)} with ties split"


def _outcome(line: TableLine) -> tuple[Kind, str]:
    return OUTCOMES.get(line.outcome, ("info", ""))


def _change(line: TableLine, note: str = "") -> str:
    """What it was before, and the change in percent where that is defined; `note` names another measure before."""
    if line.before is None:
        return ""
    if note:
        return f"{note} before: {shown(line.before.value)}"
    text = f"was {shown(line.before.value)}"
    rise = _percent_change(line.before, line.after)
    return text if rise is None else f"{text}, {rise}"


def _percent_change(before: Estimate, after: Estimate) -> str | None:
    if not (before.value > 0 and math.isfinite(before.value) and math.isfinite(after.value)):
        return None
    change = 100 * (after.value / before.value - 1)
    if abs(change) >= 1000:
        return None
    text = fixed(change, 0 if abs(change) >= 1 else 1)
    return "no change" if float(text.replace("\N{MINUS SIGN}", "-")) == 0 else f"{'+' if change > 0 else ''}{text}%"


def small_picture(curves: Curves, band: tuple[float, float]) -> dict[str, Any]:
    """The PIT histogram as rectangles, and the band in which a calibrated one stays."""
    low, high = band
    top = 1.08 * max(high, *curves.pit.tolist())
    wide = WIDTH / len(curves.pit)
    bars = [
        {"x": round(k * wide + 1, 2), "y": round(HEIGHT * (1 - c / top), 2), "w": round(wide - 2, 2)}
        | {"h": round(HEIGHT * c / top, 2), "off": not low <= c <= high}
        for k, c in enumerate(curves.pit.tolist())
    ]
    return {
        "width": WIDTH,
        "height": HEIGHT,
        "bars": bars,
        "band": {"y": round(HEIGHT * (1 - high / top), 2), "h": round(HEIGHT * (high - low) / top, 2)},
        "off": sum(bar["off"] for bar in bars),
    }
