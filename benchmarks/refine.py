"""What refinement costs: `python benchmarks/refine.py [--rows 1000000]`, written to results/refine.md.

Prediction: 100,000 rows by a forest of 100 trees alone, and by the same forest refined, in turns; the ratio is that of
the medians. Learning: a boosted model with `refine="auto"` on many rows, beside the model alone, with the peak memory
of the process.
"""

from __future__ import annotations

import argparse
import os
import platform
import resource
import time
from collections.abc import Callable
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import sklearn
from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

from calibrant.sklearn import CalibratedRegressor, Refined

RUNGS = ("location-scale", "quantiles", "local", "cascade", "average")
FEATURES = 10


def table(rows: int, seed: int) -> tuple[Any, Any]:
    """Friedman's first function with an error whose scale depends on x."""
    rng = np.random.default_rng(seed)
    X = rng.random((rows, FEATURES))
    f = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
    return X, f + (0.5 + 3 * X[:, 5]) * rng.normal(size=rows)


def seconds(act: Callable[[], Any]) -> float:
    """What one call takes."""
    start = time.perf_counter()
    act()
    return time.perf_counter() - start


def prediction(rounds: int) -> list[str]:
    """The lines of the table of predictions."""
    X, y = table(6_000, 0)
    new, _ = table(100_000, 1)
    lines = ["| refiner | forest alone, s | refined, s | ratio |", "|---|---|---|---|"]
    for name in RUNGS:
        model = Refined(RandomForestRegressor(100, random_state=0), name, random_state=0).fit(X, y)
        alone, refined = [], []
        for _ in range(rounds):
            alone.append(seconds(lambda base=model.estimator_: base.predict(new)))
            refined.append(seconds(lambda model=model: model.predict_forecast(new)))
        lines.append(
            f"| {name} | {median(alone):.2f} | {median(refined):.2f} | {median(refined) / median(alone):.2f} |"
        )
        print(lines[-1], flush=True)
    return lines


def learning(rows: int) -> list[str]:
    """The lines of the table of fits."""
    X, y = table(rows, 2)
    lines = ["| | s | peak memory so far, GiB |", "|---|---|---|"]
    models = {
        "boosting alone": HistGradientBoostingRegressor(random_state=0),
        'CalibratedRegressor(boosting), refine="auto"': CalibratedRegressor(
            HistGradientBoostingRegressor(random_state=0), random_state=0
        ),
    }
    for name, model in models.items():
        spent = seconds(lambda model=model: model.fit(X, y))
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        lines.append(f"| {name} | {spent:.1f} | {peak:.2f} |")
        print(lines[-1], flush=True)
    return [*lines, "", f"Chosen: {models[name].league_.chosen}."]


def main() -> None:
    """Both, and the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=1_000_000, help="training rows of the second table")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("-o", "--output", default="results/refine.md")
    asked = parser.parse_args()
    threads = os.environ.get("OMP_NUM_THREADS", f"all of {os.cpu_count()}")
    lines = [
        "# What refinement costs",
        "",
        f"`python benchmarks/refine.py --rows {asked.rows} --rounds {asked.rounds}`, threads: {threads}, Python"
        f" {platform.python_version()}, numpy {np.__version__}, scikit-learn {sklearn.__version__}.",
        "",
        "## Prediction of 100,000 rows",
        "",
        *prediction(asked.rounds),
        "",
        f"## Learning from {asked.rows:,} rows of {FEATURES} features",
        "",
        *learning(asked.rows),
    ]
    path = Path(asked.output)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
