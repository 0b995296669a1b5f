"""Smooth densities, and what they cost in the guarantee.

Linear interpolation has the tightest guarantee and a ragged density. NAF has a smooth one, and λ says how far it may
stray from the ranks of the scores. This example shows what each choice costs.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Normal, plots
from calibrant.interpolators import NAF, Linear
from calibrant.metrics import crps, nll

# %%
# ## One set of scores, four distributions
#
# Four hundred calibration rows with Student t errors. `promise` gives λ for n rows; the default is √n / 2.

rng = np.random.default_rng(0)
f = rng.normal(size=5400)
y = f + rng.standard_t(5, size=5400)
base = Normal(f, 1.0)
calibration, test = slice(400), slice(400, None)
choices = {
    "Linear, λ = 0": Linear(),
    "NAF, λ = 1": NAF(promise=lambda n: 1.0),
    "NAF, λ = 3": NAF(promise=lambda n: 3.0),
    "NAF, λ = √n / 2": NAF(),
}
fitted = {name: Calibrator(interpolator=q).fit(base[calibration], y[calibration]) for name, q in choices.items()}

# %%
# ## Their densities
#
# The linear q passes through every score, so that its slope, the density, jumps at each of them; the picture cuts off
# its peaks. The larger λ, the smoother the density, and the lower the NLL on new rows.

with plots.theme():
    figure, axes = plt.subplots(2, 2, figsize=(6.3, 3.8), sharex=True, sharey=True, layout="constrained")
    figure.set_label("Densities of one forecast: ragged with linear interpolation, smoother with each larger λ")
    grid = np.linspace(-5, 5, 2001)
    for ax, (name, calibrated) in zip(axes.flat, fitted.items(), strict=True):
        ax.plot(grid, calibrated(Normal([0.0], 1.0))[0].pdf(grid), color=plots.AFTER, linewidth=0.6)
        ax.set_title(f"{name}: NLL {nll(calibrated(base[test]), y[test]):.3f}", loc="left")
        ax.set(xlabel="y", ylabel="density", ylim=(0, 1.0))
        ax.label_outer()

# %%
# ## What does not change
#
# The CRPS and the intervals hardly change. So use NAF where densities matter, and linear interpolation where
# probabilities and intervals do.

for name, calibrated in fitted.items():
    H = calibrated(base[test])
    lower, upper = calibrated(Normal([0.0], 1.0))[0].interval(0.9)
    numbers = f"CRPS {crps(H, y[test]):.4f}, 90% interval from {lower:.2f} to {upper:.2f}"
    print(f"{name + ':':17} ε = {calibrated.guarantee.epsilon:.4f}, {numbers}")
