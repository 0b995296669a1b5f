"""Prices: calibrated as logarithms, read in money.

Errors of prices are factors: as logarithms they have the same size. `labels="log"` calibrates them there. Everything
that goes in or comes out stays in money, and the mean needs no correction on the way back.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import CalibratedRegressor, evaluate, plots

# %%
# ## Flats of very different prices
#
# From a few thousand to a few million; a price is off by a fifth or so, whatever its size.

rng = np.random.default_rng(0)
X = rng.uniform(size=(6000, 3))
typical = np.exp(8 + 6 * X[:, 0] + np.sin(4 * X[:, 1]))
price = typical * np.exp(0.2 * rng.standard_t(5, 6000))
train, test = slice(3000), slice(3000, None)

base = HistGradientBoostingRegressor(loss="gamma", random_state=0)
distributions = {}
for labels in (None, "log"):
    model = CalibratedRegressor(base, labels=labels, refine=None, random_state=0).fit(X[train], price[train])
    H = distributions[labels] = model.predict_distribution(X[test])
    found = evaluate(H, price[test])
    below = np.mean(H.interval(0.9)[0] < 0)
    print(
        f"labels={labels!s:5} CRPS {found.crps:10,.0f}, 90% intervals hold {found.coverage:.1%},"
        f" {below:.0%} of them reach below zero"
    )

# %%
# ## The intervals of cheap and expensive flats
#
# Without labels, one width in money for all: absurd for cheap flats, too narrow for expensive ones. As logarithms,
# one factor for all.

rows = np.argsort(typical[test])[:: 3000 // 60]
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.8), sharey=True, layout="constrained")
    figure.set_label("Intervals of flats, cheap to dear: of one width without labels, of one factor with log labels")
    for ax, (labels, H) in zip(axes, distributions.items(), strict=True):
        lower, upper = H[rows].interval(0.9)
        ax.fill_between(range(len(rows)), np.maximum(lower, 1e3), upper, step="mid", alpha=0.3, linewidth=0)
        ax.plot(range(len(rows)), price[test][rows], ".", markersize=3)
        ax.set(yscale="log", ylim=(1e3, 1e7), xlabel="flats, from cheap to dear")
        ax.set_title(f"labels={labels!r}", loc="left")
    axes[0].set_ylabel("price")

# %%
# ## The mean in money
#
# The exponential of a mean logarithm is a median, not a mean. The mean of the distribution is integrated in money, so
# no correction is needed.

H = distributions["log"]
print(f"mean price of the test flats {price[test].mean():,.0f}")
print(f"mean of the means            {H.mean().mean():,.0f}")
print(f"mean of the medians          {H.median().mean():,.0f}")
