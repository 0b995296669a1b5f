"""The scikit-learn door: an estimator whose predictions are calibrated distributions, and scorers for searches."""

from calibrant.sklearn.regressor import CalibratedRegressor
from calibrant.sklearn.scorers import neg_crps, neg_interval_score, neg_nll

__all__ = ["CalibratedRegressor", "neg_crps", "neg_interval_score", "neg_nll"]
