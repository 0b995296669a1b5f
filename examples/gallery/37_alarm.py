"""An alarm when the world changes.

A model is calibrated once and used for months. Labels arrive a day later. The alarm watches them. It says that
something has changed, what has changed, and since when. As long as nothing changes, it stays silent with a probability
of 99%.
"""

import matplotlib.pyplot as plt
import numpy as np

from calibrant import Calibrator, Normal, Window, monitor, plots
from calibrant.metrics import coverage

# %%
# ## A sensor
#
# Forecasts of a sensor's reading, hour by hour. After 3,000 hours its noise grows by a half.

rng = np.random.default_rng(1)
hours, change = 5000, 3000
truth = 20 + 5 * np.sin(np.arange(hours + 1000) / 24)
noise = rng.normal(size=hours + 1000)
noise[1000 + change :] *= 1.5
forecast, reading = Normal(truth, 0.8), truth + noise
calibrated = Calibrator().fit(forecast[:1000], reading[:1000])

# %%
# ## The alarm
#
# It bets against "nothing has changed". The capital is the evidence.

found = monitor(calibrated, forecast[1000:], reading[1000:], threshold=100, rng=rng)
print(found)

# %%
# ## What to do
#
# Before the change the intervals were right, now they are too short. A calibrator that forgets old rows corrects that
# by itself: here only the last 500 rows count.

after = slice(1000 + found.alarm.row, None)
held = coverage(calibrated(forecast[after]), reading[after])
print(f"after the alarm the 90% intervals hold {held:.1%} of the labels")

recent = Calibrator(forget=Window(500)).fit(forecast[:1000], reading[:1000])
recent = recent.update(forecast[1000:hours], reading[1000:hours])
held = coverage(recent(forecast[hours:]), reading[hours:])
print(f"with a window they hold {held:.1%} of the last 1,000 labels")

# %%
# ## The picture
#
# Above the errors, below the capital on a logarithmic scale. It stays below the threshold for 3,000 hours, then
# rises steeply.

with plots.theme():
    figure, axes = plt.subplots(2, 1, figsize=(6.3, 3.6), sharex=True, layout="constrained")
    figure.set_label("Errors of a sensor whose noise grows, and the capital of the alarm")
    axes[0].plot(reading[1000:] - truth[1000:], ".", color=plots.AFTER, markersize=1.2)
    axes[0].axvline(change, color="black", linewidth=0.8, linestyle=":")
    axes[0].set_ylabel("error")
    axes[0].set_title("the noise grows at row 3,000", loc="left")
    plots.monitor(found, ax=axes[1])
