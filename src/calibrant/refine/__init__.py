"""Sharper predictions, learned from the residuals of training rows.

A refiner learns on training rows, from predictions by models that did not see them, and maps X and a prediction to a
better prediction. Calibration rows are used once, by q, so the guarantee does not change.
"""

from calibrant.refine.base import Refiner
from calibrant.refine.constant import Constant
from calibrant.refine.forest import Forest
from calibrant.refine.location_scale import ResidualLocationScale
from calibrant.refine.mean import Mean
from calibrant.refine.quantiles import ResidualQuantiles
from calibrant.refine.two_part import TwoPart

__all__ = [
    "Constant",
    "Forest",
    "Mean",
    "Refiner",
    "ResidualLocationScale",
    "ResidualQuantiles",
    "TwoPart",
]
