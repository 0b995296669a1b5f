"""NGBoost: the distribution that it predicts, here a log-normal."""

from ngboost import NGBRegressor
from ngboost.distns import LogNormal
from sklearn.datasets import load_diabetes

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
model = NGBRegressor(LogNormal, n_estimators=50, verbose=False, random_state=0).fit(X[:200], y[:200])
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
