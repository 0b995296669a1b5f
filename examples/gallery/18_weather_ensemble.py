"""An ensemble of weather forecasts, and its rank histogram.

A weather centre runs its model twenty times from slightly different starts. The members are too similar and too warm.
They are samples, a prediction like any other.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Samples, evaluate, plots
from calibrant.metrics import compare

# %%
# ## Twenty members
#
# Two years of daily temperature. Some days are easy to foresee and others hard, which the members know; their spread is
# half of what it should be, and they are one degree too warm.

rng = np.random.default_rng(0)
day = np.arange(730)
season = 10 - 9 * np.cos(2 * np.pi * day / 365)
difficulty = np.exp(rng.normal(0.6, 0.5, 730))
foreseen = season + rng.normal(0, 3, 730)
truth = foreseen + difficulty * rng.normal(size=730)
members = Samples(foreseen[:, None] + 1.0 + 0.5 * difficulty[:, None] * rng.normal(size=(730, 20)))
first, second = slice(365), slice(365, None)

H = Calibrator().fit(members[first], truth[first])(members[second])

# %%
# ## The rank histogram, and the PITs
#
# Where does the truth rank among the twenty members? Far too often it is the coldest of all. Calibrated on the first
# year, the PITs of the second are flat.

rank = np.sum(members.values[second] < truth[second, None], axis=1)
with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.4), layout="constrained")
    figure.set_label("Rank histogram of the raw ensemble, high at both ends, and flat PITs after calibration")
    left.bar(np.arange(21), np.bincount(rank, minlength=21), width=0.9, color=plots.BEFORE)
    left.axhline(365 / 21, color="black", linewidth=0.8, linestyle=":")
    left.set(xlabel="members below the truth", ylabel="days")
    left.set_title("before: ranks", loc="left")
    plots.pit_histogram(H, truth[second], n=365, bins=20, ax=right)
    right.set_title("after: PITs", loc="left")

# %%
# ## A week of it
#
# Ticks are the members. The calibrated distribution is wider and colder, and still wide on hard days and narrow on
# easy ones.

days = np.arange(20, 27)
ax = plots.ridgeline(H, rows=days, base=members[second], y=truth[second], labels=[f"day {d}" for d in days])
ax.set_xlabel("temperature (°C)")
ax.figure.set_label("Densities of seven days, with the members as ticks below them")
print(compare({"members": evaluate(members[second], truth[second]), "calibrated": evaluate(H, truth[second])}))
