"""The result of `diagnose`, in words and as a table."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calibrant._words import count
from calibrant.diagnosis.feature_test import FeatureTest
from calibrant.diagnosis.opposite_slices import opposite_slices
from calibrant.diagnosis.worst_slice import WorstSlice
from calibrant.judging.interface import PYTHON
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.interval_coverage import TIES_SPLIT
from calibrant.metrics.rounding import fixed

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
    feature_test: FeatureTest | None
    """Whether features predict the PITs; None without features."""
    worst: WorstSlice | None
    """The worst slice that a search found; None where all are too small."""
    hint: str = ""
    """What else may explain a failure: labels that look like counts under forecasts of real numbers."""

    @property
    def off(self) -> tuple[SliceResult, ...]:
        """The slices that chance does not explain, the farthest off first."""
        return tuple(sorted((each for each in self.slices if each.off), key=lambda each: -each.distance))

    @property
    def passes(self) -> bool:
        """Whether chance explains the slices, the features' p-value and the worst slice."""
        return not (self.off or self._features_predict or (self.worst is not None and self.worst.off))

    @property
    def _features_predict(self) -> bool:
        return self.feature_test is not None and self.feature_test.pvalue <= (1 - self.confidence) / CHECKS

    def table(self) -> str:
        """One line per slice: its rows, the share of labels in the intervals with what chance allows, the PITs' gap.

        A star marks what chance does not explain. Where labels lie on atoms, as counts do, the share that is tested has
        ties at the ends of intervals split, and a column of its own.
        """
        head = ["", "rows"]
        split_share = any(interval.split_share is not None for interval in self.slices[0].intervals)
        for interval in self.slices[0].intervals:
            head += [f"in {100 * interval.coverage:.6g}%", *(["ties split"] if split_share else []), "chance allows"]
        lines = [[*head, *(["PIT gap"] if self.slices[0].gap is not None else [])]]
        for each in self.slices:
            line = [each.name, f"{each.m:,}"]
            for interval in each.intervals:
                tested = f"{_percent(interval.tested)}{MARKS[interval.off]}"
                line += [*([_percent(interval.share)] if split_share else []), tested]
                line.append(f"{_percent(interval.low)} to {_percent(interval.high)}")
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
        if self.feature_test is not None:
            yield self._about_features(self.feature_test)
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

    def _about_features(self, feature_test: FeatureTest) -> str:
        p = f"p = {feature_test.pvalue:.2g}"
        if not self._features_predict:
            return f"Features: they do not predict which labels lie low or high in their forecasts ({p})."
        least = max(feature_test.features[0][1], 0.0) / 5  # a feature with a fifth of the first one's effect is named
        most = ", ".join(name for name, rise in feature_test.features[:3] if rise > least)
        text = f"Features: they predict which labels lie low or high in their forecasts ({p})"
        return f"{text}; most strongly {most}." if most else f"{text}."

    def _about_worst(self, worst: WorstSlice) -> str:
        interval = worst.interval
        text = (
            f"Worst slice: {worst.name}, found on one part of the rows. On the others, {worst.m:,} of them in it, the"
            f" {100 * interval.coverage:.6g}% intervals hold "
        )
        ends = f"{_percent(worst.low)} to {_percent(worst.high)}"
        if interval.split_share is None or _percent(interval.split_share) == _percent(interval.share):
            text += f"{_percent(interval.share)} ({ends}) of the labels"
        else:
            text += (
                f"{_percent(interval.share)} of the labels, and {_percent(interval.split_share)} ({ends}) {TIES_SPLIT}"
            )
        return f"{text}." if worst.off else f"{text}, which chance explains."

    def _advice(self) -> str:
        """By what is off: all rows alike, where the labels lie, or how far they spread."""
        overall, found = self.slices[0], opposite_slices(self.off)
        if overall.off and found:
            return f"the forecasts are {found}. {found.step(PYTHON)}"
        if overall.off:
            return (
                "all rows together are off too. Calibrate on rows like these first, with a model that was not trained"
                " on them, and diagnose again."
            )
        gains = self.feature_test.gains if self.feature_test is not None and self._features_predict else {}
        if "PIT <= 0.5" in gains and 2 * gains["PIT <= 0.5"] > max(gains.values()):
            return (
                "whether labels lie above or below their medians depends on the features. Fit the model better in these"
                " features, then calibrate it again."
            )
        if not self.same_width:
            return (
                "the width varies, but not as the features require. Fit the spread better in these features, or"
                " calibrate the slices separately."
            )
        return (
            "let the width follow the features: predict quantiles, an interval or a distribution in place of a point,"
            " or calibrate the slices separately."
        )


def how_far(each: SliceResult) -> str:
    """What is off in a slice, with what chance allows."""
    off = [interval for interval in each.intervals if interval.off]
    if off:
        interval = max(off, key=lambda interval: abs(interval.tested - interval.coverage))
        return f"the {100 * interval.coverage:.6g}% intervals hold {interval.in_words(each.m)}"
    return f"{_percent(each.below or 0.0)} of the PITs lie at or below {each.level:.3g}"


def _percent(share: float) -> str:
    return f"{fixed(100 * share, 1)}%"
