"""The refiners by name."""

from __future__ import annotations

from typing import Any

from calibrant.refine.base import Refiner
from calibrant.refine.constant import Constant
from calibrant.refine.forest import Forest
from calibrant.refine.location_scale import ResidualLocationScale
from calibrant.refine.mean import Mean
from calibrant.refine.quantiles import ResidualQuantiles
from calibrant.refine.spread import Spread

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
