"""Speed, side by side with other libraries and with plain numpy: `make bench` writes docs/benchmarks.md.

Every number that counts is a ratio of two times taken in turn in the same process.
"""

from __future__ import annotations

import os
import platform
import time
import warnings
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import guard
import numpy as np
import sweeps
from side_by_side import LEVELS, OURS, YARDSTICK, Problem, library, works
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression
from timing import ROUNDS, interleaved, peak, shown, three

from calibrant import CalibratedRegressor, Calibrator, Normal
from calibrant.distributions import Distribution
from calibrant.interpolators import NAF
from calibrant.scores import CDFScore, ZScore

DOCS = Path(__file__).resolve().parents[1] / "docs"
PEERS = ("crepes", "mapie", "scoringrules", "tinyconformal", "uncertainty-toolbox")
N = 10_000


def processor() -> str:
    """As Linux tells it; elsewhere what Python knows."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8").splitlines()
    except OSError:
        return platform.processor() or platform.machine()
    return next((line.partition(":")[2].strip() for line in lines if line.startswith("model name")), platform.machine())


def machine() -> str:
    """What it ran on, and the versions of all that was timed."""
    names = ("calibrant", "numpy", "scipy", "scikit-learn", *PEERS)
    versions = ", ".join(f"{name} {version(name)}" for name in names)
    load = f"{os.getloadavg()[0]:.1f}" if hasattr(os, "getloadavg") else "unknown"
    return (
        f"{processor()}, {os.cpu_count()} cores, load {load} at the start; {platform.system()}, Python"
        f" {platform.python_version()}, {versions}."
    )


def peers() -> list[str]:
    """A table for each work: the multiple of plain numpy, the times, the memory and the error."""
    problem, parts = Problem(N, N), []
    for work, entries in works(problem).items():
        times = interleaved({name: entry.do for name, entry in entries.items()}, seconds=5)
        unit = next(times[name] for name in entries if library(name) == YARDSTICK)
        rows = []
        for name, entry in sorted(entries.items(), key=lambda item: times[item[0]].best):
            error = "" if entry.off is None else _power(entry.off(entry.do()))
            title = f"**{name}**" if library(name) == OURS else name
            found = times[name]
            ratios = three(found.best / unit.best), three(found.median / unit.median)
            memory = f"{peak(entry.do) / 2**20:,.1f}&nbsp;MiB"
            rows.append([title, *ratios, shown(found.best), shown(found.median), memory, error])
        header = ["library", "times plain numpy, best", "median", "best", "median", "memory", "error"]
        parts.append(f"### {work}\n\n{table(header, rows)}")
    return parts


def _power(error: float) -> str:
    return f"{error:.0e}" if error > 1e-13 else "rounding"


def road() -> tuple[list[list[str]], list[str]]:
    """The ratios of the guard, and what it complains about."""
    kept = guard.known()
    found = guard.measured(kept)
    rows = [
        [name, f"{value:.2f}", f"{kept[name]:.2f}", f"{guard.ALLOWED * kept[name]:.2f}"]
        for name, value in found.items()
    ]
    return rows, [guard.complaint(name, found[name], kept[name]) for name in guard.slower(found, kept)]


def methods(distribution: Distribution, y: np.ndarray, p: np.ndarray) -> dict[str, Callable[[], object]]:
    """Every method of H, with its arguments."""
    return {
        "cdf": lambda: distribution.cdf(y),
        "sf": lambda: distribution.sf(y),
        "pdf": lambda: distribution.pdf(y),
        "logpdf": lambda: distribution.logpdf(y),
        "ppf": lambda: distribution.ppf(p),
        "crps": lambda: distribution.crps(y),
        "mean": distribution.mean,
        "std": distribution.std,
        "median": distribution.median,
        "interval": lambda: distribution.interval(0.9),
        "quantiles": lambda: distribution.quantiles(LEVELS),
        "sample": lambda: distribution.sample(1, np.random.default_rng(0)),
        "clip, then mean": lambda: distribution.clip(-1, 1).mean(),
        "clip, then crps": lambda: distribution.clip(-1, 1).crps(y),
        "indexing": lambda: distribution[: len(distribution) // 2],
    }


def scale() -> list[tuple[str, str, float, float]]:
    """Every method of H at n = 1e6, m = 1e5: time against searchsorted of the same keys, memory against the output.

    The tables of the cdf score are made once for each q, by the first mean, std or crps; they are not timed here.
    """
    n, m = 1_000_000, 100_000
    rng = np.random.default_rng(0)
    prediction, labels = Normal(rng.normal(size=n), rng.uniform(0.5, 2, n)), rng.normal(size=n)
    loc, width, y, p = rng.normal(size=m), rng.uniform(0.5, 2, m), rng.normal(size=m), rng.random(m)
    knots, keys = np.sort((labels - prediction.loc) / prediction.scale), (y - loc) / width
    rows = []
    for name, score in (("z-score", ZScore()), ("cdf", CDFScore())):
        works = methods(Calibrator(score).fit(prediction, labels)(Normal(loc, width)), y, p)
        times = interleaved({"searchsorted": lambda: np.searchsorted(knots, keys), **works}, seconds=20)
        for method, work in works.items():
            result, held = work(), peak(work)
            arrays = result if isinstance(result, tuple) else (result,)
            size = sum(getattr(array, "nbytes", 8 * m) for array in arrays)
            rows.append((name, method, times[method].best / times["searchsorted"].best, max(0.0, held - size) / size))
    return rows


def naf() -> list[tuple[int, float, float, float]]:
    """NAF on Student t scores: time to fit, and held-out NLL above the truth."""
    from scipy.stats import t

    rows = []
    for n in (1_000, 10_000):
        rng = np.random.default_rng(0)
        scores, fresh = rng.standard_t(5, n), rng.standard_t(5, 200_000)
        start = time.perf_counter()
        q = NAF().fit(scores)
        seconds = time.perf_counter() - start
        gap = float(np.mean(t(5).logpdf(fresh)) - np.mean(q.logpdf(fresh)))
        ranks = np.arange(1, n + 1)
        off = float(np.max(np.abs((n + 1) * q.cdf(np.sort(scores)) - ranks)) / (np.sqrt(n) / 2))
        rows.append((n, seconds, gap, off))
    return rows


def estimator() -> list[list[str]]:
    """`predict_interval` of a CalibratedRegressor against the bare `predict` of its model, 1e6 rows x 10 columns."""
    rng = np.random.default_rng(0)
    X = rng.normal(size=(1_000_000, 10))
    y = X[:, 0] + np.sin(X[:, 1]) + rng.normal(size=len(X))
    rows = []
    for base in (HistGradientBoostingRegressor(max_iter=100), LinearRegression()):
        model = CalibratedRegressor(base, refine=None, random_state=0).fit(X[:50_000], y[:50_000])
        bare = model.estimators_[0]
        works = {"bare": lambda bare=bare: bare.predict(X), "interval": lambda model=model: model.predict_interval(X)}
        times = interleaved(works, seconds=20)
        interval, alone = times["interval"].best, times["bare"].best
        ratio, extra = interval / alone, (interval - alone) / len(X) * 1e9
        name = type(base).__name__
        goal, reached = ("30 ns per row", extra <= 30) if name == "LinearRegression" else ("1.3 times", ratio <= 1.3)
        both = f"{interval * 1e3:.0f} ms / {alone * 1e3:.0f} ms"
        rows.append([name, both, f"{ratio:.2f}", f"{extra:.0f} ns", goal, "yes" if reached else "NO"])
    return rows


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


INTRO = """---
hide: [toc]
---

# Benchmarks

<!-- Made by `make bench`; do not edit. -->

Times of calibrant, of other libraries and of plain numpy on the same work, taken in turn in one process: one thread,
float64, the best and the median of at least {rounds} rounds. Only the ratios mean anything on another machine, and
ratios near 1 mean little. Every library is listed for the tasks it supports, with the error of its answer in the last
column. Left out are the CRPS of properscoring, which without numba builds a table of n² m numbers, the empirical one of
skpro, a data frame of n m rows, and [what is not compared](conformance.md#not-compared).

Machine and versions: {machine}
"""
SIDE = """## Side by side

n = {n:,} calibration rows, m = {n:,} new rows, and the residual as the score. Memory is the peak of one call,
including its answer.

The error is the distance from what the answer must be; "rounding" is below 10⁻¹³. A PIT of rank r lies in
[r, r + 1] / (n + 1), and a quantile between the scores next to its rank. A two-sided interval is f ± the right order
statistic. CRPS, mean and std are compared with sums that are rounded once where the distribution is that of the scores
themselves ("steps"), else with quadrature. uncertainty-toolbox learns its map on 100 levels, here from mirrored labels,
since [it counts residuals as f − y](conformance.md). scikit-learn's isotonic regression takes the PITs of N(f, 1) to
ranks out of n, not of n + 1.

Plain numpy is `np.interp`, `np.searchsorted` and sums of sorted residuals, without checks and without tails
(`benchmarks/plain.py`). calibrant searches faster than `np.interp`, so some of its multiples are below 1.
"""
GROWTH = """## With n and with m

Without the fit. The exponent is that of the two largest sizes measured: 0 is no growth, 1 is proportional; read it to
one digit. A library that takes more than {limit:g} s is not run at the next size, nor one that would need a table of
more than 10⁸ numbers.

![{alt}](images/benchmarks.png)
"""
ALT = (
    "Best times against n and against m on logarithmic axes. calibrant stays near plain numpy and hardly grows with n."
    " crepes grows with n times m, and so do tinyconformal and scoringrules"
)
GUARD = """## The most common calls

A guard against gradual slowdowns: linear interpolation at n = m = {n:,} as a multiple of plain numpy, best of
many, taken in turn. `make bench` and a test fail where a multiple is more than twice the one in
`benchmarks/guard.json`. Where numpy only adds a number to an array, as for the mean, the multiple is that of checks and
objects, which take microseconds.
"""


def main() -> None:
    warnings.simplefilter("ignore")
    about, side = machine(), peers()
    by_n, by_m = sweeps.sweep("n"), sweeps.sweep("m")
    sweeps.picture(by_n, by_m, DOCS / "images" / "benchmarks.png")
    ratios, complaints = road()
    parts = [
        INTRO.format(rounds=ROUNDS, machine=about),
        SIDE.format(n=N),
        *side,
        GROWTH.format(limit=sweeps.LIMIT, alt=ALT),
    ]
    head = ["work", "library", "exponent of n", "m = 1,000", "exponent of m", "n = 1,000"]
    parts.append(table(head, sweeps.exponents(by_n, by_m)))
    parts += [GUARD.format(n=guard.N), table(["work", "times plain numpy", "known", "allowed"], ratios)]
    limits = [[s, n, f"{t:.2f}", f"{x:.1f}", "yes" if t <= 20 and x <= 10 else "NO"] for s, n, t, x in scale()]
    parts.append(
        "## Every method of H, linear, n = 1e6, m = 1e5\n\nTime as a multiple of numpy's searchsorted of the same keys"
        " (goal 20), extra memory as a multiple of the output (goal 10).\n\n"
        + table(["score", "method", "time", "memory", "reached"], limits)
    )
    flows = [
        [f"{n:,}", f"{s:.2f} s", f"{gap:.4f}", f"{off:.2f}", "yes" if gap <= 0.05 and off <= 1 else "NO"]
        for n, s, gap, off in naf()
    ]
    parts.append(
        "## NAF, 200 units, Student t5 scores\n\nNLL above the truth on 200,000 fresh scores (goal 0.05 nats), largest"
        " rank error as a multiple of λ = √n/2 (goal 1).\n\n"
        + table(["n", "fit", "NLL gap", "rank error", "reached"], flows)
    )
    parts.append(
        "## CalibratedRegressor.predict_interval against the bare predict, 1e6 rows × 10 columns\n\n"
        + table(["model", "interval / bare", "times", "extra per row", "goal", "reached"], estimator())
    )
    text = "\n\n".join(part.strip() for part in parts) + "\n"
    print(text)
    (DOCS / "benchmarks.md").write_text(text, encoding="utf-8")
    if complaints:
        raise SystemExit("\n".join(complaints))


if __name__ == "__main__":
    main()
