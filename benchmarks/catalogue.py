"""What every combination of forecast, score and interpolator costs and how exact it is: `make bench`.

n = 1,000 calibration rows, batches of 1,000 rows, one thread. `cdf`, `logpdf` and `ppf` (a level of its own for every
row, as a draw has it) are multiples of what the base distribution's own method takes; `mean`, `std` and `crps` are
counted in values of the base distribution's cdf, one per row. A Normal stands in where the forecast is no distribution.
Every timed call gets a new batch, so nothing kept from an earlier one helps it; what the first call on a newly fitted
distribution takes longer than later ones is in the column `once`. Mean, std and crps of three rows are compared with
integrals of cdf and sf (benchmarks/integrals.py). The table is printed and written to results/catalogue.md.
"""

from __future__ import annotations

import argparse
import time
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np
import scipy.stats
from integrals import TooLong, mean_std_crps

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    GaussianMixture,
    Interval,
    Laplace,
    Logistic,
    LogNormal,
    Mixture,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
    from_scipy,
)
from calibrant.interpolators import NAF, BoundedTails, Linear, Naive, Random
from calibrant.intervals import CQR, AbsoluteResidual
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    IntervalScore,
    LogScore,
    QuantileScore,
    RelativeScore,
    ResidualScore,
    SamplesScore,
    SqrtScore,
    ZScore,
    signed,
)

N, ROWS, FOLDS = 1_000, 1_000, 5
TIMES, VALUES, ERROR = 20.0, 3_000.0, 5e-5
"""The goals: times the base's own method, values of the base's cdf, relative error (docs/exactness.md)."""
FAST, SLOW = ("cdf", "logpdf", "ppf"), ("mean", "std", "crps")
LADDER = (1, 2, 10, 30, 100, 300, ROWS)
"""Rows of a batch: as many as take about a second, or less."""

# ---- forecasts: N rows to calibrate on, ROWS to predict ------------------------------------------------------------

RNG = np.random.default_rng(20)
COUNT = N + ROWS
LOC, SCALE = 20 + 3 * RNG.standard_normal(COUNT), RNG.uniform(0.5, 1.5, COUNT)
LOC2, SCALE2 = LOC + 0.3 * RNG.standard_normal(COUNT), RNG.uniform(0.3, 2.0, COUNT)
DF, WEIGHT = RNG.uniform(4, 9, COUNT), RNG.uniform(0.2, 0.8, COUNT)
Y = LOC + SCALE * RNG.standard_t(6, COUNT)
DRAWS = LOC[:, None] + SCALE[:, None] * RNG.standard_normal((COUNT, 20))
LEVELS = np.array([0.02, 0.05, 0.1, 0.25, 0.5, 0.75, 0.9, 0.95, 0.98])
SPREADS = np.array([-2.3, -1.8, -1.4, -0.6, 0.1, 0.5, 1.2, 1.8, 2.4])
TOO_LOW = RNG.beta(0.8, 1.2, COUNT)
"""PITs of labels that lie lower, and farther out, than the forecasts say."""

DISTRIBUTIONS: dict[str, Any] = {
    "normal": Normal(LOC, SCALE),
    "logistic": Logistic(LOC, SCALE),
    "laplace": Laplace(LOC, SCALE),
    "student t": StudentT(5.0, LOC, SCALE),
    "student t, a df a row": StudentT(DF, LOC, SCALE),
    "log-normal": LogNormal(np.log(LOC), 0.1 * SCALE),
    "gaussian mixture": GaussianMixture(
        np.stack([WEIGHT, 1 - WEIGHT], axis=1),
        np.stack([LOC - SCALE, LOC2 + SCALE], axis=1),
        np.stack([0.6 * SCALE, SCALE2], axis=1),
    ),
    "gaussian mixture, far apart": GaussianMixture(
        np.stack([0.5 * WEIGHT, 1 - WEIGHT, 0.5 * WEIGHT], axis=1),
        LOC[:, None] + SCALE[:, None] * np.array([-6.0, 0.0, 8.0]),
        SCALE[:, None] * np.array([1.0, 0.5, 1.0]),
    ),
    "scipy's gamma": from_scipy(scipy.stats.gamma(DF, loc=LOC - 5 * SCALE, scale=SCALE / 2)),
    "pool": Mixture((Normal(LOC, SCALE), Laplace(LOC2, SCALE2)), (0.7, 0.3)),
}
POINT, INTERVAL = Point(LOC), Interval(LOC - SCALE, LOC + 1.5 * SCALE)
QUANTILES = Quantiles(LEVELS, LOC[:, None] + SCALE[:, None] * SPREADS)
SAMPLES = Samples(DRAWS)
TWO_DISTRIBUTIONS = Ensemble([DISTRIBUTIONS["normal"], Laplace(LOC2, SCALE2)], weights=[2.0, 1.0])
NORMAL_AND_INTERVAL = Ensemble([DISTRIBUTIONS["normal"], Interval(LOC2 - SCALE2, LOC2 + SCALE2)])

BENDS = np.concatenate(
    [LOC[:, None] + SCALE[:, None] * np.array([0.0, -1.0, 0.25, 1.5, -5.0, *SPREADS]), LOC2[:, None], np.sort(DRAWS)],
    axis=1,
)
"""Where a forecast or a score may bend, row by row."""


@dataclass(frozen=True)
class Pair:
    """A forecast and a score; the distribution that sets the price; how many members share it."""

    forecast: Any
    score: Any
    base: Any = field(default_factory=lambda: DISTRIBUTIONS["normal"])
    members: int = 1


PAIRS: dict[str, Pair] = {
    **{f"cdf of {name}": Pair(distribution, CDFScore(), distribution) for name, distribution in DISTRIBUTIONS.items()},
    **{f"z of {name}": Pair(distribution, ZScore(), distribution) for name, distribution in DISTRIBUTIONS.items()},
    "residual": Pair(POINT, ResidualScore()),
    "relative": Pair(POINT, RelativeScore()),
    "sqrt": Pair(POINT, SqrtScore()),
    "log": Pair(POINT, LogScore()),
    "signed residual": Pair(POINT, signed(AbsoluteResidual())),
    "interval": Pair(INTERVAL, IntervalScore()),
    "signed cqr": Pair(INTERVAL, signed(CQR())),
    "quantile": Pair(QUANTILES, QuantileScore()),
    "quantile, the paper's": Pair(QUANTILES, QuantileScore(outer_slope=1.0)),
    "one quantile": Pair(Quantiles([0.3], LOC[:, None]), QuantileScore()),
    "samples": Pair(SAMPLES, SamplesScore()),
    "ensemble of points": Pair(Ensemble([POINT, Point(LOC2)], weights=[2.0, 1.0]), EnsembleScore(), members=2),
    "ensemble of normal and interval": Pair(NORMAL_AND_INTERVAL, EnsembleScore(), members=2),
    "ensemble of broken lines": Pair(
        Ensemble([QUANTILES, SAMPLES, INTERVAL], weights=[1.0, 0.5, 0.2]), EnsembleScore(), members=3
    ),
    "ensemble of ensembles": Pair(Ensemble([NORMAL_AND_INTERVAL, QUANTILES]), EnsembleScore(), members=3),
    "ensemble of cdfs": Pair(TWO_DISTRIBUTIONS, EnsembleScore(CDFScore()), members=2),
    "ensemble of z and cdf": Pair(TWO_DISTRIBUTIONS, EnsembleScore([ZScore(), CDFScore()]), members=2),
}

INTERPOLATORS: dict[str, Any] = {
    "linear": Linear(),
    "linear, bounded": Linear(BoundedTails()),
    "naive": Naive(),
    "random, bounded": Random(BoundedTails()),
    "naf": NAF(),
    "naf, guarded": NAF(promise=lambda n: 0.3),
}


GRID = np.concatenate([[0.0], 10.0 ** -np.arange(15, 2.6, -0.5), np.linspace(0.005, 0.5, 100)])
GRID = np.concatenate([GRID, 1 - GRID])
"""Levels in the tails and in between, for the distributions that are smooth between the scores."""


def images(forecast: Any, score: Any, y: np.ndarray, at: Any) -> np.ndarray:
    """The y of one row that have the calibration scores: the atoms of the naive distribution."""
    distribution = Calibrator(score, Naive()).fit(forecast, y)(at)
    return distribution.quantiles((np.arange(len(y)) + 0.5) / len(y))[0]


# ---- cases ---------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Case:
    """A combination: how to fit it on n rows, how to predict m rows, and where the distribution of one row bends."""

    name: str
    fit: Callable[[int], Any]
    predict: Callable[[Any, int], Any]
    bends: Callable[[Any, Any, int], np.ndarray]
    base: Any
    y: np.ndarray
    members: int


def labels(forecast: Any) -> np.ndarray:
    """Labels that a distribution can have given; those of a t6 around LOC otherwise."""
    return forecast.ppf(TOO_LOW) if hasattr(forecast, "ppf") else Y


def split(name: str, pair: Pair, interpolator: str) -> Case:
    y = labels(pair.forecast)

    def fit(n: int) -> Any:
        return Calibrator(pair.score, INTERPOLATORS[interpolator]).fit(pair.forecast[:n], y[:n])

    def predict(calibrated: Any, rows: int) -> Any:
        return calibrated(pair.forecast[N : N + rows], rng=np.random.default_rng(3))

    def bends(calibrated: Any, distribution: Any, row: int) -> np.ndarray:
        del calibrated
        own = images(pair.forecast[:N], pair.score, y[:N], pair.forecast[N + row : N + row + 1])
        return np.concatenate([own, distribution.quantiles(GRID)[0], BENDS[N + row]])

    return Case(f"{name}; {interpolator}", fit, predict, bends, pair.base[N:], y[N:], pair.members)


def moved(distribution: Any, k: int) -> Any:
    """The forecast that the model of fold k makes."""
    shift = 0.2 * (k - 2) + 0.1 * np.random.default_rng(k).standard_normal(COUNT)
    match distribution:
        case "normal":
            return Normal(LOC + shift, SCALE)
        case "point":
            return Point(LOC + shift)
        case "quantiles":
            return Quantiles(LEVELS, LOC[:, None] + shift[:, None] + SCALE[:, None] * SPREADS)
    mixture = DISTRIBUTIONS["gaussian mixture"]
    return GaussianMixture(mixture.weights, mixture.means + shift[:, None], mixture.stds)


def folds(kind: str, score: Any, interpolator: str) -> Case:
    forecasts = [moved(kind, k) for k in range(FOLDS)]
    y = labels(DISTRIBUTIONS[kind]) if kind in DISTRIBUTIONS else Y

    def parts(n: int) -> list[tuple[Any, slice]]:
        size = n // FOLDS
        return [(f, slice(k * size, (k + 1) * size)) for k, f in enumerate(forecasts)]

    def fit(n: int) -> Any:
        calibrator = Calibrator(score, INTERPOLATORS[interpolator])
        return CrossCalibrated(tuple(calibrator.fit(f[part], y[part]) for f, part in parts(n)))

    def predict(calibrated: Any, rows: int) -> Any:
        return calibrated([f[N : N + rows] for f in forecasts], rng=np.random.default_rng(3))

    def bends(calibrated: Any, distribution: Any, row: int) -> np.ndarray:
        del distribution
        here = slice(N + row, N + row + 1)
        distributions = [member(f[here]) for member, f in zip(calibrated.members, forecasts, strict=True)]
        own = [images(f[part], score, y[part], f[here]) for f, part in parts(N)]
        knots = [f.values[here][0] for f in forecasts if hasattr(f, "levels")]
        return np.concatenate(
            [*own, *knots, *(distribution.quantiles(GRID)[0] for distribution in distributions), BENDS[N + row]]
        )

    name = f"{FOLDS} folds, {type(score).__name__.removesuffix('Score').lower()} of {kind}; {interpolator}"
    return Case(name, fit, predict, bends, DISTRIBUTIONS.get(kind, DISTRIBUTIONS["normal"])[N:], y[N:], FOLDS)


def cases() -> Iterator[Case]:
    for name, pair in PAIRS.items():
        for interpolator in INTERPOLATORS:
            yield split(name, pair, interpolator)
    for kind, score in (
        ("normal", ZScore()),
        ("normal", CDFScore()),
        ("point", ResidualScore()),
        ("quantiles", QuantileScore()),
        ("gaussian mixture", CDFScore()),
    ):
        for interpolator in ("linear", "naive", "naf"):
            yield folds(kind, score, interpolator)


# ---- times ---------------------------------------------------------------------------------------------------------


def call(distribution: Any, method: str, y: np.ndarray, p: np.ndarray) -> Any:
    if method in ("mean", "std"):
        return getattr(distribution, method)()
    return getattr(distribution, method)((p if method == "ppf" else y)[: len(distribution)])


def clock(work: Callable[[], Any]) -> tuple[float, Any]:
    start = time.perf_counter()
    result = work()
    return time.perf_counter() - start, result


@dataclass
class Figure:
    """The price of one method, how many rows it was taken from, the first call's extra seconds, and the answer."""

    price: float
    rows: int
    once: float
    distribution: Any
    answer: Any


def measure(case: Case, calibrated: Any, method: str, p: np.ndarray, seconds: float, limit: float) -> Figure:
    """Batches grow until they take long; then method and base in turn, round after round."""
    price_of = method if method in FAST else "cdf"
    base = case.base
    once = spent = later = slope = 0.0
    rows, flat = 0, False

    def timed(count: int) -> tuple[float, Any, Any]:
        distribution = case.predict(calibrated, count)
        took, answer = clock(lambda: call(distribution, method, case.y, p))
        return took, distribution, answer

    for count in LADDER:
        long = later > 2 * limit or (rows > 1 and later + slope * (count - rows) > limit / 2)
        if long and not flat:
            break
        fewer, less = rows, later
        first, distribution, answer = timed(count)
        later = first
        if not fewer or first < limit:
            later, distribution, answer = timed(count)
        once += first - later if first - later > max(2e-4, 0.2 * later) else 0.0
        rows, spent = count, spent + later
        slope = max(0.0, later - less) / (rows - fewer)
        flat = later < min(1.3 * less, 3 * limit)  # more rows took hardly longer: it is the batch that costs
    ours, theirs = [later], []
    end = time.perf_counter() + seconds
    while len(theirs) < 21 or time.perf_counter() < end:
        theirs += [clock(lambda: call(base, price_of, case.y, p))[0] for _ in range(3)]
        if spent < limit:
            ours.append(timed(rows)[0])
            spent += ours[-1]
    return Figure(median(ours) / rows / (median(theirs) / len(base)), rows, once, distribution, answer)


def making(case: Case, calibrated: Any, p: np.ndarray) -> float:
    """The time of `calibrated(prediction)` per row, in values of the base's cdf."""
    made, base = [], []
    for _ in range(7):
        made.append(clock(lambda: case.predict(calibrated, ROWS))[0])
        base.append(clock(lambda: call(case.base, "cdf", case.y, p))[0])
    return median(made) / median(base)


# ---- accuracy ------------------------------------------------------------------------------------------------------


def errors(case: Case, calibrated: Any, figures: dict[str, Figure], rows: int, limit: float) -> dict[str, float]:
    """The largest errors in the first rows, of mean and std relative to std; nan where the reference was too slow."""
    worst, start = dict.fromkeys(SLOW, 0.0), time.perf_counter()
    for row in range(min(rows, *(figures[method].rows for method in SLOW))):
        distribution = figures["crps"].distribution[row : row + 1]
        given = [float(figures[method].answer[row]) for method in SLOW]
        try:
            truth = mean_std_crps(distribution, float(case.y[row]), case.bends(calibrated, distribution, row))
        except TooLong:
            return dict.fromkeys(SLOW, np.nan)
        for k, method in enumerate(SLOW):
            size = truth[2] if method == "crps" else truth[1]
            error = abs(given[k] - truth[k]) / size
            worst[method] = max(worst[method], error if np.isfinite(error) else np.inf)
        if time.perf_counter() - start > limit:
            break
    return worst


def quantile_error(figure: Figure, p: np.ndarray) -> float:
    """How far p lies outside [F(y-), F(y)] at y = ppf(p), give or take the last digits of y: it may be an atom."""
    y, p = figure.answer, p[: figure.rows]
    digits = 1e-13 * np.abs(y)
    at, left = figure.distribution.cdf(y + digits), figure.distribution.cdf(y - digits)
    return float(np.max(np.maximum(p - at, left - p), initial=0.0))


# ---- the table -----------------------------------------------------------------------------------------------------

HEADER = [
    "combination",
    "K",
    *FAST,
    *SLOW,
    "made",
    "once, ms",
    *(f"error of {method}" for method in SLOW),
    "of ppf",
    "worst",
    "times its goal",
    "reached",
]


def examine(case: Case, *, quick: bool) -> tuple[float, list[str]]:
    """A line of the table, and the worst ratio to a goal."""
    p = np.random.default_rng(8).random(ROWS)
    limit, seconds = (0.6, 0.03) if quick else (2.0, 0.1)
    warm = case.fit(50)  # imports and the like are no cost of a distribution
    for method in (*FAST, *SLOW):
        call(case.predict(warm, 1), method, case.y, p)
    calibrated = case.fit(N)
    figures = {method: measure(case, calibrated, method, p, seconds, limit) for method in (*FAST, *SLOW)}
    once = sum(figure.once for figure in figures.values())
    wrong = errors(case, calibrated, figures, rows=3, limit=2 * limit)
    ratios = {
        **{method: figures[method].price / (TIMES * case.members) for method in FAST},
        **{method: figures[method].price / (VALUES * case.members) for method in SLOW},
        **{f"error of {method}": error / ERROR for method, error in wrong.items()},
    }
    worst = max(ratios, key=lambda name: np.inf if np.isnan(ratios[name]) else ratios[name])
    shown = [f"{f.price:,.3g}" if f.price < 100 else f"{f.price:,.0f}" for f in figures.values()]
    shown = [
        text if figure.rows == ROWS else f"{text} ({figure.rows})"
        for text, figure in zip(shown, figures.values(), strict=True)
    ]
    reached = all(ratio <= 1 for ratio in ratios.values())
    line = [
        case.name,
        str(case.members),
        *shown,
        f"{making(case, calibrated, p):.2g}",
        f"{1e3 * once:.0f}",
        *(f"{error:.0e}" for error in wrong.values()),
        f"{quantile_error(figures['ppf'], p):.0e}",
        worst,
        f"{ratios[worst]:,.2g}" if ratios[worst] < 100 else f"{ratios[worst]:,.0f}",
        "yes" if reached else "NO",
    ]
    return ratios[worst] if np.isfinite(ratios[worst]) else np.inf, line


def failed(case: Case, error: Exception) -> tuple[float, list[str]]:
    """The line of a combination that raised."""
    text = f"{type(error).__name__}: {error}".replace("|", "/").replace("\n", " ")[:80]
    return np.inf, [case.name, str(case.members), *["-"] * (len(HEADER) - 5), text, "-", "NO"]


def table(lines: list[list[str]]) -> str:
    rows = [HEADER, ["---"] * len(HEADER), *lines]
    return "\n".join("| " + " | ".join(line) + " |" for line in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--only", default="", metavar="SUBSTRING", help="only combinations whose name has this in it")
    parser.add_argument("--quick", action="store_true", help="fewer rounds, smaller batches where it is slow")
    parser.add_argument("--out", type=Path, default=Path(__file__).parents[1] / "results" / "catalogue.md")
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    np.seterr(all="ignore")
    chosen = [case for case in cases() if options.only in case.name]
    results, start = [], time.perf_counter()
    print(f"{len(chosen)} combinations, with {Path(calibrant.__file__).parent}", flush=True)
    for case in chosen:
        try:
            results.append(examine(case, quick=options.quick))
        except Exception as error:  # a benchmark goes on: the line says what happened
            results.append(failed(case, error))
        print(f"{time.perf_counter() - start:6.0f} s  {' | '.join(results[-1][1])}", flush=True)
    results.sort(key=lambda result: -result[0])
    lines = [line for _, line in results]
    reached = sum(line[-1] == "yes" for line in lines)
    text = (
        "# Every combination\n\n"
        f"Made by `python benchmarks/catalogue.py` (`make bench`), one thread, float64, n = {N:,} calibration rows,"
        f" batches of {ROWS:,} rows; a number in brackets says how many rows there were instead, where {ROWS:,} take"
        " too long.\n\n"
        f"- `cdf`, `logpdf`, `ppf` (a level a row): times the base distribution's own. Goal: {TIMES:g} K, for"
        " K members or folds.\n"
        f"- `mean`, `std`, `crps`: values of the base's cdf, one per row, in the same time. Goal: {VALUES:,.0f} K.\n"
        "- A Normal is the base distribution where the forecast is none.\n"
        "- `made`: `calibrated(prediction)` itself, in values of the base distribution's cdf. No goal.\n"
        "- `once`: what the first calls on a newly fitted distribution take longer than later ones. No goal.\n"
        f"- `error`: of three rows against integrals of cdf and sf; of mean and std relative to std. Goal: {ERROR:g}.\n"
        "- `of ppf`: how far p lies outside [F(y-), F(y)] at y = ppf(p), the largest of all rows. No goal.\n\n"
        f"**{reached} of {len(lines)} combinations reach every goal.** Worst first:\n\n{table(lines)}\n"
    )
    print("\n" + text)
    options.out.parent.mkdir(exist_ok=True)
    options.out.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
