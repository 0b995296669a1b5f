"""Any function of X: return the prediction that it makes."""

import numpy as np

from calibrant import Calibrator, Normal
from calibrant.models import prediction_of


def model(x):
    return Normal(x, np.sqrt(x))


X = np.random.default_rng(0).uniform(1, 2, 405)
y = np.random.default_rng(1).gamma(X)
calibrated = Calibrator().fit(prediction_of(model, X[:400]), y[:400])
print(calibrated(prediction_of(model, X[400:])).interval(0.9))
