"""The z-score."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant._arrays import Array, anywhere, first_and_count, namespace
from calibrant._words import in_all
from calibrant.distributions.base import Distribution
from calibrant.scores.default import default_for
from calibrant.scores.floors import Floored
from calibrant.scores.location_scale import LocationScaleScore


@default_for(Distribution)
@dataclass(frozen=True, repr=False)
class ZScore(Floored, LocationScaleScore):
    """phi(F, y) = (y - mean(F)) / max(std(F), floor); see `Floored` for the floor."""

    expects: ClassVar[tuple[type, ...]] = (Distribution,)

    def loc_scale(self, prediction: Distribution) -> tuple[Array, Array]:
        """The mean and the standard deviation."""
        std, mean = self.widths(prediction)
        return mean, self.at_least(std, mean)

    def widths(self, prediction: Distribution) -> tuple[Array, Array]:
        """The standard deviation, near the mean; both must be finite."""
        mean, std = prediction.mean(), prediction.std()
        xp = namespace(mean)
        bad = ~(xp.isfinite(mean) & xp.isfinite(std))
        if anywhere(bad):
            first, count = first_and_count(bad)
            raise ValueError(
                f"ZScore needs a finite mean and std, which row {first} ({in_all(count)}) has not: use CDFScore"
            )
        return std, mean
