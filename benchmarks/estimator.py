"""A default fit beside `cross_val_predict` with five folds, and its prediction beside that of one model.

`python benchmarks/estimator.py` (`--sizes 300 2000` for some of them): times of a processor, so that other work on the
machine hardly counts, taken in turn in one process for each number of rows; of few rows the median of five. The table
is printed and written to results/estimator.md.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import subprocess
import sys
import time
import warnings
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
from sklearn.base import clone
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.model_selection import cross_val_predict

from calibrant import CalibratedRegressor

SIZES = (300, 2_000, 200_000)
NEW = 100_000
ALLOWED = {300: (2, 1), 2_000: (2, 3)}
"""Times the one of cross_val_predict, plus seconds; else 3 times."""


def table(n: int, seed: int) -> tuple[Any, Any]:
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 10))
    return X, X[:, 0] + np.sin(X[:, 1]) + np.abs(X[:, 2]) * rng.normal(size=n)


def seconds(work: Any) -> float:
    start = time.process_time()
    work()
    return time.process_time() - start


def peak() -> float:
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024.0


def child(n: int) -> None:
    warnings.simplefilter("ignore")
    boosting = HistGradientBoostingRegressor(random_state=0)
    model = CalibratedRegressor(boosting, random_state=0)
    (X, y), (new, _) = table(n, 0), table(NEW, 1)
    clone(model).fit(*table(300, 2)).predict_interval(new[:100])  # imports
    before, rounds = peak(), 5 if n < 10_000 else 1
    fits = [seconds(lambda: model.fit(X, y)) for _ in range(rounds)]
    memory = (peak() - before) / X.nbytes
    folds = [seconds(lambda: cross_val_predict(boosting, X, y, cv=5)) for _ in range(rounds)]
    one = boosting.fit(X, y)
    alone = [seconds(lambda: one.predict(new)) for _ in range(5)]
    found = [seconds(lambda: model.predict_distribution(new)) for _ in range(5)]
    print(json.dumps([*map(median, (folds, fits)), memory, *map(median, (alone, found))]))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--child", type=int, help=argparse.SUPPRESS)
    given = parser.parse_args()
    if given.child:
        return child(given.child)
    lines = [
        "# A default fit beside cross-validation",
        "",
        "`python benchmarks/estimator.py`: gradient boosting of scikit-learn, 10 columns; seconds of a processor, one"
        " thread. Prediction is",
        f"of {NEW:,} rows; memory is what the fit adds to the process, in sizes of the table (of few rows that is"
        " mostly code).",
        "",
        "| rows | cross_val_predict | fit | allowed | one model predicts | ours | allowed | memory |",
        "|---|---|---|---|---|---|---|---|",
    ]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
    for n in given.sizes:
        command = [sys.executable, __file__, "--child", str(n)]
        found = subprocess.run(command, check=True, capture_output=True, text=True, env=environment)
        folds, fit, memory, alone, ours = json.loads(found.stdout)
        times, plus = ALLOWED.get(n, (3, 0))
        lines.append(
            f"| {n:,} | {folds:.2f} | {fit:.2f} | {times * folds + plus:.2f} | {alone:.2f} | {ours:.2f} |"
            f" {6 * alone + 1:.2f} | {memory:.1f} |"
        )
        print(lines[-1], flush=True)
    Path(__file__).parents[1].joinpath("results/estimator.md").write_text("\n".join(lines) + "\n")
    return None


if __name__ == "__main__":
    main()
