"""What a verdict is about: the curves and the table of a report, and what was promised."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calibrant.metrics.bands import reliability_band
from calibrant.metrics.by_slice import LEVELS
from calibrant.metrics.calibration import kolmogorov_pvalue
from calibrant.reports.curves import Curves
from calibrant.reports.figures import count
from calibrant.reports.sides import Floats
from calibrant.reports.table import Comparison


@dataclass(frozen=True)
class Group:
    """The rows of one slice."""

    by: str
    value: str
    curves: Curves

    @property
    def name(self) -> str:
        """Which rows these are."""
        return f"{self.by} = {self.value}"

    def pvalue(self, n: int | None) -> float:
        """How often a gap as large comes by chance, with n m / (n + m) for m where n rows calibrated the forecasts."""
        m = self.curves.m
        return kolmogorov_pvalue(gap_of(self.curves), m if n is None else max(1, m * n // (m + n)))


@dataclass(frozen=True)
class Findings:
    """What the verdict is about."""

    comparison: Comparison
    after: Curves
    before: Curves | None
    groups: Sequence[Group]
    guarantee: Any
    """A `Guarantee` or a `CrossGuarantee`, or None."""

    @property
    def m(self) -> int:
        """The number of rows."""
        return self.comparison.m

    @property
    def n(self) -> int | None:
        """The number of rows that calibrated the forecasts, if that is known."""
        return None if self.guarantee is None else int(self.guarantee.n)

    @property
    def rows(self) -> str:
        """How many there are, in words."""
        return count(self.m, "row")

    @cached_property
    def band(self) -> tuple[Floats, Floats]:
        """What chance allows at each level."""
        return reliability_band(self.m, LEVELS, n=self.n)


def gap_of(curves: Curves) -> float:
    """sup_c |share of PITs <= c - c|, on the grid of levels."""
    return float(np.max(np.abs(curves.below - LEVELS)))
