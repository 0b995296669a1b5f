"""Sharper predictions, learned from the residuals of training rows.

A refiner learns on training rows, from predictions by models that did not see them, and maps X and a prediction to a
better prediction. Calibration rows are used once, by q, so the guarantee does not change.
"""

from typing import Any

from calibrant.refine.base import Refiner
from calibrant.refine.boosting import ResidualLocationScale, ResidualQuantiles
from calibrant.refine.combined import Mean, TwoPart
from calibrant.refine.forest import Forest
from calibrant.refine.spread import Constant, Spread

__all__ = [
    "Constant",
    "Forest",
    "Mean",
    "Refiner",
    "ResidualLocationScale",
    "ResidualQuantiles",
    "TwoPart",
]

REFINERS: dict[str, Refiner] = {
    "constant": Constant(),
    "spread": Spread(),
    "location-scale": ResidualLocationScale(),
    "quantiles": ResidualQuantiles(),
    "forest": Forest(),
    "mean": Mean(),
}
RefinerLike = Refiner | str
"""A refiner or its name."""


def refiner_named(value: Any) -> Refiner:
    """The refiner of a name; a refiner as it is."""
    if isinstance(value, Refiner):
        return value
    if not isinstance(value, str) or value not in REFINERS:
        raise ValueError(f"refine must be a Refiner, or one of {', '.join(REFINERS)}, got {value!r}")
    return REFINERS[value]
