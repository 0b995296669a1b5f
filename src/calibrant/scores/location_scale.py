"""Scores that are straight lines in y."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant._arrays import Array, floats, namespace, refuse
from calibrant.predictions import Point
from calibrant.scores.base import TransformScore, default_for
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
        """The loc and the positive scale of each row."""

    def transform(self, prediction: Any) -> Affine:
        """The straight lines (y - loc) / scale."""
        name = type(self).__name__
        pair = zip(("loc", "scale"), self.loc_scale(prediction), strict=True)
        loc, scale = (floats(f"the {what} of {name}", value, like=prediction.like) for what, value in pair)
        refuse(f"the scale of {name}", ~(scale > 0), "is not positive")
        rows = (len(prediction),)
        return Affine(*(v if v.shape == rows else namespace(v).broadcast_to(v, rows) for v in (loc, scale)))


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
