"""CatBoost: mean and variance, as normal distributions."""

from catboost import CatBoostRegressor
from sklearn.datasets import load_diabetes

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
small = {"iterations": 100, "verbose": 0, "allow_writing_files": False}
model = CatBoostRegressor(loss_function="RMSEWithUncertainty", **small).fit(X[:200], y[:200])
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
