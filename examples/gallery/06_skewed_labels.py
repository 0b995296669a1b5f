"""Skewed labels: the z-score and the cdf score.

The z-score forgets the shape of a predicted distribution, the cdf score keeps it. Where the shape is right and skewed,
that matters.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, LogNormal, plots
from calibrant.interpolators import NAF
from calibrant.metrics import coverage, interval_score, nll
from calibrant.scores import CDFScore, ZScore

# %%
# ## The right shape, the wrong width
#
# Insurance claims: most are small, a few are huge, none is negative. The forecaster knows that they are log-normal,
# but understates their spread.

rng = np.random.default_rng(1)
level, sigma = rng.normal(7.0, 0.6, 1500), rng.uniform(0.3, 0.9, 1500)
claims = np.exp(level + 1.4 * sigma * rng.normal(size=1500))
base = LogNormal(level, sigma)
calibration, test = slice(500), slice(500, None)

forecasts = {"before": base[test]}
for name, score in {"z-score": ZScore(), "cdf score": CDFScore()}.items():
    calibrated = Calibrator(score, NAF()).fit(base[calibration], claims[calibration])
    forecasts[name] = calibrated(base[test])
for name, H in forecasts.items():
    y = claims[test]
    held, score = coverage(H, y), interval_score(H, y)
    print(f"{name + ':':10} 90% interval holds {held:.1%}, its score {score:.0f}, NLL {nll(H, y):.3f}")

# %%
# ## Two calibrated forecasts, one better
#
# On the left both are within the band. On the right, the customer with the widest forecast. One distribution of
# z-scores has to serve narrow rows and wide ones, whose shapes differ: it puts probability on claims below zero. The
# cdf score cannot, since H has no probability where the forecast had none.

with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.6), width_ratios=[1, 1.3], layout="constrained")
    figure.set_label("Reliability of the three forecasts, and their distribution functions for one customer")
    plots.reliability(forecasts, claims[test], n=500, ax=left)
    row = int(np.argmax(sigma[test]))
    grid = np.linspace(-1500, 9000, 600)
    for (name, H), colour, line in zip(forecasts.items(), plots.COLOURS, ("--", "-", "-."), strict=False):
        right.plot(grid, H[row].cdf(grid), color=colour, linestyle=line, label=name)
    right.axvline(0, color="0.6", linewidth=0.5)
    right.set(xlabel="claim of one customer", ylabel="H(y)", ylim=(0, 1))
    right.legend(loc="lower right")
for name, H in forecasts.items():
    print(f"{name}: P(claim < 0) = {float(H[row].cdf(0.0)):.4f}")
