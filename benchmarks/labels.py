"""What labels= does to counts that cannot be negative: `python -m benchmarks.labels [FOLDER]`, the datasets' folder.

For two datasets of the study, taken back to counts: the share of 90% intervals that reach below 0, the CRPS, and how
many labels the intervals hold.
"""

import sys
import warnings

import numpy as np
from sklearn.compose import TransformedTargetRegressor
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import CalibratedRegressor
from studies.datasets import load

BASE = HistGradientBoostingRegressor(random_state=0)
BASES = {"y": BASE, "log1p(y)": TransformedTargetRegressor(BASE, func=np.log1p, inverse_func=np.expm1)}


def main(folder=None):
    warnings.simplefilter("ignore")  # of tied labels
    for name in ("blog", "fb-comment1"):
        data = load(name, folder=folder)
        rows = np.random.default_rng(0).permutation(len(data.y))[:8000]
        X, y = data.X[rows], np.expm1(data.y[rows])
        train, test = slice(int(0.7 * len(y))), slice(int(0.7 * len(y)), None)
        for learned, base in BASES.items():
            for labels in (None, "0:", "0:,log1p"):
                model = CalibratedRegressor(base, labels=labels, refine=None, random_state=0).fit(X[train], y[train])
                H = model.predict_distribution(X[test])
                lower, upper = H.interval(0.9)
                held = np.mean((y[test] >= lower) & (y[test] <= upper))
                print(
                    f"{name:12} learns {learned:9} labels {labels!s:10} below 0: {np.mean(lower < 0):4.0%}"
                    f"  CRPS {H.crps(y[test]).mean():.2f}  held {held:.1%}"
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
