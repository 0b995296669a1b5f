"""Conformal intervals are intervals of H.

Conformal prediction makes an interval for one coverage; a calibrated distribution gives the probability of any
interval. For the conformal interval, the two agree to within 1/(n + 1).
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Normal, plots
from calibrant.intervals import ConformalInterval, NormalizedResidual
from calibrant.scores import signed

# %%
# ## Two calibrations of the same rows
#
# Forecasts of temperature with a standard deviation of their own. The non-conformity |y - m| / s, made to grow with y
# by `signed`, is a score for the distribution.

rng = np.random.default_rng(0)
mean, scale = rng.normal(15, 5, 300), rng.uniform(0.5, 2, 300)
labels = mean + scale * rng.standard_t(4, 300)
new = Normal([12.0, 20.0], [0.6, 1.8])


def difference(n, coverage):
    past = Normal(mean[:n], scale[:n])
    lower, upper = ConformalInterval(NormalizedResidual(), coverage).fit(past, labels[:n])(new)
    H = Calibrator(signed(NormalizedResidual())).fit(past, labels[:n])(new)
    return (H.cdf(upper) - H.cdf(lower) - coverage)[0]


# %%
# ## The difference
#
# H's probability of the conformal interval, less its coverage, for coverages from 1% to 95%. However few the rows, it
# stays between the dashed lines, ±1/(n + 1), as the second theorem says.

coverages = np.arange(1, 96) / 100
with plots.theme():
    figure, axes = plt.subplots(1, 3, figsize=(6.3, 2.2), sharey=True, layout="constrained")
    figure.set_label("The difference between conformal and credible intervals stays within 1/(n + 1) for three n")
    for ax, n in zip(axes, (20, 60, 300), strict=True):
        found = np.array([difference(n, float(c)) for c in coverages])
        ax.plot(coverages, found, ".", color=plots.AFTER)
        for side in (-1, 1):
            ax.axhline(side / (n + 1), color=plots.BEFORE, linestyle="--", linewidth=0.8)
        ax.set_title(f"n = {n}", loc="left")
        ax.set_xlabel("coverage asked for")
        print(f"n = {n:3}: largest difference {np.abs(found).max():.4f}, 1/(n + 1) = {1 / (n + 1):.4f}")
    axes[0].set_ylabel("H(upper) − H(lower) − coverage")
