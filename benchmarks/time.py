"""Updating and the alarm: cost, false alarms, delays. `python benchmarks/time.py [RUNS]` writes results/time.md."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

from calibrant import Calibrator, HalfLife, Window, monitor
from calibrant.interpolators import Linear, Naive, Random
from calibrant.monitoring import capital, online_p_values

OUT = Path(__file__).parents[1] / "results" / "time.md"
RUNS = int(sys.argv[1]) if len(sys.argv) > 1 else 200
ROWS, BATCH = 1_000_000, 1000
LONG = 100_000
CHANGES = {
    "mean + 0.5 sd": lambda e: e + 0.5,
    "mean + 1 sd": lambda e: e + 1,
    "mean + 2 sd": lambda e: e + 2,
    "spread doubled": lambda e: 2 * e,
    "spread halved": lambda e: e / 2,
}


def update_cost() -> list[str]:
    lines = [
        "| calibrator | rows | µs a row, updates alone | then one prediction, ms |",
        "|---|---:|---:|---:|",
    ]
    rng = np.random.default_rng(0)
    f, noise = rng.normal(size=(2, ROWS))
    for interpolator, forget in (
        (Linear(), None),
        (Naive(), None),
        (Random(), None),
        (Linear(), Window(5000)),
        (Linear(), HalfLife(1000)),
    ):
        calibrated = Calibrator(interpolator=interpolator, forget=forget).fit(f[:BATCH], (f + noise)[:BATCH])
        start = time.process_time()
        for at in range(BATCH, ROWS, BATCH):
            calibrated = calibrated.update(f[at : at + BATCH], (f + noise)[at : at + BATCH])
        cost = (time.process_time() - start) / (ROWS - BATCH)
        start = time.process_time()
        calibrated([0.0], seed=0).cdf(0.0)
        once = time.process_time() - start
        name = type(interpolator).__name__ + ("" if forget is None else f", {forget!r}")
        lines.append(f"| {name} | {ROWS:,} | {1e6 * cost:.1f} | {1e3 * once:.0f} |")
    return lines


def size() -> list[str]:
    lines = [
        f"| p-values | n | runs | ever at 5 (at most {1 / 5:.0%}) | ever at 20 (5%) | ever at 100 (1%) |",
        "|---|---:|---:|---:|---:|---:|",
    ]
    for n in (100, 1000):
        most = {"online, among all earlier scores": [], "PITs of a frozen q": []}
        for run in range(RUNS):
            rng = np.random.default_rng([n, run])
            scores = rng.normal(size=n + LONG)
            p, _ = online_p_values(np.sort(scores[:n]), scores[n:], rng.random(LONG))
            H = Calibrator().fit(np.zeros(n), scores[:n])([0.0])
            for name, values in zip(most, (p, H.cdf(scores[None, n:])[0]), strict=True):
                most[name].append(capital(values)[0].max())
        for name, found in most.items():
            shares = [f"{np.mean(np.array(found) >= np.log(threshold)):.1%}" for threshold in (5, 20, 100)]
            lines.append(f"| {name} | {n:,} | {RUNS} | {' | '.join(shares)} |")
    return lines


def delays() -> list[str]:
    lines = [
        "| change | n | after row | rang within 2,000 rows | median delay, rows | 90% within | words right |"
        " median error of `since` |",
        "|---|---:|---:|---:|---:|---:|---:|---:|",
    ]
    words = dict(zip(CHANGES, ("high", "high", "high", "narrow", "wide"), strict=True))
    runs = min(RUNS, 50)
    for n in (100, 1000):
        for change in (0, 1000, 20_000):
            for name, moved in CHANGES.items():
                found = []
                for run in range(runs):
                    rng = np.random.default_rng([n, change, run])
                    y = rng.normal(size=change + 2000)
                    y[change:] = moved(y[change:])
                    calibrated = Calibrator().fit(np.zeros(n), rng.normal(size=n))
                    alarm = monitor(calibrated, np.zeros(len(y)), y, rng=rng).alarm
                    if alarm is not None and alarm.row >= change:
                        right = alarm.direction.name == words[name]
                        found.append((alarm.row - change + 1, right, abs(alarm.since - change)))
                if not found:
                    lines.append(f"| {name} | {n:,} | {change:,} | 0% | – | – | – | – |")
                    continue
                delay, right, off = np.array(found, float).T
                lines.append(
                    f"| {name} | {n:,} | {change:,} | {len(found) / runs:.0%} | {np.median(delay):.0f} |"
                    f" {np.quantile(delay, 0.9):.0f} | {right.mean():.0%} | {np.median(off):.0f} |"
                )
    return lines


def speed() -> str:
    rng = np.random.default_rng(0)
    calibrated = Calibrator().fit(np.zeros(1000), rng.normal(size=1000))
    start = time.process_time()
    monitor(calibrated, np.zeros(LONG), rng.normal(size=LONG), rng=rng)
    return f"{LONG:,} rows at once take {time.process_time() - start:.2f} s."


def main() -> None:
    parts = [
        "# Updating and the alarm",
        "`python benchmarks/time.py` on one core; times are CPU times.",
        "## The cost of an update",
        f"{ROWS:,} rows in batches of {BATCH:,}, from a fit on the first batch. q is made when a prediction asks"
        " for it.",
        "\n".join(update_cost()),
        "## False alarms",
        f"Nothing changes for {LONG:,} rows. The share of runs in which the capital ever reaches a threshold. Online"
        " p-values keep the promise; on PITs of a frozen q the same bets do not.",
        "\n".join(size()),
        "## Delays",
        "Normal errors, threshold 100. The delay counts the row that rings. A false alarm before the change is not"
        " counted as a find.",
        "\n".join(delays()),
        "## Speed of the alarm",
        speed(),
    ]
    OUT.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
