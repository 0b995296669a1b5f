"""The position inside an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant._arrays import Array
from calibrant.predictions import Interval
from calibrant.scores.default import default_for
from calibrant.scores.floors import Floored
from calibrant.scores.location_scale import LocationScaleScore


@default_for(Interval)
@dataclass(frozen=True, repr=False)
class IntervalScore(Floored, LocationScaleScore):
    """phi([l, u], y) = (y - l) / max(u - l, floor); see `Floored` for the floor."""

    expects: ClassVar[tuple[type, ...]] = (Interval,)

    def widths(self, prediction: Interval) -> tuple[Array, Array]:
        """u - l, near l."""
        return prediction.upper - prediction.lower, prediction.lower

    def loc_scale(self, prediction: Interval) -> tuple[Array, Array]:
        """The lower bound and the width."""
        width, lower = self.widths(prediction)
        return lower, self.at_least(width, lower)

    def middle(self, prediction: Interval) -> float:
        """Halfway between the bounds."""
        return 0.5
