"""The position inside an interval."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array
from calibrant.predictions import Interval
from calibrant.scores.base import LocationScaleScore


@dataclass(frozen=True)
class IntervalScore(LocationScaleScore):
    """phi([l, u], y) = (y - l) / (u - l)."""

    expects = (Interval,)

    def loc_scale(self, prediction: Any) -> tuple[Array, Array]:
        """The lower bound and the width."""
        return prediction.lower, prediction.upper - prediction.lower

    def middle(self, prediction: Any) -> float:
        """Halfway between the bounds."""
        return 0.5
