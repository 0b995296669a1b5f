"""Several horizons at once.

A model forecasts the next six hours. Each hour has a 90% interval, but a plan that needs all six to hold fails far more
often than one time in ten. A joint box holds all six hours with probability 90%.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from calibrant import CalibratedRegressor, plots

# %%
# ## Six labels for each row
#
# 12,000 separate days of a demand that drifts from hour to hour. A row of X is the last twelve hours, a row of Y the
# next six. An error in the first hour carries over to the next ones, so the labels depend on each other.

rng = np.random.default_rng(0)
hours = np.arange(18)
level = rng.normal(10, 2, size=(12000, 1)) + 2 * np.sin(2 * np.pi * (hours + rng.uniform(0, 24, (12000, 1))) / 24)
drift = np.cumsum(rng.gumbel(-0.18, 0.3, size=(12000, 18)), axis=1)  # steps up are larger than steps down
series = level + drift + 0.1 * rng.normal(size=(12000, 18))
X, Y = series[:, :12], series[:, 12:]
known, new = slice(10000), slice(10000, None)

# %%
# ## Distributions, intervals, a box
#
# Each hour has a linear regression of its own. 9,000 rows train, 1,000 calibrate.

model = CalibratedRegressor(LinearRegression(), refine=None, random_state=0).fit(X[known], Y[known])
H = model.predict_distribution(X[new])
found = H.evaluate(Y[new], coverage=0.9)
print("Each hour by itself:", [f"{each.coverage:.1%}" for each in found.margins.values()])
print(f"All six hours in their intervals: {found.together['separate']:.1%}")
print(f"All six hours in the joint box:   {found.together['joint']:.1%}")
print(f"The sides of the box are {found.width['joint']:.2f} times as long as the intervals.")

# %%
# Independent hours would all be inside with probability 0.9⁶ = 53%. These depend on each other, so the intervals do
# better than that, and still much worse than 90%. The box is longer, and has the coverage that it states:

print(model.calibrated_.box_guarantee(0.9))

# %%
# ## Joint draws
#
# How likely is a total of more than 10 above what the model expects? A sum depends on how the hours are correlated.
# Joint draws take that from the calibration rows; draws of each hour alone do not.

total = Y[new].sum(axis=1) - model.predict(X[new]).sum(axis=1)
draws = H.sample(200, rng)
alone = np.stack([distribution.sample(200, rng) for distribution in H], axis=2)
expected = H.mean()[:, None].sum(axis=2)
print(f"It happened in {np.mean(total > 10):.1%} of the days.")
print(f"Joint draws say {np.mean(draws.sum(axis=2) - expected > 10):.1%},", end=" ")
print(f"draws of each hour alone {np.mean(alone.sum(axis=2) - expected > 10):.1%}.")

# %%
# ## The picture
#
# Two days. On the left all hours are inside both. On the right one hour leaves its interval, and the box still holds
# the day. The sides of the box are quantiles of the errors on training rows, which made the hours comparable.

(low, high), (bottom, top) = H.interval(0.9), H.interval(0.9, joint=True)
inside = np.all((low <= Y[new]) & (Y[new] <= high), axis=1)
boxed = np.all((bottom <= Y[new]) & (Y[new] <= top), axis=1)
days = np.flatnonzero(inside)[0], np.flatnonzero(~inside & boxed)[1]
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.6, 2.6), sharey=True, layout="constrained")
    figure.set_label(
        "Two days with six forecast hours: the joint box is wider than the separate intervals and holds both"
    )
    for ax, day in zip(axes, days, strict=True):
        ahead = np.arange(1, 7)
        past = X[new][day]
        base = past[-1]
        ax.fill_between(
            ahead,
            bottom[day] - base,
            top[day] - base,
            color=plots.AFTER,
            alpha=0.2,
            linewidth=0,
            label="joint box, 90%",
        )
        ax.vlines(
            ahead,
            low[day] - base,
            high[day] - base,
            color=plots.BEFORE,
            linewidth=3,
            alpha=0.6,
            label="separate, 90% each",
        )
        ax.plot(np.arange(-11, 1), past - base, color="0.5", linewidth=1)
        ax.plot(ahead, Y[new][day] - base, "o", color="black", markersize=3, label="observed")
        ax.set(xlabel="hours ahead", xticks=[-10, -5, 0, 3, 6])
    axes[0].set(ylabel="change from now")
    axes[0].legend(loc="upper left")
