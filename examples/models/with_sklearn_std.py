"""scikit-learn: the mean and standard deviation of Bayesian ridge regression, as normal distributions."""

from sklearn.datasets import load_diabetes
from sklearn.linear_model import BayesianRidge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
model = make_pipeline(StandardScaler(), BayesianRidge()).fit(X[:200], y[:200])
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
