"""Sharper predictions, learned from the residuals of training rows.

A refiner learns on training rows, from predictions by models that did not see them, and maps X and a prediction to a
better prediction. Calibration rows are used once, by q, so the guarantee does not change.
"""

from calibrant.refine.auto import Auto, ChosenRefinement
from calibrant.refine.base import Refinement, Refiner
from calibrant.refine.constant import Constant
from calibrant.refine.forest import Forest
from calibrant.refine.league import Entry, League
from calibrant.refine.location_scale import ResidualLocationScale
from calibrant.refine.mean import Mean
from calibrant.refine.quantiles import ResidualQuantiles
from calibrant.refine.rows import TrainingRows
from calibrant.refine.spread import Spread
from calibrant.refine.two_part import TwoPart

__all__ = [
    "Auto",
    "ChosenRefinement",
    "Constant",
    "Entry",
    "Forest",
    "League",
    "Mean",
    "Refinement",
    "Refiner",
    "ResidualLocationScale",
    "ResidualQuantiles",
    "Spread",
    "TrainingRows",
    "TwoPart",
]
