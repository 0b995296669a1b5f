"""Scores that are linear in y."""

from __future__ import annotations

from abc import abstractmethod
from dataclasses import dataclass
from typing import Any, ClassVar

from calibrant._arrays import Array, floats, namespace, refuse
from calibrant.predictions import Point
from calibrant.scores.base import Score
from calibrant.scores.transforms.base import Affine


class LocationScaleScore(Score):
    """phi(f(x), y) = (y - loc) / scale. A subclass defines `loc_scale`; mean, std and CRPS of H are then exact.

    >>> from calibrant import Point
    >>> class PowerError(LocationScaleScore):
    ...     def loc_scale(self, prediction):
    ...         return prediction.values, abs(prediction.values) ** 0.75
    >>> PowerError()(Point([16.0, 81.0]), [20.0, 54.0])
    array([ 0.5, -1. ])
    """

    centre: ClassVar[float | None] = 0.0

    @abstractmethod
    def loc_scale(self, prediction: Any) -> tuple[Array, Array]:
        """The loc and the positive scale of each row.

        Args:
            prediction: The prediction of each row.
        """

    def transform(self, prediction: Any) -> Affine:
        """The straight lines (y - loc) / scale."""
        name, (loc, scale) = type(self).__name__, self.loc_scale(prediction)
        loc = floats(f"the loc of {name}", loc, like=prediction.like)
        scale = self._positive_scale(floats(f"the scale of {name}", scale, like=prediction.like), loc)
        xp, rows = namespace(loc), (len(prediction),)
        # broadcast only where needed: arithmetic on broadcast arrays is slower
        loc = loc if loc.shape == rows else xp.broadcast_to(loc, rows)
        scale = scale if scale.shape == rows else xp.broadcast_to(scale, rows)
        return Affine(loc, scale)

    def _positive_scale(self, scale: Array, loc: Array) -> Array:
        """The scale; raises unless it is positive. `Floored` overrides this with a floor."""
        del loc
        refuse(f"the scale of {type(self).__name__}", ~(scale > 0), "is not positive")
        return scale


@dataclass(frozen=True)
class ResidualScore(LocationScaleScore, default_for=Point):
    """phi(f, y) = y - f, the residual: the default for points."""

    unit_free = False

    def loc_scale(self, prediction: Point) -> tuple[Array, Array]:
        """f and 1."""
        f = prediction.values
        return f, namespace(f).ones_like(f[:1])
