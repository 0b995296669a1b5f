"""Every case of the reference: a distribution by the public interface, and labels to judge it by.

Only names that a user has are used here, so that the same file runs on the code that made the reference and on any
later one. Data come from numpy's generators with fixed seeds.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import array_api_compat
import numpy as np
import scipy.special
import scipy.stats

from calibrant import (
    NAF,
    Calibrator,
    Censored,
    CrossCalibrated,
    Ensemble,
    GaussianMixture,
    Interval,
    Laplace,
    Linear,
    Logistic,
    LogNormal,
    Mixture,
    Naive,
    Normal,
    Point,
    Quantiles,
    Random,
    Samples,
    StudentT,
    concatenate,
    from_scipy,
)
from calibrant.distributions import Binomial, NegativeBinomial, Poisson, ZeroInflated
from calibrant.interpolators import Apart, BoundedTails, ExponentialTails, InfiniteTails
from calibrant.intervals import CQR, AbsoluteResidual
from calibrant.labels import AtomAt, Real, Transformed
from calibrant.predictions import Rates, WithAtom
from calibrant.scores import (
    CDFScore,
    EnsembleScore,
    IntervalScore,
    LocationScaleScore,
    LogScore,
    MonotoneScore,
    QuantileScore,
    RelativeScore,
    ResidualScore,
    SamplesScore,
    SqrtScore,
    ZScore,
    signed,
)

ROWS = 4
INTEGRALS = ("mean", "std", "crps", "clip mean", "clip std", "clip crps")


@dataclass(frozen=True)
class Case:
    """A distribution of some rows, one label for each, and the class of its tolerance."""

    family: str
    name: str
    kind: str
    build: Callable[[], Any]
    y: np.ndarray
    atoms: tuple[float, ...] = ()
    """Points that may hold mass, where the CDF itself is compared too."""
    clip: tuple[float, float] | None = None
    """None: from the 0.2- to the 0.9-quantile of the reference, about."""
    wrong: tuple[str, ...] = ()
    """What 5808dfa says wrongly: the reference holds the integral of its cdf instead."""
    points: Callable[[], list[np.ndarray]] | None = None
    """Where the old code is wrong and each row is known to be equal masses on points: these points."""

    def __str__(self) -> str:
        return f"{self.family}: {self.name}"

    def H(self) -> Any:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            return self.build()


# ---- data -----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Data:
    """n calibration rows and then ROWS to predict."""

    n: int
    loc: np.ndarray
    scale: np.ndarray
    other_loc: np.ndarray
    other_scale: np.ndarray
    df: np.ndarray
    share: np.ndarray
    draws: np.ndarray
    y: np.ndarray

    @property
    def old(self) -> slice:
        return slice(self.n)

    @property
    def new(self) -> slice:
        return slice(self.n, None)


def data(n: int, seed: int = 1) -> Data:
    rng, count = np.random.default_rng([seed, n]), n + ROWS
    loc, scale = 20 + rng.standard_normal(count), rng.uniform(0.5, 1.5, count)
    return Data(
        n, loc, scale,
        loc + 0.3 * rng.standard_normal(count),
        rng.uniform(0.4, 1.6, count),
        rng.uniform(4, 9, count),
        rng.uniform(0.2, 0.8, count),
        loc[:, None] + scale[:, None] * rng.standard_normal((count, 8)),
        loc + scale * rng.standard_t(6, count),
    )  # fmt: skip


LEVELS = np.array([0.05, 0.25, 0.5, 0.8, 0.95])
SPREADS = np.array([-1.8, -0.6, 0.1, 0.9, 2.0])


def split(d: Data) -> np.ndarray:
    return np.stack([d.share, 1 - d.share], axis=1)


# ---- forecasts ------------------------------------------------------------------------------------------------------

FORECASTS: dict[str, Callable[[Data], Any]] = {
    "point": lambda d: Point(d.loc),
    "interval": lambda d: Interval(d.loc - d.scale, d.loc + 1.5 * d.scale),
    "quantiles": lambda d: Quantiles(LEVELS, d.loc[:, None] + d.scale[:, None] * SPREADS),
    "one quantile": lambda d: Quantiles([0.3], d.loc[:, None]),
    "samples": lambda d: Samples(d.draws),
    "normal": lambda d: Normal(d.loc, d.scale),
    "logistic": lambda d: Logistic(d.loc, d.scale),
    "laplace": lambda d: Laplace(d.loc, d.scale),
    "student t": lambda d: StudentT(5.0, d.loc, d.scale),
    "student t, df by row": lambda d: StudentT(d.df, d.loc, d.scale),
    "log-normal": lambda d: LogNormal(np.log(d.loc), 0.1 * d.scale),
    "gaussian mixture": lambda d: GaussianMixture(
        split(d), np.stack([d.loc - d.scale, d.other_loc + d.scale], 1), np.stack([0.6 * d.scale, d.other_scale], 1)
    ),
    "two modes": lambda d: GaussianMixture(
        split(d), np.stack([d.loc - 6, d.loc + 6], 1), np.stack([0.5 * d.scale, 0.5 * d.other_scale], 1)
    ),
    "pool": lambda d: Mixture((Normal(d.loc, d.scale), Laplace(d.other_loc, d.other_scale)), (0.7, 0.3)),
    "scipy's gamma": lambda d: from_scipy(scipy.stats.gamma(d.df, loc=d.loc - 9 * d.scale, scale=1.5 * d.scale)),
    "two points": lambda d: Ensemble([Point(d.loc), Point(d.other_loc)], weights=[2.0, 1.0]),
    "normal and interval": lambda d: Ensemble(
        [Normal(d.loc, d.scale), Interval(d.other_loc - d.other_scale, d.other_loc + d.other_scale)]
    ),
    "broken lines": lambda d: Ensemble(
        [FORECASTS["quantiles"](d), FORECASTS["samples"](d), FORECASTS["interval"](d)], weights=[1.0, 0.5, 0.2]
    ),
    "ensembles": lambda d: Ensemble([FORECASTS["normal and interval"](d), FORECASTS["quantiles"](d)]),
    "normal and laplace": lambda d: Ensemble(
        [Normal(d.loc, d.scale), Laplace(d.other_loc, d.other_scale)], weights=[2.0, 1.0]
    ),
}

BIMODAL = {"gaussian mixture", "two modes"}


# ---- scores, two of them a user's own --------------------------------------------------------------------------------


class PercentageError(LocationScaleScore):
    def loc_scale(self, prediction):
        return prediction.values, abs(prediction.values)


class LogRatio(MonotoneScore):
    def score(self, prediction, y):
        xp = array_api_compat.array_namespace(y)
        with np.errstate(divide="ignore"):  # log 0 is -inf
            return xp.log(xp.clip(y / prediction.values, 0.0, None))

    def inverse(self, prediction, s):
        return prediction.values * array_api_compat.array_namespace(s).exp(s)

    def log_slope(self, prediction, y):
        return -array_api_compat.array_namespace(y).log(y)


PAIRS: dict[str, tuple[str, str, Any, str]] = {
    # name: family, forecast, score, class
    "residual": ("straight lines", "point", ResidualScore(), "straight"),
    "relative": ("straight lines", "point", RelativeScore(), "straight"),
    "sqrt": ("straight lines", "point", SqrtScore(), "straight"),
    "sqrt, c = 1": ("straight lines", "point", SqrtScore(c=1.0), "straight"),
    "percentage error": ("straight lines", "point", PercentageError(), "straight"),
    "interval": ("straight lines", "interval", IntervalScore(), "straight"),
    "z of normal": ("straight lines", "normal", ZScore(), "straight"),
    "z of student t": ("straight lines", "student t, df by row", ZScore(), "straight"),
    "z of gaussian mixture": ("straight lines", "gaussian mixture", ZScore(), "straight"),
    "quantile": ("broken lines", "quantiles", QuantileScore(), "straight"),
    "quantile, outer slope 1": ("broken lines", "quantiles", QuantileScore(outer_slope=1.0), "straight"),
    "one quantile": ("broken lines", "one quantile", QuantileScore(), "straight"),
    "samples": ("broken lines", "samples", SamplesScore(), "straight"),
    "ensemble of points": ("ensembles", "two points", EnsembleScore(), "straight"),
    "ensemble of normal and interval": ("ensembles", "normal and interval", EnsembleScore(), "straight"),
    "ensemble of broken lines": ("ensembles", "broken lines", EnsembleScore(), "straight"),
    "ensemble of ensembles": ("ensembles", "ensembles", EnsembleScore(), "straight"),
    "ensemble of cdfs": ("ensembles", "normal and laplace", EnsembleScore(CDFScore()), "curved"),
    "ensemble of z and cdf": ("ensembles", "normal and laplace", EnsembleScore([ZScore(), CDFScore()]), "curved"),
    "log": ("logarithms", "point", LogScore(), "curved"),
    "log, c = 1": ("logarithms", "point", LogScore(c=1.0), "curved"),
    "log ratio": ("logarithms", "point", LogRatio(), "curved"),
    "cdf of normal": ("cdf scores", "normal", CDFScore(), "curved"),
    "cdf of logistic": ("cdf scores", "logistic", CDFScore(), "curved"),
    "cdf of laplace": ("cdf scores", "laplace", CDFScore(), "curved"),
    "cdf of student t": ("cdf scores", "student t", CDFScore(), "curved"),
    "cdf of student t, df by row": ("cdf scores", "student t, df by row", CDFScore(), "curved"),
    "cdf of log-normal": ("cdf scores", "log-normal", CDFScore(), "curved"),
    "cdf of scipy's gamma": ("cdf scores", "scipy's gamma", CDFScore(), "curved"),
    "cdf of pool": ("cdf scores of mixtures", "pool", CDFScore(), "curved"),
    "cdf of gaussian mixture": ("cdf scores of mixtures", "gaussian mixture", CDFScore(), "bimodal"),
    "cdf of two modes": ("cdf scores of mixtures", "two modes", CDFScore(), "bimodal"),
    "signed residual": ("signed scores", "point", signed(AbsoluteResidual()), "curved"),
    "signed cqr": ("signed scores", "interval", signed(CQR()), "curved"),
}

INTERPOLATORS: dict[str, Any] = {
    "linear": Linear(ExponentialTails()),
    "naive": Naive(),
    "random, bounded": Random(BoundedTails()),
    "naf": NAF(),
    "linear, bounded": Linear(BoundedTails()),
    "linear, infinite": Linear(InfiniteTails()),
    "random": Random(),
}
TAILED = ("linear, bounded", "linear, infinite")
"""On the cdf score the tails are those of the forecast."""


def class_of(kind: str, interpolator: str) -> str:
    return "learned" if interpolator == "naf" and kind in ("straight", "curved", "curved twice") else kind


def calibrated(
    forecast: Any, y: np.ndarray, n: int, score: Any = None, interpolator: Any = None, labels: Any = None, **known: Any
) -> Any:
    """Fitted on the first n rows of a forecast, called on the rest; `known` are columns of all rows."""
    model = Calibrator(score, Linear() if interpolator is None else interpolator, labels=labels)
    old = {name: values[:n] for name, values in known.items()}
    new = {name: values[n:] for name, values in known.items()}
    fitted = model.fit(forecast[:n], y[:n], rng=np.random.default_rng(7), **old)
    return fitted(forecast[n:], rng=np.random.default_rng(3), **new)


def combination(pair: str, interpolator: str, d: Data, **more: Any) -> Any:
    _, forecast, score, _ = PAIRS[pair]
    return calibrated(FORECASTS[forecast](d), d.y, d.n, score, INTERPOLATORS[interpolator], **more)


def combinations() -> Iterator[Case]:
    sizes = (20, 60, 200)
    for i, (pair, (family, _, score, kind)) in enumerate(PAIRS.items()):
        for j, interpolator in enumerate(INTERPOLATORS):
            tails_of_forecast = interpolator in TAILED and family.startswith("cdf")
            if tails_of_forecast or (isinstance(score, EnsembleScore) and j > 4):
                continue
            d = data(sizes[(i + j) % 3])
            yield Case(
                family, f"{pair}; {interpolator}; n = {d.n}", class_of(kind, interpolator),
                lambda p=pair, q=interpolator, d=d: combination(p, q, d), d.y[d.new],
            )  # fmt: skip


# ---- distributions as they are ---------------------------------------------------------------------------------------

RATES = np.array([0.3, 2.0, 7.5, 40.0])
SCORES = np.random.default_rng(5).standard_normal(30)


def bases() -> Iterator[Case]:
    d = data(1, seed=2)
    here = d.loc[1:], d.scale[1:]
    kinds = {"pool": "curved", "gaussian mixture": "curved", "two modes": "bimodal", "scipy's gamma": "curved"}
    for name in ("normal", "logistic", "laplace", "student t", "student t, df by row", "log-normal", *kinds):
        yield Case("bases", name, kinds.get(name, "closed"), lambda name=name: FORECASTS[name](d)[1:], d.y[1:])
    counts = {
        "poisson": lambda: Poisson(RATES),
        "negative binomial": lambda: NegativeBinomial(RATES, 0.7),
        "binomial": lambda: Binomial(12.0, [0.1, 0.3, 0.5, 0.9]),
        "zero-inflated poisson": lambda: ZeroInflated(Poisson(RATES), 0.3),
        "scipy's geometric": lambda: from_scipy(scipy.stats.geom([0.3, 0.05, 0.5, 0.2])),
        "mixture of counts": lambda: Mixture((Poisson(RATES), NegativeBinomial(RATES, 0.3)), (0.4, 0.6)),
        "wide counts": lambda: NegativeBinomial([300.0, 3e3, 2e4, 1e5], 0.2),
    }
    for name, build in counts.items():
        y = np.array([250.0, 4e3, 1.5e4, 1.1e5]) if name == "wide counts" else np.array([0.0, 3.0, 5.0, 11.0])
        yield Case("bases", name, "curved", build, y)
    others = {
        "clipped normal": lambda: Normal(*here).clip(19.0, 21.0),
        "normals joined with laplaces": lambda: concatenate([Normal(*here)[:2], Laplace(*here)[1:3]]),
        "mixture of three": lambda: Mixture(
            (Normal(*here), Laplace(here[0] + 1, here[1]), StudentT(6.0, here[0] - 1, here[1])), (0.5, 0.3, 0.2)
        ),
    }
    for name, build in others.items():
        atoms = (19.0, 21.0) if name == "clipped normal" else ()
        yield Case("bases", name, "curved", build, d.y[1:], atoms)
    for name, interpolator in INTERPOLATORS.items():
        if not name.startswith("random"):  # whose q has no rows yet
            yield Case(
                "bases", f"q of {name}", class_of("straight", name),
                lambda interpolator=interpolator: interpolator.fit(SCORES), np.array([-1.1, 0.3, 0.9, 2.2]),
            )  # fmt: skip


# ---- labels ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Kind:
    """Labels of a kind, what predicts them, and how they lie."""

    labels: Any
    y: Callable[[Data], np.ndarray]
    forecasts: dict[str, Callable[[Data], Any]]
    atoms: tuple[float, ...] = ()
    clip: tuple[float, float] | None = None
    kind: str = "curved"
    interpolators: tuple[str, ...] = ("linear", "naive", "naf", "random, bounded")


def small(d: Data) -> np.ndarray:
    """From about -2 to 4."""
    return d.loc - 19


def positive(d: Data) -> np.ndarray:
    """About 1."""
    return np.exp(0.5 * (d.loc - 20))


def share_of_one(d: Data) -> np.ndarray:
    return 1 / (1 + np.exp(-(d.loc - 20)))


def rate(d: Data) -> np.ndarray:
    return 6 * positive(d)


def noise(d: Data) -> np.ndarray:
    return (d.y - d.loc) / d.scale


def drawn_counts(mean: np.ndarray, seed: int = 4) -> np.ndarray:
    return np.random.default_rng(seed).poisson(mean).astype(float)


def spread_out(centre: Callable[[Data], np.ndarray], size: float) -> dict[str, Callable[[Data], Any]]:
    """Forecasts of labels whose centre and rough size are known."""
    return {
        "point": lambda d: Point(centre(d)),
        "quantiles": lambda d: Quantiles(
            LEVELS, np.maximum(centre(d)[:, None] + size * d.scale[:, None] * SPREADS * 0.5, 0.01 * (1 + np.arange(5)))
        ),
        "normal": lambda d: Normal(centre(d), size * d.scale),
    }


LABELS: dict[str, Kind] = {
    "0:": Kind(
        "0:", lambda d: np.maximum(small(d) + noise(d), 0), spread_out(small, 1.0), (0.0,), kind="straight",
        interpolators=tuple(INTERPOLATORS),
    ),
    "0:1": Kind(
        "0:1", lambda d: np.clip(share_of_one(d) + 0.3 * noise(d), 0, 1), spread_out(share_of_one, 0.3), (0.0, 1.0),
        kind="straight",
    ),
    "log": Kind(
        "log", lambda d: positive(d) * np.exp(0.4 * noise(d)),
        {
            "point": lambda d: Point(positive(d)),
            "quantiles": lambda d: Quantiles(LEVELS, positive(d)[:, None] * np.exp(0.3 * SPREADS)),
            "log-normal": lambda d: LogNormal(np.log(positive(d)), 0.4 * d.scale),
            "normal": lambda d: Normal(2 + positive(d), 0.6 * d.scale),
        },
        interpolators=tuple(INTERPOLATORS),
    ),
    "log1p": Kind("log1p", lambda d: positive(d) * np.exp(0.4 * noise(d)), spread_out(positive, 0.4), (0.0,)),
    "sqrt": Kind("sqrt", lambda d: (positive(d) + 0.2 * noise(d)) ** 2, spread_out(positive, 0.4), (0.0,)),
    "logit": Kind(
        "logit", lambda d: 1 / (1 + np.exp(-(d.loc - 20 + noise(d)))),
        {
            "point": lambda d: Point(share_of_one(d)),
            "normal": lambda d: Normal(0.2 + 0.6 * share_of_one(d), 0.1 * d.scale),
        },
    ),
    "yeo-johnson": Kind(
        "yeo-johnson:0.5", lambda d: small(d) + noise(d),
        {"point": lambda d: Point(small(d)), "normal": lambda d: Normal(small(d), d.scale)},
    ),
    "0:,log1p": Kind(
        "0:,log1p", lambda d: np.maximum(positive(d) + 0.4 * noise(d), 0),
        {name: make for name, make in spread_out(positive, 0.5).items() if name != "normal"}, (0.0,),
    ),
    "counts": Kind(
        "counts", lambda d: drawn_counts(rate(d)),
        {
            "rates": lambda d: Rates(rate(d)),
            "rates, spread": lambda d: Rates(rate(d), 0.3),
            "poisson": lambda d: Poisson(rate(d)),
            **spread_out(rate, 3.0),
        },
        clip=(2.0, 9.0),
        interpolators=("linear", "naive", "naf", "random, bounded", "linear, infinite", "random"),
    ),
    "counts:0.5": Kind(
        "counts:0.5", lambda d: 0.5 * drawn_counts(rate(d)), spread_out(lambda d: rate(d) / 2, 1.5), clip=(1.0, 4.5)
    ),
    "integers": Kind(
        "integers", lambda d: np.floor(3 * (small(d) + noise(d))),
        {"point": lambda d: Point(3 * small(d)), "normal": lambda d: Normal(3 * small(d), 3 * d.scale)},
        clip=(-2.0, 6.0),
    ),
    "atom:0": Kind(
        AtomAt(0), lambda d: np.maximum(small(d) + noise(d), 0),
        {
            "normal": lambda d: Normal(small(d), d.scale),
            "share and point": lambda d: WithAtom(Point(np.maximum(small(d), 0.1)), d.share),
            "share and log-normal": lambda d: WithAtom(LogNormal(np.log(positive(d)), 0.5), d.share),
        },
        (0.0,),
    ),
}  # fmt: skip


def labels() -> Iterator[Case]:
    sizes = (30, 100)
    for i, (name, kind) in enumerate(LABELS.items()):
        for j, (forecast, make) in enumerate(kind.forecasts.items()):
            for k, interpolator in enumerate(kind.interpolators):
                d = data(sizes[(i + j + k) % 2], seed=3)
                y = kind.y(d)

                def build(kind=kind, make=make, q=interpolator, d=d, y=y):
                    return calibrated(make(d), y, d.n, None, INTERPOLATORS[q], kind.labels)

                counts = name.startswith(("counts", "integers"))
                own = "curved twice" if forecast == "normal" and kind.kind == "curved" and not counts else kind.kind
                at_infinity = interpolator in ("linear, infinite", "random")
                yield Case(
                    f"labels: {'counts' if counts else name}",
                    f"{name} of {forecast}; {interpolator}; n = {d.n}", class_of(own, interpolator),
                    build, y[d.new], kind.atoms, (2.0, 60.0) if counts and at_infinity else kind.clip,
                    wrong=INTEGRALS[3:] if counts and at_infinity else (),
                )  # fmt: skip
    by_row = data(60, seed=4)
    top = np.round(by_row.loc + 1.5, 1)
    y = np.minimum(by_row.y, top)
    bounded = Real(upper="capacity")
    for interpolator in ("linear", "naive", "naf"):
        yield Case(
            "labels: 0:", f"upper bounds by row; {interpolator}", class_of("straight", interpolator),
            lambda q=interpolator: calibrated(
                Point(by_row.loc), y, by_row.n, None, INTERPOLATORS[q], bounded, bound=top
            ), y[by_row.new],
        )  # fmt: skip
    cube = Transformed((np.cbrt, lambda t: t**3))
    yield Case(
        "labels: yeo-johnson", "a pair of functions; linear", "curved",
        lambda: calibrated(Point(by_row.loc), by_row.y, by_row.n, labels=cube), by_row.y[by_row.new],
    )  # fmt: skip
    for score, forecast in (("cdf", "laplace"), ("cdf", "gaussian mixture")):
        yield Case(
            "labels: 0:", f"20: of {score} of {forecast}; linear", "bimodal" if forecast in BIMODAL else "curved",
            lambda forecast=forecast: calibrated(
                FORECASTS[forecast](by_row), np.maximum(by_row.y, 20), by_row.n, CDFScore(), labels=Real(20)
            ), np.maximum(by_row.y[by_row.new], 20), (20.0,),
        )  # fmt: skip


# ---- groups, weights, folds, censored labels ------------------------------------------------------------------------


def grouped(d: Data, sizes: tuple[int, ...]) -> np.ndarray:
    """The group of each row: so many in turn, and of the rows to predict one after the other."""
    names = np.array(list("abcdefgh")[: len(sizes)])
    old = np.repeat(names, sizes)
    return np.concatenate([old, names[np.arange(ROWS) % len(names)]])


def atoms_by_group(labels: str, d: Data, by: np.ndarray) -> list[np.ndarray]:
    """t(f) and the residuals t(y_i) - t(f_i) of the row's group, taken back."""
    to, back = {"log": (np.log, np.exp), "logit": (scipy.special.logit, scipy.special.expit)}[labels]
    f, y = to(LABELS[labels].forecasts["point"](d).values), to(LABELS[labels].y(d))
    old = np.arange(len(by)) < d.n
    return [back(f[row] + (y - f)[old & (by == by[row])]) for row in range(d.n, len(by))]


def groups() -> Iterator[Case]:
    sizes = (25, 15, 40)
    d = data(sum(sizes), seed=5)
    by = grouped(d, sizes)
    y = d.loc + (d.y - d.loc) * np.where(by == "b", 3.0, 1.0)
    ways = {"borrowing": Linear(), "apart": Apart(Linear()), "naive": Naive(),
            "random, bounded": Random(BoundedTails()), "naf": NAF()}  # fmt: skip
    for pair in ("residual", "z of normal", "quantile", "cdf of laplace", "cdf of gaussian mixture", "log"):
        _, forecast, score, kind = PAIRS[pair]
        for way, q in ways.items():
            if way == "naf" and pair not in ("residual", "cdf of laplace"):
                continue
            learned = way in ("naf", "borrowing") and kind != "bimodal"
            yield Case(
                "groups", f"{pair}; {way}", "learned" if learned else kind,
                lambda forecast=forecast, score=score, q=q: calibrated(
                    FORECASTS[forecast](d), y, d.n, score, q, by=by
                ), y[d.new],
            )  # fmt: skip
    for name in ("log", "counts", "0:"):
        kind = LABELS[name]
        z = kind.y(d)
        for way, q in ways.items():
            if way in ("naf", "random, bounded"):
                continue
            yield Case(
                "groups", f"labels {name} of points; {way}", "learned" if way == "borrowing" else kind.kind,
                lambda kind=kind, z=z, q=q: calibrated(
                    kind.forecasts["point"](d), z, d.n, None, q, kind.labels, by=by
                ), z[d.new], kind.atoms, kind.clip,
                points=functools.partial(atoms_by_group, name, d, by) if (name, way) == ("log", "naive") else None,
            )  # fmt: skip
    tiny = data(8, seed=5)
    for name in ("log", "logit"):
        kind, fours = LABELS[name], grouped(tiny, (4, 4))
        yield Case(
            "groups", f"labels {name} of points, groups of four; naive", "curved",
            lambda kind=kind, by=fours: calibrated(
                kind.forecasts["point"](tiny), kind.y(tiny), tiny.n, None, Naive(), kind.labels, by=by
            ), kind.y(tiny)[tiny.new], kind.atoms, points=functools.partial(atoms_by_group, name, tiny, fours),
        )  # fmt: skip
    yield Case(
        "groups", "rates of counts; borrowing", "learned",
        lambda: calibrated(Rates(rate(d)), drawn_counts(rate(d)), d.n, labels="counts", by=by),
        drawn_counts(rate(d))[d.new], clip=(2.0, 9.0),
    )  # fmt: skip


def weights() -> Iterator[Case]:
    d = data(50, seed=6)
    w = np.exp(0.8 * np.random.default_rng(6).standard_normal(len(d.y)))
    for pair in ("residual", "z of normal", "quantile", "log", "cdf of normal", "cdf of laplace",
                 "cdf of student t", "cdf of gaussian mixture", "ensemble of broken lines"):  # fmt: skip
        for interpolator in ("linear", "random, bounded", "naive", "naf"):
            if interpolator == "naf" and pair not in ("residual", "cdf of laplace"):
                continue
            kind = {"straight": "curved"}.get(PAIRS[pair][3], PAIRS[pair][3])
            yield Case(
                "weights", f"{pair}; {interpolator}", class_of(kind, interpolator),
                lambda pair=pair, q=interpolator: combination(pair, q, d, weights=w), d.y[d.new],
            )  # fmt: skip
    for name in ("log", "counts", "0:"):
        kind = LABELS[name]
        z = kind.y(d)
        yield Case(
            "weights", f"labels {name} of points; linear", "curved",
            lambda kind=kind, z=z: calibrated(
                kind.forecasts["point"](d), z, d.n, labels=kind.labels, weights=w
            ), z[d.new], kind.atoms, kind.clip,
        )  # fmt: skip


def crossed(
    make: Callable[[Data], Any],
    y: np.ndarray,
    d: Data,
    score: Any,
    q: Any,
    labels: Any = None,
    shifts: Any = (0, 0.3, -0.2),
) -> Any:
    """Three folds; the model of each is off by a little of its own."""
    cuts = np.linspace(0, d.n, len(shifts) + 1).astype(int)
    members, predictions = [], []
    for k, shift in enumerate(shifts):
        moved = make(replaced(d, shift))
        rows = slice(cuts[k], cuts[k + 1])
        fitted = Calibrator(score, q, labels=labels).fit(moved[rows], y[rows], rng=np.random.default_rng(k))
        members.append(fitted)
        predictions.append(moved[d.new])
    return CrossCalibrated(tuple(members))(predictions, rng=np.random.default_rng(3))


def replaced(d: Data, shift: float) -> Data:
    return Data(d.n, d.loc + shift, d.scale * (1 + abs(shift)), d.other_loc + shift, d.other_scale, d.df, d.share,
                d.draws + shift, d.y)  # fmt: skip


def folds() -> Iterator[Case]:
    d = data(60, seed=7)
    for pair in ("residual", "z of normal", "quantile", "samples", "log", "cdf of normal", "cdf of laplace",
                 "cdf of student t", "cdf of gaussian mixture", "ensemble of normal and interval"):  # fmt: skip
        _, forecast, score, kind = PAIRS[pair]
        for interpolator in ("linear", "naive", "naf"):
            if interpolator == "naf" and pair not in ("residual", "quantile", "cdf of laplace"):
                continue
            yield Case(
                "folds", f"{pair}; {interpolator}",
                class_of("bimodal" if kind == "bimodal" else "curved", interpolator),
                lambda forecast=forecast, score=score, q=INTERPOLATORS[interpolator]: crossed(
                    FORECASTS[forecast], d.y, d, score, q
                ), d.y[d.new],
            )  # fmt: skip
    for name, forecast in (
        ("log", "point"),
        ("counts", "point"),
        ("counts", "rates"),
        ("0:", "point"),
        ("0:", "normal"),
    ):
        kind = LABELS[name]
        z = kind.y(d)
        yield Case(
            "folds", f"labels {name} of {forecast}; linear", "curved",
            lambda kind=kind, forecast=forecast, z=z: crossed(
                kind.forecasts[forecast], z, d, None, Linear(), kind.labels
            ), z[d.new], kind.atoms, kind.clip,
        )  # fmt: skip


def censored() -> Iterator[Case]:
    d = data(80, seed=8)
    rng = np.random.default_rng(8)
    event = rng.random(d.n) < 0.7
    for pair in ("residual", "z of normal", "cdf of laplace", "quantile"):
        _, forecast, score, _ = PAIRS[pair]

        def build(forecast=forecast, score=score):
            base = FORECASTS[forecast](d)
            seen = event.copy()
            seen[np.argsort(d.y[d.old])[-3:]] = True  # the largest labels were seen: nothing is refused
            return Calibrator(score).fit(base[d.old], Censored(d.y[d.old], seen))(base[d.new])

        yield Case("censored", pair, "curved", build, d.y[d.new])


# ---- what is ugly, mildly -------------------------------------------------------------------------------------------


def tied(values: np.ndarray) -> np.ndarray:
    return np.round(values * 2) / 2


LINEAR_NAIVE_NAF = ("linear", "naive", "naf")
SETS: dict[str, Callable[[], tuple[Data, np.ndarray]]] = {}


def _set(name: str, change: Callable[[Data, np.ndarray], np.ndarray] = lambda d, y: y, n: int = 40) -> None:
    def made() -> tuple[Data, np.ndarray]:
        d = data(n, seed=9)
        return d, change(d, d.y.copy())

    SETS[name] = made


def _with_last(far: float) -> Callable[[Data, np.ndarray], np.ndarray]:
    def change(d: Data, y: np.ndarray) -> np.ndarray:
        y[d.n - 1] = d.loc[d.n - 1] + far * d.scale[d.n - 1]
        return y

    return change


def _heavy(df: float) -> Callable[[Data, np.ndarray], np.ndarray]:
    return lambda d, y: d.loc + d.scale * np.random.default_rng(10).standard_t(df, len(y))


def _tied(d: Data, y: np.ndarray) -> np.ndarray:
    y[d.old] = d.loc[d.old] + d.scale[d.old] * tied(noise(d)[d.old])
    return y


def _half_exact(d: Data, y: np.ndarray) -> np.ndarray:
    y[: d.n // 2] = d.loc[: d.n // 2]
    return y


for name, far in (("an outlier", 1e6), ("an outlier below", -1e6)):
    _set(name, _with_last(far))
for size in (1, 2, 3):
    _set(f"n = {size}", n=size)
_set("heavy ties", _tied)
_set("half the residuals zero", _half_exact)
_set("all residuals zero", lambda d, y: d.loc.copy(), n=10)
for df in (1.5, 2.0, 3.0):
    _set(f"noise of student t, df = {df:g}", _heavy(df), n=100)

HOSTILE = {  # pair: the sets it is tried on
    "residual": tuple(SETS),
    "z of normal": ("an outlier", "n = 1", "n = 2", "n = 3", "noise of student t, df = 1.5"),
    "quantile": (
        "an outlier",
        "an outlier below",
        "n = 1",
        "n = 2",
        "n = 3",
        "heavy ties",
        "noise of student t, df = 1.5",
    ),
    "cdf of laplace": (
        "an outlier",
        "n = 1",
        "n = 2",
        "n = 3",
        "half the residuals zero",
        "noise of student t, df = 2",
    ),
    "cdf of student t": ("an outlier", "n = 2", "noise of student t, df = 1.5", "noise of student t, df = 3"),
    "cdf of gaussian mixture": ("an outlier", "n = 1", "n = 3", "noise of student t, df = 3"),
}


def ugly_sets() -> Iterator[Case]:
    for pair, sets in HOSTILE.items():
        _, forecast, score, kind = PAIRS[pair]
        for rows in sets:
            d, y = SETS[rows]()
            for interpolator in LINEAR_NAIVE_NAF:
                few = rows.startswith("n = ") or rows.startswith("all residuals")
                if interpolator == "naf" and (rows, pair) == ("heavy ties", "quantile"):
                    continue  # the last bits of the scores decide which ties the flow sees
                if interpolator == "naf" and (few or pair in ("z of normal", "cdf of student t")):
                    continue
                if interpolator == "naive" and pair in ("z of normal", "cdf of student t"):
                    continue
                far = "noise" in rows or "outlier" in rows
                curved = "heavy" if kind == "curved" and far else kind
                label = y[d.new] if "outlier" not in rows else d.y[d.new]
                yield Case(
                    "ugly: sets", f"{rows}; {pair}; {interpolator}", class_of(curved, interpolator),
                    lambda forecast=forecast, score=score, q=interpolator, d=d, y=y: calibrated(
                        FORECASTS[forecast](d), y, d.n, score, INTERPOLATORS[q]
                    ), label,
                )  # fmt: skip


def repeated(d: Data, index: np.ndarray) -> Data:
    """The calibration rows again and again, and then those to predict."""
    rows = np.concatenate([index, np.arange(d.n, d.n + ROWS)])
    columns = (d.loc, d.scale, d.other_loc, d.other_scale, d.df, d.share, d.draws, d.y)
    return Data(len(index), *(column[rows] for column in columns))


def ugly_rows() -> Iterator[Case]:
    """Duplicated rows, counts of few values, groups of one and two, weights of very different size, folds unalike."""
    few = data(6, seed=11)
    many = repeated(few, np.repeat(np.arange(6), [9, 1, 5, 1, 1, 3]))
    for pair in ("residual", "quantile", "cdf of normal", "cdf of laplace"):
        for interpolator in ("linear", "naive", "random, bounded"):
            yield Case(
                "ugly: rows", f"duplicated rows; {pair}; {interpolator}", PAIRS[pair][3],
                lambda pair=pair, q=interpolator: combination(pair, q, many), many.y[many.new],
            )  # fmt: skip
    d = data(30, seed=12)
    rare = drawn_counts(0.4 * positive(d))
    for forecast, make in {
        "rates": lambda: Rates(0.4 * positive(d)),
        "point": lambda: Point(0.4 * positive(d)),
        "normal": lambda: Normal(0.4 * positive(d), 0.6),
        "negative binomial": lambda: NegativeBinomial(0.4 * positive(d), 0.5),
    }.items():
        for interpolator in ("linear", "naive"):
            yield Case(
                "ugly: rows", f"counts of few values of {forecast}; {interpolator}", "curved",
                lambda make=make, q=interpolator: calibrated(make(), rare, d.n, None, INTERPOLATORS[q], "counts"),
                rare[d.new], clip=(0.0, 2.0),
            )  # fmt: skip
    by = grouped(d, (1, 2, 1, 2, 24))
    for pair in ("residual", "cdf of laplace", "quantile"):
        for way, q in {"borrowing": Linear(), "apart": Apart(Linear()), "naive": Naive()}.items():
            yield Case(
                "ugly: rows", f"groups of one and two; {pair}; {way}",
                "learned" if way == "borrowing" else PAIRS[pair][3],
                lambda pair=pair, q=q: calibrated(
                    FORECASTS[PAIRS[pair][1]](d), d.y, d.n, PAIRS[pair][2], q, by=by
                ), d.y[d.new],
            )  # fmt: skip
    w = 10.0 ** np.random.default_rng(12).uniform(-4, 4, len(d.y))
    for pair in ("residual", "quantile", "cdf of laplace", "cdf of gaussian mixture"):
        kind = "bimodal" if PAIRS[pair][3] == "bimodal" else "curved"
        for interpolator in ("linear", "random, bounded"):
            yield Case(
                "ugly: rows", f"weights from 1e-4 to 1e4; {pair}; {interpolator}", kind,
                lambda pair=pair, q=interpolator: combination(pair, q, d, weights=w), d.y[d.new],
            )  # fmt: skip
    long = data(60, seed=13)
    scales = np.where(np.arange(64) < 20, 1.0, np.where(np.arange(64) < 40, 1e-3, 1e3))
    y = long.loc + scales * (long.y - long.loc)
    for pair in ("residual", "quantile", "cdf of laplace"):
        for interpolator in ("linear", "naive"):
            yield Case(
                "ugly: rows", f"folds of different scale; {pair}; {interpolator}", "bimodal",
                lambda pair=pair, q=interpolator: crossed(
                    FORECASTS[PAIRS[pair][1]], y, long, PAIRS[pair][2], INTERPOLATORS[q]
                ), long.y[long.new],
            )  # fmt: skip
    half = np.maximum(small(long) + noise(long) - 1, 0)
    for labels in ("0:", AtomAt(0)):
        for interpolator in LINEAR_NAIVE_NAF:
            kind = "curved" if isinstance(labels, AtomAt) else "straight"
            yield Case(
                "ugly: rows", f"half the labels zero, as {labels}; {interpolator}", class_of(kind, interpolator),
                lambda labels=labels, q=interpolator: calibrated(
                    Normal(small(long) - 1, 1.0), half, long.n, None, INTERPOLATORS[q], labels
                ), half[long.new], (0.0,),
            )  # fmt: skip


def ugly_bases() -> Iterator[Case]:
    """Modes far apart, heavy tails, and clips of them."""
    d = data(40, seed=14)
    for gap in (20.0, 1e3, 1e5):

        def base(d=d, gap=gap):
            means = np.stack([d.loc - gap, d.loc + gap], 1)
            return GaussianMixture(split(d), means, np.stack([d.scale, 0.5 * d.other_scale], 1))

        side = np.where(np.arange(len(d.y)) % 3 == 0, -gap, gap)
        for name, q in {"linear": Linear(), "naive": Naive()}.items():
            for clip in (None, (0.0, 21.0)):
                if clip is not None and name == "naive":
                    continue
                where = "" if clip is None else ", clipped in the gap"
                yield Case(
                    "ugly: bases", f"cdf of modes {2 * gap:g} apart; {name}{where}", "bimodal",
                    lambda base=base, side=side, q=q: calibrated(base(), d.y + side, d.n, CDFScore(), q),
                    (d.y + side)[d.new], clip=clip,
                )  # fmt: skip
        yield Case(
            "ugly: bases", f"modes {2 * gap:g} apart", "bimodal", lambda base=base: base()[d.new], (d.y + side)[d.new]
        )
        yield Case(
            "ugly: bases", f"mixture of normals {2 * gap:g} apart", "bimodal",
            lambda gap=gap: Mixture((Normal(d.loc[d.new] - gap, 1.0), Normal(d.loc[d.new] + gap, 0.1)), (0.3, 0.7)),
            (d.y + side)[d.new],
        )  # fmt: skip
    for df in (1.5, 2.0, 2.1, 3.0):
        yield Case(
            "ugly: bases", f"student t, df = {df:g}", "heavy",
            lambda df=df: StudentT(df, d.loc[d.new], d.scale[d.new]), d.y[d.new],
        )  # fmt: skip
        for interpolator in ("linear", "naive", "naf"):
            if interpolator == "naf" and df == 2.0:
                continue
            yield Case(
                "ugly: bases", f"cdf of student t, df = {df:g}; {interpolator}", "heavy",
                lambda df=df, q=interpolator: calibrated(
                    StudentT(df, d.loc, d.scale), d.loc + d.scale * np.random.default_rng(14).standard_t(df, 44), d.n,
                    CDFScore(), INTERPOLATORS[q],
                ), d.y[d.new],
            )  # fmt: skip
    for sigma in (1.0, 2.0):
        yield Case(
            "ugly: bases", f"log-normal, sigma = {sigma:g}", "heavy",
            lambda sigma=sigma: LogNormal(0.0 * d.loc[d.new], sigma), np.array([0.5, 1.0, 3.0, 20.0]),
        )  # fmt: skip
        wide = np.exp(sigma * noise(d))
        for interpolator in ("linear", "naive"):
            yield Case(
                "ugly: bases", f"cdf of log-normal, sigma = {sigma:g}; {interpolator}", "heavy",
                lambda sigma=sigma, wide=wide, q=interpolator: calibrated(
                    LogNormal(0.0 * d.loc, sigma), wide, d.n, CDFScore(), INTERPOLATORS[q]
                ), wide[d.new],
            )  # fmt: skip
            yield Case(
                "ugly: bases", f"log labels of a wide set, sigma = {sigma:g}; {interpolator}", "heavy",
                lambda wide=wide, q=interpolator: calibrated(
                    Point(np.ones(len(wide))), wide, d.n, None, INTERPOLATORS[q], "log"
                ), wide[d.new],
            )  # fmt: skip
    atom = np.maximum(small(d) + noise(d), 0)
    for clip in ((0.0, 2.0), (-1.0, 0.0), (0.5, 2.5)):
        yield Case(
            "ugly: bases", f"bounded at 0, clipped to {clip}", "straight",
            lambda: calibrated(Point(small(d)), atom, d.n, labels="0:"), atom[d.new], (0.0,), clip,
        )  # fmt: skip
    for interpolator in ("random", "linear, infinite"):
        for pair in ("residual", "quantile", "z of normal", "log", "ensemble of broken lines"):
            yield Case(
                "ugly: bases", f"mass at infinity, clipped; {pair}; {interpolator}", PAIRS[pair][3],
                lambda pair=pair, q=interpolator: combination(pair, q, d), d.y[d.new], clip=(10.0, 30.0),
            )  # fmt: skip


# ---- float32 --------------------------------------------------------------------------------------------------------


def single(d: Data) -> Data:
    """The same rows in single precision."""
    columns = (d.loc, d.scale, d.other_loc, d.other_scale, d.df, d.share, d.draws, d.y)
    return Data(d.n, *(column.astype(np.float32) for column in columns))


@dataclass(frozen=True)
class Single(Case):
    """A case in single precision; `exact` builds it in double precision from the same single numbers."""

    exact: Callable[[], Any] = field(default=lambda: None)


def doubled(d: Data) -> Data:
    s = single(d)
    columns = (s.loc, s.scale, s.other_loc, s.other_scale, s.df, s.share, s.draws, s.y)
    return Data(d.n, *(column.astype(np.float64) for column in columns))


def singles() -> Iterator[Case]:
    d = data(40, seed=15)
    for pair in ("residual", "z of normal", "interval", "quantile", "samples", "log", "cdf of normal", "cdf of laplace",
                 "cdf of student t", "cdf of gaussian mixture", "ensemble of broken lines"):  # fmt: skip
        for interpolator in ("linear", "naive"):
            straight = PAIRS[pair][3] == "straight"
            if pair in ("quantile", "ensemble of broken lines") or pair.endswith("gaussian mixture"):
                straight = False  # numbers that each precision works out for itself
            yield Single(
                "float32", f"{pair}; {interpolator}", "float32" if straight else "float32, curved",
                lambda pair=pair, q=interpolator: combination(pair, q, single(d)), single(d).y[d.new],
                exact=lambda pair=pair, q=interpolator: combination(pair, q, doubled(d)),
            )  # fmt: skip


OWN_CLASS = {
    "cdf scores: cdf of student t, df by row; naf; n = 200": "heavy",
    "labels: log: log of normal; linear; n = 100": "heavy",
    "labels: log: log of normal; naf; n = 30": "heavy",
    "labels: log: log of log-normal; naf; n = 100": "heavy",
    "labels: counts: integers of point; naf; n = 30": "wide counts",
}
"""Where it is not that of the combination."""


def every() -> list[Case]:
    tables = (
        combinations, bases, labels, groups, weights, folds, censored, ugly_sets, ugly_rows, ugly_bases, singles
    )  # fmt: skip
    cases = [case for table in tables for case in table()]
    return [replace(case, kind=OWN_CLASS.get(str(case), case.kind)) for case in cases]


CASES = every()
