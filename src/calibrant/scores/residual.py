"""The residual."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant._arrays import Array, namespace
from calibrant.predictions import Point
from calibrant.scores.default import default_for
from calibrant.scores.location_scale import LocationScaleScore


@default_for(Point)
@dataclass(frozen=True)
class ResidualScore(LocationScaleScore):
    """phi(f, y) = y - f."""

    expects: ClassVar[tuple[type, ...]] = (Point,)
    unit_free = False

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and 1, which is stored once for all rows."""
        f = prediction.values
        return f, namespace(f).ones_like(f[:1])
