"""The output of evaluations: tables of metrics, of slices and of periods, and JSON."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

from calibrant._words import count
from calibrant.cli.console import put, show
from calibrant.diagnosis.headline import Headline
from calibrant.diagnosis.over_time import Period
from calibrant.diagnosis.overall import Overall, overall_of
from calibrant.diagnosis.row_events import row_events_of
from calibrant.metrics import Evaluation
from calibrant.metrics.by_slice import LEVELS, SMALLEST, SliceResult
from calibrant.metrics.evaluation import blocks_of
from calibrant.metrics.interval_coverage import IntervalResult
from calibrant.metrics.rounding import fixed


def overall_result(H: Any, y: Any, coverage: float, guarantee: Any = None) -> Overall:
    """All rows together, of forecasts that are distributions."""
    events = row_events_of(H, y, [coverage])
    if events.pit is None:
        raise TypeError(f"{H!r} has no PITs")
    return overall_of(events.pit, coverage, guarantee, events.inside[coverage])


def pvalue_note(pvalue: float | None, overall: Overall) -> str:
    """A sentence where the p-value of the table and the headline disagree."""
    if pvalue is None:
        return ""
    if pvalue >= 0.05 and overall.state in ("off", "borderline", "nearly"):
        k = overall.worst
        share, low, high = (f"{fixed(100 * values[k], 1)}%" for values in (overall.below, *overall.band))
        return (
            "The p-value is that of the largest gap at any level, whose test is weak in the tails. The verdict looks at"
            f" each level: at {LEVELS[k]:.3g} the share of PITs is {share}, where chance allows {low} to {high}."
        )
    if pvalue < 0.05 and overall.state in ("calibrated", "explained"):
        left = "" if overall.n is None else count(overall.n, "calibration row leaves", "calibration rows leave")
        known = f" allows for the gap that {left}, and" if left else ""
        return f"The p-value is small, but the verdict{known} finds no level that is off by more than chance."
    return ""


def show_metrics(evaluations: Mapping[str, Evaluation]) -> None:
    """The metrics of forecasts, one column each."""
    from rich import box
    from rich.table import Table as RichTable

    head = "", *(name or "value" for name in evaluations), "better", "in units of"
    table = RichTable(*head, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    for column in table.columns[1:-2]:
        column.justify = "right"
    for column in table.columns[:-1]:
        column.no_wrap = True
    table.columns[-1].overflow = "fold"  # a target's name may be long, and all of it counts
    for block in blocks_of(evaluations):
        for row in block:
            table.add_row(row.label, *row.cells, row.better, row.unit)
        table.add_section()
    show(table)
    show("Narrower intervals and smaller deviations are better only where the coverage is right.")


def show_slices(title: str, slices: Sequence[SliceResult], coverage: float) -> None:
    """What the intervals of each slice hold; nothing where there are no slices."""
    from rich import box
    from rich.table import Table as RichTable

    if not slices:
        return
    split_share = any(each.intervals[0].split_share is not None for each in slices)
    head = (
        title,
        "rows",
        f"in {100 * coverage:.6g}% intervals",
        *(["ties split"] if split_share else []),
        "chance allows",
    )
    table = RichTable(*head, box=box.SIMPLE_HEAD, pad_edge=False)
    for column in table.columns[1:]:
        column.justify = "right"
    for each in slices:
        (interval,) = each.intervals
        share, tested, low, high = _percents(interval)
        shares = [share, tested] if split_share else [share]
        shares[-1] += _mark(each)
        table.add_row(each.name, f"{each.m:,}", *shares, f"{low} to {high}")
    table.columns[0].no_wrap = max(len(each.name) for each in slices) <= LONGEST
    show(table)
    for mark, meaning in MARKS.items():
        if any(_mark(each) == mark for each in slices):
            show(f"{mark.strip()} {meaning}")
    if split_share:
        show(_IN_PART)


LONGEST = 40
"""Letters of a slice's name that stay on one line."""
MARKS = {
    " *": "The coverage is off by more than chance allows.",
    " †": "The coverage is within chance, but the distribution is off elsewhere; calibrant report shows where.",
}


def _mark(each: SliceResult) -> str:
    coverage, elsewhere = MARKS
    return coverage if each.intervals[0].off else elsewhere if each.off else ""


def show_periods(periods: Sequence[Period], coverage: float) -> None:
    """What the intervals of each period hold, and how far the PITs are off."""
    from rich import box
    from rich.table import Table as RichTable

    if not periods:
        show(f"There is no result over time: a period needs {SMALLEST} rows.")
        return
    split_share = any(each.intervals[0].split_share is not None for each in periods)
    within = f"in {100 * coverage:.6g}%", *(["ties split"] if split_share else []), "chance"
    head = "from, to", "rows", *within, "PIT gap", "chance", "too"
    table = RichTable(*head, box=box.SIMPLE_HEAD, pad_edge=False, collapse_padding=True)
    table.columns[0].overflow = "fold"  # a moment is long, and all of it counts
    for column in table.columns[1:]:
        column.no_wrap = True
    for column in table.columns[1:-1]:
        column.justify = "right"
    for each in periods:
        share, tested, low, high = _percents(each.intervals[0])
        fault = each.direction if each.off else ""
        shares = *([share, tested] if split_share else [share]), f"{low[:-1]}-{high}"
        gaps = f"{each.gap or 0.0:.3f}", f"{each.allowed:.3f}"
        when = f"{each.start} to {each.end}"
        when = when if len(when) <= (16 if split_share else 24) else f"{each.start}\n{each.end}"  # of 80 columns
        table.add_row(when, f"{each.m:,}", *shares, *gaps, fault)
    show(table)
    show("These are the limits of chance for all periods at once; the PIT gap is the largest |share of PITs <= c - c|.")
    if split_share:
        show(_IN_PART)


_IN_PART = (
    "A count is either inside an interval or outside. What chance allows is compared with the share after splitting"
    " ties at the ends of the intervals."
)


def _percents(interval: IntervalResult) -> tuple[str, str, str, str]:
    share, tested, low, high = (
        f"{fixed(100 * part, 1)}%" for part in (interval.share, interval.tested, interval.low, interval.high)
    )
    return share, tested, low, high


def headline_json(headline: Headline) -> dict[str, str]:
    """The headline as values of JSON."""
    return {"kind": headline.kind, "text": headline.text, "next": headline.step}


def slice_json(each: SliceResult) -> dict[str, Any]:
    """A slice as values of JSON."""
    (interval,) = each.intervals
    named = {"by": each.by, "value": each.value, "rows": each.m}
    return named | {"coverage": interval.share, "coverage_ties_split": interval.split_share, "off": each.off}


def period_json(each: Period) -> dict[str, Any]:
    """A period as values of JSON."""
    (interval,) = each.intervals
    return {
        "from": each.start,
        "to": each.end,
        "rows": each.m,
        "coverage": interval.share,
        "coverage_ties_split": interval.split_share,
        "chance_allows": [interval.low, interval.high],
        "pit_deviation": each.gap,
        "pit_deviation_allowed": each.allowed,
        "mean_pit": each.mean,
        "off": each.off,
        "direction": each.direction if each.off else None,
    }


def json_number(value: float | None) -> float | str | None:
    """A number that JSON can spell; others as the text that both Python and JavaScript read as that number."""
    if value is None or math.isfinite(value):
        return value
    return "NaN" if math.isnan(value) else "Infinity" if value > 0 else "-Infinity"


def json_numbers(values: Mapping[str, Mapping[str, float]]) -> dict[str, dict[str, Any]]:
    """Two layers of such numbers."""
    return {key: {name: json_number(value) for name, value in each.items()} for key, each in values.items()}


def print_json(value: Any) -> None:
    """One object on stdout."""
    put(json.dumps(value, indent=2, allow_nan=False))
