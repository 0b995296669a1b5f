"""What a verdict is based on: the curves and the table of a report, and the guarantee."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

from calibrant._words import count
from calibrant.diagnosis.headline import (
    AS_COUNTS,
    RIGHT_AT_LEVELS,
    Headline,
    Known,
    change_since,
    headline,
    known_by,
)
from calibrant.diagnosis.over_time import Period
from calibrant.diagnosis.overall import Overall, overall_of
from calibrant.judging.interface import PYTHON, Interface
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.interpolated import holds_at_its_levels
from calibrant.predictions import Quantiles
from calibrant.reports.curves import Curves
from calibrant.reports.models import ModelEntry
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
    """The groups that are large enough to be tested."""
    guarantee: Any
    """A `Guarantee`, or None."""
    periods: Sequence[Period] | None = None
    """The periods; None where no time is known."""
    name: str = ""
    """What the model is called, where there are several."""
    models: Sequence[ModelEntry] = ()
    """All of them, from the lowest CRPS to the largest."""
    like_counts: bool = False
    """Whether the labels look like counts, and the forecasts do not know it."""
    were: str = ""
    """What was evaluated as distributions of counts: Poisson rates, quantiles or draws; "" if they were
    distributions."""
    quantiles: Quantiles | None = None
    """The forecasts, if they are two quantiles or more, as labels of their kind can be."""
    interface: Interface = PYTHON
    """How the reader acts on the verdict: in Python or at a terminal."""

    @property
    def m(self) -> int:
        """The number of rows."""
        return self.comparison.m

    @property
    def n(self) -> int | None:
        """The number of rows that calibrated the forecasts, if that is known."""
        return None if self.guarantee is None else self.guarantee.calibration_rows

    @property
    def rows(self) -> str:
        """How many there are, in words."""
        return count(self.m, "row")

    @property
    def off(self) -> list[SliceResult]:
        """The groups that chance does not explain."""
        return [group for group in self.groups if self.fails(group)]

    @property
    def off_in_time(self) -> list[Period]:
        """The periods that chance does not explain."""
        return [period for period in self.periods or () if self.fails(period)]

    @property
    def since(self) -> str:
        """Since when a change made the forecasts fail; "" where nothing points to one."""
        return change_since(self.periods or (), self.off_in_time, self.off)

    @property
    def known(self) -> Known:
        """What is known of the forecasts: without a guarantee and a base, they are as a model gave them."""
        if self.guarantee is not None:
            return known_by(self.guarantee)
        return "raw" if self.comparison.before is None else "unknown"

    @property
    def one_sided(self) -> bool:
        """Whether too wide is no fault: the mean of folds is wider than its members, and promises the tails alone."""
        return self.overall.one_sided

    def wide_folds_note(self, parts: Sequence[SliceResult]) -> str:
        """A note where some are too wide for chance, and not for folds."""
        wide = any(rows.off and not self.fails(rows) for rows in parts)
        return ", but for some that are too wide, as the mean over folds is" if wide else ""

    def fails(self, rows: SliceResult) -> bool:
        """Whether chance does not explain these rows, nor the folds."""
        return rows.off and not (self.one_sided and rows.only_wide)

    @cached_property
    def overall(self) -> Overall:
        """All rows together."""
        after, coverage = self.comparison.after, self.comparison.coverage
        return overall_of(after.drawn, coverage, self.guarantee, after.inside(coverage))

    @cached_property
    def fails_only_between_levels(self) -> bool:
        """Whether these are quantiles that are right at their levels: what fails are the lines drawn between them."""
        return self.overall.fails and holds_at_its_levels(self.quantiles, self.comparison.after.y)

    @cached_property
    def headline(self) -> Headline:
        """The verdict in one sentence."""
        if self.fails_only_between_levels:
            return RIGHT_AT_LEVELS
        found = headline(self.overall, self.groups, self.periods or (), known=self.known, interface=self.interface)
        if self.like_counts and self.known == "raw" and found.kind == "bad":
            return replace(found, step=AS_COUNTS.format(self.interface.counts))
        return found
