"""The mean of several refinements, quantile by quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np

from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement, Refiner, TrainingRows
from calibrant.refine.boosting import LocationScaleRefinement, ResidualLocationScale, ResidualQuantiles
from calibrant.refine.forest import Forest, ForestDistribution
from calibrant.refine.spread import Spread
from calibrant.refine.stack import LEVELS, at_levels

FEWEST_ROWS, FEWEST_GROUPS = 100, 6
"""Fewer teach too little: the prediction then keeps its own spread, shrunk."""


@dataclass(frozen=True)
class Cascade(Refiner):
    """The local distribution of the scores (y - location) / scale that `ResidualLocationScale` leaves, out of fold."""

    def fit(self, rows: TrainingRows) -> Refinement:
        """First the location and the scale, then the distribution of the scores."""
        first, sample, scores = ResidualLocationScale().with_scores(rows)
        return partial(_in_cascade, first=first, distribution=Forest().distribution(sample, scores))


def _in_cascade(X: Any, prediction: Any, first: LocationScaleRefinement, distribution: ForestDistribution) -> Quantiles:
    """location + scale * quantiles of the score."""
    matrix = first.features(X, prediction)
    location, scale = first.loc_scale(matrix)
    return Quantiles(LEVELS, location[:, None] + scale[:, None] * distribution.quantiles(matrix))


@dataclass(frozen=True)
class Mean(Refiner):
    """The mean of the quantiles of several refiners at 25 levels: their errors partly cancel.

    With fewer than 100 rows, or 6 groups, it does what `Spread` does: a point stays as it is.
    """

    members: Sequence[Refiner] = (Cascade(), ResidualQuantiles())

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        if not self.members or not all(isinstance(member, Refiner) for member in self.members):
            raise TypeError(f"Mean.members must be refiners, at least one, got {self.members!r}")

    def fit(self, rows: TrainingRows) -> Refinement:
        """Each member by itself."""
        if not teaches_a_mean(len(rows), rows.units):
            return Spread().fit(rows)
        return partial(_mean, members=[member.fit(rows) for member in self.members])


def teaches_a_mean(rows: int, units: int) -> bool:
    """Whether so many rows, of so many groups, are enough for the members of `Mean`."""
    return rows >= FEWEST_ROWS and units >= FEWEST_GROUPS


def _mean(X: Any, prediction: Any, members: Sequence[Refinement]) -> Quantiles:
    """The mean of the members' quantiles."""
    each = [at_levels(member(X, prediction)) for member in members]
    return Quantiles(LEVELS, np.sort(sum(each[1:], each[0]) / len(each), axis=1))
