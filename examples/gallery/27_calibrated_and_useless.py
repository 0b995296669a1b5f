"""Calibrated and useless.

A forecast can hold 90% of the labels in its 90% intervals and still be useless. Here a single row on which all trees of
a forest agree determines the tails of all other rows. `refine="spread"` learns on training rows how far to trust the
trees.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.ensemble import RandomForestRegressor

from calibrant import CalibratedRegressor, evaluate, plots

# %%
# ## Many zeros
#
# Made-up comments on blog posts. Half of the blogs are dead: no comments come, except for one post in 250 that
# somebody finds. The others have their readers.

rng = np.random.default_rng(0)
m = 6000
x = rng.uniform(size=(m, 3))
dead = x[:, 0] < 0.5
found = (rng.random(m) < 0.004) * rng.poisson(20, m)
y = np.where(dead, found, rng.poisson(np.exp(1 + 2 * x[:, 1]))).astype(float)
known, test = slice(4000), slice(4000, None)
print(f"{np.mean(y == 0):.0%} of the labels are 0")

# %%
# ## The trees as samples
#
# On many dead blogs all trees say 0. One of these among the calibration rows has comments after all: divided by a
# spread of zero, that is an enormous score. `fit` warns. Comments are counts, which `labels="counts"` would say; here
# `labels="real"` leaves that aside.

forest = RandomForestRegressor(30, min_samples_leaf=5, random_state=0)
with warnings.catch_warnings(record=True) as caught:
    warnings.simplefilter("always")
    model = CalibratedRegressor(forest, labels="real", refine=None, random_state=0).fit(x[known], y[known])
    H = {"trees": model.predict_distribution(x[test])}
print(next(str(each.message) for each in caught if "of the spread of q" in str(each.message)))

# %%
# ## Three that learn on training rows
#
# Points alone; the spread of the trees, shrunk towards a common one by what the errors of training rows say; a spread
# learned from these errors. Without `refine=` a league chooses among these and others.

for refine in ("constant", "spread", "location-scale"):
    model = CalibratedRegressor(forest, labels="real", refine=refine, random_state=0).fit(x[known], y[known])
    H[refine] = model.predict_distribution(x[test])
for name, distributions in H.items():
    found = evaluate(distributions, y[test])
    print(
        f"{name + ':':15} 90% intervals hold {found.coverage:.1%}, CRPS {found.crps:6.2f}, mean std {found.std:10.1f}"
    )

# %%
# ## The distribution of one post
#
# A post on a busy blog. Up to the level 99.7% both are similar: the coverage is right. Above that, the distribution
# from the trees is that of one dead blog, stretched by the spread of this post, and reaches into the millions. This
# shows in the mean, the std and the CRPS.

logits = np.linspace(-5, 6.8, 400)
levels = 1 / (1 + np.exp(-logits))
post = int(np.argmax((x[test, 0] > 0.6) & (x[test, 1] > 0.9)))
with plots.theme():
    figure, ax = plt.subplots(figsize=(4.6, 2.8), layout="constrained")
    figure.set_label("Quantiles of one row: alike in the middle, but those of the trees explode above 99%")
    for name, colour, line in (("trees", plots.BEFORE, "--"), ("spread", plots.AFTER, "-")):
        ax.plot(levels, H[name][post : post + 1].quantiles(levels)[0], line, color=colour, label=name)
    ax.axvspan(0.05, 0.95, color="0.92", linewidth=0, zorder=0, label="the 90% interval")
    ax.set_yscale("symlog", linthresh=30)
    ax.set(xscale="logit", xlabel="level", ylabel="quantile (comments)", xlim=(levels[0], levels[-1]))
    ax.set_xticks([0.05, 0.5, 0.95, 0.997], ["5%", "50%", "95%", "99.7%"])
    ax.set_xticks([], minor=True)
    ax.legend(loc="upper left")
