"""Where scores can lie, and so what fills the gaps between them and the space beyond them."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Protocol

from calibrant._arrays import Array, complain, concatenate, device_like, namespace
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.interpolators.tails import Tails


class Support(Protocol):
    """Where scores can lie."""

    def linear(self, scores: Array, tails: Tails) -> Distribution:
        """The law with mass 1/(n + 1) spread evenly over each gap between n sorted scores."""

    def check(self, scores: Array) -> None:
        """Raise if a score lies outside."""

    def bounded(self, q: Distribution) -> Distribution:
        """A law that was fitted without regard to the support, held inside it."""


@dataclass(frozen=True)
class Line:
    """The scores lie in (lower, upper); the gaps fill evenly in the score itself, a bound takes the place of a tail."""

    lower: float = -math.inf
    upper: float = math.inf

    def linear(self, scores: Array, tails: Tails) -> Distribution:
        """Piecewise linear through (u_(i), i / (n + 1)), not i / n: the test score is the (n + 1)-th of equals."""
        knots, probs = scores, ranks(scores) / (scores.shape[0] + 1)
        lower, upper, left, right = self.lower, self.upper, 0.0, 0.0
        if math.isinf(lower) or math.isinf(upper):
            fitted = tails.fit(scores)
            lower, upper = max(lower, fitted.lower), min(upper, fitted.upper)
            left, right = fitted.left, fitted.right
        if math.isfinite(lower):
            knots, probs = _prepend(knots, lower), _prepend(probs, 0.0)
        if math.isfinite(upper):
            knots, probs = _append(knots, upper), _append(probs, 1.0)
        return PiecewiseLinear(knots, probs, left, right)

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


@dataclass(frozen=True)
class Logits:
    """The scores are logits of numbers u in (0, 1); the gaps fill evenly in u, and no tail is left beyond them."""

    def linear(self, scores: Array, tails: Tails) -> Distribution:
        """Piecewise linear in u through (0, 0), (u_(i), i / (n + 1)) and (1, 1)."""
        del tails  # u = 0 and u = 1 are the ends
        return LogisticLinear(scores, ranks(scores) / (scores.shape[0] + 1))

    def check(self, scores: Array) -> None:
        """Every finite logit lies inside."""

    def bounded(self, q: Distribution) -> Distribution:
        """The law itself: every logit lies inside."""
        return q


LARGEST = 1e150  # the law of larger scores would have no second moment in floats

REAL_LINE = Line()


def as_support(value: Any) -> Support:
    """A support as it is; a pair (lower, upper) as a part of the line."""
    if isinstance(value, tuple):
        lower, upper = (float(bound) for bound in value)
        if not lower < upper:
            raise ValueError(f"support needs lower < upper, got {value}")
        return Line(lower, upper)
    return value  # type: ignore[no-any-return]


def ranks(scores: Array) -> Array:
    """1, ..., n beside the scores."""
    xp = namespace(scores)
    return device_like(xp.arange(1, scores.shape[0] + 1), scores)


def _prepend(array: Array, value: float) -> Array:
    return concatenate([device_like([value], array), array])


def _append(array: Array, value: float) -> Array:
    return concatenate([array, device_like([value], array)])
