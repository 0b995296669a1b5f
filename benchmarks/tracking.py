"""Tracking under drift: a change point, and real series. `python benchmarks/tracking.py` writes results/tracking.md.

The series come inside packages: daily prices in `arch` (sp500, nasdaq, wti), weekly and monthly measurements in
`statsmodels` (co2, elnino). Forecasts are the simplest there are: the last value, or that of a year ago.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import Calibrator, HalfLife, Tracker, Window
from calibrant.tracking import LEVELS, in_order, tracked_distribution, walk

OUT = Path(__file__).parents[1] / "results" / "tracking.md"
RUNS, ROLLING = 20, 250
STEPS = (0.01, 0.02, 0.05, 0.1, 0.2)


@dataclass(frozen=True)
class Found:
    """What the 90% intervals held, how wide they were, and the CRPS, row by row."""

    held: Any
    width: Any
    crps: Any

    @classmethod
    def of(cls, H: Any, y: Any) -> Found:
        lower, upper = H.interval(0.9)
        return cls((lower < y) & (y <= upper), upper - lower, H.crps(y))

    def last(self, rows: int) -> Found:
        return Found(self.held[-rows:], self.width[-rows:], self.crps[-rows:])

    def worst(self) -> float:
        """The least coverage of any stretch of ROLLING rows."""
        return float(np.convolve(self.held, np.ones(ROLLING) / ROLLING, "valid").min())


def forgetting(forget: Any) -> Callable[[Any, Any, int], Found]:
    """A calibrator that is updated after each row."""

    def found(f: Any, y: Any, n: int) -> Found:
        calibrated, parts = Calibrator(forget=forget).fit(f[:n], y[:n]), []
        for row in range(n, len(y)):
            parts.append(Found.of(calibrated(f[row : row + 1]), y[row : row + 1]))
            calibrated = calibrated.update(f[row : row + 1], y[row : row + 1])
        return Found(*(np.concatenate([getattr(part, name) for part in parts]) for name in ("held", "width", "crps")))

    return found


def static(f: Any, y: Any, n: int) -> Found:
    return Found.of(Calibrator().fit(f[:n], y[:n])(f[n:]), y[n:])


def tracked(share: float = 0.05, levels: tuple[float, ...] = LEVELS) -> Callable[[Any, Any, int], Found]:
    def found(f: Any, y: Any, n: int) -> Found:
        calibrated = Calibrator().fit(f[:n], y[:n])
        step = 20 * share * float(Tracker(calibrated).step or 0)  # the default is a twentieth of the IQR
        return Found.of(Tracker(calibrated, levels, step).run(f[n:], y[n:])[0], y[n:])

    return found


def trailing(f: Any, y: Any, n: int, share: float = 0.05, last: int = 100) -> Found:
    """A step that follows the spread of the last scores, for comparison: the library has none."""
    calibrated = Calibrator().fit(f[:n], y[:n])
    tracker, scores = Tracker(calibrated), y - f
    raw, paths = tracker.positions, []
    for row in range(n, len(y)):
        low, high = np.quantile(scores[row - last : row], [0.1, 0.9])
        step = share * (high - low) / 1.9  # of a normal distribution about the IQR
        path, raw, _ = walk(scores[row : row + 1], LEVELS, step, raw)
        paths.append(path)
    H = tracked_distribution(calibrated.q, tracker.positions, np.concatenate(paths))
    return Found.of(H, scores[n:])


METHODS = {
    "static": static,
    "`Window(250)`": forgetting(Window(250)),
    "`HalfLife(100)`": forgetting(HalfLife(100)),
    "`Tracker`": tracked(),
}


def change_point(run: int) -> tuple[Any, Any, int]:
    """500 calibration rows, 1,000 like them, then labels move up by one and scatter twice as much for 3,000 rows."""
    y = np.random.default_rng(run).normal(size=4500)
    y[1500:] = 1 + 2 * y[1500:]
    return np.zeros(4500), y, 500


def nothing(run: int) -> tuple[Any, Any, int]:
    """The same without the change."""
    return np.zeros(4500), np.random.default_rng(run).normal(size=4500), 500


def series() -> Iterator[tuple[str, str, Any, Any, int]]:
    """Name, forecast in words, forecasts, labels, calibration rows."""
    from arch.data import nasdaq, sp500, wti
    from statsmodels.datasets import co2, elnino

    for name, prices in (("S&P 500", sp500), ("NASDAQ", nasdaq)):
        change = 100 * np.diff(np.log(prices.load()["Adj Close"].to_numpy(float)))
        yield f"{name}, daily change in %", "0", np.zeros(len(change)), change, 500
    oil = wti.load().iloc[:, 0].dropna().to_numpy(float)
    yield "WTI oil price, daily", "the day before", oil[:-1], oil[1:], 500
    air = co2.load_pandas().data["co2"].interpolate().to_numpy(float)
    yield "CO2 at Mauna Loa, weekly", "a year ago", air[:-52], air[52:], 500
    sea = elnino.load_pandas().data.iloc[:, 1:].to_numpy(float).ravel()
    sea = sea[np.isfinite(sea)]
    yield "El Niño sea surface, monthly", "a year ago", sea[:-12], sea[12:], 240


def simulated(make: Callable[[int], tuple[Any, Any, int]]) -> list[str]:
    lines = [
        "| method | coverage, last 2,000 rows | its largest error in a run | mean width | CRPS |",
        "|---|---:|---:|---:|---:|",
    ]
    for name, method in METHODS.items():
        found = [method(*make(run)).last(2000) for run in range(RUNS)]
        held = np.array([each.held.mean() for each in found])
        width, crps = (np.mean([getattr(each, which).mean() for each in found]) for which in ("width", "crps"))
        lines.append(f"| {name} | {held.mean():.3f} | {np.abs(held - 0.9).max():.3f} | {width:.2f} | {crps:.4f} |")
    return lines


def real() -> list[str]:
    lines = [
        f"| series | forecast | rows | method | coverage | least of any {ROLLING} rows in a row | mean width |"
        " CRPS, static = 1 |",
        "|---|---|---:|---|---:|---:|---:|---:|",
    ]
    for name, words, f, y, n in series():
        of_static = None
        for method, make in METHODS.items():
            found = make(f, y, n)
            of_static = found.crps.mean() if of_static is None else of_static
            lines.append(
                f"| {name} | {words} | {len(y) - n:,} | {method} | {found.held.mean():.3f} | {found.worst():.3f} |"
                f" {found.width.mean():.3g} | {found.crps.mean() / of_static:.3f} |"
            )
    return lines


def steps() -> list[str]:
    lines = [
        "| series | "
        + " | ".join(f"{share:g}" for share in STEPS)
        + " | 0.05, 19 levels | 0.05 of the last 100 scores |",
        "|---|" + "---:|" * (len(STEPS) + 2),
    ]
    cases = [(name, f, y, n) for name, _, f, y, n in series()]
    cases += [("change point, one run", *change_point(0)), ("nothing changes, one run", *nothing(0))]
    for name, f, y, n in cases:
        base = static(f, y, n).crps.mean()
        ways = [*(tracked(share) for share in STEPS), tracked(levels=tuple(np.arange(1, 20) / 20)), trailing]
        cells = [(each.crps.mean() / base, each.worst()) for each in (way(f, y, n) for way in ways)]
        lines.append(f"| {name} | " + " | ".join(f"{crps:.3f}; {least:.2f}" for crps, least in cells) + " |")
    return lines


def tightness(trials: int = 300, rows: int = 400) -> str:
    """How much of the range that the proof allows the raw positions cover, at most, for scores in [0, 1]."""
    rng, most = np.random.default_rng(0), 0.0
    for K in np.repeat((2, 3, 5), trials):
        levels, step, raw = np.sort(rng.random(K)), 10 ** rng.uniform(-2, 1), np.sort(rng.random(K))
        low, high, way, target = raw, raw, rng.integers(3), rng.integers(K)
        for _ in range(rows):
            target = rng.integers(K) if rng.random() < 0.02 else target
            at = in_order(raw.tolist())[target] + rng.choice([0, 1e-12])  # just below the position, or just above
            score = (rng.random(), np.clip(at, 0, 1), float(rng.random() < 0.5))[way]
            raw = walk(np.array([score]), levels.tolist(), step, raw)[1]
            low, high = np.minimum(low, raw), np.maximum(high, raw)
        most = max(most, float(((high - low) / (1 + K * step)).max()))
    return (
        f"{3 * trials} random adversaries with 2, 3 or 5 levels and {rows} rows: the raw positions covered at most"
        f" {most:.0%} of the range b − a + ηK that the proof allows."
    )


def speed() -> str:
    rng, rows = np.random.default_rng(0), 100_000
    tracker = Tracker(Calibrator().fit(np.zeros(1000), rng.normal(size=1000)))
    y = 2 * rng.normal(size=rows)
    start = time.process_time()
    tracker.update(np.zeros(rows), y)
    update = time.process_time() - start
    start = time.process_time()
    H, _ = tracker.run(np.zeros(rows), y)
    H.interval(0.9)
    H.crps(y)
    run = time.process_time() - start
    return (
        f"{rows:,} rows at once: `update` takes {1e6 * update / rows:.1f} µs a row, `run` with the 90% intervals and"
        f" the CRPS of all distributions {1e6 * run / rows:.1f} µs."
    )


def main() -> None:
    parts = [
        "# Tracking under drift",
        "`python benchmarks/tracking.py` on one core. The tracker has its default levels and step; window and half-life"
        " are updated after each row.",
        "## A change point",
        f"Mean of {RUNS} runs. After 500 calibration rows and 1,000 rows like them, labels move up by one standard"
        " deviation and scatter twice as much for 3,000 rows.",
        "\n".join(simulated(change_point)),
        "## Nothing changes",
        "The same without a change: what tracking costs.",
        "\n".join(simulated(nothing)),
        "## Real series",
        "They come inside the packages arch and statsmodels. The first rows calibrate: 240 of El Niño, 500 of the"
        " others.",
        "\n".join(real()),
        "## The step",
        f"As a share of the interquartile range of q: CRPS (static = 1); the least coverage of any {ROLLING} rows. The"
        " default is 0.05. The last column has a step that follows the spread of the scores, for comparison.",
        "\n".join(steps()),
        "## How tight the bound is",
        tightness(),
        "## Speed",
        speed(),
    ]
    OUT.write_text("\n\n".join(parts) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
