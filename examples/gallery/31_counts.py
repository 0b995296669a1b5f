"""Counts: whole numbers with calibrated probabilities.

A count is a whole number, and its forecast should be a probability for each whole number. `labels=Counts()` spreads
every label evenly over its step, calibrates there, and collapses the result: no ties, no mass below zero, intervals
that end on whole numbers.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import PoissonRegressor

from calibrant import CalibratedRegressor, Calibrator, Point, evaluate, plots
from calibrant.distributions import Poisson
from calibrant.labels import Counts
from calibrant.metrics import compare

# %%
# ## Calls to a help desk
#
# The number of calls an hour grows with the load. It varies more than a Poisson count does, which the model does not
# know.

rng = np.random.default_rng(0)
rate = np.exp(rng.uniform(np.log(0.5), np.log(40.0), 5000))
calls = rng.poisson(rng.gamma(5.0, rate / 5.0))
calibration, test = slice(1000), slice(1000, None)

# %%
# ## Three forecasts of the same model
#
# The Poisson distributions that the model assumes; the same, calibrated; and a plain point model, calibrated, whose
# errors are assumed to be equally large at night and at noon.

base = Poisson(rate)
distributions = {"Poisson": base[test]}
for name, forecast in (("calibrated", base), ("from points", Point(rate))):
    calibrated = Calibrator(labels=Counts()).fit(forecast[calibration], calls[calibration], rng=rng)
    distributions[name] = calibrated(forecast[test])
print(compare({name: evaluate(H, calls[test]) for name, H in distributions.items()}))

# %%
# The PIT of a count is drawn at random over the probability of that count, so that it is uniform for a calibrated
# forecast. The Poisson forecasts are far too narrow: the labels lie in their tails too often.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.4), sharey=True, layout="constrained")
    figure.set_label("PIT histograms of counts: too many in the tails before calibration, flat after it")
    for ax, name in zip(axes, ("Poisson", "calibrated"), strict=True):
        plots.pit_histogram(distributions[name], calls[test], n=1000, ax=ax)
        ax.set_title(name, loc="left")

# %%
# ## A bar for each count
#
# A quiet hour and a busy one. Calibration widens both, each by its own amount.

hours = [int(np.argmin(np.abs(rate[test] - at))) for at in (1.5, 12.0)]
with plots.theme():
    figure, ax = plt.subplots(figsize=(6.3, 2.6), layout="constrained")
    figure.set_label("Probabilities of each count in a quiet and a busy hour, before and after calibration")
    plots.density(distributions["calibrated"], rows=hours, base=distributions["Poisson"], y=calls[test], ax=ax)
    ax.set(xlabel="calls", ylabel="probability")
for hour in hours:
    lower, upper = distributions["calibrated"][hour].interval(0.9)
    print(f"expected {rate[test][hour]:.1f}: 90% between {lower:.0f} and {upper:.0f} calls, "
          f"none with probability {distributions['calibrated'][hour].pmf(0):.3f}")  # fmt: skip

# %%
# ## From a scikit-learn model
#
# A model with a Poisson loss predicts rates. `labels="counts"` is all that it needs.

X = np.log(rate)[:, None]
model = CalibratedRegressor(PoissonRegressor(alpha=0.0), labels="counts", refine=None, random_state=0)
print(model.fit(X[:2000], calls[:2000]).predict_interval([[0.0], [2.0]], coverage=0.8))
