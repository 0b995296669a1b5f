"""Naive discretisation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calibrant._arrays import Array, concatenate, namespace, ranks
from calibrant.distributions.base import Distribution
from calibrant.distributions.piecewise import PiecewiseLinear
from calibrant.interpolators.base import sorted_scores
from calibrant.interpolators.support import REAL_LINE


@dataclass(frozen=True)
class Naive:
    """q(u) = i / n for u in [u_(i), u_(i+1)): the empirical law of the scores; it has no density.

    >>> Naive().fit([0.0, 1.0, 3.0]).cdf([-1.0, 0.0, 2.0, 3.0])
    array([0.        , 0.33333333, 0.66666667, 1.        ])
    """

    def fit(self, scores: Array, *, support: Any = REAL_LINE, rng: np.random.Generator | None = None) -> Distribution:
        """n equal atoms."""
        del rng
        return steps(sorted_scores(scores, support))

    def accuracy(self, n: int) -> float:
        """1: i / n is at most 1 / (n + 1) above i / (n + 1)."""
        del n
        return 1.0


def steps(scores: Array) -> PiecewiseLinear:
    """The law of n equal atoms at sorted scores: each a knot written twice, with the step from (i - 1)/n to i/n."""
    xp = namespace(scores)
    rank = ranks(scores)
    probs = concatenate([(rank - 1)[:, None], rank[:, None]], axis=1) / scores.shape[0]
    knots = concatenate([scores[:, None], scores[:, None]], axis=1)
    return PiecewiseLinear(xp.reshape(knots, (-1,)), xp.reshape(probs, (-1,)))
