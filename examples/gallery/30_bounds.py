"""Bounds: nothing below zero, nothing above capacity.

A bounded label needs a forecast inside its bounds. `labels="0:capacity"` puts what lies outside onto the bounds. The
intervals hold every label that they held before, and are shorter.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from sklearn.linear_model import LinearRegression

from calibrant import CalibratedRegressor, evaluate, plots

# %%
# ## Wind farms
#
# Each produces between 0 and its installed capacity, a column of the table.

rng = np.random.default_rng(0)
n = 4000
X = pd.DataFrame({"wind": rng.weibull(2, n) * 8, "installed": rng.choice([20.0, 50.0, 80.0], n)})
output = np.clip(X["installed"] * (0.12 * X["wind"] - 0.35 + 0.15 * rng.normal(size=n)), 0, X["installed"])
X["guess"] = X["installed"] * X["wind"]
train, test = slice(2000), slice(2000, None)

distributions = {}
for labels in (None, "0:", "0:installed"):
    model = CalibratedRegressor(LinearRegression(), labels=labels, refine=None, random_state=0)
    H = distributions[labels] = model.fit(X[train], output[train]).predict_distribution(X[test])
    found = evaluate(H, output[test])
    lower, upper = H.interval(0.9)
    print(
        f"labels={labels!s:12} CRPS {found.crps:.2f}, 90% intervals hold {found.coverage:.1%} and are"
        f" {np.mean(upper - lower):.1f} wide"
    )

# %%
# ## One farm at three winds
#
# The part of the distribution beyond a bound becomes a step on it: the probability that the farm stands still, or runs
# at full load.

H = model.predict_distribution(pd.DataFrame({"wind": [2.0, 6.0, 12.0], "installed": 50.0, "guess": [100.0, 300, 600]}))
with plots.theme():
    figure, axes = plt.subplots(1, 3, figsize=(6.3, 2.2), sharey=True, layout="constrained")
    figure.set_label("Distribution functions of a farm's output at three winds, with steps at nothing and at full load")
    for row, (ax, wind) in enumerate(zip(axes, (2, 6, 12), strict=True)):
        plots.cdf(H, rows=row, ax=ax)
        ax.set(xlabel="output", xlim=(-3, 53))
        ax.set_title(f"wind {wind}", loc="left")
for wind, still, full in zip((2, 6, 12), H.cdf(0.0), 1 - H.cdf_left(50.0), strict=True):
    print(f"wind {wind:2}: stands still with probability {still:.2f}, at full load with {full:.2f}")
