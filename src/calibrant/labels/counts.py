"""Labels on a lattice: counts, and prices in steps of 0.05."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._arrays import Array, clip, concatenate, device_like, namespace
from calibrant._search import gather, interpolated
from calibrant._types import Bound, Draws
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.on_lattice import NEAR, check_lattice, off_lattice
from calibrant.distributions.rounding import Lattice, SpreadDistribution
from calibrant.labels.base import Labels, refuse_labels, shown, uniform
from calibrant.predictions import Ensemble, Interval, Point, Prediction, Quantiles, Rates, Samples


def look_like_counts(y: np.ndarray[Any, Any]) -> bool:
    """Whether 50 labels or more are whole numbers from 0 or 1 on, of six values or more, with five rows a value.

    Fewer may be whole by chance, or grades from 1 to 5; prices in whole dollars have more values, and years and the
    ages of adults start elsewhere.

    >>> look_like_counts(np.arange(60.0) % 6), look_like_counts(2020 + np.arange(60.0) % 6)
    (True, False)
    """
    if len(y) < 50 or not 0 <= y.min() <= 1 or not bool(np.all(y == np.floor(y))):
        return False
    return 6 <= len(np.unique(y)) <= len(y) / 5


@dataclass(frozen=True)
class Counts(Labels):
    """Y = lower + step * floor((Y' - lower) / step): whole numbers from 0 on, or the points of another lattice.

    Y' = Y + step * U, U uniform and drawn once for each calibration row by `rng`. So no two labels are equal, and H'(Y
    + step * U) is calibrated by Theorem 1. The distribution of Y follows: P(Y <= k) = H'(k + step). The mass that H'
    has below `lower` goes to `lower`; None is a lattice without an end, such as all whole numbers.

    Forecasts are spread as the labels are: a forecast of Y becomes one of Y + step * U. So a row
    that is nearly always 0 has a forecast as wide as its labels, and its scores are no larger than those of other rows.
    A distribution on the lattice (`Poisson`, `NegativeBinomial` ...) is spread exactly. Any other keeps its shape, and
    has the mean and the variance of Y + step * U. Quantiles and draws are those of the draws plus step * U. A point
    moves by half a step, and an interval [l, u] is [l, u + step].

    >>> from calibrant import Calibrator
    >>> from calibrant.distributions import Poisson
    >>> rng = np.random.default_rng(0)
    >>> rate = rng.uniform(0.5, 5.0, 200)
    >>> calibrated = Calibrator(labels=Counts()).fit(Poisson(rate), rng.poisson(rate), rng=rng)
    >>> calibrated(Poisson([0.5, 5.0])).interval(0.8)
    (array([0., 2.]), array([2., 8.]))
    """

    step: float = 1.0
    lower: float | None = 0.0
    draws = True

    def __post_init__(self) -> None:
        check_lattice(self)

    @property
    def origin(self) -> float:
        """A point of the lattice."""
        return 0.0 if self.lower is None else self.lower

    def check(self, y: Array, bound: Bound = None) -> None:
        """Raise where y is no point of the lattice."""
        bad = off_lattice(y, (self.origin, self.step))
        if self.lower is not None:
            bad = bad | (self._index(y) < 0)
        points = "whole numbers" if (self.step, self.origin) == (1.0, 0.0) else f"steps of {self.step:g}"
        start = "" if self.lower is None else f" from {self.lower:g} on"
        refuse_labels("y", y, bad, f": {self!r} takes {points}{start}")

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """Y + step * U, from the point of the lattice next to each label."""
        return self.origin + self.step * (self._index(y) + uniform(y, rng))

    def _index(self, y: Array) -> Array:
        """The number of the nearest point of the lattice."""
        return namespace(y).round((y - self.origin) / self.step)

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """The prediction of Y + step * U."""
        match prediction:
            case Rates() if self._has((0.0, 1.0)):
                return SpreadDistribution(prediction.distribution())
            case Distribution(lattice=None):
                return self._widened(_located(prediction))
            case Distribution():
                if not self._has(prediction.lattice):
                    raise ValueError(f"{self!r} takes distributions in steps of {self.step:g}, got {prediction!r}")
                return SpreadDistribution(prediction)
            case Point():
                return Point(prediction.values + self.step / 2)
            case Interval():  # Y lies in [l, u] where Y' lies in [l, u + step)
                return replace(prediction, upper=prediction.upper + self.step)
            case Quantiles() | Samples():
                return replace(prediction, values=self._spread_values(prediction.values))
            case Ensemble():
                return Ensemble([self.spread_prediction(member) for member in prediction.members], prediction.weights)
        raise TypeError(
            f"Counts cannot spread a {type(prediction).__name__}: give it a method of its own in a subclass"
        )

    def _has(self, lattice: tuple[float, float] | None) -> bool:
        """Whether a lattice is this one, wherever it starts."""
        return (
            lattice is not None
            and lattice[1] == self.step
            and abs(math.remainder(lattice[0] - self.origin, self.step)) < NEAR * self.step
        )

    def _widened(self, distribution: LocationScale) -> LocationScale:
        """The same shape with the mean m + step / 2 and the variance s^2 + step^2 / 12; as wide as it is if s = inf."""
        mean, std = distribution.mean(), distribution.std()
        xp = namespace(mean)
        with np.errstate(divide="ignore", over="ignore"):
            factor = xp.hypot(xp.ones_like(std), self.step / math.sqrt(12) / std)
        known = xp.isfinite(mean) & xp.isfinite(factor)
        factor = xp.where(known, factor, xp.ones_like(factor))
        off = xp.where(known, mean - distribution.loc, xp.zeros_like(mean))
        loc = distribution.loc + self.step / 2 - (factor - 1) * off
        return replace(distribution, loc=loc, scale=factor * distribution.scale)

    def _spread_values(self, values: Array) -> Array:
        """The quantiles at (k - 1/2) / K of X + step * U, X one of the K values of the row, all equally likely.

        Its CDF is a broken line: it bends where one of the K uniform distributions begins or ends.
        """
        xp, count = namespace(values), values.shape[1]
        bends = concatenate([values, values + self.step], axis=1)
        order = xp.argsort(bends, axis=1)
        bends = gather(bends, order)
        begins = xp.where(order < count, xp.ones_like(bends), -xp.ones_like(bends))
        begun = xp.cumulative_sum(begins, axis=1)[:, :-1]  # and not ended
        rise = xp.cumulative_sum(begun * (bends[:, 1:] - bends[:, :-1]) / self.step, axis=1)
        below = concatenate([xp.zeros_like(rise[:, :1]), rise], axis=1)  # K times the CDF
        level = device_like(np.arange(count) + 0.5, values)[None, :] + 0 * values
        ordered = xp.sort(values, axis=1)  # the quantiles lie within a step of these, whatever rounding does
        return clip(xp.sort(interpolated(level, below, bends), axis=1), ordered, ordered + self.step)

    def collapse(self, distribution: Distribution, *, bound: Bound = None) -> Distribution:
        """P(Y <= y) = P(Y' < y + step)."""
        return Lattice(distribution, self.step, self.lower)

    def judging(self) -> Counts:
        """A forecast off the lattice is judged as it is: P(Y <= k) = F(k + step / 2)."""
        return _NotWidened(self.step, self.lower)

    def __repr__(self) -> str:
        parts = [] if self.step == 1.0 else [f"step={self.step:g}"]
        parts += [] if self.lower == 0.0 else [f"lower={shown(self.lower)}"]
        return f"Counts({', '.join(parts)})"


class _NotWidened(Counts):
    """Counts whose forecasts off the lattice only move by half a step."""

    def _widened(self, distribution: LocationScale) -> LocationScale:
        return replace(distribution, loc=distribution.loc + self.step / 2)

    def _spread_values(self, values: Array) -> Array:
        """Quantiles or draws of a row: equal ones on the lattice spread evenly over the step, others moved by half.

        2 and 2.1 may then change places, within their step: they are sorted again.
        """
        xp = namespace(values)
        order = xp.sort(values, axis=1)
        off = off_lattice(order, (self.origin, self.step))
        return xp.sort(xp.where(off, order + self.step / 2, super()._spread_values(values)), axis=1)


def _located(distribution: Distribution) -> LocationScale:
    """The same as something that can be moved and stretched."""
    if isinstance(distribution, LocationScale):
        return distribution
    zero = device_like(np.zeros(len(distribution)), distribution.like)
    return LocationScale(zero, zero + 1, distribution)
