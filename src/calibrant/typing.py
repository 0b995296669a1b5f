"""The types of public signatures, for annotations of your own.

What goes in is named by what can be made of it: `ArrayLike` is anything that holds numbers, `PredictionLike` anything
that is taken for a prediction. What comes out is an `Array` of the library that went in.
"""

from calibrant._types import (
    Array,
    ArrayLike,
    Bound,
    Columns,
    Draws,
    Features,
    Frame,
    Groups,
    LabelsLike,
    Loaded,
    RandomState,
    Rng,
    RowIndex,
    SupportsArray,
    SupportsRandom,
    Table,
    Values,
)
from calibrant.forecast import Forecast, Forecasts, PredictionLike, SupportsCDF
from calibrant.interpolators.weights import Weights
from calibrant.names import InterpolatorName

__all__ = [
    "Array",
    "ArrayLike",
    "Bound",
    "Columns",
    "Draws",
    "Features",
    "Forecast",
    "Forecasts",
    "Frame",
    "Groups",
    "InterpolatorName",
    "LabelsLike",
    "Loaded",
    "PredictionLike",
    "RandomState",
    "Rng",
    "RowIndex",
    "SupportsArray",
    "SupportsCDF",
    "SupportsRandom",
    "Table",
    "Values",
    "Weights",
]
