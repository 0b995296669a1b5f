"""scikit-learn: a model for each quantile."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import QuantileRegressor

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
model = [QuantileRegressor(quantile=level, alpha=0).fit(X[:200], y[:200]) for level in (0.1, 0.9)]
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
