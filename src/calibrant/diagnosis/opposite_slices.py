"""Slices of one column that are off in opposite ways: too wide here and too narrow there."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

from calibrant.judging.interface import Interface
from calibrant.metrics.by_slice import OWN, SliceResult

LESSER = 1 / 3
"""The lesser of the two faults is this share of the other, or more: else the other is what is wrong."""


class OppositeSlices(NamedTuple):
    """The slices of one column that are farthest off: where forecasts are too wide, and where too narrow."""

    wide: SliceResult
    narrow: SliceResult

    @property
    def by(self) -> str:
        """What the rows are sliced by."""
        return self.wide.by

    @property
    def forecast_slices(self) -> bool:
        """Whether it is what the forecast itself says: its predicted value, or its width."""
        return self.by.strip("()") in OWN

    def __str__(self) -> str:
        return f"too wide for {self.wide.name} and too narrow for {self.narrow.name}"

    def step(self, interface: Interface, *, by_group: bool = False) -> str:
        """The next step: one distribution of scores for all rows, or for a group, cannot correct both."""
        if self.forecast_slices:
            groups = "finer groups" if by_group else "groups"
            return (
                f"Let the width follow the forecast, by {interface.refine}; or calibrate by {groups} ({interface.by})."
                " Calibrating again alone would correct one at the other's cost."
            )
        return f"Calibrate by {self.by} ({interface.by}), or let the width follow the features, by {interface.refine}."


def opposite_slices(off: Sequence[SliceResult]) -> OppositeSlices | None:
    """The column whose intervals hold too many labels here and too few there; None where there is no such column.

    Of several columns it is the one in which the lesser of the two faults is largest, at the first coverage that has
    any.
    """
    columns = list(dict.fromkeys(each.by for each in off))
    for k in range(len(off[0].intervals) if off else 0):
        found = [pair for by in columns if (pair := _at([each for each in off if each.by == by], k))]
        if found:
            return max(found, key=lambda pair: pair[0])[1]
    return None


def _at(slices: Sequence[SliceResult], k: int) -> tuple[float, OppositeSlices] | None:
    """The lesser fault and both slices, at the k-th coverage."""
    excess = [(each.intervals[k].tested - each.intervals[k].coverage, each) for each in slices if each.intervals[k].off]
    (least, narrow), (most, wide) = (pick(excess, key=lambda it: it[0], default=(0.0, None)) for pick in (min, max))
    lesser, other = sorted((max(most, 0.0), max(-least, 0.0)))
    if narrow is None or wide is None or lesser == 0 or lesser < LESSER * other:
        return None
    return lesser, OppositeSlices(wide, narrow)
