"""Right at each horizon.

A model forecasts a load for the next 24 hours and states the same width for each of them. The errors are smaller at
night and larger in the afternoon. Calibrated by horizon, the intervals are right hour by hour, with forty days to learn
from.
"""

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

from calibrant import Calibrator, HorizonCalibrator, backtest, plots
from calibrant.horizons.calibration import evaluate_horizons

# %%
# ## A long table
#
# One row for each hour and each midnight at which the forecast was made, as statsforecast's `cross_validation` has it.
# The forecast is the mean of the last seven days at that hour.

rng = np.random.default_rng(0)
days, hours = 400, 24
hour = np.arange(hours)
usual = 50 + 12 * np.sin(2 * np.pi * (hour - 7) / 24)
noise = 0.8 + 3.5 * np.exp(-(((hour - 15) / 4) ** 2))  # calm nights, wild afternoons
load = usual + rng.normal(size=(days, 1)) + noise * rng.normal(size=(days, hours))
start = pd.Timestamp("2024-01-01")

rows = []
for day in range(7, days):
    past = load[day - 7 : day]
    mean, width = past.mean(axis=0), 1.28 * (past - past.mean(axis=0)).std() * np.sqrt(8 / 6)
    when = start + pd.to_timedelta(24 * day + hour, "h")
    made = when[0] - pd.Timedelta(hours=1)
    rows.append(pd.DataFrame({"unique_id": "load", "ds": when, "cutoff": made, "y": load[day]}))
    rows[-1] = rows[-1].assign(**{"MA": mean, "MA-lo-80": mean - width, "MA-hi-80": mean + width})
table = pd.concat(rows, ignore_index=True)
cutoffs = table["cutoff"].unique()
calibration, test = table[table["cutoff"] < cutoffs[40]], table[table["cutoff"] >= cutoffs[40]]

# %%
# ## Calibrated by horizon, and all hours together

by_hour = HorizonCalibrator().fit(calibration)
found = by_hour.evaluate(test, coverage=0.8)
fitted, asked = by_hour.labelled(calibration), by_hour.labelled(test)
together = Calibrator().fit(fitted.prediction, fitted.y)(asked.prediction)
plain = evaluate_horizons(asked.prediction, together, asked.y, asked.horizon, 0.8)
print(by_hour.guarantee)

shares = {
    "as stated": [each.coverage for each in found.base.values()],
    "one distribution for all hours": [each.coverage for each in plain.calibrated.values()],
    "by horizon": [each.coverage for each in found.calibrated.values()],
}
for name, share in shares.items():
    print(f"{name:22} the 80% intervals hold {min(share):.0%} to {max(share):.0%}")

# %%
# ## The same columns, written back

last = test[test["cutoff"] == cutoffs[-1]]
print(by_hour.predict(last)[["ds", "MA", "MA-lo-80", "MA-hi-80"]].round(1).iloc[[3, 15]].to_string(index=False))

# %%
# ## A backtest
#
# From the eleventh midnight on, each forecast is made with what was known then.

watched = backtest(HorizonCalibrator(), calibration, least=10, every=5)
print(watched, f"the 80% intervals hold {watched.evaluate(coverage=0.8).coverage:.0%}")

# %%
# ## In a picture
#
# Left, how many labels the intervals of each hour hold. Right, the last day with its intervals, as stated and by
# horizon.

with plots.theme():
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.4, 2.9), layout="constrained")
    figure.set_label("Coverage by hour: as stated, all hours together, by horizon; and the intervals of one day")
    for (name, share), style in zip(shares.items(), (":", "--", "-"), strict=True):
        left.plot(hour + 1, 100 * np.asarray(share), style, label=name)
    left.axhline(80, color="0.6", linewidth=0.8, zorder=0)
    left.set(xlabel="steps ahead", ylabel="labels inside, %", ylim=(30, 102), xticks=[1, 6, 12, 18, 24])
    left.legend(loc="lower left")
    calibrated = by_hour.predict(last)
    right.fill_between(
        hour + 1, calibrated["MA-lo-80"], calibrated["MA-hi-80"], alpha=0.3, linewidth=0, label="by horizon"
    )
    for bound in ("MA-lo-80", "MA-hi-80"):
        right.plot(hour + 1, last[bound], ":", color="0.3", label="as stated" if "lo" in bound else None)
    right.plot(hour + 1, last["y"], "k.", markersize=4, label="observed")
    right.set(xlabel="steps ahead", ylabel="load", xticks=[1, 6, 12, 18, 24])
    right.legend(loc="upper left")
