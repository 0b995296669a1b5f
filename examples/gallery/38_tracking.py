"""Tracking a series that drifts.

The air at Mauna Loa holds more CO2 every year, and the rise grows. Forecasts that were calibrated in the 1960s fail in
the 1980s. A tracker lets the quantiles follow the labels. In the long run its coverage is right, whatever the series
does.
"""

import matplotlib.pyplot as plt
import numpy as np
from statsmodels.datasets import co2

from calibrant import Calibrator, Tracker, evaluate, plots

# %%
# ## The series
#
# It comes inside statsmodels: a measurement each week since 1958. The forecast is the simplest there is, the value of
# a year ago. The first 500 weeks calibrate.

air = co2.load_pandas().data["co2"].interpolate()
weeks, y = air.index[52:], air.to_numpy()[52:]
forecast = air.to_numpy()[:-52]
n = 500
calibrated = Calibrator().fit(forecast[:n], y[:n])
static = calibrated(forecast[n:])
print(f"the static 90% intervals hold {evaluate(static, y[n:]).coverage:.1%} of the later labels")

# %%
# ## Tracked
#
# Each row's distribution is made before its label is seen. Then the label moves the positions of the levels a little.

tracked, tracker = Tracker(calibrated).run(forecast[n:], y[n:])
print(f"the tracked ones hold {evaluate(tracked, y[n:]).coverage:.1%}")
for level, share in zip(tracker.levels, tracker.covered / tracker.rows, strict=True):
    print(f"at or below the {level:.0%} quantile: {share:.1%} of the labels")

# %%
# The promise is for the long run and for these levels, not for a single week.

print(tracker.guarantee)

# %%
# The whole distribution is better too, not only the bounds.

before, after = (evaluate(H, y[n:]).crps for H in (static, tracked))
print(f"CRPS {before:.2f} static, {after:.2f} tracked")

# %%
# ## The picture
#
# The rise over a year, with the 90% interval for it. The static one stays where the 1960s put it. The tracked one
# follows the drift. Below, the share of the last two years' labels that the intervals held.


def over_two_years(H):
    lower, upper = H.interval(0.9)
    return np.convolve((lower < y[n:]) & (y[n:] <= upper), np.ones(104) / 104, "valid")


with plots.theme():
    figure, axes = plt.subplots(
        2, 1, figsize=(6.3, 4.2), sharex=True, layout="constrained", gridspec_kw={"height_ratios": [2, 1]}
    )
    figure.set_label("The yearly rise of CO2 with static and tracked 90% intervals, and what the intervals hold")
    axes[0].plot(weeks[n:], y[n:] - forecast[n:], ".", color="0.5", markersize=1.2, label="rise over a year")
    for H, color, name in ((static, plots.BEFORE, "static"), (tracked, plots.AFTER, "tracked")):
        lower, upper = (bound - forecast[n:] for bound in H.interval(0.9))
        axes[0].plot(weeks[n:], lower, color=color, linewidth=1.0, label=f"{name} 90% interval")
        axes[0].plot(weeks[n:], upper, color=color, linewidth=1.0)
        axes[1].plot(weeks[n + 103 :], over_two_years(H), color=color, linewidth=1.2)
    axes[1].axhline(0.9, color="black", linewidth=0.8, linestyle=":")
    axes[0].set_ylabel("ppm")
    axes[0].set_ylim(-1.6, 4.6)
    axes[0].set_title("the rise grows, and the tracked interval follows", loc="left")
    axes[0].legend(loc="lower right", ncols=3)
    axes[1].set_ylabel("held, two years")
    axes[1].set_ylim(0, 1.03)
