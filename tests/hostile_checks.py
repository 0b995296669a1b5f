"""What a hostile case must keep, against its truth: a list of (kind, error in units of what is allowed, where).

What is allowed follows from the conditioning. A label y, and what was written down of its forecast, is known to
eps |y|, so a place is known to PLACE eps (|t| + |y = 0|): for loc 1e12 and scale 1 that is a thousandth of the scale. A
CDF must lie between the true one a place earlier and a place later, so atoms and knots need no rule of their own.
"""

from __future__ import annotations

import re
import warnings
import zlib
from dataclasses import replace
from functools import lru_cache
from typing import Any, NamedTuple

import numpy as np
from catalogue import LOC, SCALE
from hostile import PAIRS, PREDICTED, WORLDS, Case
from hostile_truth import NODES, WEIGHTS, Truth

PLACE = 32
"""Roundings on the way from y to a score and back."""
LEVEL = 64
"""Roundings of a probability, in eps: a rank, a share, a sum of two."""
QUADRATURE = 1e-6
"""What the library says of its integrals, where they are not in closed form."""
LEARNED = 1e-6
"""NAF is fitted in another unit here, and stops when it no longer gains much."""
UNSETTLED = 0.15
"""A moment of order k may be said to be infinite where 1 - F is t^-p, p this little above k: where a tail of 1e-100 is
left, it has not settled yet."""
SQUARABLE = 1e152
"""A std beyond that may be infinite."""
P = np.array([1e-12, 1e-6, 0.01, 0.1, 0.25, 0.4, 0.5, 0.63, 0.9, 0.99, 1 - 1e-6])
COVERAGE = 0.8
ROW = r"\d+ \((the only such row|\d+ rows in all)\)"


class Finding(NamedTuple):
    kind: str
    error: float
    """In units of what is allowed."""
    where: str


@lru_cache(maxsize=2)
def truth_of(case: Case) -> Truth:
    return Truth(case)


def truth(case: Case) -> Truth:
    """Shared by the clips of a case."""
    return truth_of(replace(case, clip="as it is"))


@lru_cache(maxsize=2)
def _made(case: Case) -> Any:
    return replace(case, clip="as it is").law()


def made(case: Case) -> Any:
    H = _made(replace(case, clip="as it is"))[1]
    bounds = case.bounds()
    return H if bounds is None else H.clip(*bounds)


# ---- what must be refused -------------------------------------------------------------------------------------------


def refusal(case: Case) -> str | None:
    """The sentence that a fit must end with, if it cannot go well."""
    pair, true = PAIRS[case.pair], truth(case)
    if case.pair.startswith("z of student t, df near"):
        return rf"ZScore needs a finite mean and std, which row {ROW} has not: use CDFScore"
    positive = case.pair.startswith("log") or case.pair == "cdf of log-normal"
    if positive and np.min(case.labels()) <= 0:
        return r"needs y > 0|needs y \+ c > 0|is not finite"
    if not np.all(np.isfinite(true.scores)):
        return "the score of .* is not finite"
    if not pair.logits and np.max(np.abs(true.scores)) * WORLDS[case.world].stretch ** pair.power > 1e150:
        return rf"scores is larger than .*, too large to square, in row {ROW}"
    return None


# ---- the checks -----------------------------------------------------------------------------------------------------


class Judge:
    """The checks of one case."""

    def __init__(self, case: Case) -> None:
        self.case, self.true, self.H = case, truth(case), made(case)
        self.N, self.eps = case.numbers, case.epsilon
        # and how it stops depends on the roundings of the scores
        roundings = 1e4 * self.eps + 0.02 * self.eps * abs(self.N.zero)
        self.learned = LEARNED + roundings if case.interpolator.startswith("naf") else 0.0
        # between two modes far apart, logarithms of 5e7 meet
        self.level = LEVEL * self.eps * (16 if "separated" in case.pair else 1) + self.learned
        bounds = case.bounds()
        self.bounds = None if bounds is None else tuple(float(b) for b in self.N.back(bounds))
        self.rows = np.arange(len(PREDICTED))[:, None]
        self.found: list[Finding] = []

    def place(self, t: np.ndarray) -> np.ndarray:
        """How well t is known."""
        log_unit = 1 + abs(self.N.log_stretch) if "log-normal" in self.case.pair else 1.0
        # a z-score of two modes 20,000 sigma apart is in units of that distance
        unit = 2e4 if self.case.pair == "z of separated mixture" else 25.0
        known = PLACE * self.eps * log_unit
        # and the std of a mixture, from means that are rounded, is known to the square of their rounding
        scale = (known * self.N.zero) ** 2 if "mixture" in self.case.pair or "pool" in self.case.pair else 0.0
        return known * (np.abs(t) + abs(self.N.zero) + unit) + scale * np.abs(t)

    def note(self, kind: str, error: Any, where: Any = "") -> None:
        """The largest error, NaN being the worst."""
        error = np.atleast_1d(np.asarray(error, np.float64))
        worst = np.nan_to_num(error, nan=np.inf)
        k = int(np.argmax(worst))
        at = where if isinstance(where, str) else f"at t = {np.ravel(np.broadcast_to(where, error.shape))[k]:.17g}"
        self.found.append(Finding(kind, float(worst.flat[k]), f"{at}, entry {k}"))

    def tails(self, t: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """F and 1 - F of the truth, clip included; (rows, k)."""
        r = np.broadcast_to(self.rows, t.shape)
        F, S = self.true.F(r, t), self.true.S(r, t)
        if self.bounds is not None:
            low, high = self.bounds
            F = np.where(t < low, 0.0, np.where(t >= high, 1.0, F))
            S = np.where(t < low, 1.0, np.where(t >= high, 0.0, S))
        return F, S

    # ---- places -----------------------------------------------------------------------------------------------------

    def points(self) -> np.ndarray:
        """(rows, k) labels, in y and in order: on knots, between them, on bends, 1,000 sigma out."""
        edges = self.true.edges
        edges = np.where(np.isfinite(edges), edges, LOC[PREDICTED][:, None])
        if edges.shape[1] > 60:
            edges = edges[:, np.linspace(0, edges.shape[1] - 1, 60).astype(int)]
        knots = self.true.knots
        knots = np.where(np.isfinite(knots), knots, LOC[PREDICTED][:, None])
        sigma = SCALE[PREDICTED][:, None]
        out = LOC[PREDICTED][:, None] + sigma * np.array([-1e3, -30.0, -8.0, -0.1, 0.3, 8.0, 30.0, 1e3])
        parts = [edges, (edges[:, 1:] + edges[:, :-1]) / 2, knots, out]
        if self.bounds is not None:
            parts.append(np.broadcast_to(self.bounds, (len(PREDICTED), 2)))
        limit = 1e30 if self.case.world == "float32" else 1e150
        t = np.clip(np.sort(np.concatenate(parts, axis=1), axis=1), -limit, limit)
        return np.sort(self.N.world.at(t), axis=1)

    # ---- cdf and sf -------------------------------------------------------------------------------------------------

    def cdf_and_sf(self) -> None:
        y = self.points()
        t = self.N.back(y)
        F, S = (np.asarray(getattr(self.H, name)(y), np.float64) for name in ("cdf", "sf"))
        d = self.place(t)
        (F_low, S_high), (F_high, S_low) = self.tails(t - d), self.tails(t + d)
        self.note("cdf", np.maximum(F_low - F, F - F_high) / self.level, t)
        self.note("sf", np.maximum(S_low - S, S - S_high) / self.level, t)
        tiny = 1e-30 if self.case.world == "float32" else 1e-290
        loose = 1e5 * self.eps + 200 * self.learned * np.maximum(np.abs(t - LOC[PREDICTED][:, None]) / 25, 1.0)
        for kind, got, low, high in (("lower tail", F, F_low, F_high), ("upper tail", S, S_low, S_high)):
            worst = np.maximum(low - got, got - high) / (loose * np.maximum(high, tiny))
            self.note(kind, np.where(high < 1e-2, worst, 0.0), t)
        self.note("cdf rises", -np.min(np.diff(F, axis=1), initial=0.0) / (4 * self.eps))
        self.note("cdf + sf = 1", np.abs(F + S - 1) / (8 * self.eps), t)
        left = np.asarray(self.H.cdf_left(y), np.float64)
        self.note("cdf from the left", np.maximum(F_low - left, left - F) / self.level, t)
        ends = np.asarray(self.H.cdf(np.array([[-np.inf, np.inf]])), np.float64)
        r, far = self.rows[:, 0], np.full(len(PREDICTED), 1e300)
        below = 0.0 if self.bounds is not None else self.true.F(r, -far) * (self.true.powers[:, 0] == 0)
        self.note("cdf at infinity", np.abs(ends - np.stack([below + 0 * far, 1 + 0 * far], axis=1)) / self.level)

    # ---- quantiles --------------------------------------------------------------------------------------------------

    def quantiles(self) -> None:
        n = len(self.true.scores)
        p = np.unique(np.concatenate([P, np.arange(1, n + 1) / (n + 1), np.arange(1, n) / n]))
        p = p.astype(np.float32).astype(np.float64) if self.case.world == "float32" else p
        y = np.asarray(self.H.quantiles(self.N.world.pure(p)))
        t = self.N.back(y)
        finite = np.isfinite(t)
        at = np.where(finite, t, 0.0)
        d = self.place(at)
        (F_low, _), (F_high, S_high) = self.tails(at - d), self.tails(at + d)
        # in the upper half by 1 - p against 1 - F, which keeps digits that F has not
        error = np.maximum(p - F_high, F_low - p) / self.level
        r = np.broadcast_to(self.rows, t.shape)
        far = np.where(t > 0, 1e300, -1e300)
        F_far, S_far = self.tails(far)
        beyond = np.where(t > 0, (1 - p) - S_far, p - F_far) / self.level
        self.note("quantile", np.where(finite, error, np.where(np.isnan(t), np.inf, beyond)), np.where(finite, t, 0.0))
        del r, S_high
        same = np.asarray(self.H.ppf(np.broadcast_to(self.N.world.pure(p), t.shape)))
        self.note("ppf = quantiles", self.apart(same, y))
        low, high = self.H.interval(COVERAGE)
        ends = self.H.quantiles([(1 - COVERAGE) / 2, (1 + COVERAGE) / 2])
        self.note("interval = quantiles", self.apart(np.stack([low, high], axis=1), ends))
        with np.errstate(invalid="ignore"):
            fall = np.where(y[:, 1:] < y[:, :-1], t[:, :-1] - t[:, 1:], 0.0)
        self.note("quantiles rise", fall / (4 * self.eps * (np.abs(at[:, 1:]) + abs(self.N.zero) + 25)), at[:, 1:])

    def apart(self, one: Any, two: Any) -> np.ndarray:
        with np.errstate(invalid="ignore"):
            t, u = self.N.back(one), self.N.back(two)
            return np.where(one == two, 0.0, np.abs(t - u) / self.place(u))

    # ---- density ----------------------------------------------------------------------------------------------------

    def density(self) -> None:
        """Its integral between two bends is the mass there."""
        edges = self.true.edges
        if self.bounds is not None:
            edges = np.clip(edges, *self.bounds)
        inner = edges.shape[1] - 1
        chosen = np.unique(np.linspace(0, inner - 1, min(inner, 25)).astype(int))
        a, b = edges[:, chosen], edges[:, chosen + 1]
        # a piece must be longer than what places are known to, and short enough for one rule
        middle, half = (a + b) / 2, (b - a) / 2
        half = np.minimum(half * 0.98, 0.05 * (1 + np.abs(middle - LOC[PREDICTED][:, None]) / 4))
        told = half > 2e3 * self.place(middle)
        half = np.where(told, half, 0.0)
        nodes = (middle[..., None] + half[..., None] * (2 * NODES - 1)).reshape(len(a), -1)
        y = self.N.world.at(nodes)
        with np.errstate(over="ignore"):
            log_density = np.asarray(self.H.logpdf(y), np.float64) + self.N.log_stretch
        pdf = np.exp(log_density).reshape(*a.shape, -1)
        mass = np.sum(pdf * WEIGHTS, axis=-1) * 2 * half
        low, high = self.tails(middle - half)[0], self.tails(middle + half)[0]
        rise = high - low
        known = self.place(middle) / np.where(told, half, 1.0)
        allowed = 2 * self.level + rise * (1e-6 + 4 * known + 1e2 * self.eps + 100 * self.learned)
        self.note("density", np.where(told, np.abs(mass - rise) / allowed, 0.0), middle)

    # ---- integrals --------------------------------------------------------------------------------------------------

    def integrals(self) -> None:
        sigma = SCALE[PREDICTED][:, None]
        knots = self.true.knots
        limit = 1e20
        t = np.concatenate(
            [
                LOC[PREDICTED][:, None] + sigma * np.array([-1e3, -0.1, 2.0, 1e3]),
                np.clip(knots[:, [0, knots.shape[1] // 2]], -limit, limit),
            ],
            axis=1,
        )
        y = self.N.world.at(t)
        t = self.N.back(y)
        mean, std, crps = self.H.mean(), self.H.std(), self.H.crps(y)
        mean = self.N.back(mean)
        std, crps = (np.asarray(each, np.float64) / self.N.world.stretch for each in (std, crps))
        loose = QUADRATURE + LEVEL * self.eps + 10 * self.learned
        for row in (zlib.crc32(str(self.case).encode()) % len(PREDICTED),):  # one of them, to save time
            true_mean, true_std, true_crps = self.true.integrals(row, t[row], self.bounds)
            spread = true_std if np.isfinite(true_std) else abs(true_mean) if np.isfinite(true_mean) else 1.0
            known = self.place(np.abs(np.nan_to_num(true_mean, posinf=0, neginf=0)) + spread)
            powers = self.true.powers[row] if self.bounds is None else np.array([np.inf])
            if not np.isfinite(mean[row]) and np.any((powers > 1) & (powers < 1 + UNSETTLED)):
                true_mean = np.nan
            if not np.isfinite(std[row]) and np.any((powers > 1) & (powers < 2 + UNSETTLED)):
                true_std = np.inf
            if std[row] == np.inf and true_std * self.N.world.stretch > SQUARABLE:
                true_std = np.inf  # its square is no float
            self.compare("mean", mean[row], true_mean, loose * spread + known)
            self.compare(
                "std",
                std[row],
                true_std,
                2 * loose * spread + known + self.rounding_of_std(true_mean) + self.learned_std(true_std),
            )
            for k in range(t.shape[1]):
                self.compare(
                    "crps", crps[row, k], true_crps[k], loose * true_crps[k] + self.place(t[row, k]), t[row, k]
                )

    def rounding_of_std(self, mean: float) -> float:
        """A variance is known to eps of the square of a length: of the clipped stretch, or of part of the mean."""
        length = 1e-3 * (abs(mean) + 25) if self.bounds is None else self.bounds[1] - self.bounds[0]
        return float(np.sqrt(self.eps) * length) if np.isfinite(length) else 0.0

    def learned_std(self, true: float) -> float:
        """Of a law that is learned to so much in F."""
        if self.bounds is None or not true > 0:
            return 0.0
        return self.learned * (self.bounds[1] - self.bounds[0]) ** 2 / true

    def compare(self, kind: str, got: float, true: float, allowed: float, where: Any = None) -> None:
        if not np.isfinite(true):
            self.note(kind, 0.0 if not np.isfinite(got) else np.inf, f"{got} for {true}")
            return
        at = f"{got:.12g} for {true:.12g}" + ("" if where is None else f" at t = {where:.12g}")
        self.note(kind, abs(got - true) / allowed if np.isfinite(got) else np.inf, at)


KINDS = ("cdf_and_sf", "quantiles", "density", "integrals")


def judged(case: Case) -> list[Finding]:
    """All findings of a case; a warning of numpy's is an error, a sentence of the library's is not."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        expected = refusal(case)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        warnings.simplefilter("ignore", UserWarning)
        if expected is not None:
            return [refused(case, expected)]
        judge = Judge(case)
        for kind in KINDS:
            getattr(judge, kind)()
    return judge.found


def refused(case: Case, expected: str) -> Finding:
    """Whether it was, in one sentence."""
    try:
        made(case)
    except ValueError as error:
        said = str(error)
        good = re.search(expected, said) and "\n" not in said
        return Finding("refusal", 0.0 if good else np.inf, said)
    return Finding("refusal", np.inf, f"went well, but must say: {expected}")
