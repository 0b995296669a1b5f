"""The forecasts over time: what the page draws, and what the verdict says."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any

from calibrant._words import count
from calibrant.diagnosis.headline import how_bad
from calibrant.diagnosis.over_time import Period
from calibrant.metrics.by_slice import SMALLEST
from calibrant.metrics.rounding import fixed, rounded
from calibrant.reports.findings import Findings
from calibrant.reports.statement import Statement

Run = Sequence[Period]
"""Periods one after the other that are off in the same direction."""
INDEPENDENT = "What chance allows is for independent rows; neighbours in time often are not."
NAMED = 3
"""So many runs are named in the verdict, the longest."""


def over_time(found: Findings) -> Iterator[Statement]:
    """Where along time the forecasts fail, since when, and in which direction."""
    periods = found.periods
    if periods is None:
        return
    if len(periods) < 2:
        yield Statement("info", f"There is no result over time: it needs two periods of {SMALLEST} rows or more.")
        return
    promise = INDEPENDENT
    if found.known != "raw":
        promise += " The guarantee covers rows like the calibration rows, and promises nothing where things change."
    looked = count(len(periods), "period", "periods")
    if not found.off_in_time:
        none = f"Over time, none of {looked} is off by more than chance allows{found.wide_folds_note(periods)}"
        yield Statement("good", f"{none}. {promise}")
        return
    runs = runs_off(found)
    longest = sorted(sorted(runs, key=lambda run: -sum(each.m for each in run))[:NAMED], key=runs.index)
    where = "; ".join(_when_and_how(run, periods) for run in longest)
    more = f"; and {len(runs) - NAMED} more" if len(runs) > NAMED else ""
    worst = max(found.off_in_time, key=lambda each: each.distance)
    verb = "is" if len(found.off_in_time) == 1 else "are"
    yield Statement(
        how_bad(found.off_in_time),
        f"Over time, {len(found.off_in_time)} of {looked} {verb} off by more than chance allows: {where}{more}."
        f" {_farthest(worst)} {promise}",
    )


def runs_off(found: Findings) -> list[Run]:
    """The periods that are off, in runs of neighbours that are off in the same direction."""
    runs = groupby(found.periods or (), key=lambda each: each.direction if found.fails(each) else None)
    return [list(run) for direction, run in runs if direction is not None]


def _when_and_how(run: Run, periods: Sequence[Period]) -> str:
    first, last = run[0], run[-1]
    if len(run) == len(periods):
        when = "all the time"
    elif last is periods[-1]:
        when = f"since {first.start}"
    elif first is periods[0]:
        when = f"until {last.end}"
    else:
        when = f"from {first.start} to {last.end}"
    return f"{when} the forecasts are too {first.direction}"


def _farthest(worst: Period) -> str:
    """The period that is farthest off, by its coverage, its PITs, or both."""
    interval, parts = worst.intervals[0], []
    if interval.off:
        parts.append(f"the {100 * interval.coverage:.6g}% intervals hold {interval.in_words(worst.m)}")
    if worst.gap is not None and worst.gap > worst.allowed:
        parts.append(f"the PITs deviate by {fixed(worst.gap, 3)} (chance allows {fixed(worst.allowed, 3)})")
    return f"The farthest off is {worst.start} to {worst.end}, {count(worst.m, 'row')}: {' and '.join(parts)}."


def drawn_periods(found: Findings, before: Sequence[Period] | None) -> list[dict[str, Any]]:
    """What the page draws: the numbers that the verdict uses, and those of the base."""
    drawn = []
    for k, each in enumerate(found.periods or ()):
        interval = each.intervals[0]
        entry = {
            "from": each.start,
            "to": each.end,
            "m": each.m,
            "band": [rounded(interval.low), rounded(interval.high)],
            "allowed": rounded(each.allowed),
            "off": found.fails(each),
            "direction": f"too {each.direction}" if found.fails(each) else "wide" if each.off else "within chance",
            "after": _numbers(each),
        }
        drawn.append(entry if before is None else {**entry, "before": _numbers(before[k])})
    return drawn


def _numbers(each: Period) -> dict[str, Any]:
    interval = each.intervals[0]
    entry = {"covered": rounded(interval.share), "gap": rounded(each.gap or 0.0), "mean": rounded(each.mean or 0.0)}
    return entry if interval.split_share is None else {**entry, "part": rounded(interval.split_share)}
