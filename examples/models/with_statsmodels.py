"""statsmodels: least squares, with its t distributions of new labels."""

import statsmodels.api as sm
from sklearn.datasets import load_diabetes

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
X = sm.add_constant(X)
model = sm.OLS(y[:200], X[:200]).fit()
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
