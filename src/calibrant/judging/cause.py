"""What best explains that forecasts are off: all rows alike, a change in time, or a column."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np

from calibrant.judging.features import Dependence
from calibrant.judging.part import Part

Kind = Literal["all rows", "time", "column", "features"]
CLEAR = 4.0
"""In standard errors: a part that is farther from the mean of its column differs from the others."""
UNEVEN = 1.3
"""A fault depends on a column if its parts differ by so many times the fault of all rows together, or more."""
ABOUT: dict[str, Literal["location", "width"]] = {
    "too low": "location", "too high": "location", "too narrow": "width", "too wide": "width"
}  # fmt: skip
OPPOSITE = {"too low": "too high", "too high": "too low", "too narrow": "too wide", "too wide": "too narrow"}


@dataclass(frozen=True)
class Cause:
    """Where the fault is, and of what kind."""

    kind: Kind
    parts: tuple[Part, ...]
    """The parts that show it: all rows, a period, the worst part of a column, or two that are off in opposite ways."""
    by: str = ""
    """The column, or the features."""
    since: str = ""
    """The start of the first period after a change, if there was one."""
    about: Literal["location", "width", "other"] = "other"
    """Whether forecasts lie wrong, or are of the wrong width."""

    @property
    def words(self) -> str:
        """What the forecasts are, such as "too low since 2024-03-01" or "too wide for x = 1"."""
        if self.kind == "features":
            return f"not independent of {self.by}"
        first = self.parts[0]
        if self.kind == "all rows":
            return first.fault
        if self.since:
            return f"{first.fault} since {self.since}"
        if self.kind == "time":
            return f"{first.fault} from {first.start} to {first.end}"
        return " and ".join(f"{part.fault} for {part.name}" for part in self.parts)


def cause_of(
    overall: Part, columns: Mapping[str, Sequence[Part]], periods: Sequence[Part], features: Dependence | None
) -> Cause | None:
    """The cause, None where nothing is off. The words of a cause are the faults of its parts, which are off."""
    sliced = {by: parts for by, parts in columns.items() if any(part.off for part in parts)}
    if any(part.off for part in periods):
        sliced[periods[0].by] = periods
    least = UNEVEN * max(abs(overall.shift), abs(overall.spread)) if overall.off else 0.0
    uneven = {by: found for by, parts in sliced.items() if (found := _differs(parts, least)) > CLEAR}
    if uneven:
        by = max(uneven, key=lambda each: uneven[each])
    elif overall.off:
        return Cause("all rows", (overall,), about=ABOUT.get(overall.fault, "other"))
    elif sliced:
        by = min(sliced, key=lambda each: min(part.pvalue for part in sliced[each]))
    else:
        return Cause("features", (), by=features.by, about=features.kind) if features and features.off else None
    if sliced[by] is periods:
        return _in_time(periods)
    off = sorted((part for part in sliced[by] if part.off), key=lambda part: part.pvalue)
    worst = max(off, key=_effect)
    opposite = [part for part in off if part.fault == OPPOSITE.get(worst.fault)]
    return Cause("column", (worst, *opposite[:1]), by=worst.by or worst.name, about=ABOUT.get(worst.fault, "other"))


def _effect(part: Part) -> float:
    return max(abs(part.shift), abs(part.spread))


def _differs(parts: Sequence[Part], least: float) -> float:
    """By how many standard errors a part differs from the mean of all; 0 if all are within `least`."""
    m = np.array([part.m for part in parts])
    found = 0.0
    for effect in (np.array([part.shift for part in parts]), np.array([part.spread for part in parts])):
        if np.ptp(effect) > least:
            found = max(found, float(np.max(np.abs(effect - np.average(effect, weights=m)) * np.sqrt(12 * m))))
    return found


def _in_time(periods: Sequence[Part]) -> Cause:
    """The change that parts the periods best, if all was well before; else the period that is farthest off."""
    off = [part for part in periods if part.off]
    m = np.array([part.m for part in periods], float)
    best, since = 0.0, 0
    for effect in (np.array([part.shift for part in periods]), np.array([part.spread for part in periods])):
        for k in range(1, len(periods)):
            before, after = (np.average(effect[part], weights=m[part]) for part in (slice(k), slice(k, None)))
            clear = abs(after - before) / np.sqrt(1 / m[:k].sum() + 1 / m[k:].sum())
            if abs(before) < abs(after) / 2 and clear > best:
                best, since = clear, k
    well_before = not any(part.off for part in periods[:since])
    start = periods[since].start if since and well_before else ""
    worst = max(off, key=_effect)
    return Cause("time", (worst,), by=periods[0].by, since=start, about=ABOUT.get(worst.fault, "other"))
