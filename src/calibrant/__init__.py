"""Calibrated predictive distributions for regression: H[x](y) = q(phi(f(x), y))."""

from calibrant.calibration import Calibrated, Calibrator, conformal, isotonic
from calibrant.distributions import Distribution, Logistic, Mixture, Normal
from calibrant.guarantee import Guarantee, required_n, required_n_for_interval
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Samples, concatenate

__all__ = [
    "Calibrated",
    "Calibrator",
    "Distribution",
    "Ensemble",
    "Guarantee",
    "Interval",
    "Logistic",
    "Mixture",
    "Normal",
    "Point",
    "Quantiles",
    "Samples",
    "concatenate",
    "conformal",
    "isotonic",
    "required_n",
    "required_n_for_interval",
]
