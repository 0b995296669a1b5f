"""All rows together: whether the forecasts are calibrated, and if not, what is wrong with them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np

from calibrant.guarantee import CrossGuarantee, calibration_rows
from calibrant.metrics.bands import reliability_band, share_interval
from calibrant.metrics.by_slice import LEVELS
from calibrant.metrics.held import Floats, Held, Inside, inside

FEW = 100
"""Fewer rows than this say little."""
SMALL_GAP = 0.02
"""A gap of this size or less is small, even where so many rows show that it is there."""
FAIR_GAP = 0.05
"""A gap of this size or less is fair, where the calibration rows explain it."""
TOO_GOOD = 0.3
"""A largest gap below this / sqrt(m) has a chance of 1e-5 (Kolmogorov): the rows are those that calibrated."""
TAIL = 0.05
"""The tails are what lies below the quantile at this level, and above that at 1 less it."""

CLEAR = 0.99
"""What lies inside the band of this probability, and outside that of 95%, is borderline: a warning and no failure."""

State = Literal["calibrated", "explained", "few", "too good", "wide folds", "nearly", "borderline", "off"]
Fault = Literal["too low", "too high", "too narrow", "too wide", "wrong in the tails", "wrong in shape"]


@dataclass(frozen=True)
class Whole:
    """The PITs of all m rows beside what chance allows.

    >>> rng = np.random.default_rng(0)
    >>> sure = whole_of(rng.beta(0.5, 0.5, 1000), 0.9)  # many labels in the tails
    >>> sure.state, sure.fault, sure.covers
    ('off', 'too narrow', 'too few')
    """

    below: Floats
    """The share of PITs at or below each level."""
    held: Held
    """The share of labels inside the intervals, and what chance allows."""
    m: int
    n: int | None
    """The number of rows that calibrated the forecasts, if that is known."""
    mean: float
    """The mean of the PITs, 1/2 for calibrated forecasts."""
    spread: float
    """The mean of |2 PIT - 1|, also 1/2 for calibrated forecasts."""
    one_sided: bool = False
    """Whether too wide is no fault: the mean of folds is wider than its members, and promises the tails alone."""

    @cached_property
    def band(self) -> tuple[Floats, Floats]:
        """What chance allows at each level."""
        return reliability_band(self.m, LEVELS, n=self.n)

    @property
    def at(self) -> int:
        """The place of the largest gap among the levels."""
        return int(np.argmax(np.abs(self.below - LEVELS)))

    @property
    def gap(self) -> float:
        """sup_c |share of PITs <= c - c|, on the grid of levels."""
        return float(abs(self.below[self.at] - LEVELS[self.at]))

    @cached_property
    def outside(self) -> Floats:
        """By how much each share is more than chance allows, or less."""
        low, high = self.band
        return np.maximum(low - self.below, self.below - high)

    @cached_property
    def in_the_tails(self) -> Floats:
        """How many more labels than chance allows lie below each quantile of the lower half, or above an upper one."""
        low, high = self.band
        return np.asarray(np.where(LEVELS < 0.5, self.below - high, low - self.below), np.float64)

    @property
    def worst(self) -> int:
        """The place where chance explains least of what is a fault."""
        return int(np.argmax(self.in_the_tails if self.one_sided else self.outside))

    @cached_property
    def state(self) -> State:
        """What the PITs say of calibration."""
        if (self.outside > 1e-12).any():
            if self.one_sided and (self.in_the_tails <= 1e-12).all():
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
    def covers(self) -> Literal["too few", "too many", ""]:
        """Whether the intervals hold too few labels, or too many, for chance and for the 95% interval of the share."""
        held = self.held
        low, high = share_interval(round(held.judged * self.m), self.m)
        if not held.off or low <= held.coverage <= high:
            return ""
        return "too few" if held.judged < held.low else "too many"

    @cached_property
    def misses(self) -> bool:
        """Whether the intervals hold clearly too few labels: as one counts, and as chance is asked about it."""
        held = self.held
        if self.covers != "too few" or held.share >= held.coverage:
            return False
        (low,), _ = reliability_band(self.m, [held.coverage], CLEAR, n=self.n)
        return bool(held.judged < low - 1e-12)

    @property
    def fails(self) -> bool:
        """Whether the forecasts are clearly not calibrated, or their intervals hold clearly too few labels."""
        return self.state == "off" or self.misses

    @property
    def fault(self) -> Fault:
        """What is wrong, of forecasts that fail.

        For calibrated ones both means have the same law, so the one that is farther from 1/2 says what is wrong. If
        chance explains both, it is the tails, where too many labels lie there, or the shape. It is the tails too where
        the forecasts are too wide by these means, and yet too many labels lie in the tails.
        """
        shift, spread = self.mean - 0.5, self.spread - 0.5
        size = self.m if self.n is None else self.m * self.n / (self.m + self.n)
        explained = max(abs(shift), abs(spread)) <= 2 / (12 * size) ** 0.5  # two standard errors
        outer = (self.in_the_tails[np.minimum(LEVELS, 1 - LEVELS) <= TAIL] > 1e-12).any()
        if outer and (explained or -spread > abs(shift)):
            return "wrong in the tails"
        if explained:
            return "wrong in shape"
        if abs(shift) >= abs(spread):
            return "too low" if shift > 0 else "too high"
        return "too narrow" if spread > 0 else "too wide"

    def keeps(self, guarantee: Any) -> bool:
        """Whether these rows leave a guarantee standing; one that claims nothing of them stands."""
        epsilon = getattr(guarantee, "epsilon", None)
        if guarantee is None or epsilon is None or guarantee.kind in ("no claim", "long run"):
            return True
        if isinstance(guarantee, CrossGuarantee):  # P(H(Y) <= c) <= 2 c + epsilon, and the same above 1 - c
            tail = np.minimum(LEVELS, 1 - LEVELS)
            share = np.where(LEVELS < 0.5, self.below, 1 - self.below)
            return bool((share - 2 * tail - epsilon <= self.band[1] - LEVELS + 1e-12).all())
        short = self.held.coverage - self.held.judged
        return not (self.fails and (self.gap > epsilon or short > 2 * epsilon))


def whole_of(pit: Floats, coverage: float, guarantee: Any = None, held: Inside | None = None) -> Whole:
    """All rows, by their PITs, which are drawn where a law has atoms; `held` says what the intervals hold there."""
    m, n = pit.shape[0], calibration_rows(guarantee)
    below = np.searchsorted(np.sort(pit), LEVELS, side="right") / m
    held = Inside(inside(pit, coverage)) if held is None else held
    (low,), (high,) = reliability_band(m, [coverage], n=n)
    in_part = None if held.drawn is None else float(np.mean(held.drawn))
    shares = Held(coverage, float(np.mean(held.counted)), float(low), float(high), in_part)
    spread = float(np.mean(np.abs(2 * pit - 1)))
    return Whole(below, shares, m, n, float(np.mean(pit)), spread, isinstance(guarantee, CrossGuarantee))
