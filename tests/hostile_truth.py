"""What is true of a hostile case: H(t) = q(phi(t)) from the formulas, and its integrals; not a line of the library's.

All in t = (y - shift) / stretch, where nothing over- or underflows and places are differences of about 1. phi is by
numpy and scipy.special, q by its definition (that of NAF, which is learned, by fitting it to these scores: then the
unit of y is what is tried). F and 1 - F are computed apart, so that neither tail cancels. Integrals are Gauss-Legendre
between all points where q(phi(t)) bends, in pieces that are halved until both halves agree with the whole; beyond
t = 1e150 a tail is a power of t.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from catalogue import DATA, INTERPOLATORS, LEVELS, SCALE, SPLIT
from hostile import NEAR_ONE, NEAR_TWO, PAIRS, PREDICTED, SETS, Case, Numbers
from scipy import special
from scipy.special import log_expit

Array = np.ndarray
Phi = Callable[[Array, Array], Array]
"""Scores of t in rows r, elementwise."""


# ---- phi: a function of the numbers, then of rows and places --------------------------------------------------------


def straight(loc: Array, scale: Array | float) -> Phi:
    scale = np.broadcast_to(scale, loc.shape)
    return lambda r, t: (t - loc[r]) / scale[r]


def logarithm(loc: Array, zero: Array | float) -> Phi:
    """log((t - zero) / (loc - zero)), without the cancellation far from zero."""

    def phi(r: Array, t: Array) -> Array:
        ratio = (t - loc[r]) / (loc[r] - zero)
        return np.where(ratio > -1, np.log1p(np.maximum(ratio, -1.0)), -np.inf)

    return phi


def broken_line(values: Array, levels: Array, outer: float | None = None) -> Phi:
    """Straight through (values, levels), and on outside with the mean slope."""
    slopes = np.diff(levels) / np.diff(values, axis=1)
    mean = (levels[-1] - levels[0]) / (values[:, -1] - values[:, 0]) if outer is None else np.full(len(values), outer)

    def phi(r: Array, t: Array) -> Array:
        piece = np.clip(np.sum(values[r] <= t[..., None], axis=-1) - 1, 0, len(levels) - 2)
        inside = levels[piece] + slopes[r, piece] * (t - values[r, piece])
        low, high = values[r, 0], values[r, -1]
        below, above = levels[0] - mean[r] * (low - t), levels[-1] + mean[r] * (t - high)
        return np.where(t < low, below, np.where(t > high, above, inside))

    return phi


LogTails = tuple[Callable[[Array, Array], Array], Callable[[Array, Array], Array]]
"""log F and log(1 - F)."""


def standard(loc: Array, scale: Array, log_cdf: Callable[..., Array], *shape: Array) -> LogTails:
    """Of a symmetric law, moved and stretched."""

    def z(r: Array, t: Array) -> Array:
        return (t - loc[r]) / scale[r]

    def at(r: Array) -> tuple[Array, ...]:
        return tuple(each[r] for each in shape)

    return lambda r, t: log_cdf(z(r, t), *at(r)), lambda r, t: log_cdf(-z(r, t), *at(r))


def log_laplace(z: Array) -> Array:
    low = np.minimum(z, 0.0)
    return np.where(z < 0, low - math.log(2), np.log1p(-np.exp(-np.abs(z)) / 2))


def log_student(z: Array, df: Array) -> Array:
    """By the leading term far out, where the CDF itself is 0 in floats."""
    far = z < -1e30
    direct = np.log(np.maximum(special.stdtr(df, np.where(far, -1.0, z)), 1e-320))
    density = special.gammaln((df + 1) / 2) - special.gammaln(df / 2) - 0.5 * np.log(df * np.pi)
    power = density + (df + 1) / 2 * np.log(df) - np.log(df) - df * np.log(np.where(far, -z, 1.0))
    return np.where(far, power, direct)


def mixed(laws: list[LogTails], weights: Any) -> LogTails:
    """Weights (rows,) each, or numbers."""

    def log_of(side: int) -> Callable[[Array, Array], Array]:
        def log_tail(r: Array, t: Array) -> Array:
            parts = [
                np.log(np.broadcast_to(w, (len(SCALE),))[r]) + law[side](r, t)
                for w, law in zip(weights, laws, strict=True)
            ]
            return np.logaddexp.reduce(parts)

        return log_tail

    return log_of(0), log_of(1)


def logit(law: LogTails) -> Phi:
    return lambda r, t: law[0](r, t) - law[1](r, t)


def tails_of(name: str, N: Numbers) -> LogTails:
    """log F and log(1 - F) of a forecast."""
    loc, scale = N.t("loc"), N.width("scale")
    if name in ("normal", "logistic", "laplace"):
        return standard(loc, scale, {"normal": special.log_ndtr, "logistic": log_expit, "laplace": log_laplace}[name])
    if name.startswith("student t"):
        return standard(loc, scale, log_student, N.pure(DEGREES[name]))
    if name == "log-normal":
        mu, sigma = np.asarray(N.mu, np.float64) - N.log_stretch, N.pure(0.1 * SCALE)

        def z(r: Array, t: Array) -> Array:
            return (np.log(np.maximum(t, 0.0)) - mu[r]) / sigma[r]

        return lambda r, t: special.log_ndtr(z(r, t)), lambda r, t: special.log_ndtr(-z(r, t))
    if name in ("gaussian mixture", "separated mixture"):
        means, stds = N.t("means" if name == "gaussian mixture" else "far means"), N.width("stds")
        split = N.pure(SPLIT)
        split = split / split.sum(axis=1, keepdims=True)
        laws = [standard(means[:, k], stds[:, k], special.log_ndtr) for k in (0, 1)]
        return mixed(laws, [split[:, 0], split[:, 1]])
    if name in ("pool", "cdfs"):
        weights = (0.7, 0.3) if name == "pool" else (2 / 3, 1 / 3)
        laws = [
            standard(loc, scale, special.log_ndtr),
            standard(N.t("loc2"), N.width("scale2"), log_laplace),
        ]
        return mixed(laws, weights)
    if name == "scipy's gamma":
        df, start, unit = N.pure(DATA["df"]), N.t("gamma"), N.width("gamma scale")

        def x(r: Array, t: Array) -> Array:
            return np.maximum((t - start[r]) / unit[r], 0.0)

        return (
            lambda r, t: np.log(special.gammainc(df[r], x(r, t))),
            lambda r, t: np.log(special.gammaincc(df[r], x(r, t))),
        )
    raise KeyError(name)


DEGREES: dict[str, Any] = {
    "student t": np.full(len(SCALE), 5.0),
    "student t, a df a row": DATA["df"],
    "student t, df near 1": NEAR_ONE,
    "student t, df near 2": NEAR_TWO,
    "student t, df = 2.05": np.full(len(SCALE), 2.05),
}


def mean_std(name: str, N: Numbers) -> tuple[Array, Array]:
    """Of a forecast."""
    loc, scale = N.t("loc"), N.width("scale")
    if name in ("normal", "logistic", "laplace"):
        return loc, scale * {"normal": 1.0, "logistic": math.pi / math.sqrt(3), "laplace": math.sqrt(2)}[name]
    if name.startswith("student t"):
        df = N.pure(DEGREES[name])
        with np.errstate(all="ignore"):
            return loc, scale * np.where(df > 2, np.sqrt(df / (df - 2)), np.inf)
    if name == "log-normal":
        mu, sigma = np.asarray(N.mu, np.float64) - N.log_stretch, N.pure(0.1 * SCALE)
        mean = np.exp(mu + sigma**2 / 2)
        return mean, mean * np.sqrt(np.expm1(sigma**2))
    if name in ("gaussian mixture", "separated mixture"):
        split = N.pure(SPLIT)
        split = split / split.sum(axis=1, keepdims=True)
        means, stds = N.t("means" if name == "gaussian mixture" else "far means"), N.width("stds")
    elif name == "pool":
        split = np.array([[0.7, 0.3]])
        means = np.stack([loc, N.t("loc2")], axis=1)
        stds = np.stack([scale, math.sqrt(2) * N.width("scale2")], axis=1)
    else:
        df, unit = N.pure(DATA["df"]), N.width("gamma scale")
        return N.t("gamma") + df * unit, np.sqrt(df) * unit
    mean = np.sum(split * means, axis=1)
    return mean, np.sqrt(np.sum(split * (stds**2 + (means - mean[:, None]) ** 2), axis=1))


def signed(side: Phi, a: Phi, case: Case) -> Phi:
    """Theorem 2's construction, in units of the median size of a."""
    index = SETS[case.rows].index
    sizes = np.abs(a(index, case.numbers.back(case.labels())))
    sizes = np.sort(sizes[sizes > 0])
    unit = sizes[len(sizes) // 2] if len(sizes) else 1.0

    def phi(r: Array, t: Array) -> Array:
        v = a(r, t) / unit
        size = np.where(v > 0, v + np.hypot(v, 1), 1 / (np.hypot(v, 1) - v))
        return np.where(side(r, t) >= 0, 1.0, -1.0) * size

    return phi


def phi_of(case: Case) -> Phi:
    """By its formula."""
    N = case.numbers
    loc, scale, loc2, scale2 = N.t("loc"), N.width("scale"), N.t("loc2"), N.width("scale2")
    size = np.abs(loc - N.zero)
    lower, upper, lower2, upper2 = (N.t(name) for name in ("lower", "upper", "lower2", "upper2"))
    levels, eighths = N.pure(LEVELS), (np.arange(8) + 0.5) / 8
    kind, _, name = case.pair.partition(" of ")
    if kind == "cdf":
        return straight(loc, scale) if name == "logistic" else logit(tails_of(name, N))
    if kind == "z":
        return straight(*mean_std(name, N))

    def summed(*parts: tuple[float, Phi]) -> Phi:
        return lambda r, t: sum(weight * phi(r, t) for weight, phi in parts)

    interval, quantile = straight(lower, upper - lower), broken_line(N.t("quantiles"), levels)
    samples = broken_line(N.t("draws"), eighths)
    normal_and_interval = summed((1.0, straight(loc, scale)), (1.0, straight(lower2, upper2 - lower2)))
    laplace = standard(loc2, scale2, log_laplace)
    residual = straight(loc, 1.0)
    table: dict[str, Callable[[], Phi]] = {
        "residual": lambda: residual,
        "one quantile": lambda: residual,
        "relative": lambda: straight(loc, size),
        "percentage error": lambda: straight(loc, size),
        "sqrt": lambda: straight(loc, np.sqrt(size)),
        "sqrt, c = 1": lambda: straight(loc, np.sqrt(size + N.one)),
        "log": lambda: logarithm(loc, N.zero),
        "log ratio": lambda: logarithm(loc, N.zero),
        "log, c = 1": lambda: logarithm(loc, N.zero - N.one),
        "interval": lambda: interval,
        "quantile": lambda: quantile,
        "quantile, the paper's": lambda: broken_line(N.t("quantiles"), levels, N.world.stretch),
        "samples": lambda: samples,
        "ensemble of points": lambda: summed((2.0, residual), (1.0, straight(loc2, 1.0))),
        "ensemble of normal and interval": lambda: normal_and_interval,
        "ensemble of broken lines": lambda: summed((1.0, quantile), (0.5, samples), (0.2, interval)),
        "ensemble of ensembles": lambda: summed((1.0, normal_and_interval), (1.0, quantile)),
        "ensemble of cdfs": lambda: logit(tails_of("cdfs", N)),
        "ensemble of z and cdf": lambda: summed(
            (2.0, straight(loc, scale)), (1.0, lambda r, t: np.exp(laplace[0](r, t)))
        ),
        "signed residual": lambda: signed(residual, lambda r, t: np.abs(t - loc[r]), case),
        "signed cqr": lambda: signed(
            lambda r, t: t - (lower[r] + upper[r]) / 2, lambda r, t: np.maximum(lower[r] - t, t - upper[r]), case
        ),
    }
    return table[case.pair]()


def bends_of(case: Case) -> Array:
    """Where phi itself bends, (rows, k)."""
    N = case.numbers
    names = ("loc", "loc2", "lower", "upper", "lower2", "upper2", "gamma")
    columns = [N.t(name)[PREDICTED][:, None] for name in names]
    columns += [N.t(name)[PREDICTED] for name in ("quantiles", "draws", "means")]
    if "separated" in case.pair:
        far, width = N.t("far means")[PREDICTED], N.width("stds")[PREDICTED]
        columns += [far + k * width for k in (-8, -4, -2, -1, 0, 1, 2, 4, 8)]
    if case.pair.startswith("log") or case.pair.endswith("log-normal"):
        zero = N.zero - (N.one if case.pair == "log, c = 1" else 0.0)
        columns.append(np.full((len(PREDICTED), 1), zero))
    lower, upper = N.t("lower"), N.t("upper")
    columns.append((lower + upper)[PREDICTED][:, None] / 2)
    return np.concatenate(columns, axis=1)


# ---- q, by its definition: F and 1 - F at scores s in rows r ---------------------------------------------------------


@dataclass(frozen=True)
class Law:
    """F and 1 - F of a score, and the points where they bend; row k of the predicted ones has the uniform U[k]."""

    F: Phi
    S: Phi
    knots: Array


def naive(u: Array) -> Law:
    n = len(u)

    def count(s: Array) -> Array:
        return np.searchsorted(u, s, side="right")

    return Law(lambda r, s: count(s) / n, lambda r, s: (n - count(s)) / n, u)


def random(u: Array, *, bounded: bool) -> Law:
    n, U = len(u), np.random.default_rng(3).random(len(PREDICTED))
    low, high = -np.inf, np.inf
    if bounded and u[0] < u[-1]:
        gap = (u[-1] - u[0]) / (n - 1)
        low, high = u[0] - gap, u[-1] + gap

    def share(r: Array, s: Array, sign: int) -> Array:
        below = np.searchsorted(u, s, side="right")
        share = (below + U[r]) / (n + 1) if sign > 0 else (n - below + 1 - U[r]) / (n + 1)
        inside = (s >= low) & (s < high)
        return np.where(inside, share, (s >= high) if sign > 0 else (s < low))

    knots = np.concatenate([[low], u, [high]]) if np.isfinite(low) else u
    return Law(lambda r, s: share(r, s, 1), lambda r, s: share(r, s, -1), knots)


def linear(u: Array, tails: str) -> Law:
    """Straight through (u_(i), i / (n + 1)); 1 - F is the same law of the mirrored scores."""
    n = len(u)
    k = min(math.ceil(math.sqrt(n)), n - 1)
    flat = u[0] == u[-1]
    gap = (u[-1] - u[0]) / max(n - 1, 1)

    def half(u: Array, s: Array) -> Array:
        s = np.asarray(s, np.float64)
        j = np.clip(np.searchsorted(u, s, side="right"), 1, max(n - 1, 1))
        a, b = u[j - 1], u[np.minimum(j, n - 1)]
        share = np.where(b > a, (s - a) / np.where(b > a, b - a, 1.0), 1.0)
        F = (j + np.clip(share, 0.0, 1.0)) / (n + 1) if n > 1 else np.full_like(s, 0.5)
        below, above = np.maximum(u[0] - s, 0.0), np.maximum(s - u[-1], 0.0)
        if flat or tails == "linear, infinite":
            low, high = np.ones_like(s), np.ones_like(s)
        elif tails == "linear":
            left = np.mean(u[k] - u[:k]) or np.std(u)
            right = np.mean(u[n - k :] - u[n - k - 1]) or np.std(u)
            low, high = np.exp(-below / left), np.exp(-above / right)
        else:
            low, high = np.maximum(1 - below / gap, 0.0), np.maximum(1 - above / gap, 0.0)
        F = np.where(s < u[0], low / (n + 1), F)
        return np.where(s >= u[-1], 1 - high / (n + 1), F)

    mirrored = -u[::-1]
    knots = u if tails != "linear, bounded" or flat else np.concatenate([[u[0] - gap], u, [u[-1] + gap]])
    return Law(lambda r, s: half(u, s), lambda r, s: half(mirrored, -np.asarray(s)), knots)


def linear_on_logits(u: Array) -> Law:
    """Straight in expit(s) through (0, 0), (expit(u_(i)), i / (n + 1)) and (1, 1)."""
    n = len(u)

    def half(u: Array, s: Array) -> Array:
        j = np.searchsorted(u, s, side="right")
        a, b = np.concatenate([[-np.inf], u])[j], np.concatenate([u, [np.inf]])[j]
        # expit(s) - expit(a) = expit(s) expit(-a) (1 - exp(a - s))
        top = -np.expm1(np.where(a == s, 0.0, a - s))
        share = np.exp(log_expit(s) - log_expit(b)) * top / -np.expm1(a - b)
        return (j + np.where(s == a, 0.0, share)) / (n + 1)

    mirrored = -u[::-1]
    return Law(lambda r, s: half(u, s), lambda r, s: half(mirrored, -s), u)


def law_of(case: Case, u: Array) -> Law:
    name, logits = case.interpolator, PAIRS[case.pair].logits
    if name == "naive":
        return naive(u)
    if name.startswith("random"):
        return random(u, bounded="bounded" in name)
    if name.startswith("naf"):
        from calibrant.interpolators.support import REAL_LINE, Logits

        q = INTERPOLATORS[name].fit(u, support=Logits() if logits else REAL_LINE)
        return Law(lambda r, s: q.cdf(s), lambda r, s: q.sf(s), u)
    return linear_on_logits(u) if logits else linear(u, name)


# ---- H ---------------------------------------------------------------------------------------------------------------

NODES, WEIGHTS = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2
FAR = 1e150
"""Beyond that a tail is a power of t."""
CLOSE = 1e-6
"""How well the power of a tail is known."""
AGREE = 1e-9
"""Halves and wholes, relative to the integral."""


def bisect(below: Callable[[Array], Array], shape: tuple[int, ...]) -> Array:
    """The smallest floats t at which an increasing statement is no longer true, over all floats to +-1e300."""
    low, high = (np.full(shape, _rank(np.float64(end))) for end in (-1e300, 1e300))
    for _ in range(64):
        middle = (low >> 1) + (high >> 1) + (low & high & 1)  # halfway, where the sum would overflow
        true = below(_float(middle))
        low, high = np.where(true, middle, low), np.where(true, high, middle)
    return _float(high)


def _rank(t: np.float64) -> int:
    """The place of a float among all floats."""
    bits = int(np.abs(t).view(np.int64))
    return bits if t >= 0 else -bits


def _float(rank: Array) -> Array:
    return np.where(rank >= 0, 1.0, -1.0) * np.abs(rank).view(np.float64)


def _graded(points: Array) -> Array:
    """With more points in wide gaps, close to both ends of a gap, where a tail that starts there is not yet gone."""
    a, b = points[:-1], points[1:]
    wide = b - a > 1.0
    steps = 3.0 ** np.arange(-2, 316)
    reach = (b - a)[wide, None] / 2
    from_below, from_above = a[wide, None] + steps, b[wide, None] - steps
    return np.unique(np.concatenate([points, from_below[steps < reach], from_above[steps < reach]]))


@dataclass(frozen=True)
class Truth:
    """H of the predicted rows: rows are 0, 1, ... here."""

    case: Case

    @cached_property
    def phi(self) -> Phi:
        return phi_of(self.case)

    @cached_property
    def scores(self) -> Array:
        """Of the calibration rows, in order."""
        with np.errstate(all="ignore"):
            return np.sort(self.phi(SETS[self.case.rows].index, self.case.numbers.back(self.case.labels())))

    @cached_property
    def q(self) -> Law:
        return law_of(self.case, self.scores)

    @cached_property
    def start(self) -> Array | None:
        """Where the score is -inf below, and its inverse of -inf is that place: mass at -inf is there."""
        if self.case.pair not in ("cdf of log-normal", "cdf of scipy's gamma", "log ratio"):
            return None
        N = self.case.numbers
        return N.t("gamma")[PREDICTED] if self.case.pair.endswith("gamma") else np.full(len(PREDICTED), N.zero)

    def F(self, r: Array, t: Array) -> Array:
        """Before any clip."""
        F = self._of(self.q.F, r, t)
        return F if self.start is None else np.where(t < self.start[r], 0.0, F)

    def S(self, r: Array, t: Array) -> Array:
        """1 - F."""
        S = self._of(self.q.S, r, t)
        return S if self.start is None else np.where(t < self.start[r], 1.0, S)

    def _of(self, side: Phi, r: Array, t: Array) -> Array:
        """At finite scores: one that overflowed belongs to a finite label all the same."""
        with np.errstate(all="ignore"):
            return side(r, np.clip(self.phi(PREDICTED[r], t), -1e308, 1e308))

    @cached_property
    def knots(self) -> Array:
        """The t with phi(t) = s for the knots s of q: (rows, k)."""
        rows = np.arange(len(PREDICTED))[:, None] + np.zeros((1, len(self.q.knots)), dtype=int)
        with np.errstate(all="ignore"):
            return bisect(lambda t: self.phi(PREDICTED[rows], t) < self.q.knots, rows.shape)

    @cached_property
    def edges(self) -> Array:
        """(rows, k): all points where H may bend, in order."""
        return np.sort(np.concatenate([self.knots, bends_of(self.case)], axis=1), axis=1)

    # ---- tails: 1 - F is about t^-power from 1e100 on -------------------------------------------------------------

    @cached_property
    def powers(self) -> Array:
        """(rows, 2), of the lower and of the upper tail; 0 where mass is at infinity, inf where the tail is lighter."""
        result = np.full((len(PREDICTED), 2), np.inf)
        for row in range(len(PREDICTED)):
            r = np.array([row, row])
            for side, tail in ((0, self.F(r, np.array([-1e100, -FAR]))), (1, self.S(r, np.array([1e100, FAR])))):
                if tail[1] > 0:
                    result[row, side] = max(-np.log(tail[1] / tail[0]) / np.log(FAR / 1e100), 0.0)
                    if tail[1] == tail[0]:
                        result[row, side] = 0.0
        return result

    # ---- integrals --------------------------------------------------------------------------------------------------

    def integrals(self, row: int, labels: Array, bounds: tuple[float, float] | None) -> tuple[float, float, Array]:
        """Mean, std and the crps of the labels of one row, in t; nan and inf where they are so."""
        with np.errstate(all="ignore"):
            return self._integrals(row, labels, bounds)

    def _integrals(self, row: int, labels: Array, bounds: tuple[float, float] | None) -> tuple[float, float, Array]:
        low, high = (-np.inf, np.inf) if bounds is None else bounds
        edges = self.edges[row]
        edges = edges[np.isfinite(edges)]
        middle = self.knots[row, self.knots.shape[1] // 2]  # any point will do; this one is in the bulk
        centre = float(np.clip(middle, max(low, -FAR), min(high, FAR)))
        inner = np.clip(np.concatenate([edges, labels, [centre], np.array([low, high])]), low, high)
        inner = points = _graded(np.unique(inner[np.abs(inner) < FAR]))
        if low == -np.inf:
            points = np.concatenate([self._outwards(row, 0, inner[0])[::-1], points])
        if high == np.inf:
            points = np.concatenate([points, self._outwards(row, 1, inner[-1])])
        points = np.unique(points[np.abs(points) <= FAR])
        first, second, crps = self._within(row, points, centre, labels, (low, high))
        crps = crps + np.maximum(labels - high, 0) + np.maximum(low - labels, 0) if bounds is not None else crps
        for side, end in ((0, low), (1, high)):
            if np.isfinite(end):
                continue
            power, t = self.powers[row, side], -points[0] if side == 0 else points[-1]
            if power == np.inf:
                continue
            at = (self.F if side == 0 else self.S)(np.array([row]), np.array([-t if side == 0 else t]))[0]
            sign = -1 if side == 0 else 1
            with np.errstate(all="ignore"):
                first[side] += sign * (at * t / (power - 1) if power > 1 + CLOSE else np.inf)
                second += 2 * at * t * t / (power - 2) if power > 2 + CLOSE else np.inf
                crps = crps + (at * at * t / (2 * power - 1) if power > 0.5 + CLOSE else np.inf)
        if np.isinf(first).all():
            return np.nan, np.inf, crps
        bias = first[0] + first[1]
        std = np.sqrt(max(second - bias**2, 0.0)) if np.isfinite(bias) else np.inf
        return centre + bias, std, crps

    def _outwards(self, row: int, side: int, end: float) -> Array:
        """Points from the end on, each about three times as far, to FAR or until nothing is left."""
        t = end + (1 if side else -1) * 3.0 ** np.arange(-2, 316)
        if self.powers[row, side] < np.inf:
            return t
        tail = (self.S if side else self.F)(np.full(t.shape, row), t)
        left = np.flatnonzero(tail * np.maximum(t * t, 1.0) > 1e-25)
        return t[: left[-1] + 2] if len(left) else t[:1]

    def _within(self, row: int, points: Array, centre: float, labels: Array, bounds: Any) -> tuple[Any, Any, Array]:
        """Of -F below the centre and S above it, apart; of their first moments; of the squares for every label."""
        a, b = points[:-1], points[1:]
        done = np.zeros(3 + len(labels))
        size = np.zeros_like(done)
        whole = self._rule(row, a, b, centre, labels)
        for _ in range(70):
            middle = a + (b - a) / 2
            left, right = self._rule(row, a, middle, centre, labels), self._rule(row, middle, b, centre, labels)
            halves = left + right
            total = size + np.sum(np.abs(halves), axis=1)
            rough = (
                np.any(np.abs(halves - whole) > AGREE * total[:, None] + 1e-300, axis=0) & (a < middle) & (middle < b)
            )
            done += halves[:, ~rough].sum(axis=1)
            size += np.abs(halves[:, ~rough]).sum(axis=1)
            if not rough.any():
                break
            a, b = np.concatenate([a[rough], middle[rough]]), np.concatenate([middle[rough], b[rough]])
            whole = np.concatenate([left[:, rough], right[:, rough]], axis=1)
        else:
            done += whole.sum(axis=1)
        return done[:2], done[2], done[3:]

    def _rule(self, row: int, a: Array, b: Array, centre: float, labels: Array) -> Array:
        """(3 + labels, pieces)."""
        h = (b - a)[:, None]
        t = a[:, None] + h * NODES
        r = np.full(t.shape, row)
        above = (a >= centre)[:, None]
        tail = np.empty_like(t)
        for side, method in ((~above[:, 0], self.F), (above[:, 0], self.S)):
            if side.any():
                tail[side] = method(r[side], t[side])
        w = h * WEIGHTS
        moved = np.abs(t - centre)
        result = np.empty((3 + len(labels), len(a)))
        once = np.sum(w * tail, axis=1)
        result[0], result[1] = np.where(above[:, 0], 0, -once), np.where(above[:, 0], once, 0)
        result[2] = np.sum(2 * w * moved * tail, axis=1)
        same, other = np.sum(w * tail**2, axis=1), np.sum(w * (1 - tail) ** 2, axis=1)
        for k, label in enumerate(labels):
            result[3 + k] = np.where((a >= label) == above[:, 0], same, other)
        return result
