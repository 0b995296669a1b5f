"""Speed, side by side with other libraries, in one interleaved run: `make bench`.

Every number that counts is a ratio of two times taken in turn in the same process. The table is printed and written
to results/bench.md.
"""

from __future__ import annotations

import time
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from statistics import median

import numpy as np
import scoringrules
from crepes import ConformalPredictiveSystem
from mapie.regression import SplitConformalRegressor
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import LinearRegression

from calibrant import CalibratedRegressor, Calibrator, Normal, Point
from calibrant.distributions import Distribution
from calibrant.interpolators import NAF
from calibrant.scores import CDFScore, ZScore

LEVELS = np.arange(1, 20) / 20


class FirstColumn(RegressorMixin, BaseEstimator):
    """A model that costs nothing: MAPIE calls its model inside every prediction."""

    def fit(self, x: np.ndarray, y: np.ndarray) -> FirstColumn:
        self.fitted_ = True
        return self

    def predict(self, x: np.ndarray) -> np.ndarray:
        return x[:, 0]


def interleaved(works: dict[str, Callable[[], object]], seconds: float) -> dict[str, float]:
    """The median time of each work, taken in turn: one after the other, round after round."""
    times: dict[str, list[float]] = {name: [] for name in works}
    for work in works.values():
        work()
    end = time.perf_counter() + seconds
    while time.perf_counter() < end or len(times[next(iter(works))]) < 3:
        for name, work in works.items():
            for _ in range(1 if not times[name] or times[name][-1] > 0.02 else 10):
                start = time.perf_counter()
                work()
                times[name].append(time.perf_counter() - start)
    return {name: median(values) for name, values in times.items()}


def peers() -> list[tuple[str, str, str, float, float]]:
    """Ours against theirs at n = m = 10,000."""
    n = m = 10_000
    rng = np.random.default_rng(0)
    f, y = rng.normal(size=n), rng.normal(size=n)
    f_test, y_test = rng.normal(size=m), rng.normal(size=m)
    calibrated = Calibrator().fit(Point(f), y)
    prediction = Point(f_test)
    crepes = ConformalPredictiveSystem().fit(residuals=y - f)
    x, x_test = f[:, None], f_test[:, None]
    split = SplitConformalRegressor(FirstColumn().fit(x, y), confidence_level=0.9).conformalize(x, y)
    nineteen = SplitConformalRegressor(FirstColumn().fit(x, y), confidence_level=list(LEVELS)).conformalize(x, y)
    ensemble = f_test[:, None] + np.sort(y - f)[None, :]
    percent = list(100 * LEVELS)
    rows = []
    for work, goals, ours, theirs in (
        (
            "PIT",
            {"crepes": 200},
            lambda: calibrated(prediction).cdf(y_test),
            {"crepes": lambda: crepes.predict_p(f_test, y_test)},
        ),
        (
            "CRPS",
            {"crepes": 400, "scoringrules qd": 1000},
            lambda: calibrated(prediction).crps(y_test),
            {
                "crepes": lambda: crepes.evaluate(f_test, y_test, metrics=["CRPS"]),
                "scoringrules qd": lambda: scoringrules.crps_ensemble(y_test, ensemble, estimator="qd"),
            },
        ),
        (
            "19 quantiles",
            {"MAPIE split": 10, "crepes": 100},
            lambda: calibrated(prediction).quantiles(LEVELS),
            {
                "MAPIE split": lambda: nineteen.predict_interval(x_test),
                "crepes": lambda: crepes.predict_percentiles(f_test, higher_percentiles=percent),
            },
        ),
        (
            "90% interval",
            {"MAPIE split": 1},
            lambda: calibrated(prediction).interval(0.9),
            {"MAPIE split": lambda: split.predict_interval(x_test)},
        ),
    ):
        times = interleaved({"calibrant": ours, **theirs}, seconds=12)
        for name, goal in goals.items():
            rows.append(
                (
                    work,
                    name,
                    f"{times['calibrant'] * 1e3:.3f} ms / {times[name] * 1e3:.1f} ms",
                    times[name] / times["calibrant"],
                    goal,
                )
            )
    return rows


def methods(law: Distribution, y: np.ndarray, p: np.ndarray) -> dict[str, Callable[[], object]]:
    """Every method of H, with its arguments."""
    return {
        "cdf": lambda: law.cdf(y),
        "sf": lambda: law.sf(y),
        "pdf": lambda: law.pdf(y),
        "logpdf": lambda: law.logpdf(y),
        "ppf": lambda: law.ppf(p),
        "crps": lambda: law.crps(y),
        "mean": law.mean,
        "std": law.std,
        "median": law.median,
        "interval": lambda: law.interval(0.9),
        "quantiles": lambda: law.quantiles(LEVELS),
        "sample": lambda: law.sample(1, np.random.default_rng(0)),
        "clip, then mean": lambda: law.clip(-1, 1).mean(),
        "clip, then crps": lambda: law.clip(-1, 1).crps(y),
        "indexing": lambda: law[: len(law) // 2],
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
            tracemalloc.start()
            result = work()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
            arrays = result if isinstance(result, tuple) else (result,)
            size = sum(getattr(array, "nbytes", 8 * m) for array in arrays)
            rows.append((name, method, times[method] / times["searchsorted"], max(0.0, peak - size) / size))
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
        ratio, extra = times["interval"] / times["bare"], (times["interval"] - times["bare"]) / len(X) * 1e9
        name = type(base).__name__
        goal, reached = ("30 ns a row", extra <= 30) if name == "LinearRegression" else ("1.3 times", ratio <= 1.3)
        shown = f"{times['interval'] * 1e3:.0f} ms / {times['bare'] * 1e3:.0f} ms"
        rows.append([name, shown, f"{ratio:.2f}", f"{extra:.0f} ns", goal, "yes" if reached else "NO"])
    return rows


def table(header: list[str], rows: list[list[str]]) -> str:
    lines = [header, ["---"] * len(header), *rows]
    return "\n".join("| " + " | ".join(line) + " |" for line in lines)


def main() -> None:
    warnings.simplefilter("ignore")
    parts = [
        "# Benchmarks\n\nMade by `make bench`, one thread, float64. Only the ratios mean anything on another machine."
    ]
    rows = [[w, p, t, f"{r:.3g}", f"{g:g}", "yes" if r >= g else "NO"] for w, p, t, r, g in peers()]
    parts.append(
        "## Against other libraries, n = m = 10,000\n\n"
        + table(["work", "peer", "calibrant / peer", "times as fast", "goal", "reached"], rows)
    )
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
        " rank error as a multiple of lambda = sqrt(n)/2 (goal 1).\n\n"
        + table(["n", "fit", "NLL gap", "rank error", "reached"], flows)
    )
    parts.append(
        "## CalibratedRegressor.predict_interval against the bare predict, 1e6 rows x 10 columns\n\n"
        + table(["model", "interval / bare", "times", "extra a row", "goal", "reached"], estimator())
    )
    text = "\n\n".join(parts) + "\n"
    print(text)
    path = Path(__file__).parents[1] / "results" / "bench.md"
    path.parent.mkdir(exist_ok=True)
    path.write_text(text)


if __name__ == "__main__":
    main()
