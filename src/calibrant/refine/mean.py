"""The mean of several refinements, quantile by quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement, Refiner, TrainingRows
from calibrant.refine.boosting import ResidualQuantiles
from calibrant.refine.forest import Forest, ForestDistribution
from calibrant.refine.levels import LEVELS, at_levels
from calibrant.refine.location_scale import LocationScaleRefinement, ResidualLocationScale
from calibrant.refine.spread import Spread

FEWEST_ROWS, FEWEST_GROUPS = 100, 6
"""Fewer teach too little: the prediction then keeps its own spread, shrunk."""


@dataclass(frozen=True)
class Cascade(Refiner):
    """The local distribution of the scores (y - location) / scale that `ResidualLocationScale` leaves, out of fold."""

    first: ResidualLocationScale = field(default_factory=ResidualLocationScale)
    then: Forest = field(default_factory=Forest)

    def __post_init__(self) -> None:
        for name, kind in (("first", ResidualLocationScale), ("then", Forest)):
            if not isinstance(getattr(self, name), kind):
                raise TypeError(f"Cascade.{name} must be a {kind.__name__}, got {getattr(self, name)!r}")

    def fit(self, rows: TrainingRows) -> CascadeRefinement:
        """First the location and the scale, then the distribution of the scores."""
        first, sample, scores = self.first.with_scores(rows)
        return CascadeRefinement(first, self.then.distribution(sample, scores))


@dataclass(frozen=True)
class CascadeRefinement:
    """(X, prediction) -> Quantiles."""

    first: LocationScaleRefinement
    distribution: ForestDistribution

    def __call__(self, X: Any, prediction: Any) -> Quantiles:
        """location + scale * quantiles of the score."""
        matrix = self.first.features(X, prediction)
        location, scale = self.first.loc_scale(matrix)
        scores = self.distribution.quantiles(matrix)
        return Quantiles(LEVELS, location[:, None] + scale[:, None] * scores)


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
        return MeanRefinement(tuple(member.fit(rows) for member in self.members))


def teaches_a_mean(rows: int, units: int) -> bool:
    """Whether so many rows, of so many groups, are enough for the members of `Mean`."""
    return rows >= FEWEST_ROWS and units >= FEWEST_GROUPS


@dataclass(frozen=True)
class MeanRefinement:
    """(X, prediction) -> Quantiles."""

    members: tuple[Refinement, ...]

    def __call__(self, X: Any, prediction: Any) -> Quantiles:
        """The mean of the members' quantiles."""
        each = [at_levels(member(X, prediction)) for member in self.members]
        return Quantiles(LEVELS, np.sort(sum(each[1:], each[0]) / len(each), axis=1))
