"""All rows together: whether the forecasts are calibrated, and if not, what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from scipy.stats import binomtest

from calibrant.guarantee import Guarantee
from calibrant.judging.part import Tail as Tail
from calibrant.metrics.bands import reliability_band
from calibrant.metrics.by_slice import LEVELS
from calibrant.metrics.calibration import LargestGap, largest_gap
from calibrant.metrics.interval_coverage import Floats, InsideFlags, IntervalResult, inside

FEW = 100
"""Fewer rows than this say little."""
SMALL_GAP = 0.02
"""A gap of this size or less is small, even where so many rows show that it is there."""
FAIR_GAP = 0.05
"""A gap of this size or less is fair, where the calibration rows explain it."""
TOO_GOOD = 0.3
"""A largest gap below this / sqrt(m) has a chance of 1e-5 (Kolmogorov): the rows are those that calibrated."""
TAILS = (0.005, 0.01, 0.025, 0.05)
"""The tails are what lies below the quantiles at these levels, above those at 1 less them, and both together."""

CLEAR = 0.99
"""What lies inside the band of this probability, and outside that of 95%, is borderline: a warning and no failure."""

State = Literal["calibrated", "explained", "few", "too good", "wide folds", "nearly", "borderline", "off"]
Fault = Literal["too low", "too high", "too narrow", "too wide", "wrong in the tails", "wrong in shape"]


Side = Literal["low", "high", "both"]


@dataclass(frozen=True)
class Overall:
    """The PITs of all m rows, with what chance allows.

    >>> rng = np.random.default_rng(0)
    >>> sure = overall_of(rng.beta(0.5, 0.5, 1000), 0.9)  # many labels in the tails
    >>> sure.state, sure.fault, sure.coverage_fault
    ('off', 'too narrow', 'too few')
    """

    below: Floats
    """The share of PITs at or below each level."""
    interval: IntervalResult
    """The share of labels inside the intervals, and what chance allows."""
    m: int
    n: int | None
    """The number of rows that calibrated the forecasts, if that is known."""
    mean: float
    """The mean of the PITs, 1/2 for calibrated forecasts."""
    spread: float
    """The mean of |2 PIT - 1|, also 1/2 for calibrated forecasts."""
    largest: LargestGap
    """sup_c |share of PITs <= c - c|, and where it is."""
    one_sided: bool = False
    """Whether too wide is no fault: the mean of folds is wider than its members, and promises the tails alone."""

    @cached_property
    def band(self) -> tuple[Floats, Floats]:
        """What chance allows at each level."""
        return reliability_band(self.m, LEVELS, n=self.n)

    @property
    def gap(self) -> float:
        """sup_c |share of PITs <= c - c|."""
        return self.largest.size

    @property
    def allowed(self) -> float:
        """The gap that chance allows there: no more PITs than at the next level, and no fewer than at the last."""
        low, high = self.band
        _, level, share = self.largest
        k = int(np.searchsorted(LEVELS, level))
        if share > level:
            return float(1 - level if k == LEVELS.size else high[k] - level)
        return float(level if k == 0 else level - low[k - 1])

    @cached_property
    def outside(self) -> Floats:
        """By how much each share is more than chance allows, or less."""
        low, high = self.band
        return np.maximum(low - self.below, self.below - high)

    @cached_property
    def excess_in_tails(self) -> Floats:
        """How many more labels than chance allows lie below each quantile of the lower half, or above an upper one."""
        low, high = self.band
        return np.asarray(np.where(LEVELS < 0.5, self.below - high, low - self.below), np.float64)

    @property
    def worst(self) -> int:
        """The place where chance explains least of what is a fault."""
        return int(np.argmax(self.excess_in_tails if self.one_sided else self.outside))

    @property
    def clearest_level(self) -> int:
        """The place that shows the fault best."""
        if self.one_sided:
            return self.worst
        low, high = self.band
        below, lower = self.below, LEVELS < 0.5
        beyond = {
            "too low": low - below,
            "too high": below - high,
            "too narrow": self.excess_in_tails,
            "too wide": np.where(lower, low - below, below - high),
        }
        return int(np.argmax(beyond.get(self.fault, self.outside)))

    @cached_property
    def tail(self) -> Tail | None:
        """The part of the tails that holds most labels for what it should; None where chance allows that of each part.

        Each is asked by itself: it gives a name to forecasts that fail, and does not say whether they do.
        """
        found = []
        for level in TAILS:
            low, high = (float(self.below[np.searchsorted(LEVELS, at - 1e-9)]) for at in (level, 1 - level))
            parts: tuple[tuple[Side, float, float], ...] = (
                ("both", low + 1 - high, 2 * level),
                ("low", low, level),
                ("high", 1 - high, level),
            )
            for side, share, part in parts:
                _, (most,) = reliability_band(self.m, [part], n=self.n)
                found.append(Tail(side, level, share, float(most)))
        worst = max(found, key=lambda tail: tail.share / tail.most)
        return worst if worst.share > worst.most + 1e-12 else None

    @cached_property
    def state(self) -> State:
        """What the PITs say of calibration."""
        if (self.outside > 1e-12).any():
            if self.one_sided and (self.excess_in_tails <= 1e-12).all():
                return "wide folds"
            if self.gap <= SMALL_GAP:
                return "nearly"
            low, high = reliability_band(self.m, LEVELS, CLEAR, n=self.n)
            clear = (self.below < low - 1e-12) | (self.below > high + 1e-12)
            return "off" if clear.any() else "borderline"
        if self.m < FEW:
            return "few"
        if self.gap * self.m**0.5 < TOO_GOOD:
            return "too good"
        least, most = reliability_band(self.m, LEVELS)
        alone = (least - 1e-12 <= self.below) & (self.below <= most + 1e-12)
        return "calibrated" if alone.all() else "explained"

    @cached_property
    def coverage_fault(self) -> Literal["too few", "too many", ""]:
        """Whether the intervals hold too few labels, or too many, for chance and for the 95% interval of the share."""
        interval = self.interval
        low, high = binomtest(round(interval.tested * self.m), self.m).proportion_ci()
        if not interval.off or low <= interval.coverage <= high:
            return ""
        return "too few" if interval.tested < interval.low else "too many"

    @cached_property
    def clearly_undercovers(self) -> bool:
        """Whether the intervals hold clearly too few labels: as one counts, and as chance is asked about it."""
        interval = self.interval
        if self.coverage_fault != "too few" or interval.share >= interval.coverage:
            return False
        (low,), _ = reliability_band(self.m, [interval.coverage], CLEAR, n=self.n)
        return bool(interval.tested < low - 1e-12)

    @property
    def fails(self) -> bool:
        """Whether the forecasts are clearly not calibrated, or their intervals hold clearly too few labels."""
        return self.state == "off" or self.clearly_undercovers

    @property
    def fault(self) -> Fault:
        """What is wrong, of forecasts that fail.

        For calibrated ones both means have the same distribution, so the one that is farther from 1/2 says what is
        wrong. If chance explains both, it is the tails, where too many labels lie there, or the shape. It is the tails
        too where the forecasts are too wide by these means, and yet too many labels lie in the tails. That the
        forecasts fail is known by then, so that each part of the tails is asked by itself.
        """
        shift, spread = self.mean - 0.5, self.spread - 0.5
        size = self.m if self.n is None else self.m * self.n / (self.m + self.n)
        explained = max(abs(shift), abs(spread)) <= 2 / (12 * size) ** 0.5  # two standard errors
        if (explained or -spread > abs(shift)) and self.tail is not None:
            return "wrong in the tails"
        if explained:
            return "wrong in shape"
        if abs(shift) >= abs(spread):
            return "too low" if shift > 0 else "too high"
        return "too narrow" if spread > 0 else "too wide"

    def is_consistent_with(self, guarantee: Guarantee | None) -> bool:
        """Whether these rows are consistent with a guarantee; one without a finite-sample claim always is."""
        if guarantee is None or guarantee.kind in ("no claim", "long run", "label"):
            return True
        epsilon = guarantee.epsilon
        if guarantee.basis == "cross":  # P(H(Y) <= c) <= 2 c + epsilon, and the same above 1 - c
            tail = np.minimum(LEVELS, 1 - LEVELS)
            share = np.where(LEVELS < 0.5, self.below, 1 - self.below)
            return bool((share - 2 * tail - epsilon <= self.band[1] - LEVELS + 1e-12).all())
        short = self.interval.coverage - self.interval.tested
        return not (self.fails and (self.gap > epsilon or short > 2 * epsilon))


def overall_of(
    pit: Floats, coverage: float, guarantee: Guarantee | None = None, flags: InsideFlags | None = None
) -> Overall:
    """All rows, by their PITs, drawn where a distribution has atoms; `flags` says what the intervals hold there."""
    m, n = pit.shape[0], guarantee.calibration_rows if guarantee else None
    ordered = np.sort(pit)
    below = np.searchsorted(ordered, LEVELS, side="right") / m
    flags = InsideFlags(inside(pit, coverage)) if flags is None else flags
    (low,), (high,) = reliability_band(m, [coverage], n=n)
    split_share = None if flags.drawn is None else float(np.mean(flags.drawn))
    shares = IntervalResult(coverage, float(np.mean(flags.counted)), float(low), float(high), split_share)
    spread = float(np.mean(np.abs(2 * pit - 1)))
    largest, one_sided = largest_gap(ordered), guarantee is not None and guarantee.basis == "cross"
    return Overall(below, shares, m, n, float(np.mean(pit)), spread, largest, one_sided)
