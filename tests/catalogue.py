"""Every variant by name: a new one is one line in a table here, and all the distributions run on it.

A case is a function of the `World` it lives in: the array library, the dtype and the unit of y. `H(pair, interpolator,
n)` calibrates the prediction and score of a pair on its first n rows and predicts its last ROWS.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from functools import cache
from itertools import cycle
from typing import Any

import numpy as np
import pytest
import reference.cases as recorded
import scipy.stats
from reference.cases import LEVELS, SPREADS

from calibrant import (
    Calibrator,
    Distribution,
    Ensemble,
    Interval,
    Logistic,
    Mixture,
    Normal,
    Point,
    Quantiles,
    Samples,
    concatenate,
)
from calibrant.distributions import Binomial, Context, NegativeBinomial, Poisson, ZeroInflated, from_scipy
from calibrant.distributions.bent import Truncated
from calibrant.distributions.mixture import GaussianMixture
from calibrant.distributions.rounding import Lattice, SpreadDistribution
from calibrant.distributions.standard_families import Laplace, LogNormal
from calibrant.distributions.student_t import StudentT
from calibrant.interpolators import BoundedTails, Linear, Naive, Random
from calibrant.interpolators.naf import NAF
from calibrant.interpolators.support import Logits

CALIBRATION, ROWS = 200, 5


def float64(value: Any) -> Any:
    return np.asarray(value, dtype=np.float64)


@dataclass(frozen=True)
class World:
    """An array library and a unit: y is `shift + stretch * y` there."""

    array: Callable[[Any], Any] = float64
    stretch: float = 1.0
    shift: float = 0.0

    def at(self, y: Any) -> Any:
        """Places on the line of y."""
        return self.array(self.shift + self.stretch * np.asarray(y, dtype=np.float64))

    def by(self, width: Any) -> Any:
        """Lengths on the line of y."""
        return self.array(self.stretch * np.asarray(width, dtype=np.float64))

    def pure(self, number: Any) -> Any:
        """Numbers without a unit."""
        return self.array(np.asarray(number, dtype=np.float64))


HERE = World()


def _data() -> dict[str, np.ndarray]:
    rng = np.random.default_rng(20)
    count = CALIBRATION + ROWS
    loc = 20 + 3 * rng.standard_normal(count)
    scale = rng.uniform(0.5, 1.5, count)
    return {
        "loc": loc,
        "scale": scale,
        "other_loc": loc + 0.3 * rng.standard_normal(count),
        "other_scale": rng.uniform(0.3, 2.0, count),
        "df": rng.uniform(4, 9, count),
        "weight": rng.uniform(0.2, 0.8, count),
        "draws": loc[:, None] + scale[:, None] * rng.standard_normal((count, 8)),
        "y": loc + scale * rng.standard_t(6, count),
    }


DATA = _data()
LOC, SCALE, LOC2, SCALE2 = (DATA[name] for name in ("loc", "scale", "other_loc", "other_scale"))
Y = DATA["y"]
SPLIT = np.stack([DATA["weight"], 1 - DATA["weight"]], axis=1)
MEANS = np.stack([LOC - SCALE, LOC2 + SCALE], axis=1)
STDS = np.stack([0.6 * SCALE, SCALE2], axis=1)


# ---- predictions ---------------------------------------------------------------------------------------------------

PREDICTIONS: dict[str, Callable[[World], Any]] = {
    "point": lambda w: Point(w.at(LOC)),
    "interval": lambda w: Interval(w.at(LOC - SCALE), w.at(LOC + 1.5 * SCALE)),
    "quantiles": lambda w: Quantiles(w.pure(LEVELS), w.at(LOC[:, None] + SCALE[:, None] * SPREADS)),
    "one quantile": lambda w: Quantiles(w.pure([0.3]), w.at(LOC[:, None])),
    "samples": lambda w: Samples(w.at(DATA["draws"])),
    "normal": lambda w: Normal(w.at(LOC), w.by(SCALE)),
    "logistic": lambda w: Logistic(w.at(LOC), w.by(SCALE)),
    "laplace": lambda w: Laplace(w.at(LOC), w.by(SCALE)),
    "student t": lambda w: StudentT(w.pure(5.0), w.at(LOC), w.by(SCALE)),
    "student t, df by row": lambda w: StudentT(w.pure(DATA["df"]), w.at(LOC), w.by(SCALE)),
    "log-normal": lambda w: LogNormal(w.pure(np.log(LOC) + np.log(w.stretch)), w.pure(0.1 * SCALE)),
    "gaussian mixture": lambda w: GaussianMixture(w.pure(SPLIT), w.at(MEANS), w.by(STDS)),
    "pool": lambda w: Mixture((Normal(w.at(LOC), w.by(SCALE)), Laplace(w.at(LOC2), w.by(SCALE2))), (0.7, 0.3)),
    "scipy's gamma": lambda w: from_scipy(
        scipy.stats.gamma(DATA["df"], loc=w.at(LOC - 5 * SCALE), scale=w.by(SCALE / 2))
    ),
    "two points": lambda w: Ensemble([Point(w.at(LOC)), Point(w.at(LOC2))], weights=[2.0, 1.0]),
    "normal and interval": lambda w: Ensemble(
        [Normal(w.at(LOC), w.by(SCALE)), Interval(w.at(LOC2 - SCALE2), w.at(LOC2 + SCALE2))]
    ),
    "broken lines": lambda w: Ensemble(
        [PREDICTIONS["quantiles"](w), PREDICTIONS["samples"](w), PREDICTIONS["interval"](w)], weights=[1.0, 0.5, 0.2]
    ),
    "ensembles": lambda w: Ensemble([PREDICTIONS["normal and interval"](w), PREDICTIONS["quantiles"](w)]),
    "normal and laplace": lambda w: Ensemble(
        [Normal(w.at(LOC), w.by(SCALE)), Laplace(w.at(LOC2), w.by(SCALE2))], weights=[2.0, 1.0]
    ),
}


# ---- scores --------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Pair:
    """A prediction, by name, and a score; whether H moves and stretches with the unit of y."""

    prediction: str
    score: Any
    shifts: bool
    stretches: bool


MOVED = {"relative", "sqrt", "sqrt, c = 1", "log", "log, c = 1", "percentage error", "log ratio", "cdf of log-normal"}
"""Scores that are other ones where y is moved."""
STRETCHED = {"sqrt, c = 1", "log, c = 1", "quantile, outer slope 1"}
PAIRS = {
    name: Pair(forecast, score, shifts=name not in MOVED, stretches=name not in STRETCHED)
    for name, (_, forecast, score, _) in recorded.PAIRS.items()
    if forecast in PREDICTIONS
}


# ---- interpolators -------------------------------------------------------------------------------------------------

INTERPOLATORS: dict[str, Any] = {**recorded.INTERPOLATORS, "naf, guarded": NAF(promise=lambda n: 0.3)}
LINEAR = tuple(name for name in INTERPOLATORS if name.startswith("linear"))


def has_infinite_mass(pair: str, interpolator: str, n: int = 20) -> bool:
    """Whether some mass of H sits at -inf and +inf."""
    if interpolator == "random":
        return True
    if interpolator == "random, bounded":
        return n == 1
    tailed = interpolator in LINEAR and not isinstance(PAIRS[pair].score.support, Logits)
    return tailed and (interpolator == "linear, infinite" or n == 1)


# ---- combinations --------------------------------------------------------------------------------------------------


def calibrated(pair: str, interpolator: str, n: int = 20, world: World = HERE, y: Any = None) -> Any:
    case = PAIRS[pair]
    prediction = PREDICTIONS[case.prediction](world)
    labels = world.at(Y) if y is None else y
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="there is only one calibration row|all scores are equal")
        return Calibrator(case.score, INTERPOLATORS[interpolator]).fit(prediction[:n], labels[:n])


def predicted(pair: str, interpolator: str, n: int = 20, world: World = HERE, y: Any = None) -> Any:
    prediction = PREDICTIONS[PAIRS[pair].prediction](world)
    return calibrated(pair, interpolator, n, world, y)(prediction[CALIBRATION:], rng=np.random.default_rng(3))


@cache
def H(pair: str, interpolator: str, n: int = 20) -> Any:
    """The calibrated distributions of the last ROWS rows."""
    return predicted(pair, interpolator, n)


def _tails_matter(pair: str, interpolator: str) -> bool:
    """On logits the tails of Linear are those of the base forecast, whichever were asked for."""
    on_line = not isinstance(PAIRS[pair].score.support, Logits)
    return on_line or interpolator not in ("linear, bounded", "linear, infinite")


GUARDED = ("residual", "log ratio", "quantile", "cdf of normal", "cdf of laplace", "ensemble of ensembles")
"""The pairs that the guard is tried with: it is a distribution like any other, only slower."""

COMBINATIONS: dict[str, tuple[str, str]] = {
    f"{pair}; {name}": (pair, name)
    for pair in PAIRS
    for name in INTERPOLATORS
    if _tails_matter(pair, name) and (name != "naf, guarded" or pair in GUARDED)
}

THOROUGH = ("residual", "quantile", "cdf of normal")
"""The pairs that `make test` tries with every interpolator."""


def _quick() -> frozenset[str]:
    """All combinations of a few pairs, and one of each other, whose interpolators take turns."""
    found = [name for name, (pair, _) in COMBINATIONS.items() if pair in THOROUGH]
    turns = cycle(("linear", "naf", "naive", "random, bounded"))
    found += [f"{pair}; {next(turns)}" for pair in PAIRS if pair not in THOROUGH]
    return frozenset([*found, "cdf of gaussian mixture; linear", "ensemble of cdfs; linear"])


QUICK = _quick()


def cases(names: Iterable[str]) -> list[Any]:
    """Parameters of a test: combinations that are not quick are for `make test-all`, all other names for both."""
    return [
        pytest.param(name, marks=[pytest.mark.slow] * (name in COMBINATIONS and name not in QUICK)) for name in names
    ]


# ---- distributions -------------------------------------------------------------------------------------------------


SCORES = np.random.default_rng(5).standard_normal(20)


def _last(name: str) -> Callable[[World], Any]:
    return lambda w: PREDICTIONS[name](w)[CALIBRATION:]


def _q(name: str, *, of_cdf: bool = False) -> Callable[[World], Any]:
    """The single distribution that an interpolator makes of twenty scores."""
    support = {"support": Logits()} if of_cdf else {}
    return lambda w: INTERPOLATORS[name].fit(w.pure(SCORES) if of_cdf else w.at(SCORES), **support)


def _weighted(name: str, *, rows: bool = False) -> Callable[[World], Any]:
    """The same of weighted scores; or its distributions of rows with likelihood ratios."""
    weights, ratios = np.linspace(0.5, 2.0, 20), [0.1, 0.3, 1.0, 2.0, 5.0]

    def distribution(w: World) -> Any:
        q = INTERPOLATORS[name].fit(w.at(SCORES), weights=weights)
        return q.for_rows(Context(ROWS, weights=ratios, rng=np.random.default_rng(1))) if rows else q

    return distribution


def _joined(w: World) -> Any:
    """Rows of different distributions in one batch, one of them a row of another such batch."""
    normal, laplace, student, mixture = (
        _last(name)(w) for name in ("normal", "laplace", "student t", "gaussian mixture")
    )
    inner = concatenate([student[2:3], laplace[1:2]])
    return concatenate([normal[:1], inner[[1, 0]], mixture[3:4], laplace[4:5]])


def _truncated(w, lower, upper):
    distribution = Normal(w.at(LOC[:5]), w.by(SCALE[:5]))
    below, above = distribution.cdf(float(w.at(lower))), distribution.sf(float(w.at(upper)))
    return Truncated(distribution, below, above, 0 * below, 0 * above)


def _joined_and_calibrated(w: World) -> Any:
    """Calibrated rows of two kinds, a clipped row, and rows of forecasts."""
    quantile, residual = (predicted(pair, "linear", world=w) for pair in ("quantile", "residual"))
    normal = _last("normal")(w)
    clipped = normal[2:3].clip(float(w.at(18.0)), float(w.at(25.0)))
    return concatenate([quantile[:1], residual[1:2], clipped, normal[3:4], quantile[4:5]])


RATES = np.array([0.3, 2.0, 7.5, 12.0, 40.0])

LATTICES: dict[str, Callable[[World], Any]] = {
    "poisson": lambda w: Poisson(w.pure(RATES)),
    "negative binomial": lambda w: NegativeBinomial(w.pure(RATES), w.pure(0.7)),
    "binomial": lambda w: Binomial(w.pure(12.0), w.pure([0.1, 0.3, 0.5, 0.7, 0.9])),
    "zero-inflated poisson": lambda w: ZeroInflated(Poisson(w.pure(RATES)), w.pure(0.3)),
    "normals on a lattice": lambda w: Lattice(
        Normal(w.at(LOC[:5]), w.by(3 * SCALE[:5])), step=float(w.by(0.5)), lower=float(w.at(18.0))
    ),
    "normals on the integers": lambda w: Lattice(Normal(w.pure(LOC[:5]), w.pure(3 * SCALE[:5])), lower=None),
    "calibrated, on a lattice": lambda w: Lattice(
        predicted("residual", "linear", world=w), step=float(w.by(0.25)), lower=float(w.at(10.0))
    ),
}
"""Distributions on a lattice; all of their mass is on its points."""


COUNTS = set(LATTICES) - {"normals on a lattice", "calibrated, on a lattice"}
"""Those that count: a count has no other unit."""

DISTRIBUTIONS: dict[str, Callable[[World], Any]] = {
    **LATTICES,
    "a spread poisson": lambda w: SpreadDistribution(Poisson(w.pure(RATES))),
    **{name: _last(name) for name in PREDICTIONS if isinstance(PREDICTIONS[name](HERE), Distribution)},
    "a single normal": lambda w: Normal(w.at(1.0), w.by(2.0)),
    "a single log-normal": lambda w: LogNormal(w.pure(0.5 + np.log(w.stretch)), w.pure(0.4)),
    "a row of normals": lambda w: Normal(w.at(LOC[:3]), w.by(SCALE[:3]))[1],
    "a row of gaussian mixtures": lambda w: PREDICTIONS["gaussian mixture"](w)[1],
    "clipped normal": lambda w: Normal(w.at(LOC[:5]), w.by(SCALE[:5])).clip(float(w.at(18.0)), float(w.at(21.0))),
    "truncated normal": lambda w: _truncated(w, 18.0, math.inf),
    "normal truncated on both sides": lambda w: _truncated(w, 15.0, 24.0),
    "joined": _joined,
    "joined, calibrated and clipped": _joined_and_calibrated,
    **{f"q of {name}": _q(name) for name in INTERPOLATORS},
    **{f"weighted q of {name}": _weighted(name) for name in ("linear", "random, bounded")},
    **{f"rows of a weighted {name}": _weighted(name, rows=True) for name in ("linear", "random, bounded")},
    "q of linear on logits": _q("linear", of_cdf=True),
    "q of naf on logits": _q("naf", of_cdf=True),
}

NUMPY_ONLY = {"scipy's gamma", "cdf of scipy's gamma"}
SHIFTLESS = {"log-normal", "a single log-normal"}
UNITLESS = {"q of linear on logits", "q of naf on logits", "a spread poisson"} | COUNTS


# ---- what is ugly --------------------------------------------------------------------------------------------------

OUTLIER = np.r_[SCORES[:-1], 1e6]
TIES = np.r_[np.zeros(10), SCORES[:10]]


def _of(scores: Any, interpolator: Any) -> Callable[[World], Any]:
    """Two rows of points whose residuals are these scores."""
    model = Calibrator(None, interpolator)
    return lambda w: model.fit(Point(w.by(0 * scores)), w.by(scores))(
        Point(w.at([1.0, 20.0])), rng=np.random.default_rng(3)
    )


UGLY: dict[str, Callable[[World], Any]] = {
    "an outlier, linear": _of(OUTLIER, Linear()),
    "an outlier, naive": _of(OUTLIER, Naive()),
    "an outlier, naf": _of(OUTLIER, NAF()),
    "half the labels zero, linear": _of(TIES, Linear()),
    "half the labels zero, naive": _of(TIES, Naive()),
    "half the labels zero, random": _of(TIES, Random(BoundedTails())),
    "half the labels zero, naf": _of(TIES, NAF()),
    "student t, df = 1": lambda w: StudentT(w.pure(1.0), w.at(LOC[:3]), w.by(SCALE[:3])),
    "folds of different scale": lambda w: Mixture(
        (Normal(w.at(LOC[:2]), w.by(SCALE[:2])), Normal(w.at(LOC[:2]), w.by(1e-4 * SCALE[:2]))), (0.6, 0.4)
    ),
}
"""Distributions as they come from ugly data: they have a mean, a variance or a density only as far as they can."""
