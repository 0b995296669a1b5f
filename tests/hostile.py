"""The hostile side of the catalogue: every forecast, score and interpolator that go together, on ugly data.

A case is a combination, a calibration set, a world (unit, place and dtype of y) and a clip. Each is one line in a table
here, and the cases are all of them, crossed. Whatever a world does to y, the numbers are also known in a unit of their
own, t = (y - shift) / stretch, read back from what the world wrote down: there the truth is worked out
(`hostile_truth.py`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import scipy.stats
from catalogue import (
    CALIBRATION,
    DATA,
    INTERPOLATORS,
    LEVELS,
    LOC,
    LOC2,
    MEANS,
    SCALE,
    SCALE2,
    SPLIT,
    SPREADS,
    STDS,
    LogRatio,
    PercentageError,
    World,
    Y,
)

from calibrant import (
    Calibrator,
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
from calibrant.interpolators.support import Logits
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

PREDICTED = np.array([CALIBRATION, CALIBRATION + 3])
"""The rows of the catalogue that are predicted; those before CALIBRATION can calibrate."""

# ---- numbers --------------------------------------------------------------------------------------------------------

OUTLIER = 1e9
NEAR_ONE = np.where(np.arange(len(Y)) % 2, 1.05, 1.0)
NEAR_TWO = np.where(np.arange(len(Y)) % 2, 2.05, 2.0)
APART = np.array([-1e4, 1e4])

PLACES: dict[str, np.ndarray] = {
    "loc": LOC,
    "loc2": LOC2,
    "lower": LOC - SCALE,
    "upper": LOC + 1.5 * SCALE,
    "lower2": LOC2 - SCALE2,
    "upper2": LOC2 + SCALE2,
    "quantiles": LOC[:, None] + SCALE[:, None] * SPREADS,
    "draws": np.sort(DATA["draws"], axis=1),
    "means": MEANS,
    "far means": LOC[:, None] + SCALE[:, None] * APART,
    "gamma": LOC - 5 * SCALE,
    "y": Y,
    "y, far above": LOC + OUTLIER * SCALE,
    "y, far below": LOC - OUTLIER * SCALE,
    "y, apart": LOC + SCALE * np.where(np.arange(len(Y)) % 3, APART[0], APART[1]) + (Y - LOC),
}
WIDTHS: dict[str, np.ndarray] = {"scale": SCALE, "scale2": SCALE2, "stds": STDS, "gamma scale": SCALE / 2}


@dataclass(frozen=True)
class Numbers:
    """The numbers of the catalogue as a world writes them down; `t` and `width` read them back."""

    world: World = field(default_factory=World)

    def at(self, name: str) -> Any:
        return self.world.at(PLACES[name])

    def by(self, name: str) -> Any:
        return self.world.by(WIDTHS[name])

    def t(self, name: str) -> np.ndarray:
        return self.back(self.at(name))

    def width(self, name: str) -> np.ndarray:
        return np.asarray(self.by(name), np.float64) / self.world.stretch

    def pure(self, values: Any) -> np.ndarray:
        """Numbers without a unit, as this world rounds them."""
        return np.asarray(self.world.pure(values), np.float64)

    def back(self, y: Any) -> np.ndarray:
        """(y - shift) / stretch."""
        return (np.asarray(y, np.float64) - self.world.shift) / self.world.stretch

    @property
    def zero(self) -> float:
        """Where y = 0 is."""
        return -self.world.shift / self.world.stretch

    @property
    def one(self) -> float:
        """How long a length of 1 in y is."""
        return 1 / self.world.stretch

    @property
    def log_stretch(self) -> float:
        return float(np.log(self.world.stretch))

    @cached_property
    def mu(self) -> Any:
        """Of the log-normal law."""
        return self.world.pure(np.log(LOC) + self.log_stretch)


# ---- forecasts ------------------------------------------------------------------------------------------------------

FORECASTS: dict[str, Callable[[Numbers], Any]] = {
    "point": lambda N: Point(N.at("loc")),
    "interval": lambda N: Interval(N.at("lower"), N.at("upper")),
    "quantiles": lambda N: Quantiles(N.world.pure(LEVELS), N.at("quantiles")),
    "one quantile": lambda N: Quantiles(N.world.pure([0.3]), N.at("loc")[:, None]),
    "samples": lambda N: Samples(N.at("draws")),
    "normal": lambda N: Normal(N.at("loc"), N.by("scale")),
    "logistic": lambda N: Logistic(N.at("loc"), N.by("scale")),
    "laplace": lambda N: Laplace(N.at("loc"), N.by("scale")),
    "student t": lambda N: StudentT(N.world.pure(5.0), N.at("loc"), N.by("scale")),
    "student t, a df a row": lambda N: StudentT(N.world.pure(DATA["df"]), N.at("loc"), N.by("scale")),
    "student t, df near 1": lambda N: StudentT(N.world.pure(NEAR_ONE), N.at("loc"), N.by("scale")),
    "student t, df near 2": lambda N: StudentT(N.world.pure(NEAR_TWO), N.at("loc"), N.by("scale")),
    "student t, df = 2.05": lambda N: StudentT(N.world.pure(2.05), N.at("loc"), N.by("scale")),
    "log-normal": lambda N: LogNormal(N.mu, N.world.pure(0.1 * SCALE)),
    "gaussian mixture": lambda N: GaussianMixture(N.world.pure(SPLIT), N.at("means"), N.by("stds")),
    "separated mixture": lambda N: GaussianMixture(N.world.pure(SPLIT), N.at("far means"), N.by("stds")),
    "pool": lambda N: Mixture((Normal(N.at("loc"), N.by("scale")), Laplace(N.at("loc2"), N.by("scale2"))), (0.7, 0.3)),
    "scipy's gamma": lambda N: from_scipy(
        scipy.stats.gamma(N.world.pure(DATA["df"]), loc=N.at("gamma"), scale=N.by("gamma scale"))
    ),
    "two points": lambda N: Ensemble([Point(N.at("loc")), Point(N.at("loc2"))], weights=[2.0, 1.0]),
    "normal and interval": lambda N: Ensemble(
        [Normal(N.at("loc"), N.by("scale")), Interval(N.at("lower2"), N.at("upper2"))]
    ),
    "quantiles, samples and interval": lambda N: Ensemble(
        [FORECASTS["quantiles"](N), FORECASTS["samples"](N), FORECASTS["interval"](N)], weights=[1.0, 0.5, 0.2]
    ),
    "ensemble of ensembles": lambda N: Ensemble([FORECASTS["normal and interval"](N), FORECASTS["quantiles"](N)]),
    "normal and laplace": lambda N: Ensemble(
        [Normal(N.at("loc"), N.by("scale")), Laplace(N.at("loc2"), N.by("scale2"))], weights=[2.0, 1.0]
    ),
}
LAWS = (
    "normal", "logistic", "laplace", "student t", "student t, a df a row", "student t, df near 1",
    "student t, df near 2", "log-normal", "gaussian mixture", "separated mixture", "pool", "scipy's gamma",
)  # fmt: skip


@dataclass(frozen=True)
class Pair:
    """A forecast and a score; to which power the unit of y is in a score, and where the pair makes no sense."""

    forecast: str
    score: Any
    power: float = 0.0
    stretches: bool = True
    shifts: bool = True

    @property
    def logits(self) -> bool:
        return isinstance(self.score.support, Logits)


PAIRS: dict[str, Pair] = {
    "residual": Pair("point", ResidualScore(), power=1.0),
    "relative": Pair("point", RelativeScore()),
    "sqrt": Pair("point", SqrtScore(), power=0.5),
    "sqrt, c = 1": Pair("point", SqrtScore(c=1.0), power=0.5, stretches=False),
    "log": Pair("point", LogScore()),
    "log, c = 1": Pair("point", LogScore(c=1.0), stretches=False),
    "percentage error": Pair("point", PercentageError()),
    "log ratio": Pair("point", LogRatio()),
    "interval": Pair("interval", IntervalScore()),
    "quantile": Pair("quantiles", QuantileScore()),
    "quantile, the paper's": Pair("quantiles", QuantileScore(outer_slope=1.0), stretches=False),
    "one quantile": Pair("one quantile", QuantileScore(), power=1.0),
    "samples": Pair("samples", SamplesScore()),
    **{f"z of {name}": Pair(name, ZScore(), shifts=name != "log-normal") for name in (*LAWS, "student t, df = 2.05")},
    **{f"cdf of {name}": Pair(name, CDFScore(), shifts=name != "log-normal") for name in LAWS},
    "ensemble of points": Pair("two points", EnsembleScore(), power=1.0),
    "ensemble of normal and interval": Pair("normal and interval", EnsembleScore()),
    "ensemble of broken lines": Pair("quantiles, samples and interval", EnsembleScore()),
    "ensemble of ensembles": Pair("ensemble of ensembles", EnsembleScore()),
    "ensemble of cdfs": Pair("normal and laplace", EnsembleScore(CDFScore())),
    "ensemble of z and cdf": Pair("normal and laplace", EnsembleScore([ZScore(), CDFScore()])),
    "signed residual": Pair("point", signed(AbsoluteResidual())),
    "signed cqr": Pair("interval", signed(CQR())),
}
"""Where `stretches` is False, the score has a length of 1 in it, meant for labels of about that size. A log-normal law
has no place to be moved to."""

COMBINATIONS = [
    (pair, name)
    for pair in PAIRS
    for name in INTERPOLATORS
    if not (PAIRS[pair].logits and name in ("linear, bounded", "linear, infinite"))  # the tails are the base's
]

# ---- calibration sets -----------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Rows:
    """Rows of the catalogue to calibrate on, and the name of the label that the last of them gets."""

    index: np.ndarray
    last: str = "y"


SETS: dict[str, Rows] = {
    "n = 1": Rows(np.arange(1)),
    "n = 2": Rows(np.arange(2)),
    "n = 3": Rows(np.arange(3)),
    "n = 20": Rows(np.arange(20)),
    "heavy ties": Rows(np.repeat(np.arange(6), [9, 1, 5, 1, 1, 3])),
    "all tied": Rows(np.zeros(4, dtype=int)),
    "one outlier": Rows(np.arange(20), "y, far above"),
    "one outlier below": Rows(np.arange(20), "y, far below"),
}

# ---- worlds ---------------------------------------------------------------------------------------------------------


def float32(value: Any) -> Any:
    return np.asarray(value, dtype=np.float32)


WORLDS: dict[str, World] = {
    "plain": World(),
    "scale 1e-150": World(stretch=1e-150),
    "scale 1e140": World(stretch=1e140),
    "scale 1e150": World(stretch=1e150),
    "loc 1e12": World(shift=1e12),
    "float32": World(array=float32),
}

# ---- clips: in sigmas of the first predicted row ---------------------------------------------------------------------

CLIPS: dict[str, tuple[float, float] | None] = {
    "as it is": None,
    "clipped inside": (-0.6, 1.1),
    "clipped outside": (-1e3, 1e3),
    "clipped beyond": (2e3, 3e3),
}


@dataclass(frozen=True)
class Case:
    """A combination on ugly data."""

    pair: str
    interpolator: str
    rows: str
    world: str
    clip: str

    def __str__(self) -> str:
        return "; ".join((self.pair, self.interpolator, self.rows, self.world, self.clip))

    @property
    def numbers(self) -> Numbers:
        return Numbers(WORLDS[self.world])

    @property
    def epsilon(self) -> float:
        return float(np.finfo(np.float32 if self.world == "float32" else np.float64).eps)

    @property
    def labels_name(self) -> str:
        return "y, apart" if PAIRS[self.pair].forecast == "separated mixture" else "y"

    def labels(self) -> Any:
        """Of the calibration rows, in this world."""
        N, rows = self.numbers, SETS[self.rows]
        y = np.array(N.at(self.labels_name)[rows.index])
        if rows.last != "y":
            y[-1] = N.at(rows.last)[rows.index[-1]]
        return y

    def bounds(self) -> tuple[float, float] | None:
        """Of the clip, in this world."""
        if CLIPS[self.clip] is None:
            return None
        row = PREDICTED[0]
        low, high = (float(self.numbers.world.at(LOC[row] + s * SCALE[row])) for s in CLIPS[self.clip])
        return low, high

    def law(self) -> tuple[Any, Any]:
        """The calibrator and the laws of the predicted rows."""
        N, pair, rows = self.numbers, PAIRS[self.pair], SETS[self.rows]
        prediction = FORECASTS[pair.forecast](N)
        fitted = Calibrator(pair.score, INTERPOLATORS[self.interpolator]).fit(prediction[rows.index], self.labels())
        H = fitted(prediction[PREDICTED], rng=np.random.default_rng(3))
        bounds = self.bounds()
        return fitted, H if bounds is None else H.clip(*bounds)


def _go_together(case: Case) -> bool:
    pair, world = PAIRS[case.pair], WORLDS[case.world]
    if case.world == "scale 1e140" and pair.power == 0:  # for the scores that 1e150 is too large for
        return False
    return (pair.stretches or world.stretch == 1) and (pair.shifts or world.shift == 0)


def cases() -> Iterator[Case]:
    """All of them, in a fixed order."""
    for pair, interpolator in COMBINATIONS:
        for rows in SETS:
            for world in WORLDS:
                for clip in CLIPS:
                    case = Case(pair, interpolator, rows, world, clip)
                    if _go_together(case):
                        yield case


def sample(count: int, seed: int) -> list[Case]:
    """So many of them, in their order: a function of the seed alone."""
    every = list(cases())
    chosen = np.random.default_rng(seed).choice(len(every), size=count, replace=False)
    return [every[k] for k in np.sort(chosen)]
