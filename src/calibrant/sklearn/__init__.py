"""Estimators for scikit-learn whose predictions are calibrated distributions, and scorers for model search."""

from calibrant.sklearn.density_ratio import DensityRatio
from calibrant.sklearn.refined import Refined
from calibrant.sklearn.regressor import CalibratedRegressor
from calibrant.sklearn.scorers import neg_crps, neg_interval_score, neg_nll

__all__ = [
    "CalibratedRegressor",
    "DensityRatio",
    "Refined",
    "neg_crps",
    "neg_interval_score",
    "neg_nll",
]
