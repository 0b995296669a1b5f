"""Where scores can lie, and so what fills the gaps between them and the space beyond them."""

from __future__ import annotations

from typing import Any, Protocol

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.interpolators.support.line import Line
from calibrant.interpolators.tails import Tails


class Support(Protocol):
    """Where scores can lie: `Line`, or `Logits` of numbers in (0, 1)."""

    def through(self, scores: Array, probs: Array, tails: Tails) -> Distribution:
        """The law whose CDF takes these values at sorted scores, the mass of each gap spread evenly over it."""

    def check(self, scores: Array) -> None:
        """Raise if a score lies outside."""

    def bounded(self, q: Distribution) -> Distribution:
        """A law that was fitted without regard to the support, held inside it."""


REAL_LINE = Line()


def as_support(value: Any) -> Support:
    """A support as it is; a pair (lower, upper) as a part of the line."""
    if isinstance(value, tuple):
        lower, upper = (float(bound) for bound in value)
        if not lower < upper:
            raise ValueError(f"support needs lower < upper, got {value}")
        return Line(lower, upper)
    return value  # type: ignore[no-any-return]
