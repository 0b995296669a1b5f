"""Two source trees of calibrant side by side on the combinations most people use: `python benchmarks/main_road.py SRC`.

SRC is the src folder of another checkout ('before'); this one is 'after'. Two processes, one for each tree, are asked
in turn to run the same work many times; while one works the other waits. A ratio is the median over the rounds of
after / before. Every work starts from the prediction, so nothing kept in an earlier distribution of the same rows helps
it. The table is printed and written to results/main_road.md. With `--catalogue` the works are mean, std and crps of
every combination of benchmarks/catalogue.py, and the table is results/catalogue_before_after.md.
"""

from __future__ import annotations

import argparse
import json
import os
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from typing import Any

N, ROWS = 10_000, 300
HERE = Path(__file__).resolve().parents[1] / "src"


# ---- the worker: imports calibrant from its own PYTHONPATH ----------------------------------------------------------


def works() -> dict[str, Callable[[], Any]]:
    """Every work by name; a server sees one row at a time, in an array of its own."""
    import numpy as np

    from calibrant import Calibrator, Normal, Point, Quantiles
    from calibrant.interpolators import Linear
    from calibrant.scores import CDFScore, QuantileScore, ResidualScore, ZScore

    rng = np.random.default_rng(0)
    loc, scale = rng.normal(size=2 * N), rng.uniform(0.5, 2.0, 2 * N)
    y, p = loc + scale * rng.standard_t(6, 2 * N), rng.random(N)
    levels = np.arange(1, 10) / 10
    spreads = np.array([-1.3, -0.8, -0.5, -0.2, 0.0, 0.3, 0.5, 0.9, 1.3])
    values = loc[:, None] + scale[:, None] * spreads

    def normal(part: slice) -> Any:
        return Normal(loc[part], scale[part])

    def point(part: slice) -> Any:
        return Point(loc[part])

    def quantiles(part: slice) -> Any:
        return Quantiles(levels, values[part])

    result: dict[str, Callable[[], Any]] = {}
    old, new, one = slice(0, N), slice(N, 2 * N), slice(N, N + 1)
    for name, score, forecast in (
        ("z-score", ZScore(), normal),
        ("residual", ResidualScore(), point),
        ("cdf of normal", CDFScore(), normal),
        ("quantile", QuantileScore(), quantiles),
    ):
        calibrator = Calibrator(score, Linear())
        calibrated, batch = calibrator.fit(forecast(old), y[old]), forecast(new)
        acts: dict[str, Callable[[Any, slice], Any]] = {
            "predict, cdf": lambda H, rows: H.cdf(y[rows]),
            "predict, logpdf": lambda H, rows: H.logpdf(y[rows]),
            "predict, ppf (a level a row)": lambda H, rows: H.ppf(p[: len(H)]),
            "predict, interval": lambda H, rows: H.interval(0.9),
            "predict, mean": lambda H, rows: H.mean(),
            "predict, std": lambda H, rows: H.std(),
            "predict, crps": lambda H, rows: H.crps(y[rows]),
        }
        result[f"{name}; fit"] = lambda c=calibrator, f=forecast: c.fit(f(old), y[old])
        result[f"{name}; 10,000 rows: predict"] = lambda c=calibrated, b=batch: c(b)
        for act, do in acts.items():
            result[f"{name}; 10,000 rows: {act}"] = lambda c=calibrated, b=batch, do=do: do(c(b), new)
        result[f"{name}; one row: predict"] = lambda c=calibrated, f=forecast: c(f(one))
        for act in ("predict, cdf", "predict, interval", "predict, crps"):
            result[f"{name}; one row: {act}"] = lambda c=calibrated, f=forecast, do=acts[act]: do(c(f(one)), one)
    return result


def worker(named: dict[str, Callable[[], Any]]) -> None:
    """Answers lines of JSON, [work, repetitions], with the median seconds of one."""
    import calibrant

    print(json.dumps({"file": calibrant.__file__, "works": list(named)}), flush=True)
    for line in sys.stdin:
        name, count = json.loads(line)
        work, times = named[name], []
        for _ in range(count):
            start = time.perf_counter()
            work()
            times.append(time.perf_counter() - start)
        print(json.dumps(median(times)), flush=True)


def catalogue_works() -> dict[str, Callable[[], Any]]:
    """Mean, std and crps of 300 rows of every combination, of a prediction that is made anew."""
    from functools import cache

    from catalogue import SLOW, N, call, cases

    result: dict[str, Callable[[], Any]] = {}
    for case in cases():
        fitted = cache(lambda case=case: case.fit(N))
        for method in SLOW:
            result[f"{case.name}; {method}"] = lambda case=case, fitted=fitted, method=method: call(
                case.predict(fitted(), ROWS), method, case.y, None
            )
    return result


# ---- the one who asks -----------------------------------------------------------------------------------------------


class Tree:
    """A worker on one source tree."""

    def __init__(self, src: Path, options: Sequence[str] = ()) -> None:
        threads = {"OMP_NUM_THREADS": "1", "OPENBLAS_NUM_THREADS": "1"}
        self.process = subprocess.Popen(
            [sys.executable, "-W", "ignore", __file__, "--worker", *options],
            env={**os.environ, **threads, "PYTHONPATH": str(src)},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        hello = json.loads(self.process.stdout.readline())
        if not Path(hello["file"]).resolve().is_relative_to(src):
            raise RuntimeError(f"wanted calibrant from {src}, got {hello['file']}")
        self.works = hello["works"]

    def run(self, work: str, count: int) -> float:
        self.process.stdin.write(json.dumps([work, count]) + "\n")
        self.process.stdin.flush()
        return json.loads(self.process.stdout.readline())

    def close(self) -> None:
        self.process.stdin.close()
        self.process.wait()


def compare(before: Tree, after: Tree, work: str, rounds: int) -> list[str]:
    """One line: the median times of both and the median ratio, with the quarter and three quarters of the rounds."""
    slowest = max(tree.run(work, 3) for tree in (before, after))
    count = max(1, min(300, round(0.02 / slowest)))
    times: dict[Tree, list[float]] = {before: [], after: []}
    for k in range(rounds):
        for tree in (before, after) if k % 2 else (after, before):
            times[tree].append(tree.run(work, count))
    ratios = sorted(new / old for old, new in zip(times[before], times[after], strict=True))
    low, high = ratios[rounds // 4], ratios[-1 - rounds // 4]
    shown = [f"{median(times[tree]) * 1e6:,.0f}" for tree in (before, after)]
    combination, act = work.rsplit("; ", 1)
    return [combination, act, *shown, f"{median(ratios):.2f}", f"{low:.2f} to {high:.2f}"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("other", nargs="?", type=Path, help="the src folder of another checkout: 'before'")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="only works whose name has this in it")
    parser.add_argument("--catalogue", action="store_true", help="mean, std and crps of every combination instead")
    parser.add_argument("--out", type=Path)
    parser.add_argument("--worker", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.worker:
        worker(catalogue_works() if options.catalogue else works())
        return
    if options.other is None or not (options.other / "calibrant").is_dir():
        parser.error("say where the other tree is: a folder with calibrant/ in it")
    own = ["--catalogue"] if options.catalogue else []
    before, after = Tree(options.other.resolve(), own), Tree(HERE, own)
    lines = [compare(before, after, work, options.rounds) for work in after.works if options.only in work]
    before.close()
    after.close()
    header = ["combination", "work", "before, µs", "after, µs", "after / before", "middle half of the rounds"]
    what = (
        f"mean, std and crps of {ROWS} rows of every combination of benchmarks/catalogue.py, n = 1,000 calibration rows"
        if options.catalogue
        else f"linear interpolation, n = {N:,} calibration rows"
    )
    title, name = ("The catalogue", "catalogue_before_after") if options.catalogue else ("The main road", "main_road")
    text = (
        f"# {title}, before and after\n\nMade by `python benchmarks/main_road.py {' '.join([*own, 'SRC'])}`: {what},"
        f" float64, one thread; two processes in turn, {options.rounds} rounds. A row of its own is predicted as a"
        " server does it: from new arrays of length 1.\n\n"
        + "\n".join("| " + " | ".join(line) + " |" for line in [header, ["---"] * len(header), *lines])
        + f"\n\nThe geometric mean of the ratios is {geometric_mean([float(line[4]) for line in lines]):.3f}.\n"
    )
    print(text)
    out = options.out or HERE.parent / "results" / f"{name}.md"
    out.parent.mkdir(exist_ok=True)
    out.write_text(text, encoding="utf-8")


def geometric_mean(ratios: list[float]) -> float:
    product = 1.0
    for ratio in ratios:
        product *= ratio ** (1 / len(ratios))
    return product


if __name__ == "__main__":
    main()
