"""Many exact zeros: `python benchmarks/atoms.py [FOLDER [DATASET ...]]`, the folder of the study's datasets.

For blog and fb-comment1, taken back to counts, 5,000 rows and three splits: CRPS, the p-value of the drawn PITs, the
Brier score of P(Y = 0), and the largest gap between P(Y = 0) and the share of zeros over its deciles.
"""

import sys
import time
import warnings

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant import Calibrator, Point, evaluate
from calibrant.labels.named import labels_named
from calibrant.predictions import WithAtom
from calibrant.refine import Average
from calibrant.refine.two_part import TwoPart
from calibrant.sklearn.refined import Refined
from calibrant.study.datasets import load

SEEDS = (0, 1, 2)
ROWS = 5000
REFINER = Average()  # what the league of "auto" chooses on these datasets, in a third of the time


def forecasts(X, y, calibration, test, seed):
    """The forecasts of calibration and test rows, by name; models and refiners saw the other rows only."""
    base = HistGradientBoostingRegressor(random_state=0)
    train = slice(0, calibration.start)
    start = time.perf_counter()
    whole = Refined(base, REFINER, random_state=seed).fit(X[train], y[train])
    middle = time.perf_counter()
    parts = Refined(base, TwoPart(REFINER), random_state=seed).fit(X[train], y[train])
    seconds = middle - start, time.perf_counter() - middle
    found = {}
    for name, rows in (("calibration", calibration), ("test", test)):
        points = Point(whole.estimator_.predict(X[rows]))
        refined, two = whole.predict_forecast(X[rows]), parts.predict_forecast(X[rows])
        found[name] = {
            "points": points,
            "points, classifier": WithAtom(points, two.share),
            "refined": refined,
            "refined, classifier": WithAtom(refined, two.share),
            "two parts": two,
        }
    return found["calibration"], found["test"], seconds


METHODS = (
    ("points", None),
    ("points", "0:"),
    ("points, classifier", "atom:0"),
    ("refined", None),
    ("refined", "0:"),
    ("refined", "atom:0"),
    ("refined, classifier", "atom:0"),
    ("two parts", "atom:0"),
    ("two parts", "atom:0,log1p"),
)


def reliability(share, zero):
    """(mean P(Y = 0), share of zeros, rows) in each tenth of the rows by P(Y = 0)."""
    order = np.array_split(np.argsort(share, kind="stable"), 10)
    return [(share[rows].mean(), zero[rows].mean(), len(rows)) for rows in order]


def main(folder=None, *names):
    warnings.simplefilter("ignore")  # of tied labels and widened rows
    for name in names or ("blog", "fb-comment1"):
        data = load(name, folder=folder)
        rows_of, tables = {}, []
        for seed in SEEDS:
            rows = np.random.default_rng(seed).permutation(len(data.y))[:ROWS]
            X, y = data.X[rows], np.round(np.expm1(data.y[rows]))
            calibration, test = slice(int(0.56 * ROWS), int(0.7 * ROWS)), slice(int(0.7 * ROWS), ROWS)
            known, new, seconds = forecasts(X, y, calibration, test, seed)
            print(
                f"{name} {seed}: {np.mean(y == 0):.0%} zeros, refined {seconds[0]:.0f} s, two parts {seconds[1]:.0f} s"
            )
            for method in METHODS:
                forecast, labels = method
                calibrator = Calibrator(labels=labels_named(labels))
                H = calibrator.fit(known[forecast], y[calibration], rng=np.random.default_rng(seed))(new[forecast])
                share, zero = H.cdf(0.0), y[test] == 0
                table = reliability(share, zero)
                found = evaluate(H, y[test])
                gap = max(abs(said - seen) for said, seen, _ in table)
                rows_of.setdefault(method, []).append(
                    (H.crps(y[test]).mean(), np.mean((share - zero) ** 2), gap, found.pit_pvalue)
                )
                if method == ("two parts", "atom:0"):
                    tables.append(table)
            for (forecast, labels), values in rows_of.items():
                crps, brier, gap, p = values[-1]
                print(f"  {forecast:20} {labels!s:13} {crps:.4f} {brier:.4f} {gap:.3f} {p:.4f}", flush=True)
        print(f"\n| {name}: forecast | labels | CRPS | Brier score of P(Y = 0) | largest gap | PIT p-values |")
        print("|---|---|---|---|---|---|")
        for (forecast, labels), values in rows_of.items():
            crps, brier, gap, _ = np.mean(values, axis=0)
            p = ", ".join(f"{value[3]:.2g}" for value in values)
            print(f"| {forecast} | {labels} | {crps:.3f} | {brier:.4f} | {gap:.3f} | {p} |")
        print(f"\n| {name}, two parts, atom:0: P(Y = 0) | share of zeros |\n|---|---|")
        for said, seen, _ in np.mean(tables, axis=0):
            print(f"| {said:.3f} | {seen:.3f} |")
        print(flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
