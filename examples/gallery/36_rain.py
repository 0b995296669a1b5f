"""Rain: many exact zeros, and a continuous part.

On most days it does not rain at all, and on the others any amount may fall. `labels="atom:0"` gives one calibrated
distribution for both: the probability of a dry day, and a density of the amount.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import CalibratedRegressor, evaluate, plots
from calibrant.metrics import compare

# %%
# ## Rain in millimetres
#
# Whether it rains depends on the pressure, and how much on the humidity.

rng = np.random.default_rng(0)
pressure, humidity, wind = rng.normal(size=(3, 4000))
X = np.column_stack([pressure, humidity, wind])
wet = rng.random(4000) < 1 / (1 + np.exp(1 + 2 * pressure))
rain = np.where(wet, rng.gamma(1.5, 3 * np.exp(0.6 * humidity)), 0.0)
train, test = slice(2500), slice(2500, None)
print(f"{np.mean(rain == 0):.0%} of the days are dry")

# %%
# ## Bounded, and with an atom
#
# A bound at 0 keeps the forecasts positive. With the atom, dry days and wet days are also learned separately: a
# classifier learns the probability of a dry day, and the refiner learns the amount from wet days alone.

base = HistGradientBoostingRegressor(max_iter=50, random_state=0)
distributions = {}
for labels in ("0:", "atom:0"):
    model = CalibratedRegressor(base, refine="location-scale", labels=labels, random_state=0)
    distributions[labels] = model.fit(X[train], rain[train]).predict_distribution(X[test])
print(compare({name: evaluate(H, rain[test]) for name, H in distributions.items()}))

# %%
# ## Is the probability of a dry day reliable?
#
# The days in ten groups, by their predicted probability of being dry.

dry = rain[test] == 0
with plots.theme():
    figure, ax = plt.subplots(figsize=(3.2, 3.0), layout="constrained")
    figure.set_label("How often it was dry against the probability of a dry day: near the diagonal with the atom")
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=0.8)
    for (name, H), marker in zip(distributions.items(), "xo", strict=True):
        stated = H.cdf(0.0)
        groups = np.array_split(np.argsort(stated), 10)
        ax.plot(*np.transpose([(stated[g].mean(), dry[g].mean()) for g in groups]), marker, label=name, markersize=4)
        print(f"{name:7} Brier score of P(dry): {np.mean((stated - dry) ** 2):.3f}")
    ax.set(xlabel="P(dry)", ylabel="share of dry days")
    ax.legend()

# %%
# ## One distribution: a stem and a curve
#
# A day that is likely to be dry, and one that is not. The stem is the probability of no rain at all.

H = distributions["atom:0"]
order = np.argsort(H.cdf(0.0))
days = [int(order[int(at * len(order))]) for at in (0.1, 0.6)]
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.4), layout="constrained")
    figure.set_label("The distribution of rain on two days: a stem at 0 and a density above it")
    for ax, day in zip(axes, days, strict=True):
        plots.density(H, rows=[day], y=rain[test], ax=ax)
        ax.set(xlabel="rain (mm)")
        ax.set_title(f"dry with probability {H[day].pmf(0.0):.2f}", loc="left")
