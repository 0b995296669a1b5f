"""LightGBM: a model for each quantile."""

from lightgbm import LGBMRegressor
from sklearn.datasets import load_diabetes

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
small = {"objective": "quantile", "n_estimators": 50, "num_leaves": 4, "verbose": -1}
model = [LGBMRegressor(alpha=level, **small).fit(X[:200], y[:200]) for level in (0.1, 0.9)]
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
