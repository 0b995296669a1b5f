"""The mean of several refinements, quantile by quantile."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from scipy.special import ndtri

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement, Refiner
from calibrant.refine.forest import LEVELS, Forest, ForestDistribution
from calibrant.refine.location_scale import LocationScaleRefinement, ResidualLocationScale
from calibrant.refine.quantiles import ResidualQuantiles
from calibrant.refine.rows import TrainingRows


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
        return rows.once(self, lambda: self._learned(rows))

    def _learned(self, rows: TrainingRows) -> CascadeRefinement:
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
        location, scale = self.first.at(matrix)
        scores = self.distribution.quantiles(matrix)
        return Quantiles(LEVELS, location[:, None] + scale[:, None] * scores)


@dataclass(frozen=True)
class Mean(Refiner):
    """The mean of the quantiles of several refiners at 25 levels: their errors partly cancel."""

    members: Sequence[Refiner] = (Cascade(), ResidualQuantiles())

    def __post_init__(self) -> None:
        object.__setattr__(self, "members", tuple(self.members))
        if not self.members or not all(isinstance(member, Refiner) for member in self.members):
            raise TypeError(f"Mean.members must be refiners, at least one, got {self.members!r}")

    def fit(self, rows: TrainingRows) -> MeanRefinement:
        """Each member by itself."""
        return MeanRefinement(tuple(member.fit(rows) for member in self.members))


@dataclass(frozen=True)
class MeanRefinement:
    """(X, prediction) -> Quantiles."""

    members: tuple[Refinement, ...]

    def __call__(self, X: Any, prediction: Any) -> Quantiles:
        """The mean of the members' quantiles."""
        each = [_at_levels(member(X, prediction)) for member in self.members]
        return Quantiles(LEVELS, np.sort(sum(each[1:], each[0]) / len(each), axis=1))


def _at_levels(prediction: Any) -> Any:
    """The quantiles at `LEVELS`; those of a `Quantiles` lie on straight lines in the normal score."""
    if isinstance(prediction, Distribution):
        return to_numpy(prediction.quantiles(LEVELS))
    if not isinstance(prediction, Quantiles):
        raise TypeError(f"a mean is taken of distributions and quantiles, got {prediction!r}")
    values = to_numpy(prediction.values)
    if prediction.quantile_levels() == LEVELS:
        return values
    if values.shape[1] == 1:
        raise TypeError(f"a mean needs quantiles at two levels or more, got {prediction!r}")
    own, asked = ndtri(to_numpy(prediction.levels)), ndtri(np.asarray(LEVELS))
    left = np.clip(np.searchsorted(own, asked, side="right") - 1, 0, len(own) - 2)
    share = (asked - own[left]) / (own[left + 1] - own[left])
    return values[:, left] * (1 - share) + values[:, left + 1] * share
