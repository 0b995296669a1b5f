"""quantile-forest: nineteen quantiles of a forest."""

from quantile_forest import RandomForestQuantileRegressor
from sklearn.datasets import load_diabetes

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
model = RandomForestQuantileRegressor(min_samples_leaf=5, random_state=0).fit(X[:200], y[:200])
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
