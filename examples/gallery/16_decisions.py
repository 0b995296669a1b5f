"""Decisions: how much to order, and when to warn.

Leftovers have one cost, shortages another, and the best order is a quantile of demand. A wrong quantile
costs money. A calibrated distribution gives the right one.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Normal, plots

# %%
# ## Demand, and a forecaster who is too sure
#
# Weekly demand for a dish at many canteens. The centre is right; the spread is understated by half, and the true errors
# are skewed.

rng = np.random.default_rng(0)
centre, spread = rng.uniform(80, 200, 3000), rng.uniform(8, 24, 3000)
demand = centre + spread * (rng.gamma(2.0, 1.0, 3000) - 2.0)
base = Normal(centre, spread / 2)
calibration, test = slice(1000), slice(1000, None)
H = Calibrator().fit(base[calibration], demand[calibration])(base[test])
forecasts = {"before": base[test], "calibrated": H}
y = demand[test]

# %%
# ## The order
#
# A missing meal costs 9, a left-over one 1. The order with the least expected cost is the quantile 9 / (9 + 1) of
# demand, the grey line. The calibrated forecast has its least cost close to it. For the uncalibrated one, the least
# is at some other quantile, which cannot be known beforehand.


def cost(order):
    return np.mean(9 * np.maximum(y - order, 0) + np.maximum(order - y, 0))


levels = np.linspace(0.7, 0.99, 59)
with plots.theme():
    figure, ax = plt.subplots(figsize=(4.2, 2.5), layout="constrained")
    figure.set_label("Mean cost against the quantile that is ordered: least near 0.9 for the calibrated forecast only")
    for (name, distribution), colour, line in zip(forecasts.items(), plots.COLOURS, ("--", "-"), strict=False):
        costs = [cost(distribution.ppf(level)) for level in levels]
        ax.plot(levels, costs, color=colour, linestyle=line, label=name)
        print(f"{name}: {cost(distribution.ppf(0.9)):.2f} at 0.9, least {min(costs):.2f} at")
    ax.axvline(0.9, color="0.6", linewidth=0.5)
    ax.set(xlabel="quantile that is ordered", ylabel="mean cost per week")
    ax.legend(loc="upper center")

# %%
# ## The warning
#
# The kitchen can cook 150 meals. Of all weeks with a forecast chance of, say, 20% that demand is higher, in
# how many was it? On the diagonal the stated probabilities are right. The uncalibrated forecast is off on both sides:
# events with small probabilities happen too often, those with large ones too rarely.

with plots.theme():
    figure, ax = plt.subplots(figsize=(3.2, 2.8), layout="constrained")
    figure.set_label("How often demand exceeded 150 meals, against the forecast chance")
    for (name, distribution), colour, line in zip(forecasts.items(), plots.COLOURS, ("s--", "o-"), strict=False):
        chance = distribution.sf(150)
        sixth = np.ceil(6 * chance)
        stated, observed = ([each[sixth == k].mean() for k in range(1, 7)] for each in (chance, y > 150))
        ax.plot(stated, observed, line, color=colour, label=name)
    ax.plot([0, 1], [0, 1], color="0.6", linewidth=0.5)
    ax.set(xlabel="forecast chance of more than 150 meals", ylabel="how often it happened")
    ax.legend()
