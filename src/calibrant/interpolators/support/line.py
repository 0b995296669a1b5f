"""Scores on the line, or on a part of it."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arrays import Array, complain, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.interpolators.tails import Tails

LARGEST = 1e150
"""The law of larger scores would have no second moment in floats."""


@dataclass(frozen=True)
class Line:
    """The scores lie in (lower, upper); the gaps fill evenly in the score itself, a bound takes the place of a tail."""

    lower: float = -math.inf
    upper: float = math.inf

    def through(self, scores: Array, probs: Array, tails: Tails) -> Distribution:
        """Piecewise linear through (u_(i), p_i); a bound, or else a tail, ends it."""
        knots = scores
        lower, upper, left, right = self.lower, self.upper, 0.0, 0.0
        if math.isinf(lower) or math.isinf(upper):
            ends = tails.fit(scores)
            lower, upper = max(lower, ends.lower), min(upper, ends.upper)
            left, right = ends.left, ends.right
        if math.isfinite(lower):
            knots, probs = _prepend(knots, lower), _prepend(probs, 0.0)
        if math.isfinite(upper):
            knots, probs = _append(knots, upper), _append(probs, 1.0)
        return PiecewiseLinear.through(knots, probs, left, right)

    def check(self, scores: Array) -> None:
        """Raise if a score lies outside."""
        xp = namespace(scores)
        largest = min(LARGEST, float(xp.finfo(scores.dtype).max) / 4)
        large = xp.abs(scores) > largest
        if bool(xp.any(large)):
            complain("scores", large, f"is larger than {largest:g}, too large to square,")
        outside = (scores < self.lower) | (scores > self.upper)
        if bool(xp.any(outside)):
            complain("scores", outside, f"lies outside the support ({self.lower:g}, {self.upper:g})")

    def bounded(self, q: Distribution) -> Distribution:
        """The mass beyond a bound sits on the bound."""
        return q if math.isinf(self.lower) and math.isinf(self.upper) else q.clip(self.lower, self.upper)


def _prepend(array: Array, value: float) -> Array:
    return concatenate([device_like([value], array), array])


def _append(array: Array, value: float) -> Array:
    return concatenate([array, device_like([value], array)])
