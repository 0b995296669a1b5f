"""Naive discretisation and random interpolation: all mass lies on the scores."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from calibrant._arguments import check_has
from calibrant._arrays import concatenate, device_like, namespace, ranks
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise_linear import PiecewiseLinear
from calibrant.distributions.randomised import Randomised
from calibrant.interpolators.support import REAL_LINE, BoundedTails, ExponentialTails, InfiniteTails, Line
from calibrant.interpolators.weights import InOrder, OfOrdered


@dataclass(frozen=True)
class Naive(OfOrdered):
    """q(u) = i / n for u in [u_(i), u_(i+1)): the empirical distribution of the scores; it has no density.

    >>> Naive().fit([0.0, 1.0, 3.0]).cdf([-1.0, 0.0, 2.0, 3.0])
    array([0.        , 0.33333333, 0.66666667, 1.        ])
    """

    def through(self, known: InOrder) -> Distribution:
        """n atoms, equal if they have no weights."""
        return known.by_row(steps(known), 0.0, 1.0)  # it has no tails

    def accuracy(self, n: int) -> float:
        """1: i / n is at most 1 / (n + 1) above i / (n + 1)."""
        return 1.0


@dataclass(frozen=True)
class Random(OfOrdered):
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

    def through(self, known: InOrder) -> Distribution:
        """n atoms and two ends; the uniforms are drawn when a prediction is made."""
        ends, line = self.tails.fit(known.scores), known.support if isinstance(known.support, Line) else REAL_LINE
        lower, upper = max(line.lower, ends.lower), min(line.upper, ends.upper)
        return Randomised(steps(known), lower, upper, known.total, known.unit)

    def accuracy(self, n: int) -> float:
        """-1: the uniform makes up for the rank that (1 + lambda) / (n + 1) allows for, and epsilon is 0."""
        return -1.0


def steps(known: InOrder) -> PiecewiseLinear:
    """n atoms at sorted scores: each a knot written twice, with the step from (i - 1)/n to i/n."""
    scores, xp = known.scores, namespace(known.scores)
    upper = ranks(scores) if known.weights is None else device_like(np.cumsum(known.weights), scores)
    lower = concatenate([0 * upper[:1], upper[:-1]])
    probs, knots = xp.stack([lower, upper], axis=1) / known.total, xp.stack([scores, scores], axis=1)
    return PiecewiseLinear.through(xp.reshape(knots, (-1,)), xp.reshape(probs, (-1,)))
