"""Covariate shift: the error without weights, with weights, and their cost.

    python benchmarks/shift.py [--repetitions 1000] [--write]

Writes results/shift.md with `--write`. Known ratios: x ~ N(0, 1) calibrates, x ~ N(1, 1) comes, n = 200. Speed: the CDF
of 100,000 rows after calibration on 100,000, unweighted and weighted in turn, the best of several runs each.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from sklearn.linear_model import LogisticRegression

from calibrant import Calibrator, DensityRatio
from calibrant.interpolators import NAF, Linear, Naive, Random

LEVELS = np.arange(1, 40) / 40
N, NEW, TRAIN = 200, 100, 2000


def labels(rng, x):
    return x + np.where(x > 0.5, 2.0, 0.6) * rng.normal(size=x.size)


def true_ratio(x):
    return np.exp(x - 0.5)


def estimated(classifier, rng):
    ratio = DensityRatio(classifier).fit(rng.normal(size=(TRAIN, 1)), 1 + rng.normal(size=(TRAIN, 1)))
    return lambda x: ratio(x[:, None])


def errors(interpolator, ratio, repetitions):
    """sup over levels of the mean error, its standard error, the coverage of 90% intervals, and E max p."""
    rng = np.random.default_rng(1)
    shares, held, largest = np.zeros((repetitions, LEVELS.size)), np.zeros(repetitions), np.zeros(repetitions)
    for k in range(repetitions):
        x, x_new = rng.normal(size=N), 1 + rng.normal(size=NEW)
        y, y_new = labels(rng, x), labels(rng, x_new)
        known, asked = (None, None) if ratio is None else (ratio(x), ratio(x_new))
        H = Calibrator(None, interpolator).fit(x, y, weights=known)(x_new, weights=asked, rng=rng)
        shares[k] = np.mean(H.cdf(y_new)[:, None] <= LEVELS, axis=0)
        lower, upper = H.interval(0.9)
        held[k] = np.mean((lower <= y_new) & (y_new <= upper))
        if ratio is not None:
            largest[k] = np.mean(np.maximum(known.max(), asked) / (known.sum() + asked))
    sup = np.abs(shares.mean(axis=0) - LEVELS).max()
    return sup, shares.std(axis=0).max() / np.sqrt(repetitions), held.mean(), largest.mean()


def speed(n=100_000, runs=7):
    """Seconds for the CDF of n rows after calibration on n rows: unweighted, weighted."""
    rng = np.random.default_rng(0)
    f, y, w = rng.normal(size=n), rng.normal(size=n), rng.uniform(0.1, 3, n)
    distributions = {
        "unweighted": Calibrator().fit(f, y)(f),
        "weighted": Calibrator().fit(f, y, weights=w)(f, weights=w),
    }
    best = dict.fromkeys(distributions, np.inf)
    for _ in range(runs):
        for name, H in distributions.items():
            start = time.perf_counter()
            H.cdf(y)
            best[name] = min(best[name], time.perf_counter() - start)
    return best


def page(repetitions):
    rng = np.random.default_rng(0)
    ratios = {
        "none": None,
        "known": true_ratio,
        "estimated, logistic": estimated(LogisticRegression(), rng),
        "estimated, default": estimated(None, rng),
    }
    interpolators = {"Linear": Linear(), "Naive": Naive(), "Random": Random(), "NAF": NAF()}
    lines = [
        "# Covariate shift",
        "",
        f"n = {N} calibration rows, {repetitions} calibration sets, {NEW} new rows each; `benchmarks/shift.py`.",
        "x ~ N(0, 1) calibrates and x ~ N(1, 1) comes; the noise is 2 above x = 0.5 and 0.6 below. The ratio is known,",
        f"or estimated from {TRAIN:,} + {TRAIN:,} other rows. The sup is over 39 levels, of the mean over sets.",
        "",
        "| interpolator | ratios | sup error | ± | bound E max p | 90% intervals hold |",
        "|---|---|---|---|---|---|",
    ]
    for name, interpolator in interpolators.items():
        for which, ratio in ratios.items():
            sup, noise, held, largest = errors(interpolator, ratio, repetitions if name != "NAF" else repetitions // 4)
            bound = {"none": "–", "known": "0" if name == "Random" else f"{largest:.3f}"}.get(which, "not known")
            bound += " + λ/(N + 1)" if name == "NAF" and which == "known" else ""
            lines.append(f"| {name} | {which} | {sup:.3f} | {noise:.3f} | {bound} | {held:.1%} |")
    best = speed()
    times = best["weighted"] / best["unweighted"]
    lines += [
        "",
        "## Speed",
        "",
        f"The CDF of 100,000 rows after calibration on 100,000: {1e3 * best['unweighted']:.1f} ms unweighted,"
        f" {1e3 * best['weighted']:.1f} ms weighted, {times:.1f} times as long (one run, best of seven each, in turn).",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=1000)
    parser.add_argument("--write", action="store_true")
    given = parser.parse_args()
    text = page(given.repetitions)
    print(text)
    if given.write:
        (Path(__file__).parent.parent / "results" / "shift.md").write_text(text, encoding="utf-8")
