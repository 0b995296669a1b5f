"""Labels on a lattice: counts, and prices in steps of 0.05."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calibrant._arguments import generator, one_number
from calibrant._arrays import Array, anywhere, clip, concatenate, device_like, first_and_count, namespace
from calibrant._search import count_up_to, gather
from calibrant._types import Bound, Draws
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.distributions.location_scale import LocationScale
from calibrant.distributions.on_lattice import NEAR, off_lattice
from calibrant.distributions.rounding import Lattice, SpreadLaw
from calibrant.labels.base import Labels
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Rates, Samples
from calibrant.predictions.base import Prediction


@dataclass(frozen=True)
class Counts(Labels):
    """Y = lower + step * floor((Y' - lower) / step): whole numbers from 0 on, or the points of another lattice.

    Y' = Y + step * U, U uniform and drawn once for each calibration row by `rng`. So no two labels are equal, and
    H'(Y + step * U) is calibrated by Theorem 1. The law of Y follows: P(Y <= k) = H'(k + step). The mass that H' has
    below `lower` goes to `lower`; None is a lattice without an end, such as all whole numbers.

    Forecasts are spread as the labels are: what a forecast says of Y becomes what it says of Y + step * U. So a row
    that is nearly always 0 has a forecast as wide as its labels, and its scores are no larger than those of other rows.
    A law on the lattice (`Poisson`, `NegativeBinomial` ...) is spread exactly. Any other law keeps its shape, and has
    the mean and the variance of Y + step * U. Quantiles and draws are those of the draws plus step * U. A point moves
    by half a step, and an interval [l, u] is [l, u + step].

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

    def __post_init__(self) -> None:
        step = one_number("Counts.step", self.step)
        if not 0 < step < math.inf:
            raise ValueError(f"Counts.step must be positive and finite, got {self.step!r}")
        object.__setattr__(self, "step", step)
        if self.lower is not None:
            lower = one_number("Counts.lower", self.lower)
            if not math.isfinite(lower):
                raise ValueError(f"Counts.lower must be a finite number or None, got {self.lower!r}")
            object.__setattr__(self, "lower", lower)

    @property
    def origin(self) -> float:
        """A point of the lattice."""
        return 0.0 if self.lower is None else self.lower

    @property
    def draws(self) -> bool:
        """A place within the step of each label."""
        return True

    @property
    def widens(self) -> bool:
        """A forecast of one count is spread over its step."""
        return True

    def check(self, y: Array, bound: Bound = None) -> None:
        """Raise where y is no point of the lattice."""
        del bound
        bad = off_lattice(y, self.origin, self.step)
        if self.lower is not None:
            bad = bad | (namespace(y).round((y - self.origin) / self.step) < 0)
        if anywhere(bad):
            row, count = first_and_count(bad)
            wanted = "whole numbers" if (self.step, self.origin) == (1.0, 0.0) else f"steps of {self.step:g}"
            start = "" if self.lower is None else f" from {self.lower:g} on"
            raise ValueError(f"y is {float(y[row]):.6g} in row {row} ({in_all(count)}): {self!r} takes {wanted}{start}")

    def spread(self, y: Array, prediction: Any, *, bound: Bound = None, rng: Draws = None) -> Array:
        """Y + step * U, U just inside (0, 1)."""
        del prediction, bound
        xp = namespace(y)
        y = self.snapped(y)
        margin = 16 * float(xp.finfo(y.dtype).eps)
        u = np.clip(generator(rng).random(y.shape[0]), margin, 1 - margin)
        return y + self.step * device_like(u, y)

    def snapped(self, y: Array) -> Array:
        """The point of the lattice beside each label."""
        return self.origin + self.step * namespace(y).round((y - self.origin) / self.step)

    def spread_prediction(self, prediction: Any, *, bound: Bound = None) -> Prediction | Distribution:
        """What the prediction says of Y + step * U."""
        del bound
        if isinstance(prediction, Rates) and self._has((0.0, 1.0)):
            return SpreadLaw(prediction.law())
        if isinstance(prediction, Distribution):
            return self._spread_law(prediction)
        if isinstance(prediction, Point):
            return Point(prediction.values + self.step / 2)
        if isinstance(prediction, Interval):  # Y lies in [l, u] where Y' lies in [l, u + step)
            return replace(prediction, upper=prediction.upper + self.step)
        if isinstance(prediction, (Quantiles, Samples)):
            return replace(prediction, values=self._spread_values(prediction.values))
        if isinstance(prediction, Ensemble):
            return Ensemble([self.spread_prediction(member) for member in prediction.members], prediction.weights)
        raise TypeError(
            f"Counts cannot spread a {type(prediction).__name__}: give it a method of its own in a subclass"
        )

    def _has(self, lattice: tuple[float, float]) -> bool:
        """Whether a lattice is this one, wherever it starts."""
        return lattice[1] == self.step and abs(math.remainder(lattice[0] - self.origin, self.step)) < NEAR * self.step

    def _spread_law(self, law: Distribution) -> Distribution:
        if law.lattice is not None:
            if not self._has(law.lattice):
                raise ValueError(f"{self!r} takes laws in steps of {self.step:g}, got {law!r}")
            return SpreadLaw(law)
        if not isinstance(law, LocationScale):
            one = namespace(law.like).ones_like(device_like(np.zeros(len(law)), law.like))
            law = LocationScale(0 * one, one, law)
        return self._widened(law)

    def _widened(self, law: LocationScale) -> LocationScale:
        """The same shape with the mean m + step / 2 and the variance s^2 + step^2 / 12; as wide as it is if s = inf."""
        mean, std = law.mean(), law.std()
        xp = namespace(mean)
        with np.errstate(divide="ignore", over="ignore"):
            factor = xp.hypot(xp.ones_like(std), self.step / math.sqrt(12) / std)
        known = xp.isfinite(mean) & xp.isfinite(factor)
        factor = xp.where(known, factor, xp.ones_like(factor))
        off = xp.where(known, mean - law.loc, xp.zeros_like(mean))
        return replace(law, loc=law.loc + self.step / 2 - (factor - 1) * off, scale=factor * law.scale)

    def _spread_values(self, values: Array) -> Array:
        """The quantiles at (k - 1/2) / K of X + step * U, X one of the K values of the row, all equally likely.

        Its CDF is a broken line: it bends where one of the K uniform laws begins or ends.
        """
        xp, count = namespace(values), values.shape[1]
        bends = concatenate([values, values + self.step], axis=1)
        order = xp.argsort(bends, axis=1)
        bends = gather(bends, order)
        change = xp.where(order < count, xp.ones_like(bends), -xp.ones_like(bends))
        open_ = xp.cumulative_sum(change, axis=1)[:, :-1]  # how many of the laws have begun and not ended
        gaps = bends[:, 1:] - bends[:, :-1]
        rise = xp.cumulative_sum(open_ * gaps / self.step, axis=1)
        below = concatenate([xp.zeros_like(rise[:, :1]), rise], axis=1)  # K times the CDF
        level = device_like(np.arange(count) + 0.5, values)[None, :] + 0 * values
        after = clip(count_up_to(below, level), 1, 2 * count - 1)
        low, high = gather(below, after - 1), gather(below, after)
        span = xp.where(high > low, high - low, xp.ones_like(low))
        share = clip((level - low) / span, 0.0, 1.0)
        left = gather(bends, after - 1)
        found = xp.sort(left + share * (gather(bends, after) - left), axis=1)
        ordered = xp.sort(values, axis=1)  # which the quantiles lie within a step of, whatever rounding does
        return xp.minimum(xp.maximum(found, ordered), ordered + self.step)

    def collapse(self, law: Distribution, *, bound: Bound = None) -> Distribution:
        """P(Y <= y) = P(Y' < y + step)."""
        del bound
        return Lattice(law, self.step, self.lower)

    def judging(self) -> Counts:
        """A forecast off the lattice is judged as it stands: P(Y <= k) = F(k + step / 2)."""
        return _AsItStands(self.step, self.lower)

    def __repr__(self) -> str:
        parts = [] if self.step == 1.0 else [f"step={self.step:g}"]
        parts += [] if self.lower == 0.0 else [f"lower={self.lower if self.lower is None else format(self.lower, 'g')}"]
        return f"Counts({', '.join(parts)})"


class _AsItStands(Counts):
    """Counts whose forecasts off the lattice only move by half a step."""

    def _widened(self, law: LocationScale) -> LocationScale:
        return replace(law, loc=law.loc + self.step / 2)

    def _spread_values(self, values: Array) -> Array:
        """Quantiles or draws of a row: equal ones on the lattice spread evenly over the step, others moved by half.

        2 and 2.1 may change places so, within their step: they are sorted again.
        """
        xp = namespace(values)
        order = xp.sort(values, axis=1)
        count = values.shape[1]
        up_to = count_up_to(order, order)
        below = count - count_up_to(xp.flip(-order, axis=1), -order)
        rank = xp.arange(count, device=up_to.device) if hasattr(up_to, "device") else np.arange(count)
        share = xp.astype(2 * (rank - below) + 1, values.dtype) / xp.astype(2 * (up_to - below), values.dtype)
        x = (order - self.origin) / self.step
        on = xp.abs(x - xp.round(x)) <= NEAR
        return xp.sort(order + self.step * xp.where(on, share, xp.full_like(share, 0.5)), axis=1)
