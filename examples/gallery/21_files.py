"""Save, load and predict in another place.

What calibration learns is a small file of numbers and JSON, without pickle and without the base model. Any process that
has forecasts can read it and turn them into distributions.
"""

from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

import calibrant
from calibrant import Calibrator, Normal, plots
from calibrant.interpolators import NAF

# %%
# ## Calibrate and save
#
# Wind power, with overconfident forecasts and skewed errors.

rng = np.random.default_rng(0)
mean = rng.uniform(5, 20, 2000)
power = mean + 1.5 * (rng.gamma(3.0, 1.0, 2000) - 3.0)
calibrated = Calibrator(interpolator=NAF()).fit(Normal(mean, 1.5), power)
calibrated.save("wind.safetensors")
print(f"{Path('wind.safetensors').stat().st_size:,} bytes for {calibrated.guarantee.n:,} calibration rows")

# %%
# ## Load
#
# Score, q and guarantee are all there, and the distributions are the same to the last bit.

loaded = calibrant.load("wind.safetensors")
new = Normal(8 + 5 * np.sin(np.arange(48) / 8), 1.5)
H = loaded(new)
print(loaded.guarantee)
print("same quantiles:", np.array_equal(H.quantiles([0.05, 0.5, 0.95]), calibrated(new).quantiles([0.05, 0.5, 0.95])))

# %%
# ## Predict
#
# Two days ahead, hour by hour: power is never negative, so the distributions are clipped. On the right, one hour before
# and after. The command line does the same with files: `calibrant predict new.parquet -m wind.safetensors --interval
# 0.9 -o out.parquet`.

with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(6.3, 2.5), width_ratios=[1.5, 1], layout="constrained")
    figure.set_label("Fan of wind power over two days, and the density of one hour before and after calibration")
    plots.fan(H.clip(0.0, np.inf), ax=left)
    left.set(xlabel="hour", ylabel="power (MW)")
    plots.density(H, rows=12, base=new, ax=right)
    right.set(xlabel="power at hour 12 (MW)")
