"""Counts: ties, and no negative demand.

Counts are whole numbers, so scores are tied, and a continuous distribution cannot be exactly calibrated. `Random` is,
ties included; and `clip` removes what lies below zero.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Point, plots
from calibrant.interpolators import Linear, Random
from calibrant.metrics import sup_calibration_error

# %%
# ## Loaves sold in a small shop
#
# A few per day, around a rate that the model knows and rounds to whole loaves.

rng = np.random.default_rng(0)
rate = rng.uniform(0.5, 6.0, 6000)
loaves = rng.poisson(rate)
forecast = Point(rate.round())
calibration, test = slice(1000), slice(1000, None)

distributions = {}
for q in (Linear(), Random()):
    calibrated = Calibrator(interpolator=q).fit(forecast[calibration], loaves[calibration])
    distributions[type(q).__name__] = calibrated(forecast[test], rng=np.random.default_rng(1))
    print(f"{type(q).__name__}: {calibrated.guarantee}\n")

# %%
# ## Steps, and steps filled in
#
# All labels with the same residual have the same H(y), so with linear interpolation the PITs form a few tall columns.
# `Random` spreads each column over its step, with one uniform number per row: flat.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.5), layout="constrained")
    figure.set_label("PIT histograms of counts: columns with linear interpolation, flat with random")
    for ax, (name, H) in zip(axes, distributions.items(), strict=True):
        plots.pit_histogram(H, loaves[test], n=1000, ax=ax)
        ax.set_title(f"{name}: largest error {sup_calibration_error(H, loaves[test]):.3f}", loc="left")

# %%
# ## Nothing below zero
#
# A forecast of one loaf gives some probability to negative sales. `clip` moves it to zero and changes nothing above.

H = Calibrator().fit(forecast[calibration], loaves[calibration])(Point([1.0]))
clipped = H.clip(0.0, np.inf)
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.2), sharex=True, sharey=True, layout="constrained")
    figure.set_label("The distribution function of a forecast of one loaf, before and after clipping at zero")
    for ax, name, distribution in zip(axes, ("as it is", "clipped at 0"), (H, clipped), strict=True):
        plots.cdf(distribution, rows=0, ax=ax)
        ax.set_title(f"{name}: mean {distribution.mean()[0]:.2f}", loc="left")
        ax.set_xlabel("loaves")
print(f"P(sold < 0) = {H.cdf(-1e-9)[0]:.3f} as it is, {clipped.cdf(-1e-9)[0]:.3f} clipped")
