"""Tails of small samples: what thirty rows do not determine.

Thirty scores leave a 31st of the probability beyond each end, and say nothing about where it lies. Three answers: an
exponential tail, an end one gap further on, or no claim at all.
"""

import warnings

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, plots, required_n_for_interval
from calibrant.interpolators import BoundedTails, ExponentialTails, InfiniteTails, Linear

# %%
# ## Thirty errors
#
# Thirty past errors of a forecast, and its forecast for tomorrow: 0.

rng = np.random.default_rng(3)
errors = rng.standard_t(4, size=30)
tails = {"exponential": ExponentialTails(), "bounded": BoundedTails(), "infinite": InfiniteTails()}
distributions = {
    name: Calibrator(interpolator=Linear(kind)).fit(np.zeros(30), errors)([0.0])[0] for name, kind in tails.items()
}

# %%
# ## Where they agree, and where not
#
# Inside the errors, which are the ticks, the three agree. Beyond them they part: the bounded one reaches 1 at once,
# the exponential one slowly, and the infinite one never does, because the rest of its mass is at infinity.

with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.5), width_ratios=[1.4, 1], layout="constrained")
    figure.set_label("Three distribution functions that agree between the scores and differ beyond them")
    grid = np.linspace(-6, 9, 1500)
    for (name, distribution), colour, line in zip(
        distributions.items(), plots.COLOURS, ("--", "-", "-."), strict=False
    ):
        for ax in (left, right):
            ax.plot(grid, distribution.cdf(grid), color=colour, linestyle=line, label=name)
    left.plot(errors, np.full(30, 0.02), "|", color="black")
    left.set(xlabel="y", ylabel="H(y)", ylim=(0, 1.02))
    right.set(xlabel="y", xlim=(1, 9), ylim=(0.9, 1.005))
    left.set_title("the whole distribution", loc="left")
    right.set_title("its upper tail", loc="left")
    right.axhline(30 / 31, color="0.6", linewidth=0.5, linestyle=":")
    left.legend(loc="upper left")

# %%
# ## What it means for intervals
#
# The 90% interval lies between the errors and does not depend on the tails. The 99% interval does: it is a guess with
# the first two, and infinite with the third. A warning says so, which is ignored here. The last line says how many rows
# give finite bounds without a guess.

warnings.simplefilter("ignore")
for coverage in (0.9, 0.99):
    for name, distribution in distributions.items():
        lower, upper = distribution.interval(coverage)
        print(f"{coverage:.0%}, {name + ':':12} from {lower:6.2f} to {upper:5.2f}")
print(f"rows for finite 99% bounds: {required_n_for_interval(0.99)}")
