"""Calibrated counts: is the promise kept, which score is best, what do wide rows cost? `python benchmarks/counts.py`.

The first table simulates the guarantee: P(H'(Y + U) <= c) given a calibration set is known exactly, and its mean over
sets must lie within epsilon of c. The second compares scores of laws of counts, and plain points, on simulated counts
and on real ones; it is why the z-score is the default. The third is the size of the PIT test, the fourth the CRPS of
wide rows against the sum over every count. Printed and written to results/counts.md.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.stats

from calibrant import Calibrator, Point, evaluate
from calibrant.distributions import NegativeBinomial, Poisson, SpreadLaw
from calibrant.labels import Counts
from calibrant.scores import CDFScore, SqrtScore, ZScore

REPETITIONS, LEVELS = 1000, np.arange(1, 100) / 100


def promise() -> Iterator[str]:
    yield f"## The promise, over {REPETITIONS} calibration sets\n"
    yield "| mean | n | largest gap of P(H'(Y + U) <= c) | epsilon | noise | 80% integer interval | at least |"
    yield "|---|---|---|---|---|---|---|"
    for mean in (0.3, 3.0):
        for n in (5, 50, 500):
            truth, below, held = scipy.stats.poisson(mean), np.zeros(LEVELS.size), []
            for seed in range(REPETITIONS):
                rng = np.random.default_rng(seed)
                calibrator = Calibrator(labels=Counts())
                H = calibrator.fit(Poisson(np.full(n, mean)), rng.poisson(mean, n), rng=rng)(Poisson([mean]))
                below += SpreadLaw(Poisson(mean)).cdf(H.law.quantiles(LEVELS)[0]) / REPETITIONS
                lower, upper = (float(end[0]) for end in H.interval(0.8))
                held.append(truth.cdf(upper) - truth.cdf(lower - 1))
            noise = 1.5 / math.sqrt((n + 2) * REPETITIONS)  # three standard deviations
            gap = np.abs(below - LEVELS).max()
            yield (
                f"| {mean:g} | {n} | {gap:.4f} | {1 / (n + 1):.4f} | {noise:.4f} | {np.mean(held):.4f} |"
                f" {0.8 - 2 / (n + 1):.4f} |"
            )


def overdispersed(dispersion: float) -> Callable[..., Any]:
    return lambda rate, rng: rng.poisson(rng.gamma(1 / dispersion, dispersion * rate))


TRUTHS: dict[str, tuple[Callable[..., Any], float, float]] = {
    "Poisson, 0.3 to 300": (lambda rate, rng: rng.poisson(rate), 0.3, 300),
    "Poisson, 0.1 to 5": (lambda rate, rng: rng.poisson(rate), 0.1, 5),
    "dispersion 0.05, 0.3 to 300": (overdispersed(0.05), 0.3, 300),
    "dispersion 0.2, 0.3 to 300": (overdispersed(0.2), 0.3, 300),
    "dispersion 1, 0.1 to 5": (overdispersed(1.0), 0.1, 5),
    "30% zeros, 0.3 to 300": (lambda rate, rng: rng.poisson(rate) * (rng.random(rate.size) > 0.3), 0.3, 300),
}
WAYS: dict[str, tuple[Callable[[Any], Any], Any]] = {
    "Poisson, z-score": (Poisson, ZScore()),
    "Poisson, cdf": (Poisson, CDFScore()),
    "dispersion 0.2, z-score": (lambda rate: NegativeBinomial(rate, 0.2), ZScore()),
    "dispersion 0.2, cdf": (lambda rate: NegativeBinomial(rate, 0.2), CDFScore()),
    "points": (Point, None),
    "points, sqrt": (Point, SqrtScore()),
}


def tables() -> Iterator[tuple[str, Any, Any]]:
    """Names, rates and counts: simulated ones, and visits to the doctor with rates of a boosted model."""
    for name, (draw, low, high) in TRUTHS.items():
        rng = np.random.default_rng(1)
        rate = np.exp(rng.uniform(math.log(low), math.log(high), 2500))
        yield name, rate, np.asarray(draw(rate, rng), float)
    import statsmodels.api as sm
    from sklearn.ensemble import HistGradientBoostingRegressor

    frame = sm.datasets.randhie.load_pandas().data.sample(10_500, random_state=0)
    X, y = frame.drop(columns="mdvis"), frame["mdvis"].to_numpy(float)
    model = HistGradientBoostingRegressor(loss="poisson", random_state=0).fit(X[:8000], y[:8000])
    yield "doctor visits (RAND), boosted", model.predict(X[8000:]), y[8000:]


def scores() -> Iterator[str]:
    yield "\n## Which score: NLL / CRPS on 2,000 rows, calibrated on 500\n"
    yield "| counts | " + " | ".join(WAYS) + " |"
    yield "|---" * (len(WAYS) + 1) + "|"
    for name, rate, y in tables():
        cells = []
        for predict, score in WAYS.values():
            prediction, rng = predict(rate), np.random.default_rng(2)
            H = Calibrator(score, labels=Counts()).fit(prediction[:500], y[:500], rng=rng)(prediction[500:])
            found = evaluate(H, y[500:])
            cells.append(f"{found.nll:.3f} / {found.crps:.3f}")
        yield f"| {name} | " + " | ".join(cells) + " |"


def sizes() -> Iterator[str]:
    yield "\n## The PIT test on true Poisson laws, 100 rows each, 500 times: how often p < level\n"
    yield "| mean | p < 0.01 | p < 0.05 | p < 0.2 |"
    yield "|---|---|---|---|"
    for mean in (0.3, 3.0, 30.0, 300.0):
        p = []
        for seed in range(500):
            y = np.random.default_rng(seed).poisson(mean, 100).astype(float)
            p.append(_pvalue(Poisson(np.full(100, mean)), y))
        shares = " | ".join(f"{np.mean(np.array(p) < level):.3f}" for level in (0.01, 0.05, 0.2))
        yield f"| {mean:g} | {shares} |"


def _pvalue(H: Any, y: Any) -> float:
    from calibrant.metrics import pit_uniformity_test

    return pit_uniformity_test(H, y).pvalue


def wide() -> Iterator[str]:
    yield "\n## The CRPS of one row, against the sum over every count\n"
    yield "| law | counts summed | relative error | ms |"
    yield "|---|---|---|---|"
    cases = {
        "Poisson(1e6)": (Poisson([1e6]), scipy.stats.poisson(1e6), 999_100.0),
        "NegativeBinomial(1e4, 1)": (NegativeBinomial([1e4], 1.0), scipy.stats.nbinom(1.0, 1 / 10_001), 5e3),
        "NegativeBinomial(1e6, 0.25)": (NegativeBinomial([1e6], 0.25), scipy.stats.nbinom(4.0, 4 / 1_000_004), 1.5e6),
        "NegativeBinomial(1e6, 5)": (NegativeBinomial([1e6], 5.0), scipy.stats.nbinom(0.2, 0.2 / 1_000_000.2), 1e5),
    }
    for name, (law, truth, y) in cases.items():
        low, high = int(truth.ppf(1e-15)), int(truth.isf(1e-15))
        parts = np.array_split(np.arange(low, high + 1.0), (high - low) // 10**6 + 1)
        wanted = sum(float(np.sum((truth.cdf(k) - (k >= y)) ** 2)) for k in parts)
        start = time.perf_counter()
        found = float(law.crps(y)[0])
        yield (
            f"| {name} | {high - low:,} | {abs(found / wanted - 1):.0e} | {1e3 * (time.perf_counter() - start):.0f} |"
        )


if __name__ == "__main__":
    lines = ["# Counts\n", "Written by `python benchmarks/counts.py`.\n"]
    for part in (promise, scores, sizes, wide):
        for line in part():
            print(line, flush=True)
            lines.append(line)
    Path(__file__).parent.parent.joinpath("results", "counts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
