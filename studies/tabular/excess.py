"""Excess risk: how much better than c can x predict whether the PIT is below c?"""

from __future__ import annotations

import numpy as np
from sklearn.ensemble import ExtraTreesRegressor
from sklearn.model_selection import KFold

from studies.tabular.cut import Floats

LEVELS = np.array([0.1, 0.25, 0.5, 0.75, 0.9])
_FOLDS = 3


def excess_risk(pit: Floats, X: Floats, seed: int) -> float:
    """mean over c of E[(1{PIT <= c} - c)^2 - (1{PIT <= c} - g_c(x))^2], g_c learned on other test rows.

    With the best g it is the mean of (P(PIT <= c | x) - c)^2: 0 if the distribution is right for every x. A forest
    learns g on two thirds of the test rows and is judged on the last third. Where there is nothing to learn, the
    estimate is a little below 0.
    """
    below = (pit[:, None] <= LEVELS).astype(np.float64)
    learned = np.empty_like(below)
    for train, test in KFold(_FOLDS, shuffle=True, random_state=seed).split(X):
        forest = ExtraTreesRegressor(50, min_samples_leaf=20, max_features=0.5, random_state=seed)
        learned[test] = forest.fit(X[train], below[train]).predict(X[test])
    return float(np.mean((below - LEVELS) ** 2 - (below - learned) ** 2))
