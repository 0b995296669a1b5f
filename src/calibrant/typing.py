"""The types of public signatures, for annotations of your own.

What goes in is named by what can be made of it: `ArrayLike` is anything that holds numbers, `PredictionLike` anything
that is taken for a prediction. What comes out is an `Array` of the library that went in.
"""

from calibrant._types import Array, ArrayLike, LabelsLike
from calibrant.forecast import Forecasts, PredictionLike

__all__ = [
    "Array",
    "ArrayLike",
    "Forecasts",
    "LabelsLike",
    "PredictionLike",
]
