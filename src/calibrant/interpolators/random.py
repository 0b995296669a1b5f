"""Random interpolation."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arguments import check_has
from calibrant._arrays import Array, Rng
from calibrant.distributions.base import Distribution
from calibrant.distributions.randomised import Randomised
from calibrant.interpolators.base import Interpolator
from calibrant.interpolators.naive import steps
from calibrant.interpolators.support import REAL_LINE, BoundedTails, ExponentialTails, InfiniteTails, Line, Support
from calibrant.interpolators.weights import Weights, in_order


@dataclass(frozen=True)
class Random(Interpolator):
    """q(u) = (#{s_i < u} + U (1 + #{s_i = u})) / (n + 1), one uniform U per row: exactly calibrated, ties included.

    The mass that belongs to no score sits at -inf and +inf, or with `BoundedTails` at two end points.
    """

    tails: InfiniteTails | BoundedTails = InfiniteTails()

    def __post_init__(self) -> None:
        check_has("Random.tails", self.tails, "fit", "tails such as BoundedTails()")
        if isinstance(self.tails, ExponentialTails):
            raise TypeError(
                "Random puts the mass beyond the scores on single points: use InfiniteTails or BoundedTails"
            )

    def fit(
        self, scores: Array, *, weights: Weights = None, support: Support = REAL_LINE, rng: Rng = None
    ) -> Distribution:
        """n atoms and two ends; the uniforms are drawn when a prediction is made."""
        known = in_order(scores, weights, support)
        ends, line = self.tails.fit(known.scores), known.support if isinstance(known.support, Line) else REAL_LINE
        lower, upper = max(line.lower, ends.lower), min(line.upper, ends.upper)
        return Randomised(steps(known), lower, upper, known.total, known.unit)

    def accuracy(self, n: int) -> float:
        """-1: the uniform makes up for the rank that (1 + lambda) / (n + 1) allows for, and epsilon is 0."""
        return -1.0
