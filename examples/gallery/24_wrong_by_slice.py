"""Calibrated on average, wrong by slice.

The 90% intervals hold 90% of all labels, but nearly all labels of the quiet hours and far too few of the busy ones.
`judge` looks at every slice and says so.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import Calibrator, Point, Quantiles, judge, plots
from calibrant.metrics import coverage, crps

# %%
# ## Rides in an hour
#
# Made-up counts of a bike rental: many at rush hour on a warm day, few at night. The more there are, the more they
# vary.

rng = np.random.default_rng(0)
m = 12_000
hour, temperature, weekend = rng.integers(0, 24, m), rng.normal(15, 8, m), rng.random(m) < 2 / 7
rush = np.exp(-(((hour - 17) / 3) ** 2)) + 0.8 * np.exp(-(((hour - 8) / 2) ** 2)) * ~weekend
rides = rng.negative_binomial(10, 10 / (10 + np.exp(2 + 3 * rush + temperature / 20)))
x, y = np.column_stack([hour, temperature, weekend]), rides.astype(float)
train, calibration, test = np.split(rng.permutation(m), [4000, 8000])

# %%
# ## A point model
#
# Its residuals calibrate it: every hour gets an interval of the same width. Over all hours together that is right.

model = HistGradientBoostingRegressor(max_iter=60, random_state=0).fit(x[train], y[train])
calibrated = Calibrator().fit(Point(model.predict(x[calibration])), y[calibration])
same = calibrated(Point(model.predict(x[test])))
print(f"90% intervals hold {coverage(same, y[test], 0.9):.1%} of the labels.")

# %%
# It is not right by slice. The verdict names what is wrong and what to do, and its reasons.

features = {"hour": hour[test], "temperature": temperature[test], "weekend": weekend[test]}
first = judge(same, y[test], features, guarantee=calibrated.guarantee)
print(first)

# %%
# ## Quantiles, whose width follows the features
#
# Five boosted quantiles, calibrated on the same rows. The same judge shows what remains.

levels = [0.05, 0.25, 0.5, 0.75, 0.95]
boosted = [
    HistGradientBoostingRegressor(loss="quantile", quantile=p, max_iter=60, random_state=0).fit(x[train], y[train])
    for p in levels
]
quantiles = [np.sort(np.column_stack([each.predict(x[r]) for each in boosted])) for r in (calibration, test)]
recalibrated = Calibrator().fit(Quantiles(levels, quantiles[0]), y[calibration])
follows = recalibrated(Quantiles(levels, quantiles[1]))
second = judge(follows, y[test], features, guarantee=recalibrated.guarantee)
print(second)
print(f"CRPS: {crps(same, y[test]):.2f} with one width, {crps(follows, y[test]):.2f} with quantiles")

# %%
# ## Slice by slice
#
# A grey bar is what chance allows, in all slices at once. Hollow dots are off, with their fault beside them.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 4.4), sharex=True, layout="constrained")
    figure.set_label("Coverage of the 90% interval by slice, of a point model and of quantiles, both calibrated")
    for ax, title, found in zip(axes, ("one width", "quantiles"), (first, second), strict=True):
        plots.diagnosis(found, most=16, ax=ax)
        ax.set_title(title, loc="left")
