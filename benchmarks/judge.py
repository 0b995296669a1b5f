"""How often `judge` finds fault with calibrated forecasts, and whether it names planted faults.

`python benchmarks/judge.py [REPEATS] [REPEATS AT 20,000 ROWS]` writes results/judge.md. Everything is seeded: a
cell that was measured with as many repeats is taken from results/judge.json.
"""

from __future__ import annotations

import json
import sys
from itertools import product
from pathlib import Path
from typing import Any

import numpy as np

from calibrant import Calibrator, LogNormal, Normal, judge
from calibrant.distributions import Poisson
from calibrant.judging import Judgement
from calibrant.labels import Counts
from calibrant.scores import CDFScore

ROOT = Path(__file__).parents[1]
KINDS, ROWS, CALIBRATED, LOOKS = ("normal", "skewed", "counts"), (200, 2000, 20_000), (0, 200, 2000), (False, True)


def calibrated(rng: np.random.Generator, kind: str, m: int, n: int, *, looks: bool) -> Judgement:
    """A true forecast, or one that is wrong in a way that n calibration rows correct."""
    X = rng.normal(size=(m + n, 3))
    f = X[:, 0] + np.sin(X[:, 1])
    wrong = 0.5 if n else 1.0
    H: Any
    if kind == "normal":
        H, y = Normal(f, wrong), f + rng.normal(size=m + n)
    elif kind == "skewed":
        H, y = LogNormal(f, wrong), np.exp(f + rng.normal(size=m + n))
    else:
        H, y = Poisson(np.exp(1 + f / 2)), rng.poisson(np.exp(1 + f / 2)).astype(float)
    promise, rest = None, slice(n, None)
    if n:
        done = Calibrator(CDFScore(), labels=Counts() if kind == "counts" else None).fit(H[:n], y[:n])
        H, promise = done(H[rest]), done.guarantee
    more: dict[str, Any] = {}
    if looks:
        region = rng.choice(["north", "south", "east", "west"], m)
        more = {"X": X[rest], "time": np.arange(m), "by": {"region": region}}
    return judge(H, y[rest], guarantee=promise, **more)


M = 2000
FAULTS: dict[str, tuple[str, str]] = {
    "labels 0.3 sd higher": ("too low", "calibrate"),
    "labels 0.3 sd lower": ("too high", "calibrate"),
    "spread 1.25 times as large": ("too narrow", "calibrate"),
    "spread 0.8 times as large": ("too wide", "calibrate"),
    "labels of Student's t with 3 degrees, same sd": ("wrong in the tails", "calibrate"),
    "one region of four 0.6 sd higher": ("too low for region = north", "by group"),
    "0.5 sd lower in the last third of the time": ("too high since", "since"),
    "spread exp(0.5 x) for 1": ("too narrow for x0|too wide for x0", "fit width"),
}


def planted(rng: np.random.Generator, fault: str) -> Judgement:
    """2,000 rows with one fault, judged with features, time and groups."""
    X, e = rng.normal(size=(M, 3)), rng.normal(size=M)
    f, region, when = X[:, 0] + np.sin(X[:, 1]), rng.choice(["north", "south", "east", "west"], M), np.arange(M)
    k = list(FAULTS).index(fault)
    noise = (
        e + 0.3,
        e - 0.3,
        1.25 * e,
        0.8 * e,
        rng.standard_t(3, M) / 3**0.5,
        e + 0.6 * (region == "north"),
        e - 0.5 * (when >= M * 2 / 3),
        np.exp(0.5 * X[:, 0]) * e,
    )[k]
    return judge(Normal(f, 1.0), f + noise, X, time=when, by={"region": region})


CHUNK = 25


def false_alarms(repeats: int, at_most: int, known: dict[str, Any]) -> list[str]:
    """The rates by cell. Repeats are made 25 at a time, each cell in turn, and kept, so that a run can be continued."""
    cells = list(product(KINDS, ROWS, CALIBRATED, LOOKS))
    for start in range(0, repeats, CHUNK):
        for kind, m, n, looks in cells:
            name = f"{kind}, m = {m}, n = {n}, looks = {looks}"
            done = known.setdefault(name, {"not green": 0, "repeats": 0})
            if done["repeats"] > start or (m == ROWS[-1] and start >= at_most):
                continue
            rng = np.random.default_rng([start, *name.encode()])
            found = [calibrated(rng, kind, m, n, looks=looks) for _ in range(CHUNK)]
            known[name] = {
                "not green": done["not green"] + sum(each.kind != "good" for each in found),
                "repeats": done["repeats"] + CHUNK,
            }
            save(known)
    lines = ["| forecasts | X, time, by | " + " | ".join(f"m = {m:,}" for m in ROWS) + " |", "|---" * 5 + "|"]
    rates: dict[Any, float] = {}
    total = np.zeros(2)
    for kind, m, n, looks in cells:
        done = known[f"{kind}, m = {m}, n = {n}, looks = {looks}"]
        rates[kind, m, n, looks] = done["not green"] / done["repeats"]
        total += done["not green"], done["repeats"]
    for kind, n, looks in product(KINDS, CALIBRATED, LOOKS):
        shares = " | ".join(f"{100 * rates[kind, m, n, looks]:.1f}%" for m in ROWS)
        made = f"{kind}, calibrated on n = {n:,}" if n else f"{kind}, true"
        lines.append(f"| {made} | {'yes' if looks else 'no'} | {shares} |")
    worst = 100 * max(rates.values())
    lines.append(f"\nNot green in {100 * total[0] / total[1]:.1f}% of all; in the worst cell {worst:.1f}%.")
    return lines


def faults(repeats: int, known: dict[str, Any]) -> list[str]:
    lines = ["| fault | named | remedy | both right |", "|---" * 4 + "|"]
    for fault, (words, remedy) in FAULTS.items():
        name = f"{fault}, {repeats} repeats"
        if name not in known:
            rng = np.random.default_rng(list(name.encode()))
            found = [planted(rng, fault) for _ in range(repeats)]
            starts = tuple(words.split("|"))
            right = [each.fault.startswith(starts) and each.remedy == remedy for each in found]
            known[name] = {"right": sum(right)}
            wrong = {f"{each.fault}: {each.remedy}" for each, ok in zip(found, right, strict=True) if not ok}
            print(name, known[name], list(wrong)[:6], flush=True)
            save(known)
        named = words.replace("|", "... and ") + ("..." if words.endswith(("since", "x0")) else "")
        lines.append(f"| {fault} | {named} | {remedy} | {100 * known[name]['right'] / repeats:.1f}% |")
    return lines


def save(known: dict[str, Any]) -> None:
    (ROOT / "results/judge.json").write_text(json.dumps(known, indent=1))


def main(repeats: int, at_most: int) -> None:
    path = ROOT / "results/judge.json"
    known = json.loads(path.read_text()) if path.exists() else {}
    planted_faults = faults(min(repeats, 100), known)
    lines = [
        "# How often `judge` is wrong",
        f"\n`python benchmarks/judge.py {repeats} {at_most}`",
        "\n## Calibrated forecasts whose headline is not green",
        f"\n{repeats:,} repeats per cell, {at_most:,} at 20,000 rows. The rate that `judge` states is 5%.\n",
        *false_alarms(repeats, at_most, known),
        "\n## Planted faults",
        f"\n{M:,} rows, judged with three features, time and a region; {min(repeats, 100)} repeats each.\n",
        *planted_faults,
    ]
    (ROOT / "results/judge.md").write_text("\n".join(lines) + "\n")


if __name__ == "__main__":
    main(*(int(each) for each in [*sys.argv[1:], *("1000", "200")[len(sys.argv) - 1 :]]))
