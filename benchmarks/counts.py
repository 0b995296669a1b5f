"""Calibrated counts: is the promise kept, which score is best, what do wide rows cost, what do quiet hours do?

`python benchmarks/counts.py [FOLDER]`, the datasets' folder.

The first table simulates the guarantee: P(H'(Y + U) <= c) given a calibration set is known exactly, and its mean over
sets must lie within epsilon of c. The second compares scores of laws of counts, and plain points, on simulated counts
and on real ones; it is why the z-score is the default. The third is the size of the PIT test, the fourth the CRPS of
wide rows against the sum over every count. The last shows forecasts that are spread as the labels are beside forecasts
that only move by half a step, for the default `refine`. Printed and written to results/counts.md.
"""

from __future__ import annotations

import math
import sys
import time
import warnings
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


def hours(seed: int, top: float = 40.0, least: float = 0.01, count: int = 6000) -> tuple[Any, Any, Any]:
    """Features, counts an hour and their true laws: two peaks a day, and a rate of `least` at night."""
    rng = np.random.default_rng(seed)
    hour, day, warmth, noise = rng.integers(0, 24, count), rng.integers(0, 7, count), *rng.normal(size=(2, count))
    peaks = np.exp(-0.5 * ((hour - 8) / 2.0) ** 2) + np.exp(-0.5 * ((hour - 18) / 2.5) ** 2)
    rate = least + top * peaks * np.where(day < 5, 1.0, 0.6) * np.exp(0.25 * warmth)
    rate = np.where((hour < 6) | (hour > 22), least, rate)
    y = overdispersed(1 / 8)(rate, rng).astype(float)
    return np.stack([hour, day, warmth, noise], axis=1), y, NegativeBinomial(rate, 1 / 8)


def hourly_tables() -> Iterator[tuple[str, Any, Any, Any]]:
    """Names, features, counts and, where they are known, the true laws."""
    import statsmodels.api as sm

    from calibrant.study.datasets import load

    yield "hours, quiet nights, seed 0", *hours(0)
    yield "hours, quiet nights, seed 1", *hours(1)
    yield "hours, rates of 300 and more", *hours(2, top=1000.0, least=300.0, count=3000)
    visits = sm.datasets.randhie.load_pandas().data.sample(8000, random_state=0)
    yield "doctor visits (RAND)", visits.drop(columns="mdvis").to_numpy(float), visits["mdvis"].to_numpy(float), None
    for name in ("blog", "fb-comment1"):
        data = load(name, folder=sys.argv[1] if len(sys.argv) > 1 else None)
        rows = np.random.default_rng(0).permutation(len(data.y))[:8000]
        yield name, data.X[rows], np.round(np.expm1(data.y[rows])), None


def bases() -> dict[str, Any]:
    from lightgbm import LGBMRegressor
    from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor

    return {
        "HistGradientBoosting, Poisson": HistGradientBoostingRegressor(loss="poisson", random_state=0),
        "LightGBM, Poisson": LGBMRegressor(objective="poisson", n_jobs=1, verbose=-1, random_state=0),
        "forest": RandomForestRegressor(min_samples_leaf=2, random_state=0),
    }


def quiet() -> Iterator[str]:
    from calibrant import Refined

    yield "\n## Quiet hours: the default `refine`, half of the rows to train, 15% to calibrate, 35% to test\n"
    yield (
        "Before, forecasts off the lattice moved by half a step, `Counts(spread_forecasts=False)`; after, they are"
        " spread as the labels are, `Counts()`. Both calibrate the same forecasts on the same draws. The change of the"
        " CRPS has its standard error over the test rows. The last two columns are the CRPS of the model without"
        " `refine`, and that of the true law.\n"
    )
    yield (
        "| counts | model | chosen | CRPS before | after | change | NLL before | after | 90% interval: width before |"
        " after | coverage before | after | `refine=None` | truth |"
    )
    yield "|---" * 14 + "|"
    for name, X, y, truth in hourly_tables():
        train, held, test = np.split(np.arange(len(y)), [len(y) // 2, 65 * len(y) // 100])
        for base_name, base in bases().items():
            model = Refined(base, random_state=0).fit(X[train], y[train])
            found = [
                _judged(model.predict_forecast, labels, X, y, held, test)
                for labels in (Counts(spread_forecasts=False), Counts())
            ]
            alone = _judged(lambda X, m=model: _unrefined(m, X), Counts(), X, y, held, test)
            change = found[1][0] - found[0][0]
            error = change.std() / math.sqrt(len(change))
            cells = [f"{np.mean(side[i]):.{digits}f}" for i, digits in ((0, 3), (1, 3), (2, 2)) for side in found]
            cells[2:2] = [f"{change.mean():+.3f} ± {error:.3f}"]
            cells += [f"{np.mean(side[3]):.1%}" for side in found] + [f"{np.mean(alone[0]):.3f}"]
            cells += ["" if truth is None else f"{np.mean(truth[test].crps(y[test])):.3f}"]
            yield f"| {name} | {base_name} | {model.league_.chosen} | " + " | ".join(cells) + " |"


def _unrefined(model: Any, X: Any) -> Any:
    from calibrant import prediction_of

    return prediction_of(model.estimator_, X)


def _judged(predict: Callable[[Any], Any], labels: Counts, X: Any, y: Any, held: Any, test: Any) -> tuple[Any, ...]:
    """The CRPS, the NLL, the width of the 90% interval and whether it holds, row by row."""
    H = Calibrator(labels=labels).fit(predict(X[held]), y[held], rng=np.random.default_rng(3))(predict(X[test]))
    lower, upper = H.interval(0.9)
    return H.crps(y[test]), -H.logpmf(y[test]), upper - lower, (lower <= y[test]) & (y[test] <= upper)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # of rows that rule the law of all, which is the matter of the last table
    lines = ["# Counts\n", "Written by `python benchmarks/counts.py`.\n"]
    for part in (promise, scores, sizes, wide, quiet):
        for line in part():
            print(line, flush=True)
            lines.append(line)
    Path(__file__).parent.parent.joinpath("results", "counts.md").write_text("\n".join(lines) + "\n", encoding="utf-8")
