"""No refinement: the middle of the prediction as a point."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calibrant.predictions import Point
from calibrant.refine.base import Refiner
from calibrant.refine.rows import TrainingRows


@dataclass(frozen=True)
class Constant(Refiner):
    """The middle of each row's prediction as a `Point`: the same residuals for all rows. It learns nothing."""

    def fit(self, rows: TrainingRows) -> ConstantRefinement:
        """Nothing is learned."""
        del rows
        return ConstantRefinement()


@dataclass(frozen=True)
class ConstantRefinement:
    """(X, prediction) -> Point(centre)."""

    def __call__(self, X: Any, prediction: Any) -> Point:
        """The middle of each row."""
        del X
        return Point(prediction.centre_rows())
