"""The main road may not become twice as slow unnoticed: `python benchmarks/guard.py`, part of `make bench`.

What the residual and the z-score with a linear q take is measured as a multiple of plain numpy doing the same, in turn
and in one process: both get slower together on a slow or busy machine. The multiples that we know are in guard.json;
twice as much is an error. `--renew` writes the file anew: look at the difference before you commit it.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from plain import Plain
from timing import interleaved

from calibrant import Calibrator, Normal, Point

KEPT = Path(__file__).resolve().parent / "guard.json"
ALLOWED = 2.0
TRIES = 3
"""A work that is too slow is measured again: a busy moment is not."""
N = 10_000
Pair = tuple[Callable[[], Any], Callable[[], Any]]


def road() -> dict[str, Pair]:
    """Every work: ours, and plain numpy's."""
    rng = np.random.default_rng(0)
    f, y, f_new, y_new = rng.normal(size=(4, N))
    levels, one = np.arange(1, 20) / 20, slice(0, 1)
    plain, calibrated = Plain(f, y), Calibrator().fit(Point(f), y)
    scale, scale_new = rng.uniform(0.5, 2, size=(2, N))
    z = Calibrator().fit(Normal(f, scale), y)
    plain_z, zero = Plain(np.zeros(N), (y - f) / scale), np.zeros(N)

    def H(rows: slice = slice(None)) -> Any:
        return calibrated(Point(f_new[rows]))

    return {
        "fit": (lambda: Calibrator().fit(Point(f), y), lambda: Plain(f, y)),
        "cdf": (lambda: H().cdf(y_new), lambda: plain.cdf(f_new, y_new)),
        "logpdf": (lambda: H().logpdf(y_new), lambda: plain.logpdf(f_new, y_new)),
        "19 quantiles": (lambda: H().quantiles(levels), lambda: plain.quantiles(f_new, levels)),
        "crps": (lambda: H().crps(y_new), lambda: plain.crps(f_new, y_new)),
        "interval": (lambda: H().interval(0.9), lambda: plain.interval(f_new, 0.9)),
        "mean": (lambda: H().mean(), lambda: plain.mean_std(f_new)),
        "z-score, cdf": (
            lambda: z(Normal(f_new, scale_new)).cdf(y_new),
            lambda: plain_z.cdf(zero, (y_new - f_new) / scale_new),
        ),
        "one row, cdf": (lambda: H(one).cdf(y_new[one]), lambda: plain.cdf(f_new[one], y_new[one])),
        "one row, interval": (lambda: H(one).interval(0.9), lambda: plain.interval(f_new[one], 0.9)),
    }


def ratio(pair: Pair, seconds: float) -> float:
    """The best time of ours over the best of plain numpy's, of many taken in turn."""
    times = interleaved({"ours": pair[0], "plain": pair[1]}, seconds, rounds=30)
    return times["ours"].best / times["plain"].best


def measured(kept: dict[str, float], seconds: float = 0.5) -> dict[str, float]:
    """The ratio of every work; what is too large is measured again, and the smallest counts."""
    pairs = road()
    found = {name: ratio(pair, seconds) for name, pair in pairs.items()}
    for _ in range(TRIES - 1):
        for name in slower(found, kept):
            found[name] = min(found[name], ratio(pairs[name], 2 * seconds))
    return found


def slower(found: dict[str, float], kept: dict[str, float]) -> list[str]:
    """The works whose ratio has more than doubled."""
    return [name for name, ratio in found.items() if name in kept and ratio > ALLOWED * kept[name]]


def complaint(name: str, found: float, kept: float) -> str:
    return (
        f"{name} takes {found:.2f} times as long as plain numpy; {KEPT.name} has {kept:.2f}, and {ALLOWED:g} times that"
        " is allowed"
    )


def known() -> dict[str, float]:
    return json.loads(KEPT.read_text(encoding="utf-8"))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--renew", action="store_true", help="write guard.json anew")
    if parser.parse_args().renew:
        found = {name: round(value, 2) for name, value in measured({}, seconds=2.0).items()}
        KEPT.write_text(json.dumps(found, indent=2) + "\n", encoding="utf-8")
        print(KEPT.read_text(encoding="utf-8"))
        return
    kept = known()
    found = measured(kept)
    for name, value in found.items():
        print(f"{name:20} {value:6.2f} times plain numpy, {kept[name]:6.2f} known")
    bad = slower(found, kept)
    for name in bad:
        print(complaint(name, found[name], kept[name]), file=sys.stderr)
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
