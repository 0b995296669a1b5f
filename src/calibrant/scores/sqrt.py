"""The error in units of the square root of the prediction."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant.predictions import Point
from calibrant.scores.location_scale import LocationScaleScore
from calibrant.scores.offset import Offset


@dataclass(frozen=True)
class SqrtScore(Offset, LocationScaleScore):
    """phi(f, y) = (y - f) / sqrt(f + c): for counts, whose variance grows with their mean.

    The variance of a Poisson count is its mean f; errors of the model add a part that does not grow, about c. With the
    default, c = 0, every prediction must be positive. Where counts may be predicted as 0, c = 1 is a usual choice; c
    has the unit of y, so change both together.

    >>> SqrtScore(c=1.0)([3.0, 99.0], [5.0, 89.0])
    array([ 1., -1.])
    """

    unit_free = False

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and sqrt(f + c)."""
        f = prediction.values
        return f, namespace(f).sqrt(self.positive("f", f))
