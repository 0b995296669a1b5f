"""Forecasts in long tables, calibrated by horizon."""

from calibrant.horizons.calibration import HorizonCalibrated, HorizonCalibrator
from calibrant.horizons.columns import ForecastColumns, find_forecast
from calibrant.horizons.evaluation import HorizonEvaluation
from calibrant.horizons.table import LongColumns

__all__ = [
    "ForecastColumns",
    "HorizonCalibrated",
    "HorizonCalibrator",
    "HorizonEvaluation",
    "LongColumns",
    "find_forecast",
]
