"""One after the other: a location and a scale, then the local distribution of what is left."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from calibrant.predictions import Quantiles
from calibrant.refine.base import Refiner
from calibrant.refine.forest import LEVELS, Local, LocalDistribution
from calibrant.refine.location_scale import LocationScaleRefinement, ResidualLocationScale
from calibrant.refine.rows import TrainingRows


@dataclass(frozen=True)
class Cascade(Refiner):
    """The local distribution of the scores (y - location) / scale that `ResidualLocationScale` leaves, out of fold."""

    first: ResidualLocationScale = field(default_factory=ResidualLocationScale)
    then: Local = field(default_factory=Local)

    def __post_init__(self) -> None:
        for name, kind in (("first", ResidualLocationScale), ("then", Local)):
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
    distribution: LocalDistribution

    def __call__(self, X: Any, prediction: Any) -> Quantiles:
        """location + scale * quantiles of the score."""
        matrix = self.first.features(X, prediction)
        location, scale = self.first.at(matrix)
        scores = self.distribution.quantiles(matrix)
        return Quantiles(LEVELS, location[:, None] + scale[:, None] * scores)
