"""Reading a league.

How elaborate should a refinement be? A league judges the candidates on training rows that none of them was fitted to.
What matters is not which score is lowest, but which differences from the best are more than chance.
"""

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LinearRegression

from calibrant import CalibratedRegressor, plots
from calibrant.metrics import coverage, crps

# %%
# ## A thousand rows
#
# The labels are linear in x. The noise depends on x and has heavy tails. 800 rows train and judge the candidates; 200
# calibrate.

rng = np.random.default_rng(0)
x = rng.uniform(size=(3000, 4))
y = 4 * x[:, 0] + 2 * x[:, 1] + (0.3 + x[:, 2] ** 2) * rng.standard_t(4, size=3000)
known, test = slice(1000), slice(1000, None)
model = CalibratedRegressor(LinearRegression(), random_state=0).fit(x[known], y[known])

# %%
# ## The table
#
# Candidates are listed from the simplest to the most elaborate. `behind` is how much larger the CRPS is than the lowest
# one, `s.e.` the standard error of that difference. The topmost candidate within one standard error of the lowest is
# chosen: a candidate that is better only by chance does not win against a simpler one.

league = model.estimators_[0].league_
print(league)

# %%
# The standard error is that of differences row by row. Rows that are hard for one candidate are hard for all, so the
# differences are known far better than the scores themselves.

H = model.predict_distribution(x[test])
alone = np.std(H.crps(y[test])) / np.sqrt(league.rows)
print(f"Standard error of one CRPS on {league.rows} rows, about: {alone:.3f}")

# %%
# The calibration rows were not used for the choice, so the guarantee is the same as without a choice.

print(f"On new rows: CRPS {crps(H, y[test]):.3f}, the 90% intervals hold {coverage(H, y[test], 0.9):.1%}.")
print(f"Promised: an error of at most {model.guarantee_.epsilon:.4f} at every level, on average over calibration sets.")

# %%
# ## The picture
#
# A bar is one standard error of the difference. Where it reaches 0, the candidate is as good as the best, and its dot
# is round and blue. The grey band is one standard error of a single CRPS: read without pairs, this league would say
# nothing.

with plots.theme():
    figure, ax = plt.subplots(figsize=(4.6, 2.2), layout="constrained")
    figure.set_label("CRPS behind the best, with one standard error: location-scale is the simplest that reaches 0")
    ax.axvspan(-alone, alone, color="0.9", linewidth=0, zorder=0, label="one standard error of a single CRPS")
    for k, entry in enumerate(league.entries):
        look = {"fmt": "o", "color": plots.AFTER} if entry.level else {"fmt": "s", "color": plots.BEFORE}
        ax.errorbar(entry.behind, k, xerr=entry.error, capsize=2, **look)
    ax.axvline(0, color="0.5", linewidth=0.5)
    names = [f"{entry.name} (chosen)" if entry.name == league.chosen else entry.name for entry in league.entries]
    ax.set_yticks(range(len(names)), names)
    ax.set(xlabel="CRPS behind the best", xlim=(-1.3 * alone, 1.3 * alone), ylim=(len(names) - 0.3, -1.6))
    ax.legend(loc="upper left")
