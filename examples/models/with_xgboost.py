"""XGBoost: several quantiles of one model."""

from sklearn.datasets import load_diabetes
from xgboost import XGBRegressor

from calibrant import Calibrator
from calibrant.models import prediction_of

X, y = load_diabetes(return_X_y=True)
small = {"n_estimators": 50, "max_depth": 2, "learning_rate": 0.1}
model = XGBRegressor(objective="reg:quantileerror", quantile_alpha=[0.1, 0.9], **small).fit(X[:200], y[:200])
calibrated = Calibrator().fit(prediction_of(model, X[200:400]), y[200:400])
print(calibrated(prediction_of(model, X[400:405])).interval(0.9))
