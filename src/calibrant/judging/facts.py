"""What a judgement knows: every part of the rows, what chance allows, and the cause where something is off."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import groupby
from typing import Any, Literal

import numpy as np

from calibrant.guarantee import Guarantee
from calibrant.judging.cause import Cause, cause_of
from calibrant.judging.changes import Change, changes
from calibrant.judging.features import Dependence
from calibrant.judging.interface import PYTHON, Interface
from calibrant.judging.part import LEVELS, Part, parts_of
from calibrant.judging.rows import ForecastRows
from calibrant.labels.base import Labels
from calibrant.metrics import evaluate
from calibrant.metrics.bands import band_pvalue
from calibrant.metrics.evaluation import Evaluation
from calibrant.metrics.interpolated import holds_at_its_levels
from calibrant.metrics.label_kinds import for_labels, look_like_counts
from calibrant.metrics.slices import Slices, all_rows

Known = Literal["calibrated", "by group", "unknown", "raw"]
ALARM = 0.05
TOO_GOOD = 0.3
"""A largest gap below this / sqrt(m) has a chance of 1e-5 (Kolmogorov): the rows are those that calibrated."""


@dataclass(frozen=True, repr=False, eq=False, kw_only=True)
class Facts:
    """What was found about forecasts, in numbers."""

    forecast: Any
    """What was judged, as it was given."""
    y: Any
    labels: Labels | str | None
    """What kind of number y is, if it was said."""
    overall: Part
    slices: tuple[Part, ...]
    """By predicted value and by width, where there are 100 rows or more."""
    features: tuple[Part, ...]
    """By each column of X."""
    groups: tuple[Part, ...]
    """By each column of `by`."""
    periods: tuple[Part, ...] | None
    """One after the other; None without `time`."""
    worst: Part | None
    """The worst slice of one or two columns of X: found on half of the rows, judged on the others."""
    dependence: Dependence | None
    """Whether the columns of X together predict where labels lie in their forecasts."""
    guarantee: Guarantee | None
    rows: ForecastRows = field(compare=False)
    """The scores, PITs and intervals of each row."""
    base_rows: ForecastRows | None = field(compare=False)
    columns: Mapping[str, Slices] = field(compare=False)
    """Which slice each row is in, by the name of the column; that of the periods is "time", unless it is taken."""
    alarm: float = ALARM
    interface: Interface = PYTHON

    @cached_property
    def metrics(self) -> Evaluation:
        """What `evaluate` gives, but with the p-value of the judgement."""
        found = evaluate(self.forecast, self.y, coverage=self.coverage, labels=self.labels)
        if found.pit_pvalue is None:
            return found
        return replace(found, pit_pvalue=self.pvalue, labels={**found.labels, "pit_pvalue": "p-value, all judged"})

    @cached_property
    def base(self) -> Evaluation | None:
        """The same of the forecasts before calibration."""
        rows = self.base_rows
        return None if rows is None else evaluate(rows.forecast, rows.y, coverage=self.coverage, labels=self.labels)

    @cached_property
    def before(self) -> Part | None:
        """All rows, before calibration; None where there is no base with intervals."""
        if self.base_rows is None or "covered" not in self.base_rows.columns:
            return None
        return parts_of([all_rows(self.m)], self.base_rows, alarm=self.alarm, risk=self.alarm)[0]

    @property
    def known(self) -> Known:
        """What is known: calibrated, each group by itself, calibrated somehow, or as a model gave them."""
        if self.guarantee is None:
            return "raw" if self.base_rows is None else "unknown"
        parts = self.guarantee.parts if self.guarantee.basis == "cross" else (self.guarantee,)
        return "by group" if any(part.basis in ("group", "horizon") for part in parts) else "calibrated"

    @cached_property
    def right_at_levels(self) -> bool:
        """Whether they are quantiles that are right at their levels, though what lies between is not."""
        return self.overall.off and holds_at_its_levels(for_labels(self.forecast, self.y, self.labels), self.y)

    @cached_property
    def like_counts(self) -> bool:
        """Whether the labels look like counts, and the forecasts do not know it."""
        return self.labels is None and look_like_counts(self.rows.forecast, self.y)

    @property
    def m(self) -> int:
        """The number of rows."""
        return self.overall.m

    @property
    def n(self) -> int | None:
        """The number of rows that calibrated the forecasts, if it is known."""
        return self.overall.n

    @property
    def coverage(self) -> float:
        """The probability of the intervals."""
        return self.overall.coverage

    @property
    def by(self) -> tuple[str, ...]:
        """The names of the groups."""
        return tuple(dict.fromkeys(part.by for part in self.groups))

    @property
    def parts(self) -> tuple[Part, ...]:
        """Everything that was judged, all rows first."""
        worst = () if self.worst is None else (self.worst,)
        return (self.overall, *self.slices, *self.features, *worst, *self.groups, *(self.periods or ()))

    @property
    def off(self) -> tuple[Part, ...]:
        """The parts that chance does not explain, the clearest first."""
        return tuple(sorted((part for part in self.parts if part.off), key=lambda part: part.pvalue))

    @property
    def pvalue(self) -> float:
        """How often calibrated forecasts look as bad, over everything that was looked at: off where 0.05 or less."""
        found = [part.pvalue for part in self.parts if part.off or not part.one_sided or not part.only_wide]
        return min([1.0, *found, *([] if self.dependence is None else [self.dependence.pvalue])])

    @property
    def size(self) -> float:
        """How far off: the largest distance of a share from what it should be, where chance does not explain it."""
        return max((part.size for part in self.off), default=0.0)

    @cached_property
    def cause(self) -> Cause | None:
        """What best explains that something is off; None where nothing is."""
        columns = groupby((*self.slices, *self.features, *self.groups), key=lambda part: part.by)
        by = {name: tuple(parts) for name, parts in columns}
        if self.worst is not None:
            by[self.worst.value] = (self.worst,)
        return cause_of(self.overall, by, self.periods or (), self.dependence)

    @property
    def fault(self) -> str:
        """What is wrong, such as "too low" or "too narrow for x = 1"; "" where nothing is."""
        return "" if self.cause is None else self.cause.words

    @property
    def passes(self) -> bool:
        """Whether nothing is off."""
        return self.cause is None

    @property
    def too_good(self) -> bool:
        """Whether the forecasts fit better than chance allows, as they fit the rows that calibrated them."""
        return self.overall.gap is not None and self.overall.gap * self.m**0.5 < TOO_GOOD

    @property
    def wide_folds(self) -> bool:
        """Whether all rows together are too wide, which the mean over folds may be."""
        return self.overall.one_sided and self.overall.only_wide

    @cached_property
    def explained(self) -> bool:
        """Whether there is a gap that a true distribution would not have, and that few calibration rows explain."""
        part = self.overall
        if part.n is None or part.off or part.below is None:
            return False
        return band_pvalue(part.below, part.m, LEVELS) <= self.alarm

    @cached_property
    def changes(self) -> dict[str, Change]:
        """CRPS and other measures with their 95% intervals, before and after calibration."""
        return changes(self.rows, self.base_rows)

    @property
    def guarantee_met(self) -> bool:
        """Whether these rows are consistent with the guarantee; with one without a finite-sample claim they are."""
        promise, part = self.guarantee, self.overall
        if promise is None or promise.kind in ("no claim", "long run", "label"):
            return True
        if promise.basis == "cross" and part.below is not None:  # P(H(Y) <= c) <= 2 c + epsilon, and above 1 - c
            tail, beyond = np.minimum(LEVELS, 1 - LEVELS), np.where(LEVELS < 0.5, part.below, 1 - part.below)
            return bool((beyond - 2 * tail - promise.epsilon <= part.band[1] - LEVELS + 1e-12).all())
        return not (part.off and part.pvalue <= 0.01 and part.size > promise.epsilon)
