"""What a verdict is about: the curves and the table of a report, and what was promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant.guarantee import calibration_rows
from calibrant.metrics.bands import reliability_band
from calibrant.metrics.by_slice import LEVELS, SliceResult
from calibrant.reports.curves import Curves
from calibrant.reports.figures import count
from calibrant.reports.sides import Floats
from calibrant.reports.table import Comparison


@dataclass(frozen=True)
class Findings:
    """What the verdict is about."""

    comparison: Comparison
    after: Curves
    before: Curves | None
    by: Sequence[str]
    """What the rows are grouped by."""
    groups: Sequence[SliceResult]
    """The groups that are large enough to be judged."""
    guarantee: Any
    """A `Guarantee` or a `CrossGuarantee`, or None."""

    @property
    def m(self) -> int:
        """The number of rows."""
        return self.comparison.m

    @property
    def n(self) -> int | None:
        """The number of rows that calibrated the forecasts, if that is known."""
        return calibration_rows(self.guarantee)

    @property
    def rows(self) -> str:
        """How many there are, in words."""
        return count(self.m, "row")

    @property
    def off(self) -> list[SliceResult]:
        """The groups that chance does not explain."""
        return [group for group in self.groups if group.off]

    @cached_property
    def band(self) -> tuple[Floats, Floats]:
        """What chance allows at each level."""
        return reliability_band(self.m, LEVELS, n=self.n)


def gap_of(curves: Curves) -> float:
    """sup_c |share of PITs <= c - c|, on the grid of levels."""
    return float(np.max(np.abs(curves.below - LEVELS)))
