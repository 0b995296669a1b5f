"""How many calibration rows do I need?

It depends on whether you want to be right on average, or sure of the set you have, and on the interpolator. All of it
can be computed before there are any data.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import plots, required_n, required_n_for_interval
from calibrant.interpolators import NAF, Linear

# %%
# ## Rows against error
#
# The rows that bring the error of every probability down to ε: for the average over calibration sets, and for one set
# with a confidence of 95%. The steeper a curve, the more rows a smaller ε costs. For the average, linear
# interpolation needs about 1/ε rows; everything else needs about 1/ε². On the right, the number of rows that a finite
# conformal interval needs.

errors = np.geomspace(0.005, 0.2, 40)
curves = {
    "average, linear": (None, Linear()),
    "average, NAF": (None, NAF()),
    "this set, 95%, linear": (0.95, Linear()),
    "this set, 95%, NAF": (0.95, NAF()),
}
with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.6), width_ratios=[1.3, 1], layout="constrained")
    figure.set_label("Rows against the error, and rows against the coverage of a finite interval")
    for (name, (confidence, q)), colour, line in zip(
        curves.items(), plots.COLOURS, ("--", "-", "-.", ":"), strict=False
    ):
        rows = [required_n(error, confidence, interpolator=q) for error in errors]
        left.plot(errors, rows, color=colour, linestyle=line, label=name)
    left.set(xscale="log", yscale="log", xlabel="error ε of every probability", ylabel="calibration rows")
    left.legend()

    coverages = 1 - np.geomspace(0.001, 0.5, 60)
    right.plot(1 - coverages, [required_n_for_interval(c) for c in coverages], color=plots.AFTER)
    right.set(xscale="log", yscale="log", xlabel="1 − coverage", ylabel="rows for finite bounds")

# %%
# ## In numbers

print(f"{'ε':6}" + "".join(f"{name:>24}" for name in curves))
for error in (0.1, 0.05, 0.02, 0.01):
    rows = [required_n(error, confidence, interpolator=q) for confidence, q in curves.values()]
    print(f"{error:<6}" + "".join(f"{n:>24,}" for n in rows))
print()
for coverage in (0.9, 0.99, 0.999):
    print(f"{coverage:.1%} intervals are finite from {required_n_for_interval(coverage)} rows on")
