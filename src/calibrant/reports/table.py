"""The table of a report: each measure before and after calibration, its change, and how sure that is."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from calibrant.metrics.bands import share_interval
from calibrant.metrics.calibration import ece_of, expected_ece, largest_gap
from calibrant.metrics.rounding import rounded
from calibrant.metrics.table import nll_label
from calibrant.reports.bootstrap import CONFIDENCE, FEWEST, Bootstrap, Estimate, basic, percentile
from calibrant.reports.scored_forecast import Floats, ScoredForecast

Outcome = Literal["better", "worse", "same"]


@dataclass(frozen=True)
class TableLine:
    """One measure: what it was, what it is, what changed, and whether that is for the better."""

    label: str
    better: Literal["small", "target"] | None
    target: float | None
    before: Estimate | None
    after: Estimate
    change: Estimate | None
    outcome: Outcome | None
    is_share: bool = False
    """Whether it is a share of the labels, shown in percent."""


def measures(lines: Iterable[TableLine]) -> dict[str, Any]:
    """The table in plain numbers, for a file; None where there is none."""
    columns = ("before", "after", "change")
    ends = ("value", "low", "high")
    head = ["measure", *(name if end == "value" else f"{name}, {end}" for name in columns for end in ends), "outcome"]
    rows = [
        [
            line.label,
            *(
                rounded(math.nan if x is None else x)
                for x in (getattr(getattr(line, name), end, None) for name in columns for end in ends)
            ),
            line.outcome,
        ]
        for line in lines
    ]
    return {"head": head, "rows": rows}


@dataclass(frozen=True)
class Comparison:
    """A forecast before calibration, if there is one, and after, on the same m rows."""

    before: ScoredForecast | None
    after: ScoredForecast
    coverage: float

    @property
    def m(self) -> int:
        """The number of rows."""
        return int(self.after.y.shape[0])

    @cached_property
    def bootstrap(self) -> Bootstrap:
        """Draws of rows, the same for every measure."""
        return Bootstrap(self.m)

    @cached_property
    def lines(self) -> dict[str, TableLine]:
        """The lines of the table by name, without those that say nothing."""
        return dict(self._lines())

    def _lines(self) -> Iterator[tuple[str, TableLine]]:
        interval = f"{100 * self.coverage:.6g}% interval"
        for name, label in (
            ("nll", nll_label(self.after.forecast)),
            ("crps", "CRPS"),
            ("interval_score", f"{interval} score"),
        ):
            yield name, self._mean(name, label, "small")
        yield "covered", self._coverage(f"{interval} coverage")
        yield "width", self._mean("width", f"{interval} width, mean", None)
        yield "std", self._mean("std", "standard deviation, mean", None)
        yield "ece", self._ece()
        yield "gap", self._gap()

    def _mean(self, name: str, label: str, better: Literal["small"] | None) -> TableLine:
        after = self.after.columns[name]
        before = self._before(name)
        change = None if before is None else self._estimate(_minus(after, before))
        was = None if before is None else self._estimate(before)
        outcome = None if better is None or change is None else _outcome(change)
        note = "" if self.before is None or name != "crps" else self.before.forecast.crps_note
        label += f" (before: {note.removeprefix('the ')})" if note and was is not None else ""
        return TableLine(label, better, None, was, self._estimate(after), change, outcome)

    def _coverage(self, label: str) -> TableLine:
        after, before = self.after.columns["covered"], self._before("covered")
        if before is None:
            return TableLine(label, "target", self.coverage, None, self._share(after), None, None, is_share=True)
        shares = _nearer(float(np.mean(after)), float(np.mean(before)), self.coverage)
        drawn = _nearer(self.bootstrap.means(after), self.bootstrap.means(before), self.coverage)
        # nearer to the target, or farther off: what counts is the distance, not the change
        nearer = self._interval(shares, shares, drawn)
        change = self._estimate(after - before)
        # an atom is inside whole or not at all, so that more than the target may be right
        atoms = self.after.has_atoms or (self.before is not None and self.before.has_atoms)
        outcome = None if atoms else _outcome(nearer)
        sides = self._share(before), self._share(after)
        return TableLine(label, "target", self.coverage, *sides, change, outcome, is_share=True)

    def _ece(self) -> TableLine:
        after = self._one_ece(self.after)
        before = None if self.before is None or not self.before.is_distribution else self._one_ece(self.before)
        label = "calibration error, debiased ECE"
        if before is None:
            return TableLine(label, "target", 0.0, None, after.estimate, None, None)
        plain, centre = after.plain - before.plain, after.centre - before.centre
        change = self._interval(plain, centre, after.replicates - before.replicates)
        return TableLine(label, "target", 0.0, before.estimate, after.estimate, change, _outcome(change))

    def _one_ece(self, side: ScoredForecast) -> _ECE:
        pit = side.drawn
        plain = float(ece_of(np.sort(pit)))
        value = plain - expected_ece(self.m)
        centre, replicates = self.bootstrap.eces(pit)
        if self.m < FEWEST:
            return _ECE(Estimate(value), plain, centre, replicates)
        # the truth is not below 0, but the debiased number may be
        low, high = basic(plain, centre, replicates, 0.0, 0.5)
        return _ECE(Estimate(value, min(low, value), max(high, value)), plain, centre, replicates)

    def _gap(self) -> TableLine:
        after = largest_gap(np.sort(self.after.drawn)).size
        distribution = self.before if self.before is not None and self.before.is_distribution else None
        before = None if distribution is None else largest_gap(np.sort(distribution.drawn)).size
        change = None if before is None else Estimate(after - before)
        was = None if before is None else Estimate(before)
        return TableLine("calibration error, largest", "target", 0.0, was, Estimate(after), change, None)

    def _before(self, name: str) -> Floats | None:
        """A column of the base, if it has it and it is of the same thing: an Interval's own bounds have no level."""
        if self.before is None or self.before.forecast.own_bounds:
            return None
        return self.before.columns.get(name)

    def _estimate(self, values: Floats) -> Estimate:
        with np.errstate(invalid="ignore"):
            value = float(np.mean(values))
        if not math.isfinite(value):
            return Estimate(value)
        replicates = self.bootstrap.means(values)
        return Estimate(value) if self.m < FEWEST else Estimate(value, *percentile(replicates))

    def _interval(self, value: float, centre: float, replicates: Floats) -> Estimate:
        if self.m < FEWEST:
            return Estimate(value)
        return Estimate(value, *basic(value, centre, replicates))

    def _share(self, inside: Floats) -> Estimate:
        low, high = share_interval(np.sum(inside), self.m, CONFIDENCE)
        return Estimate(float(np.mean(inside)), float(low), float(high))


@dataclass(frozen=True)
class _ECE:
    estimate: Estimate
    plain: float
    centre: float
    replicates: Floats


def _nearer(after: Any, before: Any, target: float) -> Any:
    return abs(after - target) - abs(before - target)


def _minus(after: Floats, before: Floats) -> Floats:
    with np.errstate(invalid="ignore"):
        return np.asarray(after - before, np.float64)


def _outcome(change: Estimate) -> Outcome | None:
    """By the sign of a change that chance does not explain; an infinite one has no interval and needs none."""
    if math.isnan(change.value):  # both are infinite
        return None
    if change.excludes(0.0) or math.isinf(change.value):
        return "better" if change.value < 0 else "worse"
    return "same"
