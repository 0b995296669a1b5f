"""The first screen in numbers, and the table of all forecasts."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np

from calibrant._words import count
from calibrant.judging import Judgement
from calibrant.judging.changes import Change, Estimate, changes
from calibrant.judging.rows import ForecastRows
from calibrant.judging.words import FEW, Kind, Statement, ends
from calibrant.metrics.bands import pit_band
from calibrant.metrics.calibration import ece_of, expected_ece
from calibrant.metrics.rounding import fixed, percent, rounded, shown
from calibrant.metrics.table import nll_label
from calibrant.reports.curves import bins

WIDTH, HEIGHT = 240.0, 72.0
"""Of the small picture, in its own units."""
WORDS: dict[str, tuple[Kind, str]] = {
    "better": ("good", "better"),
    "worse": ("bad", "worse"),
    "same": ("info", "no clear change"),
}


class Series(NamedTuple):
    """One of the forecasts of a page, the first of which is its subject."""

    name: str
    rows: ForecastRows
    verdict: Statement | None = None
    """What is said of it where there are several models."""
    base: bool = False
    """Whether it is the subject before calibration."""


class Tile(NamedTuple):
    """One number, with its target or its former value, and a word of judgement in the colour of the kind."""

    label: str
    value: str
    unit: str
    aside: str
    kind: Kind = "info"
    word: str = ""


def tiles(j: Judgement, label: str, series: Sequence[Series]) -> list[Tile]:
    """Coverage against its target, CRPS and width with their change, in the unit of y."""
    part, target, found = j.overall, f"{100 * j.coverage:.6g}%", j.changes
    before = found["covered"].before
    was = "" if before is None else f", was {percent(before.value, j.m)}"
    split = percent(part.tested, j.m)
    ties = "" if split == percent(part.share, j.m) else f"; {split} with ties split"
    judged: tuple[Kind, str] = ("info", "few rows") if j.m < FEW else ("good", "within chance")
    if part.tested < part.low - 1e-12:
        judged = "bad", "too few"
    elif part.tested > part.high + 1e-12:
        judged = "info" if part.one_sided else "warn", "too many"
    crps, note = found["crps"], "" if j.base_rows is None else j.base_rows.forecast.crps_note
    unit, aside = unit_of(label), _was(crps, note) or "smaller is better"
    models = {each.name: _mean(each) for each in series if not each.base}
    if len(models) > 1:
        best = min(models, key=lambda name: models[name])
        its = "" if best == series[0].name else f": {best}, {shown(models[best])}"
        aside = f"{aside if crps.before else ''} lowest of {len(models)} models{its}".strip()
    return [
        Tile(f"{target} interval coverage", percent(part.share, j.m), "", f"target {target}{was}{ties}", *judged),
        Tile("CRPS", shown(crps.after.value), unit, aside, *WORDS.get(crps.outcome, ())),
        Tile(f"{target} interval width", shown(found["width"].after.value), unit, _was(found["width"])),
    ]  # fmt: skip


def best_model(series: Sequence[Series]) -> tuple[Statement, ...]:
    """Which of several models has the lowest CRPS, and whether the rows show that it is better than the first."""
    models = [each for each in series if not each.base]
    if len(models) < 2:
        return ()
    subject, rows = models[0], count(len(models[0].rows), "row")
    best = min(models, key=_mean)
    among = f"Of {len(models)} models, {best.name} has the lowest CRPS"
    found = {each.name: changes(each.rows, subject.rows)["crps"] for each in models[1:]}
    if best is subject:
        near = [name for name, change in found.items() if change.outcome == "same"]
        but = f"; {rows} cannot tell it from {' and '.join(near)}" if near else ""
        return (Statement("info", f"{among}, {shown(_mean(best))}{but}.", topic="accuracy"),)
    change = found[best.name].change
    gap = "" if change is None else f", a difference of {shown(change.value)}{ends(change)} from {subject.name}"
    clear = found[best.name].outcome == "better"
    unsure = "" if clear else f", which {rows} cannot tell from no difference"
    text = f"{among}, {shown(_mean(best))}{gap}{unsure}. This page is on {subject.name}."
    return (Statement("warn" if clear else "info", text, topic="accuracy"),)


def _mean(of: Series) -> float:
    return float(of.rows.columns["crps"].mean())


def unit_of(label: str) -> str:
    """The unit in the brackets at the end of a name; none where there are none.

    >>> unit_of("output (MW)"), unit_of("demand")
    ('MW', '')
    """
    name, bracket, unit = label.rpartition("(")
    return unit[:-1].strip() if name.strip() and bracket and unit.endswith(")") else ""


def _was(change: Change, note: str = "") -> str:
    """What it was before, and the change in percent where that is defined; `note` says what the CRPS was before."""
    before, after = change.before, change.after
    if before is None:
        return ""
    if note:
        return f"{note.removeprefix('the ').partition(' of ')[0]} before: {shown(before.value)}"
    text = f"was {shown(before.value)}"
    if not (before.value > 0 and math.isfinite(before.value) and math.isfinite(after.value)):
        return text
    rise = 100 * (after.value / before.value - 1)
    if abs(rise) >= 1000 or abs(rise) < 0.05:
        return text if abs(rise) >= 1000 else f"{text}, no change"
    return f"{text}, {'+' if rise > 0 else ''}{fixed(rise, 0 if abs(rise) >= 1 else 1)}%"


def small_picture(j: Judgement, pit: Sequence[int]) -> dict[str, Any]:
    """The PIT histogram as rectangles, and the band in which a calibrated one stays."""
    low, high = pit_band(j.m, bins(j.m), n=j.n)
    scale, wide = HEIGHT / (1.08 * max(high, *pit)), WIDTH / len(pit)
    bars = [
        {"x": round(k * wide + 1, 2), "y": round(HEIGHT - c * scale, 2), "w": round(wide - 2, 2)}
        | {"h": round(c * scale, 2), "off": not low <= c <= high}
        for k, c in enumerate(pit)
    ]
    band = {"y": round(HEIGHT - high * scale, 2), "h": round((high - low) * scale, 2)}
    return {"width": WIDTH, "height": HEIGHT, "bars": bars, "band": band, "off": sum(bar["off"] for bar in bars)}


def table_of(series: Sequence[Series]) -> dict[str, Any]:
    """All forecasts, the lowest CRPS first, and how each differs from the first one; `measures` has plain numbers."""
    subject = series[0]
    interval = f"{100 * subject.rows.coverage:.6g}% interval"
    names = {
        "crps": "CRPS",
        "nll": nll_label(subject.rows.forecast),
        "interval_score": f"{interval} score",
        "covered": f"{interval} coverage",
        "width": f"{interval} width",
        "ece": "calibration error",
    }
    lines, plain = [], []
    for place, each in enumerate(series):
        own = each.rows.forecast.own_bounds
        found = changes(each.rows, None if place == 0 else subject.rows)
        if each.rows.is_distribution:
            pits = np.sort(each.rows.drawn)
            found["ece"] = Change(Estimate(float(ece_of(pits) - expected_ece(len(pits)))))
        asked = [None if own and name in ("covered", "width") else found.get(name) for name in names]
        lines.append(
            each._asdict() | {"place": place, "cells": [_cell(name, x) for name, x in zip(names, asked, strict=True)]}
        )
        numbers = [_plain(x, end) for x in asked for end in ("value", "low", "high")]
        plain.append([each.name, *numbers])
    order = np.argsort([each.rows.columns.get("crps", np.array(np.inf)).mean() for each in series], kind="stable")
    caption = "Below a number is its 95% interval. CRPS, NLL and score: smaller is better."
    if len(series) > 1:
        caption += f" Better and worse: compared with {subject.name}, row by row, beyond chance."
    head = ["forecast", *(f"{name}{end}" for name in names.values() for end in ("", ", low", ", high"))]
    return {
        "caption": caption,
        "columns": list(names.values()),
        "lines": [lines[k] for k in order],
        "measures": {"head": head, "rows": [plain[k] for k in order]},
    }


def _cell(name: str, found: Change | None) -> dict[str, str]:
    """A number, its interval where that says more, and whether it is better or worse than that of the subject."""
    if found is None:
        return {"value": "–", "range": "", "outcome": ""}

    def text(value: float) -> str:
        return f"{fixed(100 * value, 1)}%" if name == "covered" else shown(value)

    of = found.after
    both = [] if of.low is None or of.high is None else [text(of.low), text(of.high)]
    outcome = found.outcome if found.outcome in ("better", "worse") else ""
    return {"value": text(of.value), "range": " to ".join(both) if len(set(both)) == 2 else "", "outcome": outcome}


def _plain(found: Change | None, end: str) -> float | None:
    value = None if found is None else getattr(found.after, end)
    return None if value is None else rounded(value)
