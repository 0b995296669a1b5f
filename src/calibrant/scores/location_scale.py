"""Scores that are straight lines in y."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any

from calibrant._arrays import Array, floats, namespace, refuse
from calibrant.predictions import Point
from calibrant.scores.base import TransformScore
from calibrant.scores.transforms import Affine


class LocationScaleScore(TransformScore):
    """phi(f(x), y) = (y - loc) / scale. A new one needs only `loc_scale`; everything about it is exact.

    >>> from calibrant import Point
    >>> class PowerError(LocationScaleScore):
    ...     def loc_scale(self, prediction):
    ...         return prediction.values, abs(prediction.values) ** 0.75
    >>> PowerError()(Point([16.0, 81.0]), [20.0, 54.0])
    array([ 0.5, -1. ])
    """

    _middle = 0.0  # the score of loc

    @abstractmethod
    def loc_scale(self, prediction: Any) -> tuple[Array, Array]:
        """The loc and the positive scale of each row.

        Args:
            prediction: What the model predicts: `Point`, `Interval`, `Quantiles`, `Samples`, a distribution, or an
                array of points.
        """

    def transform(self, prediction: Any) -> Affine:
        """The straight lines (y - loc) / scale."""
        name, (loc, scale) = type(self).__name__, self.loc_scale(prediction)
        loc = floats(f"the loc of {name}", loc, like=prediction.like)
        scale = self.wide_enough(floats(f"the scale of {name}", scale, like=prediction.like), loc)
        xp, rows = namespace(loc), (len(prediction),)
        return Affine(*(part if part.shape == rows else xp.broadcast_to(part, rows) for part in (loc, scale)))

    def wide_enough(self, width: Array, centre: Array) -> Array:
        """The scale as it is: without a floor it must be positive.

        Args:
            width: The width of each row's prediction.
            centre: A value near which each width lies, one per row.
        """
        del centre
        refuse(f"the scale of {type(self).__name__}", ~(width > 0), "is not positive")
        return width


@dataclass(frozen=True)
class ResidualScore(LocationScaleScore, default_for=Point):
    """phi(f, y) = y - f."""

    unit_free = False

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and 1, which is stored once for all rows."""
        f = prediction.values
        return f, namespace(f).ones_like(f[:1])
