"""Paired bootstrap intervals of means over rows, and of the calibration error."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from calibrant.judging.changes import Estimate as Estimate
from calibrant.metrics.by_slice import LEVELS
from calibrant.reports.scored_forecast import Floats

CONFIDENCE = 0.95
REPLICATES = 1000
ROWS = 5000
"""Up to so many rows are drawn themselves; more are put into bags first, which are drawn."""
BAGS = 2000
FEWEST = 10
"""Fewer rows than this have no interval: what they do not show cannot be drawn from them."""


@dataclass(frozen=True)
class Bootstrap:
    """Draws of m rows with replacement, the same for every quantity, so that differences are paired.

    Beyond 5,000 rows, 2,000 random bags of rows are drawn instead of rows: the mean over drawn bags varies as the mean
    over drawn rows does, as bags are rows put together at random, and a million rows cost no more than a few thousand.
    Everything is seeded, so that the same rows give the same intervals.
    """

    m: int

    @cached_property
    def _bag(self) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
        """Which bag each row is in."""
        if self.m <= ROWS:
            return np.arange(self.m)
        return np.random.default_rng(1).permutation(self.m) % BAGS

    @cached_property
    def _weights(self) -> Floats:
        """How often each bag is drawn in each replicate, over the number of rows that are drawn."""
        sizes = np.bincount(self._bag)
        draws = np.random.default_rng(2).multinomial(sizes.size, np.full(sizes.size, 1 / sizes.size), REPLICATES)
        return np.asarray(draws / (draws @ sizes)[:, None], np.float64)

    def means(self, values: Floats) -> Floats:
        """The mean in each replicate."""
        return self._weights @ np.bincount(self._bag, values)

    def eces(self, pit: Floats) -> tuple[float, Floats]:
        """The ECE on a grid of levels, of the rows and in each replicate: the mean distance of shares from levels."""
        size = LEVELS.size + 1
        place = np.searchsorted(LEVELS, pit, side="left")
        table = np.bincount(self._bag * size + place, minlength=self._weights.shape[1] * size).reshape(-1, size)
        cells = np.concatenate([table.sum(axis=0)[None, :] / self.m, self._weights @ table])
        distance = np.abs(np.cumsum(cells, axis=1)[:, :-1] - LEVELS).sum(axis=1) / size
        return float(distance[0]), distance[1:]


def basic(
    value: float, centre: float, replicates: Floats, low: float = -math.inf, high: float = math.inf
) -> tuple[float, float]:
    """2 `value` minus the outer quantiles of `replicates`: the basic interval, kept between `low` and `high`.

    Reversed, because what a resample is above its sample the sample is above the truth: the ECE of a resample is too
    large by its own noise, as that of the sample is, and the reversal takes off both. Percentile intervals would
    add them up, and keep away from 0 even where the forecast is perfect. `centre` is `value` as the replicates
    have it, on their grid.
    """
    tail = (1 - CONFIDENCE) / 2
    above, below = np.quantile(replicates - centre, [1 - tail, tail])
    return min(max(value - float(above), low), high), min(max(value - float(below), low), high)


def percentile(replicates: Floats) -> tuple[float, float]:
    """The outer quantiles of `replicates`, for means: skew as they are, and never beyond what a mean can be."""
    tail = (1 - CONFIDENCE) / 2
    low, high = np.quantile(replicates, [tail, 1 - tail])
    return float(low), float(high)
