"""Scores that are straight lines in y."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from calibrant._arrays import Array, floats, namespace, refuse
from calibrant.scores.base import ChartScore
from calibrant.scores.charts.affine import Affine


class LocationScaleScore(ChartScore):
    """phi(f(x), y) = (y - loc) / scale. A new one needs only `loc_scale`; everything about it is exact.

    >>> from calibrant import Point
    >>> class PowerError(LocationScaleScore):
    ...     def loc_scale(self, prediction):
    ...         return prediction.values, abs(prediction.values) ** 0.75
    >>> PowerError()(Point([16.0, 81.0]), [20.0, 54.0])
    array([ 0.5, -1. ])
    """

    def middle(self, prediction: Any) -> float:
        """0, the score of loc."""
        return 0.0

    @abstractmethod
    def loc_scale(self, prediction: Any) -> tuple[Array, Array]:
        """The loc and the positive scale of each row."""

    def chart(self, prediction: Any) -> Affine:
        """The straight lines (y - loc) / scale."""
        name = type(self).__name__
        pair = zip(("loc", "scale"), self.loc_scale(prediction), strict=True)
        loc, scale = (floats(f"the {what} of {name}", value, like=prediction.like) for what, value in pair)
        xp = namespace(loc)
        refuse(f"the scale of {name}", ~(scale > 0), "is not positive")
        rows = (len(prediction),)
        loc, scale = (value if value.shape == rows else xp.broadcast_to(value, rows) for value in (loc, scale))
        return Affine(loc, scale)
