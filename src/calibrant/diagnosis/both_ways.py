"""Slices of one column that are off in opposite ways: too wide here and too narrow there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from calibrant.metrics.by_slice import OWN, SliceResult

LESSER = 1 / 3
"""The lesser of the two faults is this share of the other, or more: else the other is what is wrong."""


class BothWays(NamedTuple):
    """The slices of one column that are farthest off: where forecasts are too wide, and where too narrow."""

    wide: SliceResult
    narrow: SliceResult

    @property
    def by(self) -> str:
        """What the rows are sliced by."""
        return self.wide.by

    @property
    def by_forecast(self) -> bool:
        """Whether it is what the forecast itself says: its predicted value, or its width."""
        return self.by.strip("()") in OWN

    def __str__(self) -> str:
        return f"too wide for {self.wide.name} and too narrow for {self.narrow.name}"

    @property
    def step(self) -> str:
        """The way out: one law of scores for all rows cannot mend both."""
        follow = "refine= of CalibratedRegressor, or a model that predicts its spread"
        if self.by_forecast:
            return (
                f"Let the width follow the forecast: {follow}, or groups of rows (by=). Calibrating again alone would"
                " mend one at the other's cost."
            )
        return f"Calibrate by {self.by} (by=), or let the width follow the features: {follow}."


def both_ways(off: Iterable[SliceResult]) -> BothWays | None:
    """The column with slices that are too wide and others that are too narrow; None where there is no such column.

    Of several columns it is the one in which the lesser of the two faults is largest.
    """
    columns: dict[str, list[SliceResult]] = {}
    for each in off:
        columns.setdefault(each.by, []).append(each)
    found = []
    for slices in columns.values():
        ways = {way: [each for each in slices if _way(each) == way] for way in ("wide", "narrow")}
        if all(ways.values()):
            worst = BothWays(*(max(each, key=lambda it: it.distance) for each in ways.values()))
            lesser, other = sorted(each.distance for each in worst)
            if lesser >= LESSER * other:
                found.append((lesser, worst))
    return max(found, key=lambda each: each[0])[1] if found else None


def _way(each: SliceResult) -> str:
    """By the coverage that is farthest off, or by the PITs where none is."""
    held = max((held for held in each.held if held.off), key=lambda it: abs(it.judged - it.coverage), default=None)
    if held is None:
        return each.direction
    return "narrow" if held.judged < held.coverage else "wide"
