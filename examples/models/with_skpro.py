"""skpro: the distribution of predict_proba."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import LinearRegression
from skpro.regression.residual import ResidualDouble

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True, as_frame=True)
model = ResidualDouble(LinearRegression()).fit(X[:200], y[:200])
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
