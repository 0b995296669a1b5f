"""Calibrate a forest's forecasts: before and after.

A random forest predicts the output of a simulated power plant. The spread of its trees understates its error: its
intervals hold fewer labels than they state. Two thousand rows that it did not see correct this.
"""

import numpy as np
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import train_test_split

from calibrant import Calibrator, Normal, evaluate, plots, prediction_of

# %%
# ## Data and model
#
# Temperature, vacuum, pressure and humidity drive the output; the noise is larger in the heat. A third of the rows
# trains the forest, a third calibrates it, and a third tests the result.

rng = np.random.default_rng(0)
X = rng.uniform(size=(6000, 4))
output = 480 - 40 * X[:, 0] - 8 * X[:, 1] ** 2 + 4 * X[:, 2] * X[:, 3]
y = output + (1 + 4 * X[:, 0]) * rng.standard_t(5, size=6000)

X_train, X_rest, y_train, y_rest = train_test_split(X, y, test_size=2 / 3, random_state=0)
X_cal, X_test, y_cal, y_test = train_test_split(X_rest, y_rest, test_size=0.5, random_state=0)
forest = RandomForestRegressor(100, min_samples_leaf=5, random_state=0).fit(X_train, y_train)

# %%
# ## Calibrate
#
# `prediction_of` finds out what a model predicts: for a forest, the prediction of each tree. Their mean and spread
# make one normal distribution per row. The default score of a distribution is the z-score.


def forecast(X):
    trees = prediction_of(forest, X).values
    return Normal(trees.mean(axis=1), trees.std(axis=1))


base = forecast(X_test)
calibrated = Calibrator().fit(forecast(X_cal), y_cal)
H = calibrated(base)
print(calibrated.guarantee)

# %%
# ## Is it calibrated now?
#
# The share of labels below the predicted quantile should be its level. The whole curve of a calibrated forecast lies
# inside the band 95 times out of 100; it allows for the finite number of calibration rows.

ax = plots.reliability({"forest": base, "calibrated": H}, y_test, n=len(y_cal))
ax.figure.set_label("Reliability: the forest leaves the diagonal, the calibrated forecasts stay inside the band")

# %%
# The same as a histogram of the probability integral transform H(y): before, too many labels fall far outside.

ax = plots.pit_histogram({"forest": base, "calibrated": H}, y_test, n=len(y_cal))
ax.figure.set_label("PIT histogram: the forest's has high ends, the calibrated one is flat")

# %%
# ## What it costs
#
# The intervals are wider, as they must be. NLL and CRPS, which reward both calibration and sharpness, are still
# lower.

print("before", evaluate(base, y_test), "", "after", evaluate(H, y_test), sep="\n")

# %%
# ## Single forecasts
#
# Five rows, from low to high output, with their labels.

rows = np.argsort(H.mean())[[200, 600, 1000, 1400, 1800]]
ax = plots.ridgeline(H, rows=rows, base=base, y=y_test)
ax.figure.set_label("Densities of five forecasts, before and after, with their labels")
