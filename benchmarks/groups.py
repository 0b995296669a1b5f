"""Calibration by group: each group's distribution against its own rows alone and against all rows.

    python benchmarks/groups.py [--repetitions 60] [--write]

Writes results/groups.md with `--write`. Three groups of n scores each. In "scale" they are normal with deviations
0.5, 1 and 4; in "same" they have one distribution (t, 4 degrees of freedom); in "shape" they are normal, exponential
two humps. Errors are over repetitions, and exact for each: P(Y <= the c quantile of H) by the true distribution. NLL
and CRPS are means over groups on 400 new rows each. Speed: 10,000 groups of 100 rows fitted, 100,000 rows predicted.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np
from scipy.stats import expon, norm, t

from calibrant import Calibrator, Point
from calibrant.interpolators import NAF, Apart, ByGroup, Linear

LEVELS = np.arange(1, 40) / 40
SIZES = (10, 30, 60, 300, 1000)
NEW, GROUPS = 400, 3


def drawn(case, rng, g, n):
    if case == "scale":
        return rng.normal(size=n) * (0.5, 1.0, 4.0)[g]
    if case == "same":
        return rng.standard_t(4, size=n)
    humps = rng.choice([-2.0, 2.0], size=n) + 0.3 * rng.normal(size=n)
    return (rng.normal(size=n), rng.exponential(size=n), humps)[g]


def truth(case, g, y):
    """The true P(Y <= y) in group g."""
    if case == "scale":
        return norm.cdf(y / (0.5, 1.0, 4.0)[g])
    if case == "same":
        return t.cdf(y, 4)
    return (norm.cdf, expon.cdf, lambda y: (norm.cdf((y + 2) / 0.3) + norm.cdf((y - 2) / 0.3)) / 2)[g](y)


METHODS = {
    "by group": (ByGroup(), True),
    "own, smooth": (Apart(NAF()), True),
    "pooled, smooth": (NAF(), False),
    "own, linear": (Apart(Linear()), True),
}


def measured(case, n, repetitions):
    """By method: the largest error of any group and its standard error, NLL, CRPS."""
    by, by_new = np.repeat(np.arange(GROUPS), n), np.repeat(np.arange(GROUPS), NEW)
    shares = {name: np.zeros((repetitions, GROUPS, LEVELS.size)) for name in METHODS}
    nll, crps = ({name: np.zeros(repetitions) for name in METHODS} for _ in range(2))
    for k in range(repetitions):
        rng = np.random.default_rng([k, n])
        y = np.concatenate([drawn(case, rng, g, n) for g in range(GROUPS)])
        new = np.concatenate([drawn(case, rng, g, NEW) for g in range(GROUPS)])
        for name, (interpolator, grouped) in METHODS.items():
            known, asked = ({"by": by}, {"by": by_new}) if grouped else ({}, {})
            H = Calibrator(None, interpolator).fit(Point(0 * y), y, **known)(Point(0 * new), **asked)
            first = H[np.arange(GROUPS) * NEW].quantiles(LEVELS)
            shares[name][k] = [truth(case, g, first[g]) for g in range(GROUPS)]
            nll[name][k], crps[name][k] = -np.mean(H.logpdf(new)), np.mean(H.crps(new))
    found = {}
    for name, share in shares.items():
        error = np.abs(share.mean(axis=0) - LEVELS).max()
        noise = share.std(axis=0).max() / np.sqrt(repetitions)
        found[name] = (error, noise, nll[name].mean(), crps[name].mean())
    return found


def speed(groups=10_000, rows=100, new=100_000):
    """Seconds."""
    rng = np.random.default_rng(0)
    by, asked = np.repeat(np.arange(groups), rows), rng.integers(0, groups, new)
    y = rng.normal(size=by.size) * rng.uniform(0.5, 3, groups)[by]
    start = time.perf_counter()
    calibrated = Calibrator().fit(0 * y, y, by=by)
    seconds = {f"fit, {groups:,} groups of {rows} rows": time.perf_counter() - start}
    start = time.perf_counter()
    H = calibrated(np.zeros(new), by=asked)
    seconds[f"the distributions of {new:,} rows"] = time.perf_counter() - start
    H.crps(0.0)  # tables are made once
    asks = {"cdf": (0.5,), "logpdf": (0.5,), "crps": (0.5,), "interval": (0.9,), "mean": ()}
    for name, arguments in asks.items():
        start = time.perf_counter()
        getattr(H, name)(*arguments)
        seconds[f"`{name}` of {new:,} rows"] = time.perf_counter() - start
    return seconds


def page(repetitions):
    lines = ["# Calibration by group", "", f"`python benchmarks/groups.py --repetitions {repetitions} --write`", ""]
    lines += [
        "Three groups of n scores each. The error is sup over 39 levels and the groups of |P(H(Y) <= c) - c|, over"
        f" {repetitions} calibration sets, by the truth, and its standard error; the bound is (1 + λ)/(n + 1) with"
        ' λ = √n/2, of "by group". It is the largest of 117 numbers, so two standard errors of it are chance. NLL and'
        " CRPS are means over groups.",
        "",
        "| case | n | bound | "
        + " | ".join(f"{name}: error" for name in METHODS)
        + " | "
        + " | ".join(f"{name}: NLL" for name in METHODS)
        + " | "
        + " | ".join(f"{name}: CRPS" for name in METHODS)
        + " |",
        "|---|---|---|" + "---|" * (3 * len(METHODS)),
    ]
    for case in ("scale", "same", "shape"):
        for n in SIZES:
            found = measured(case, n, repetitions)
            cells = [f"{error:.3f} ± {noise:.3f}" for error, noise, *_ in found.values()]
            cells += [f"{nll:.3f}" for *_, nll, _ in found.values()] + [f"{crps:.3f}" for *_, crps in found.values()]
            lines.append(f"| {case} | {n} | {(1 + np.sqrt(n) / 2) / (n + 1):.3f} | " + " | ".join(cells) + " |")
            print(lines[-1], flush=True)
    lines += ["", "One core:", "", "| what | seconds |", "|---|---|"]
    lines += [f"| {what} | {seconds:.2f} |" for what, seconds in speed().items()]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=60)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = page(arguments.repetitions)
    print(text)
    if arguments.write:
        (Path(__file__).parents[1] / "results" / "groups.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
