"""The relative error."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from calibrant._arrays import Array, namespace
from calibrant.predictions import Point
from calibrant.scores.floors import Floored
from calibrant.scores.location_scale import LocationScaleScore


@dataclass(frozen=True, repr=False)
class RelativeScore(Floored, LocationScaleScore):
    """phi(f, y) = (y - f) / max(|f|, floor): the error in shares of the prediction; see `Floored` for the floor.

    For labels that miss by a percentage, of either sign. A prediction of 0 has no relative error, and one near 0 a huge
    one: where predictions cross 0, pass a floor, the size below which errors no longer shrink with f.

    >>> RelativeScore()([10.0, -20.0], [11.0, -15.0])
    array([0.1 , 0.25])
    """

    expects: ClassVar[tuple[type, ...]] = (Point,)

    def widths(self, prediction: Point) -> tuple[Array, Array]:
        """|f|, near f."""
        f = prediction.values
        return namespace(f).abs(f), f

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and |f|."""
        size, f = self.widths(prediction)
        return f, self.at_least(size, f)
