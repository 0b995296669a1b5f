"""Forecasts in long tables, calibrated by horizon."""

from calibrant.horizons.calibration import HorizonCalibrated, HorizonCalibrator
from calibrant.horizons.columns import ForecastColumns, found_in
from calibrant.horizons.evaluation import HorizonEvaluation
from calibrant.horizons.table import LongColumns

__all__ = [
    "ForecastColumns",
    "HorizonCalibrated",
    "HorizonCalibrator",
    "HorizonEvaluation",
    "LongColumns",
    "found_in",
]
