"""Survival: labels that were not all seen.

Half of the patients of a breast cancer study had no relapse while they were followed. Leaving them out, or treating
the end of the follow-up as the relapse, makes any forecast too pessimistic. `Censored` weights the relapses that were
seen.
"""

import matplotlib.pyplot as plt
import numpy as np
from lifelines.datasets import load_gbsg2

from calibrant import Calibrator, Censored, Point, plots
from calibrant.censored import still_followed
from calibrant.scores import LogScore

# %%
# ## The German breast cancer study
#
# 686 women, the time to relapse or death in days, and whether it was seen. A simple forecast: the time falls with the
# number of positive lymph nodes and rises with the progesterone receptor. It is learned on one half from the relapses
# that were seen, and so it is too short. Calibration corrects that.

table = load_gbsg2()
rows = np.random.default_rng(1).permutation(len(table))
table = table.iloc[rows]
time, event = table["time"].to_numpy(float), table["cens"].to_numpy() == 1
features = np.column_stack([np.ones(len(table)), np.log(table["pnodes"]), np.log(table["progrec"] + 1.0)])
train, calibration, test = slice(0, 230), slice(230, 460), slice(460, None)
seen = event[train]
slope = np.linalg.lstsq(features[train][seen], np.log(time[train][seen]), rcond=None)[0]
f = np.exp(features @ slope)
print(f"{1 - event.mean():.0%} of {len(table)} times are censored")

# %%
# ## Three ways to calibrate
#
# The score is log(time / forecast).

calibrator = Calibrator(LogScore())
ways = {
    "seen times only": calibrator.fit(Point(f[calibration][event[calibration]]), time[calibration][event[calibration]]),
    "censored as if seen": calibrator.fit(Point(f[calibration]), time[calibration]),
    "Censored": calibrator.fit(Point(f[calibration]), Censored(time[calibration], event[calibration])),
}
print(ways["Censored"].guarantee)

# %%
# ## Are they right?
#
# The PITs of the test patients are censored as their times are: the PIT of a patient who was lost is only known to be
# larger. The Kaplan-Meier estimate of their distribution should be the diagonal.


def distribution_of_pits(H):
    """The points of the estimated CDF of the PITs, by inverse probability weights."""
    pit = H.cdf(time[test])
    weight = event[test] / still_followed(time[test], event[test]) / len(pit)
    order = np.argsort(pit)
    return pit[order], np.cumsum(weight[order])


with plots.theme():
    figure, ax = plt.subplots(figsize=(3.6, 3.4), layout="constrained")
    figure.set_label("Distribution of the test patients' PITs: on the diagonal with Censored, far below it otherwise")
    ax.plot([0, 1], [0, 1], color="0.7", linewidth=1)
    for (name, model), style in zip(ways.items(), (":", "--", "-"), strict=True):
        pit, level = distribution_of_pits(model(Point(f[test])))
        known = getattr(model.guarantee, "known", 1.0)
        colour = plots.AFTER if name == "Censored" else plots.BEFORE
        ax.step(pit[pit <= known], level[pit <= known], where="post", linestyle=style, color=colour, label=name)
        inside = (pit >= 0.1) & (pit <= known)
        print(f"{name + ':':20} largest error {np.abs(level - pit)[inside].max():.2f}")
    ax.set(xlabel="level c", ylabel="P(H(Y) ≤ c), test patients", xlim=(0, 1), ylim=(0, 1))
    ax.legend(loc="lower right")

# %%
# ## What can be asked
#
# Nobody was followed for longer than some seven years. Quantiles are given as far as the follow-up reaches; beyond it
# they are refused, and so is the mean.

H = ways["Censored"](Point(f[test][:3]))
print("a quarter relapses within", (H.ppf(0.25) / 365.25).round(1), "years")
try:
    H.ppf(0.95)
except ValueError as error:
    print(error)
