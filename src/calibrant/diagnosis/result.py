"""What a diagnosis found, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calibrant._words import count
from calibrant.diagnosis.opposite_slices import both_ways
from calibrant.diagnosis.interface import PYTHON
from calibrant.diagnosis.feature_test import Telling
from calibrant.diagnosis.worst_slice import WorstSlice
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.rounding import fixed
from calibrant.metrics.interval_coverage import IN_PART

CHECKS = 3
"""A third of the risk goes to each of the slices, the features and the worst slice."""
MARKS = " *"
"""What chance explains, and what it does not."""


@dataclass(frozen=True, repr=False)
class Diagnosis:
    """Whether forecasts are calibrated in every slice, as far as m rows can tell. It prints as a verdict in words."""

    m: int
    n: int | None
    """The number of rows that calibrated the forecasts, if it was given."""
    confidence: float
    """A calibrated forecast passes with this probability, or more."""
    same_width: bool
    """Whether the intervals of all rows have the same width."""
    slices: tuple[SliceResult, ...]
    """All rows, then the slices by predicted value, by width and by each feature, of at least 20 rows each."""
    telling: Telling | None
    """What features tell of the PITs; None without any."""
    worst: WorstSlice | None
    """The worst slice that a search found; None where all are too small."""
    hint: str = ""
    """What else may explain a failure: labels that look like counts, and forecasts that do not know it."""

    @property
    def off(self) -> tuple[SliceResult, ...]:
        """The slices that chance does not explain, the farthest off first."""
        return tuple(sorted((each for each in self.slices if each.off), key=lambda each: -each.distance))

    @property
    def passes(self) -> bool:
        """Whether chance explains the slices, the features' p-value and the worst slice."""
        return not (self.off or self._told or (self.worst is not None and self.worst.off))

    @property
    def _told(self) -> bool:
        return self.telling is not None and self.telling.pvalue <= (1 - self.confidence) / CHECKS

    def table(self) -> str:
        """A line a slice: its rows, the share of labels in the intervals beside what chance allows, the PITs' gap.

        A star marks what chance does not explain. Where labels lie on atoms, as counts do, chance is asked about the
        share with ties at the ends of intervals split, which has a column of its own.
        """
        head = ["", "rows"]
        in_part = any(held.in_part is not None for held in self.slices[0].held)
        for held in self.slices[0].held:
            head += [f"in {100 * held.coverage:.6g}%", *(["ties split"] if in_part else []), "chance allows"]
        lines = [[*head, *(["PIT gap"] if self.slices[0].gap is not None else [])]]
        for each in self.slices:
            line = [each.name, f"{each.m:,}"]
            for held in each.held:
                judged = f"{_percent(held.judged)}{MARKS[held.off]}"
                line += [*([_percent(held.share)] if in_part else []), judged]
                line.append(f"{_percent(held.low)} to {_percent(held.high)}")
            if each.gap is not None:
                line.append(f"{each.gap:.3f}{MARKS[each.pvalue < each.risk]}")
            lines.append(line)
        widths = [max(map(len, column)) for column in zip(*lines, strict=True)]
        return "\n".join(
            "  ".join(
                cell.rjust(width) if k else cell.ljust(width)
                for k, (cell, width) in enumerate(zip(line, widths, strict=True))
            )
            for line in lines
        )

    def __str__(self) -> str:
        return "\n".join(self._sentences())

    __repr__ = __str__

    def _sentences(self) -> Iterator[str]:
        yield (
            f"Passes: nothing in {count(self.m, 'row')} speaks against calibration in every slice."
            if self.passes
            else f"Fails: {count(self.m, 'row shows', 'rows show')} that the forecasts are not calibrated everywhere."
        )
        yield self._about_slices()
        if self.telling is not None:
            yield self._about_features(self.telling)
        if self.worst is not None:
            yield self._about_worst(self.worst)
        if not self.passes:
            yield f"What to do: {self._advice()}"
            if self.hint:
                yield self.hint

    def _about_slices(self) -> str:
        off = self.off
        if not off:
            return f"Slices: none of {len(self.slices)} is off by more than chance allows."
        share = f"{len(off)} of {len(self.slices)} {'is' if len(off) == 1 else 'are'}"
        farthest = f"{off[0].name} ({count(off[0].m, 'row')})"
        return f"Slices: {share} off by more than chance allows. The farthest is {farthest}: {how_far(off[0])}."

    def _about_features(self, telling: Telling) -> str:
        p = f"p = {telling.pvalue:.2g}"
        if not self._told:
            return f"Features: they do not tell which labels lie low or high in their forecasts ({p})."
        least = max(telling.features[0][1], 0.0) / 5  # what tells a fifth as much as the first is worth naming
        most = ", ".join(name for name, rise in telling.features[:3] if rise > least)
        said = f"Features: they tell which labels lie low or high in their forecasts ({p})"
        return f"{said}; most of all {most}." if most else f"{said}."

    def _about_worst(self, worst: WorstSlice) -> str:
        held = worst.held
        said = (
            f"Worst slice: {worst.name}, found on one part of the rows. On the others, {worst.m:,} of them in it, the"
            f" {100 * held.coverage:.6g}% intervals hold "
        )
        ends = f"{_percent(worst.low)} to {_percent(worst.high)}"
        if held.in_part is None or _percent(held.in_part) == _percent(held.share):
            said += f"{_percent(held.share)} ({ends}) of the labels"
        else:
            said += f"{_percent(held.share)} of the labels, and {_percent(held.in_part)} ({ends}) {IN_PART}"
        return f"{said}." if worst.off else f"{said}, which chance explains."

    def _advice(self) -> str:
        """By what is off: all rows alike, where the labels lie, or how far they spread."""
        whole, found = self.slices[0], both_ways(self.off)
        if whole.off and found:
            return f"the forecasts are {found}. {found.step(PYTHON)}"
        if whole.off:
            return (
                "all rows together are off too. Calibrate on rows like these first, with a model that was not trained"
                " on them, and diagnose again."
            )
        gains = self.telling.gains if self.telling is not None and self._told else {}
        if "PIT <= 0.5" in gains and 2 * gains["PIT <= 0.5"] > max(gains.values()):
            return (
                "labels lie above or below their medians by what the features tell. Fit the model better in these"
                " features, then calibrate it again."
            )
        if not self.same_width:
            return (
                "the width varies, but not as the features ask. Fit the spread better in the features that tell, or"
                " calibrate the slices apart."
            )
        return (
            "let the width follow the features: predict quantiles, an interval or a distribution in place of a point,"
            " or calibrate the slices apart."
        )


def how_far(each: SliceResult) -> str:
    """What is off in a slice, beside what chance allows."""
    off = [held for held in each.held if held.off]
    if off:
        held = max(off, key=lambda held: abs(held.judged - held.coverage))
        return f"the {100 * held.coverage:.6g}% intervals hold {held.in_words(each.m)}"
    return f"{_percent(each.below or 0.0)} of the PITs lie at or below {each.level:.3g}"


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 1)}%"
