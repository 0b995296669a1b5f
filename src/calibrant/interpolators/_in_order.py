"""The door for scores and their weights: checked, in increasing order, with their levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from array_api_compat import device

from calibrant._arguments import same_length
from calibrant._arrays import Array, device_like, floats, namespace, ranks, to_numpy
from calibrant.distributions.base import Distribution
from calibrant.interpolators.support import as_support
from calibrant.interpolators.weights import CalibrationWeights, Numbers, as_weights


@dataclass(frozen=True, eq=False)
class InOrder:
    """n scores in increasing order; if weighted, those of positive weight, in the unit of `CalibrationWeights`."""

    scores: Array
    weights: Numbers | None = None
    kind: CalibrationWeights | None = None

    @property
    def total(self) -> float:
        """N: the number of scores, or of equal ones that the weighted ones are worth; what is missing counts too."""
        if self.weights is None or self.kind is None:
            return float(self.scores.shape[0])
        return float(np.cumsum(self.weights)[-1]) / (1 - self.kind.missing)  # as `levels` sums, so that none is above 1

    def levels(self, moved: float = 0.0) -> Array:
        """i / (n + 1), not i / n: the test score is the (n + 1)-th. Of each weight, half lies on each side.

        `moved` by a number of ranks, if so asked.
        """
        if self.weights is None:
            return (ranks(self.scores) + moved) / (self.scores.shape[0] + 1)
        below = np.cumsum(self.weights) - self.weights / 2
        return device_like((below + 0.5 + moved) / (self.total + 1), self.scores)

    def law(self, q: Distribution, low: float, high: float) -> Distribution:
        """q; or, where rows have laws of their own, what gives each row its law."""
        return q if self.kind is None else self.kind.law(q, self.total, low, high)


def in_order(scores: Any, weights: Any, support: Any) -> InOrder:
    """The scores in increasing order, finite, at least one, inside the support; and their weights, if any."""
    scores = floats("scores", scores, ndim=1)
    if scores.shape[0] == 0:
        raise ValueError("calibration needs at least one score, got none")
    as_support(support).check(scores)
    xp = namespace(scores)
    if weights is None:
        return InOrder(xp.sort(scores))
    kind = as_weights(weights)
    same_length("scores", scores.shape[0], "weights", len(kind))
    order = np.lexsort((kind.values, to_numpy(scores)))  # ties by weight, so that the order of the rows does not count
    order = order[kind.values[order] > 0]  # a score without weight says nothing
    return InOrder(xp.take(scores, xp.asarray(order, device=device(scores))), kind.in_units[order], kind)
