"""Quantile regression with the coverage it states.

Five gradient boosting models predict five quantiles. 90% of the labels should lie between the outer two; on new rows
there are fewer. Calibration corrects this, and gives all the other quantiles.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import Calibrator, Quantiles, plots
from calibrant.metrics import coverage

# %%
# ## Five quantiles
#
# Parcels that go further take longer, and the longer the way, the less certain the time.

rng = np.random.default_rng(0)
km = rng.uniform(1, 60, (4000, 1))
minutes = 4 + 1.5 * km[:, 0] + (1 + 0.25 * km[:, 0]) * rng.gamma(2.0, 1.0, 4000)
train, calibration, test = np.split(np.arange(4000), [500, 2000])

levels = [0.05, 0.25, 0.5, 0.75, 0.95]
settings = {"loss": "quantile", "min_samples_leaf": 8, "random_state": 0}
models = [HistGradientBoostingRegressor(quantile=c, **settings).fit(km[train], minutes[train]) for c in levels]

# %%
# Each model is fitted by itself, so here and there the quantiles cross. `Quantiles` sorts such rows and warns; the
# warning is caught here and printed.


def forecast(x):
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        quantiles = Quantiles(levels, np.column_stack([model.predict(x) for model in models]))
    print(*(warning.message for warning in caught))
    return quantiles


before = forecast(km[test])
after = Calibrator().fit(forecast(km[calibration]), minutes[calibration])(before)

# %%
# ## The bands, before and after
#
# The trees have followed the noise of their training rows, and their bands are too narrow for other rows. The quantile
# score keeps the shape of each row's quantiles and stretches them by one rule.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.6), sharey=True, layout="constrained")
    figure.set_label("Bands of delivery times along the distance, before and after calibration")
    for ax, name, distribution in zip(axes, ("before", "after"), (before, after), strict=True):
        plots.fan(distribution[:250], x=km[test][:250, 0], y=minutes[test][:250], coverages=[0.5, 0.9], ax=ax)
        ax.set_title(f"{name}: {coverage(distribution, minutes[test], 0.9):.1%} inside the 90% band", loc="left")
        ax.set(xlabel="distance (km)", ylabel="minutes" if name == "before" else "", ylim=(0, 240))

# %%
# ## Every quantile
#
# Before, there are five dots, one per level. After, there is a whole curve.

ax = plots.reliability({"five quantiles": before, "calibrated": after}, minutes[test], n=len(calibration))
ax.figure.set_label("Reliability: five dots off the diagonal before, a curve inside the band after")
