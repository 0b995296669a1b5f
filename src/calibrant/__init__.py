"""Calibrated predictive distributions for regression: H[x](y) = q(phi(f(x), y)).

Read `calibrant.calibration` first, then one score and one interpolator; the rest is variants of these.
"""

from calibrant import distributions, interpolators, intervals, metrics, predictions, scores
from calibrant.calibration import Calibrated, Calibrator, conformal, isotonic
from calibrant.distributions import (
    Distribution,
    GaussianMixture,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    Normal,
    StudentT,
    from_scipy,
    from_torch,
)
from calibrant.guarantee import Guarantee, required_n, required_n_for_interval
from calibrant.metrics import evaluate
from calibrant.predictions import Ensemble, Interval, Point, Quantiles, Samples, concatenate

__all__ = [
    "Calibrated",
    "Calibrator",
    "Distribution",
    "Ensemble",
    "GaussianMixture",
    "Guarantee",
    "Interval",
    "Laplace",
    "LogNormal",
    "Logistic",
    "Mixture",
    "Normal",
    "Point",
    "Quantiles",
    "Samples",
    "StudentT",
    "concatenate",
    "conformal",
    "distributions",
    "evaluate",
    "from_scipy",
    "from_torch",
    "interpolators",
    "intervals",
    "isotonic",
    "metrics",
    "predictions",
    "required_n",
    "required_n_for_interval",
    "scores",
]
