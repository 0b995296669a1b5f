"""Quantiles and draws as distributions, so that they can be evaluated without calibration."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, to_numpy
from calibrant.distributions.piecewise_linear import Lines, PiecewiseLinear
from calibrant.metrics.bands import reliability_band
from calibrant.predictions import Quantiles, Samples
from calibrant.predictions.base import Prediction

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False, repr=False)
class InterpolatedForecast(Prediction):
    """Row i has the quantiles values[i, k] at levels[k]: linear between them, with exponential tails beyond.

    A tail falls as the distribution does between its outermost two quantiles. Equal quantiles are an atom; where the
    outermost are equal, their atom has the tail's mass too, so that a row of equal draws is a single value.

    >>> distribution = interpolated(Quantiles([0.25, 0.75], [[0.0, 1.0], [2.0, 2.0]])).as_distribution()
    >>> distribution.cdf([0.5, 2.0]), distribution.median()
    (array([0.5, 1. ]), array([0.5, 2. ]))
    """

    levels: Floats = field(metadata={"shared": True})
    values: Floats
    words: str = field(metadata={"shared": True})
    """What the forecasts are, in the plural."""

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,): one row of quantiles each."""
        return (self.values.shape[0],)

    def _describe(self) -> str:
        return self.words

    @property
    def has_distribution(self) -> bool:
        """True, without a table of all rows: they are asked for block by block."""
        return True

    def as_distribution(self) -> PiecewiseLinear:
        """The distribution of each row, all in one table."""
        return self._lines

    def quantile(self, level: float) -> Array:
        """That of the distribution; at its own levels the very number that was given."""
        near = np.abs(self.levels - level)
        column = int(np.argmin(near))
        return self.values[:, column] if near[column] < 1e-9 else self.as_distribution().ppf(level)

    def pit_rows(self, y: Array, u: Array) -> Array:
        """H(y), drawn over the jump where quantiles are equal."""
        distribution = self.as_distribution()
        above = distribution.cdf(y)
        return above - u * (above - distribution.cdf_left(y))

    @cached_property
    def _lines(self) -> PiecewiseLinear:
        n, count = self.values.shape
        probs = np.repeat(self.levels[None, :], n, axis=0)
        steps = self.values[:, 1] - self.values[:, 0], self.values[:, -1] - self.values[:, -2]
        probs[steps[0] <= 0, 0] = 0.0
        probs[steps[1] <= 0, -1] = 1.0
        # F falls by the factor p_1 / p_2 over the outermost step, and so by e over a mean excess
        left = steps[0] / np.log(self.levels[1] / self.levels[0])
        right = steps[1] / np.log((1 - self.levels[-2]) / (1 - self.levels[-1]))
        first = np.arange(n + 1, dtype=np.int64) * count
        return PiecewiseLinear(Lines(self.values.ravel(), probs.ravel(), first, left, right), np.arange(n))


def holds_at_its_levels(forecast: Any, y: Any) -> bool:
    """Whether P(Y < quantile) <= level <= P(Y <= quantile) at each level of Quantiles, as far as chance can tell.

    For continuous labels both are equal. Of counts neither need be, and no more can be asked of their quantiles. It is
    false of other forecasts.
    """
    if not isinstance(forecast, Quantiles):
        return False
    levels, values, y = (np.asarray(to_numpy(part), np.float64) for part in (forecast.levels, forecast.values, y))
    low, high = reliability_band(y.shape[0], levels)
    at, below = np.mean(y[:, None] <= values, axis=0), np.mean(y[:, None] < values, axis=0)
    return bool(((low - 1e-12 <= at) & (below <= high + 1e-12)).all())


def interpolated(prediction: Any) -> Any:
    """Quantiles and draws, interpolated linearly; anything else unchanged."""
    if not isinstance(prediction, (Quantiles, Samples)) or prediction.values.shape[1] < 2:
        return prediction
    words = "draws" if isinstance(prediction, Samples) else "quantiles"
    made = prediction.as_quantiles() if isinstance(prediction, Samples) else prediction
    levels, values = (np.asarray(to_numpy(part), np.float64) for part in (made.levels, made.values))
    return InterpolatedForecast(levels, values, words)
