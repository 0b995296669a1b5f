"""From a point model to a sharp distribution.

A point model says nothing about its own error, so calibration gives all rows the same width. Its residuals on training
rows say more: `CalibratedRegressor` learns from them where the model is uncertain, before it calibrates.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import CalibratedRegressor, Normal, plots
from calibrant.metrics import coverage, crps

# %%
# ## Noise that depends on x
#
# Made-up demand for electricity by the temperature: it is predictable on mild days, and much less so on cold and hot
# ones.

rng = np.random.default_rng(0)
m = 4000
temperature = rng.uniform(-10, 35, m)
mean = 40 + 0.04 * (temperature - 15) ** 2
std = 1 + 0.25 * np.abs(temperature - 15)
x, y = temperature[:, None], rng.normal(mean, std)
known, test = slice(2500), slice(2500, None)

# %%
# ## The same model, without and with refinement
#
# Both hold 20% of the rows out to calibrate. The second also learns from the training rows what the errors depend on,
# from the predictions of copies of the model that did not see the row. `"auto"` is the default.

base = HistGradientBoostingRegressor(max_iter=30, max_leaf_nodes=8, random_state=0)
H = {}
for name, refine in (("one width", None), ("refined", "auto")):
    model = CalibratedRegressor(base, refine=refine, random_state=0).fit(x[known], y[known])
    H[name] = model.predict_distribution(x[test])
    inside, score = coverage(H[name], y[test], 0.9), crps(H[name], y[test])
    print(f"{name + ':':10} the 90% intervals hold {inside:.1%}, CRPS {score:.2f}")
print(f"truth:     CRPS {crps(Normal(mean[test], std[test]), y[test]):.2f}")

# %%
# ## Where the labels are
#
# Over all rows both fans are about right. The left one is too wide in the middle and too narrow at the ends.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.6), sharey=True, layout="constrained")
    figure.set_label(
        "Fans of intervals along the temperature: one width for all rows, and a width that follows the noise"
    )
    shown = slice(700)
    for ax, (name, distributions) in zip(axes, H.items(), strict=True):
        plots.fan(distributions[shown], x=temperature[test][shown], y=y[test][shown], ax=ax)
        ax.set(xlabel="temperature (°C)", ylabel="demand (GW)" if ax is axes[0] else "", ylim=(25, 88))
        ax.set_title(name, loc="left")
