"""How often `diagnose` passes who is right and fails who is wrong: `python benchmarks/diagnose.py [SEEDS]`.

The truth is known: y = f(x) + sigma(x) e with four features. The table is printed and written to results/diagnose.md.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import Calibrator, Normal, Point, diagnose
from calibrant.diagnosis.result import Diagnosis

ROOT = Path(__file__).parents[1]


def truth(rng: np.random.Generator, m: int) -> tuple[Any, Any, Any, Any]:
    X = rng.normal(size=(m, 4))
    f, sigma = X[:, 0] + np.sin(X[:, 1]), 0.5 * np.exp(0.4 * X[:, 0])
    return X, f, sigma, f + sigma * rng.normal(size=m)


def true_distribution(rng: np.random.Generator, seed: int) -> Diagnosis:
    X, f, sigma, y = truth(rng, 1000)
    return diagnose(Normal(f, sigma), y, X, seed=seed)


def true_distribution_with_atoms(rng: np.random.Generator, seed: int) -> Diagnosis:
    X, f, sigma, y = truth(rng, 1000)
    return diagnose(Normal(f, sigma).clip(0.0), y.clip(0.0), X, seed=seed)


def true_scores(rng: np.random.Generator, seed: int) -> Diagnosis:
    X, f, sigma, y = truth(rng, 1300)
    base = Normal(f, sigma / 2)
    H = Calibrator().fit(base[:300], y[:300])(base[300:])
    return diagnose(H, y[300:], X[300:], n=300, seed=seed)


def one_width(rng: np.random.Generator, seed: int) -> Diagnosis:
    X, f, _, y = truth(rng, 1500)
    H = Calibrator().fit(Point(f[:500]), y[:500])(Point(f[500:]))
    return diagnose(H, y[500:], X[500:], n=500, seed=seed)


CASES: dict[str, Callable[[np.random.Generator, int], Diagnosis]] = {
    "the true distribution": true_distribution,
    "the true distribution, clipped at 0, which makes an atom": true_distribution_with_atoms,
    "the true distribution but for its scale, calibrated on 300 rows": true_scores,
    "one width for all, the residual score on 500 rows": one_width,
}


def main(seeds: int) -> None:
    lines = [
        "# diagnose, where the truth is known",
        "",
        f"y = f(x) + sigma(x) e, four features, 1,000 rows, confidence 95%, {seeds} seeds each. A right forecast",
        "should pass in 95% or more, have p <= 0.05 in 5%, and its worst slice an interval that holds 90% in 95%.",
        "",
        "| forecast | passes | slices pass | p <= 0.05 | worst slice not off | its 95% interval holds 90% |",
        "|---|---|---|---|---|---|",
    ]
    print("\n".join(lines), flush=True)
    for name, case in CASES.items():
        found = [case(np.random.default_rng(seed), seed) for seed in range(seeds)]
        shares = [
            [
                each.passes,
                not each.off,
                each.telling.pvalue <= 0.05,
                not each.worst.off,
                each.worst.low <= 0.9 <= each.worst.high,
            ]
            for each in found
            if each.telling is not None and each.worst is not None
        ]
        lines.append(f"| {name} | " + " | ".join(f"{share:.1%}" for share in np.mean(shares, axis=0)) + " |")
        print(lines[-1], flush=True)
    rng = np.random.default_rng(0)
    X, y = rng.normal(size=(10_000, 20)), rng.normal(size=10_000)
    start = time.process_time()
    diagnose(Normal(X[:, 0] / 100, 1.0), y, X)
    lines += ["", f"10,000 rows of 20 features take {time.process_time() - start:.1f} processor seconds."]
    lines += ["", "Made by `python benchmarks/diagnose.py`, with one thread."]
    print("\n".join(lines[-3:]))
    (ROOT / "results" / "diagnose.md").write_text("\n".join(lines) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 500)
