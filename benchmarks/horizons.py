"""Calibration by horizon: the gain from neighbouring horizons, and the information in successive cutoffs.

    python benchmarks/horizons.py [--repetitions 12] [--write]

Writes results/horizons.md with `--write`. Forecasts 1 to 24 steps ahead, stated as intervals that do not widen, at n
cutoffs. The errors are, in "walk", those of a random walk, so that the errors of one cutoff miss together; in
"growing", as wide and independent; in "daily", wide by day and narrow at night; in "alike", t with 4 degrees of
freedom, the same at every horizon.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path

import numpy as np

from calibrant import Calibrator, Interval
from calibrant.interpolators import NAF, Apart, ByGroup, ByHorizon, Linear

STEPS = np.arange(1, 25)
LEVELS = np.arange(1, 40) / 40
SIZES, NEW = (10, 30, 100), 200
SMOOTH = NAF(40)  # fewer units than the default, for speed: n is small


def drawn(case, rng, n):
    noise = rng.normal(size=(n, len(STEPS)))
    if case == "walk":
        return noise.cumsum(axis=1)
    if case == "growing":
        return np.sqrt(STEPS) * noise
    if case == "daily":
        return (2 - 1.6 * np.cos(2 * np.pi * STEPS / 24)) * noise
    return rng.standard_t(4, size=(n, len(STEPS)))


METHODS = {
    "by horizon": (ByHorizon(SMOOTH), True),
    "by group": (ByGroup(SMOOTH), True),
    "own, smooth": (Apart(SMOOTH), True),
    "own, linear": (Apart(Linear()), True),
    "one distribution for all": (SMOOTH, False),
}


def stated(y):
    return Interval(np.full(y.size, -1.28), np.full(y.size, 1.28))


def measured(case, n, repetitions):
    """By method: the largest error at any horizon and its standard error, NLL, CRPS, the worst 80% coverages."""
    by, by_new = np.tile(STEPS, n), np.tile(STEPS, NEW)
    shares = {name: np.zeros((repetitions, len(STEPS), LEVELS.size)) for name in METHODS}
    held = {name: np.zeros((repetitions, len(STEPS))) for name in METHODS}
    nll, crps = ({name: np.zeros(repetitions) for name in METHODS} for _ in range(2))
    for k in range(repetitions):
        rng = np.random.default_rng([k, n])
        y, new = drawn(case, rng, n).ravel(), drawn(case, rng, NEW).ravel()
        for name, (interpolator, grouped) in METHODS.items():
            known, asked = ({"by": by}, {"by": by_new}) if grouped else ({}, {})
            H = Calibrator(None, interpolator).fit(stated(y), y, **known)(stated(new), **asked)
            pit = H.cdf(new).reshape(NEW, len(STEPS))
            shares[name][k] = np.mean(pit[:, :, None] <= LEVELS, axis=0)
            held[name][k] = np.mean((pit > 0.1) & (pit <= 0.9), axis=0)
            nll[name][k], crps[name][k] = -np.mean(H.logpdf(new)), np.mean(H.crps(new))
    found = {}
    for name, share in shares.items():
        error = np.abs(share.mean(axis=0) - LEVELS).max()
        noise = share.std(axis=0).max() / np.sqrt(repetitions)
        mean = held[name].mean(axis=0)
        found[name] = (error, noise, nll[name].mean(), crps[name].mean(), mean.min(), mean.max())
    return found


def successive(spacing, n, repetitions):
    """The coverage of 80% intervals 24 steps ahead of one random walk at n cutoffs: mean and spread over walks."""
    held = []
    for k in range(repetitions):
        rng = np.random.default_rng([k, spacing])
        walk = np.concatenate([[0.0], rng.normal(size=(n - 1) * spacing + 24).cumsum()])
        errors = walk[np.arange(n) * spacing + 24] - walk[np.arange(n) * spacing]
        H = Calibrator().fit(np.zeros(n), errors)([0.0])
        lower, upper = (float(bound[0]) for bound in H.interval(0.8))
        new = np.sqrt(24) * np.random.default_rng([k, 7]).normal(size=4000)
        held.append(np.mean((new > lower) & (new <= upper)))
    return float(np.mean(held)), float(np.std(held))


def page(repetitions):
    lines = ["# Calibration by horizon", "", "`python benchmarks/horizons.py --write`", ""]
    lines += [
        "Forecasts 1 to 24 steps ahead at n cutoffs, stated as 80% intervals that do not widen. The error is sup over"
        f" 39 levels and the horizons of |P(H(Y) <= c) - c|, over {repetitions} calibration sets, and its"
        ' standard error; the bound is (1 + λ)/(n + 1) with λ = √n/2, of "by horizon" and "by group". The'
        " coverage is that of the calibrated 80% intervals at the worst horizons, from the least to the most. NLL and"
        " CRPS are means over horizons. Smooth distributions have 40 units.",
        "",
        "| errors | n | bound | method | error | coverage by horizon | NLL | CRPS |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for case in ("walk", "growing", "daily", "alike"):
        for n in SIZES:
            bound = (1 + np.sqrt(n) / 2) / (n + 1)
            for name, (error, noise, nll, crps, low, high) in measured(case, n, repetitions).items():
                lines.append(
                    f"| {case} | {n} | {bound:.3f} | {name} | {error:.3f} ± {noise:.3f} | {100 * low:.0f}% to"
                    f" {100 * high:.0f}% | {nll:.3f} | {crps:.3f} |"
                )
                print(lines[-1], flush=True)
    lines += [
        "",
        "## What successive cutoffs of one series are worth",
        "",
        "One random walk, forecast 24 steps ahead at 100 cutoffs, every so many steps: the true coverage of the"
        " calibrated 80% interval, its mean and its standard deviation over 400 walks.",
        "",
        "| steps from cutoff to cutoff | coverage | standard deviation |",
        "|---|---|---|",
    ]
    for spacing in (1, 6, 24):
        mean, spread = successive(spacing, 100, 400)
        lines.append(f"| {spacing} | {100 * mean:.1f}% | {100 * spread:.1f}% |")
        print(lines[-1], flush=True)
    rng = np.random.default_rng(0)
    y = drawn("walk", rng, 100).ravel()
    start = time.perf_counter()
    Calibrator(None, ByHorizon()).fit(stated(y), y, by=np.tile(STEPS, 100))
    lines += ["", f"A fit of 24 horizons of 100 rows: {time.perf_counter() - start:.1f} s on one core."]
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--repetitions", type=int, default=12)
    parser.add_argument("--write", action="store_true")
    arguments = parser.parse_args()
    text = page(arguments.repetitions)
    if arguments.write:
        (Path(__file__).parents[1] / "results" / "horizons.md").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
