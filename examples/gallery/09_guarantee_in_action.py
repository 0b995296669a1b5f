"""The guarantee in action: thousands of calibration sets.

The theorem bounds the error on average over calibration sets; a second bound holds for a single set. We draw many sets
of many sizes and check both.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Guarantee, plots

# %%
# ## An error that can be computed
#
# The forecast is 0 for every row, and the labels follow a Gumbel distribution, which is known here, so the error of
# any H can be computed, not estimated. P(H(Y) <= c) is the probability that Y is at most H's quantile c.

levels = np.arange(1, 200) / 200


def shares(n, rng):
    H = Calibrator().fit(np.zeros(n), rng.gumbel(size=n))([0.0])
    return np.exp(-np.exp(-H.quantiles(levels)[0]))


rng = np.random.default_rng(0)
sizes = [20, 50, 100, 200, 500, 1000, 2000]
found = {n: np.array([shares(n, rng) for _ in range(200)]) for n in sizes}

# %%
# ## Two bounds
#
# Each dot is one calibration set and its largest error over all c. The error of the mean over the sets is far
# smaller: this is what the theorem bounds, and it falls like 1/n. The error of a single set falls like 1/√n only, and
# stays below the dashed bound in about 95% of the sets or more.

with plots.theme():
    figure, ax = plt.subplots(figsize=(4.6, 3.0), layout="constrained")
    figure.set_label("Errors of single sets lie below the DKW bound, the error of their mean lies near epsilon")
    for n, share in found.items():
        errors = np.abs(share - levels).max(axis=1)
        sideways = n * np.exp(rng.normal(0, 0.05, len(errors)))
        ax.plot(sideways, errors, "o", color=plots.AFTER, markersize=1.5, alpha=0.35, markeredgewidth=0)
    average = [np.abs(share.mean(axis=0) - levels).max() for share in found.values()]
    ax.plot([], [], "o", color=plots.AFTER, label="one set: its largest error")
    ax.plot(sizes, average, "^", color="black", markersize=4, label="the average of 200 sets: its largest error")
    promised = [Guarantee(n, 0.0) for n in sizes]
    ax.plot(sizes, [g.conditional(0.95) for g in promised], "--", color=plots.BEFORE, label="bound for one set, 95%")
    ax.plot(sizes, [g.epsilon for g in promised], "-", color=plots.BEFORE, label="ε = 1 / (n + 1), for the average")
    ax.set(xscale="log", yscale="log", xlabel="calibration rows n", ylabel="sup |P(H(Y) ≤ c) − c|", ylim=(2e-4, 3))
    ax.legend(loc="upper right", ncols=2)

# %%
# ## In numbers
#
# An average of 200 sets is itself uncertain. For large n this noise is above ε, and the triangles with it: more sets
# would bring them down.

for n, share in found.items():
    errors = np.abs(share - levels).max(axis=1)
    held = np.mean(errors <= Guarantee(n, 0.0).conditional(0.95))
    noise = share.std(axis=0).max() / np.sqrt(len(share))
    print(f"n = {n:4}: median error {np.median(errors):.3f}, within the bound {held:.1%}; average ± {noise:.4f}")
