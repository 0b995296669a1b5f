"""Scores that are logits."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.interpolators.tails import Tails


@dataclass(frozen=True)
class Logits:
    """The scores are logits of numbers u in (0, 1); the gaps fill evenly in u, and no tail is left beyond them."""

    def through(self, scores: Array, probs: Array, tails: Tails) -> Distribution:
        """Piecewise linear in u through (0, 0), (u_(i), p_i) and (1, 1)."""
        del tails  # u = 0 and u = 1 are the ends
        return LogisticLinear(scores, probs)

    def check(self, scores: Array) -> None:
        """Every finite logit lies inside."""

    def bounded(self, q: Distribution) -> Distribution:
        """The law itself: every logit lies inside."""
        return q
