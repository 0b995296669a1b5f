"""The means of a forecast with their 95% intervals, and what calibration changed."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

import numpy as np
from scipy.stats import binomtest, bootstrap

from calibrant.judging.rows import Floats, ForecastRows

BAGS = 1000
"""More rows than this are put into so many random bags, whose means are drawn in place of the rows."""
FEWEST = 10
"""Fewer rows than this have no interval: what they do not show cannot be drawn from them."""
Outcome = Literal["better", "worse", "same", ""]


@dataclass(frozen=True)
class Estimate:
    """A number and the ends of its 95% interval, None where there is none."""

    value: float
    low: float | None = None
    high: float | None = None

    def excludes(self, number: float) -> bool:
        """Whether the interval is there and does not hold a number."""
        return self.low is not None and self.high is not None and not self.low <= number <= self.high


@dataclass(frozen=True)
class Change:
    """One measure: what it is, what it was before calibration, and whether that is for the better."""

    after: Estimate
    before: Estimate | None = None
    change: Estimate | None = None
    """After less before, paired row by row."""
    outcome: Outcome = ""
    """"" where nothing is known or no direction is better, as that of a width."""


def changes(after: ForecastRows, before: ForecastRows | None) -> dict[str, Change]:
    """By the names of the columns: nll, crps, interval_score, coverage, width and std, where forecasts have them."""
    return dict(_changes(after, before))


def _changes(after: ForecastRows, before: ForecastRows | None) -> Iterator[tuple[str, Change]]:
    for name in ("crps", "nll", "interval_score", "covered", "width", "std"):
        if name not in after.columns:
            continue
        values = after.columns[name]
        # the bounds of an Interval have no level: they are not compared
        was = None if before is None or before.forecast.own_bounds else before.columns.get(name)
        estimate = _share if name == "covered" else estimated
        if was is None:
            yield name, Change(estimate(values))
            continue
        with np.errstate(invalid="ignore"):
            change = estimated(values - was)
        outcome: Outcome = ""
        if name not in ("width", "std", "covered") and not math.isnan(change.value):  # else both are infinite
            clear = change.excludes(0.0) or math.isinf(change.value)
            outcome = ("better" if change.value < 0 else "worse") if clear else "same"
        yield name, Change(estimate(values), estimate(was), change, outcome)


def estimated(values: Floats) -> Estimate:
    """The mean over rows with its bootstrap interval, by percentiles; the same rows give the same interval."""
    with np.errstate(invalid="ignore"):
        value = float(np.mean(values))
    if not math.isfinite(value) or values.size < FEWEST:
        return Estimate(value)
    if values.min() == values.max():
        return Estimate(value, value, value)
    if values.size > BAGS:
        bag = np.random.default_rng(1).permutation(values.size) % BAGS
        values = np.bincount(bag, values) / np.bincount(bag)
    found = bootstrap((values,), np.mean, n_resamples=999, method="percentile", rng=np.random.default_rng(2))
    return Estimate(value, float(found.confidence_interval.low), float(found.confidence_interval.high))


def _share(covered: Floats) -> Estimate:
    """A share with its exact interval, that of Clopper and Pearson."""
    ends = binomtest(int(np.sum(covered)), covered.size).proportion_ci()
    return Estimate(float(np.mean(covered)), float(ends.low), float(ends.high))
