"""Forecasts in long tables, calibrated by horizon."""

from calibrant.horizons.calibration import HorizonCalibrator

__all__ = [
    "HorizonCalibrator",
]
