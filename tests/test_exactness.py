"""Mean, std and crps to their last digits, against integrals that share no line with the library's.

The reference starts from the formulas: phi(f(x), y) by numpy and scipy.stats, q by its definition, and Gauss-Legendre
of order 12 between all the points where q(phi(f(x), y)) bends, with dense grids and long tails around them. F and 1 - F
are computed apart, so that neither tail cancels.
"""

from __future__ import annotations

import math
import warnings
from functools import cache

import numpy as np
import pytest
from catalogue import (
    BENDS,
    CALIBRATION,
    COMBINATIONS,
    DATA,
    GUARDED,
    HERE,
    INTERPOLATORS,
    LEVELS,
    LINEAR,
    LOC,
    LOC2,
    MEANS,
    PAIRS,
    PREDICTIONS,
    SCALE,
    SCALE2,
    SLOW,
    SPLIT,
    SPREADS,
    STDS,
    Y,
    has_infinite_mass,
)
from scipy import stats
from scipy.special import expit

from calibrant import Calibrator
from calibrant.distributions.student_t import StudentT
from calibrant.interpolators.support import Logits
from calibrant.scores import CDFScore


# ---- phi, by its formula: scores of y, (rows, k), in rows r, (rows, 1) ---------------------------------------------
def broken_line(r, y, values, levels, outer=None):
    """Straight through (values, levels), and on outside with the mean slope."""
    values = values[r[:, 0]]
    slope = np.diff(levels[[0, -1]]) / np.diff(values[:, [0, -1]], axis=1) if outer is None else outer
    inside = np.stack([np.interp(row, knots, levels) for row, knots in zip(y, values, strict=True)])
    below, above = np.minimum(y - values[:, :1], 0), np.maximum(y - values[:, -1:], 0)
    return inside + slope * (below + above)


def z(r, y, mean, std):
    return (y - mean[r]) / std[r]


class Frozen:
    """A law of scipy.stats with its parameters; scipy's own freezing writes documentation each time."""

    def __init__(self, family, *parameters):
        self.family, self.parameters = family, parameters

    def __getattr__(self, method):
        return lambda y: getattr(self.family, method)(y, *self.parameters)


def logit(law, y):
    """log F - log(1 - F)."""
    with np.errstate(divide="ignore"):
        return law.logcdf(y) - law.logsf(y)


def mixed_logit(laws, weights, y):
    with np.errstate(divide="ignore"):
        F, S = (sum(w * getattr(law, f)(y) for w, law in zip(weights, laws, strict=True)) for f in ("cdf", "sf"))
        return np.log(F) - np.log(S)


def normal(r):
    return Frozen(stats.norm, LOC[r], SCALE[r])


def laplace2(r):
    return Frozen(stats.laplace, LOC2[r], SCALE2[r])


def components(r):
    return [Frozen(stats.norm, MEANS[r, k], STDS[r, k]) for k in (0, 1)], [SPLIT[r, k] for k in (0, 1)]


QUANTILES = LOC[:, None] + SCALE[:, None] * SPREADS
DRAWS = np.sort(DATA["draws"], axis=1)
EIGHTHS = (np.arange(8) + 0.5) / 8
GM_MEAN = np.sum(SPLIT * MEANS, axis=1)
GM_STD = np.sqrt(np.sum(SPLIT * (STDS**2 + (MEANS - GM_MEAN[:, None]) ** 2), axis=1))
T_STD = SCALE * np.sqrt(DATA["df"] / (DATA["df"] - 2))


def log(x):
    with np.errstate(divide="ignore"):
        return np.log(np.maximum(x, 0.0))


def signed(side, a, scale=1.0):
    """Theorem 2's construction, with a, in units of a scale, first mapped to (0, inf)."""

    def score(r, y):
        v = a(r, y) / scale
        return np.where(side(r, y) >= 0, 1.0, -1.0) * (v + np.sqrt(v**2 + 1))

    return score


SIGNED = {
    "signed residual": (lambda r, y: y - LOC[r], lambda r, y: np.abs(y - LOC[r])),
    "signed cqr": (
        lambda r, y: y - LOC[r] - 0.25 * SCALE[r],
        lambda r, y: np.maximum(LOC[r] - SCALE[r] - y, y - LOC[r] - 1.5 * SCALE[r]),
    ),
}
"""On which side of its minimiser a label lies, and a non-conformity."""


def learned(pair, calibration):
    """phi as `fit` leaves it: the scale of a signed score is the median size of a."""
    if pair not in SIGNED:
        return PHI[pair]
    sizes = np.sort(np.abs(SIGNED[pair][1](calibration, Y[calibration])))
    return signed(*SIGNED[pair], sizes[len(calibration) // 2])


def quantile_score(r, y):
    return broken_line(r, y, QUANTILES, LEVELS)


def samples_score(r, y):
    return broken_line(r, y, DRAWS, EIGHTHS)


def interval_score(r, y):
    return z(r, y, LOC - SCALE, 2.5 * SCALE)


def normal_and_interval(r, y):
    return z(r, y, LOC, SCALE) + z(r, y, LOC2 - SCALE2, 2 * SCALE2)


PHI = {
    "residual": lambda r, y: y - LOC[r],
    "relative": lambda r, y: y / LOC[r] - 1,
    "sqrt": lambda r, y: y / np.sqrt(LOC[r]) - np.sqrt(LOC[r]),
    "sqrt, c = 1": lambda r, y: (y - LOC[r]) / np.sqrt(LOC[r] + 1),
    "log": lambda r, y: log(y) - np.log(LOC[r]),
    "log, c = 1": lambda r, y: log(y + 1) - np.log(LOC[r] + 1),
    "percentage error": lambda r, y: y / LOC[r] - 1,
    "log ratio": lambda r, y: log(y) - np.log(LOC[r]),
    "interval": interval_score,
    "quantile": quantile_score,
    "quantile, the paper's": lambda r, y: broken_line(r, y, QUANTILES, LEVELS, outer=1.0),
    "one quantile": lambda r, y: y - LOC[r],
    "samples": samples_score,
    "z of normal": lambda r, y: z(r, y, LOC, SCALE),
    "z of student t": lambda r, y: z(r, y, LOC, T_STD),
    "z of gaussian mixture": lambda r, y: z(r, y, GM_MEAN, GM_STD),
    "cdf of normal": lambda r, y: logit(normal(r), y),
    "cdf of logistic": lambda r, y: z(r, y, LOC, SCALE),
    "cdf of laplace": lambda r, y: logit(Frozen(stats.laplace, LOC[r], SCALE[r]), y),
    "cdf of student t": lambda r, y: logit(Frozen(stats.t, 5, LOC[r], SCALE[r]), y),
    "cdf of student t, a df a row": lambda r, y: logit(Frozen(stats.t, DATA["df"][r], LOC[r], SCALE[r]), y),
    "cdf of log-normal": lambda r, y: logit(Frozen(stats.norm, np.log(LOC[r]), 0.1 * SCALE[r]), log(y)),
    "cdf of gaussian mixture": lambda r, y: mixed_logit(*components(r), y),
    "cdf of pool": lambda r, y: mixed_logit([normal(r), laplace2(r)], [0.7, 0.3], y),
    "ensemble of points": lambda r, y: 2 * (y - LOC[r]) + (y - LOC2[r]),
    "ensemble of normal and interval": normal_and_interval,
    "ensemble of broken lines": lambda r, y: (
        quantile_score(r, y) + 0.5 * samples_score(r, y) + 0.2 * interval_score(r, y)
    ),
    "ensemble of ensembles": lambda r, y: normal_and_interval(r, y) + quantile_score(r, y),
    "ensemble of cdfs": lambda r, y: mixed_logit([normal(r), laplace2(r)], [2 / 3, 1 / 3], y),
    "cdf of scipy's gamma": lambda r, y: logit(
        Frozen(stats.gamma, DATA["df"][r], LOC[r] - 5 * SCALE[r], SCALE[r] / 2), y
    ),
    **{name: signed(*parts) for name, parts in SIGNED.items()},
    "ensemble of z and cdf": lambda r, y: 2 * z(r, y, LOC, SCALE) + laplace2(r).cdf(y),
}


# ---- q, by its definition: (F, 1 - F) at scores s ------------------------------------------------------------------
def ranked(n):
    return np.arange(1, n + 1) / (n + 1)


def naive_q(u, logits):
    def F(s):
        return np.searchsorted(u, s, side="right") / len(u)

    return F, lambda s: 1 - F(s)


def linear_q(u, logits, tails):
    """i / (n + 1) at u_(i); 1 - F is the same law of the mirrored scores."""
    n = len(u)
    if logits:

        def half(knots, s):
            return np.interp(expit(s), np.concatenate([[0], expit(knots), [1]]), np.concatenate([[0], ranked(n), [1]]))
    else:
        k = min(math.ceil(math.sqrt(n)), n - 1)

        def half(knots, s):
            inside = np.interp(s, knots, ranked(n))
            excess = {0: np.maximum(knots[0] - s, 0), 1: np.maximum(s - knots[-1], 0)}
            if tails == "linear":
                low = np.mean(knots[k] - knots[:k]) or np.std(knots)
                high = np.mean(knots[-k:] - knots[-k - 1]) or np.std(knots)
                below, above = np.exp(-excess[0] / low), np.exp(-excess[1] / high)
            else:
                gap = (knots[-1] - knots[0]) / (n - 1)
                below, above = np.maximum(1 - excess[0] / gap, 0), np.maximum(1 - excess[1] / gap, 0)
            return inside - (1 - below) / (n + 1) + (1 - above) / (n + 1)

    def F(s):
        return half(u, s)

    def S(s):
        return half(-u[::-1], -s)

    def tail(s, value, mirrored):
        # far out the sum above cancels: the tail alone is left
        if logits:
            return value
        knots, s = (-u[::-1], -s) if mirrored else (u, s)
        excess = np.maximum(knots[0] - s, 0)
        if tails == "linear":
            low = np.mean(knots[k] - knots[:k]) or np.std(knots)
            alone = np.exp(-excess / low) / (n + 1)
        else:
            alone = np.maximum(1 - excess * (n - 1) / (knots[-1] - knots[0]), 0) / (n + 1)
        return np.where(s < knots[0], alone, value)

    return lambda s: tail(s, F(s), False), lambda s: tail(s, S(s), True)


def bends_of_q(u, logits, q=None):
    """Scores between which q is smooth and no piece is long, from far out on one side to far out on the other."""
    if q is not None:
        middle = q.ppf(np.concatenate([expit(np.arange(-34, 34, 0.4)), [0.5]]))
        middle = np.unique(middle[np.isfinite(middle)])
        reach = (middle[-1] - middle[0]) / 50 * np.cumsum(1.1 ** np.arange(40))
    else:
        middle = u
        reach = np.arange(0.6, 75, 0.6) if logits else np.arange(1.0, 45) * (np.ptp(u) or 1.0)
        if not logits and len(u) > 1:
            k = min(math.ceil(math.sqrt(len(u))), len(u) - 1)
            ordered = np.sort(u)
            scale = max(np.mean(ordered[k] - ordered[:k]), np.mean(ordered[-k:] - ordered[-k - 1])) or np.std(u)
            gap = np.ptp(u) / (len(u) - 1)
            reach = np.unique(np.concatenate([[gap], np.arange(1.0, 45) * scale]))
    count = max(12, int(np.ptp(middle) / 0.5))
    inner = np.linspace(middle.min(), middle.max(), count)
    return np.unique(np.concatenate([middle.min() - reach, inner, middle, u, middle.max() + reach]))


# ---- the integrals -------------------------------------------------------------------------------------------------
NODES, WEIGHTS = np.polynomial.legendre.leggauss(12)
NODES, WEIGHTS = (NODES + 1) / 2, WEIGHTS / 2


def unscored(phi, r, s):
    """The y with phi(r, y) = s, by bisection to the last bit."""
    s = np.broadcast_to(s, (len(r), s.shape[-1]))
    centre, width = LOC[r], np.full_like(s, 1.0)
    for _ in range(400):
        low, high = phi(r, centre - width) > s, phi(r, centre + width) < s
        if not (low | high).any():
            break
        width = np.where(low | high, 2 * width, width)
    low, high = centre - width, centre + width
    for _ in range(75):
        middle = (low + high) / 2
        below = phi(r, middle) < s
        low, high = np.where(below, middle, low), np.where(below, high, middle)
    return (low + high) / 2


def reference(pair, interpolator, rows, calibration, labels, q=None):
    """Mean, std and crps at the labels, (rows, k), of q(phi(f(x), .)) for the given rows."""
    phi, logits = learned(pair, calibration), isinstance(PAIRS[pair].score.support, Logits)
    r = rows[:, None]
    u = np.sort(phi(calibration[:, None], Y[calibration][:, None])[:, 0])
    if q is not None:
        F, S = q.cdf, q.sf
    else:
        F, S = naive_q(u, logits) if interpolator == "naive" else linear_q(u, logits, interpolator)
    at = unscored(phi, r, bends_of_q(u, logits, q)[None, :])
    own = BENDS[rows]
    inside = (own > at[:, :1]) & (own < at[:, -1:])
    own = np.where(inside, own, at[:, :1])

    c = LOC[r]
    edges = np.sort(np.concatenate([at, own, c, np.clip(labels, at[:, :1], at[:, -1:])], axis=1), axis=1)
    h = np.diff(edges, axis=1)
    y = (edges[:, :-1, None] + h[..., None] * NODES).reshape(len(rows), -1)
    w = (h[..., None] * WEIGHTS).reshape(len(rows), -1)
    s = phi(r, y)
    F, S = F(s), S(s)
    bias = np.sum(w * np.where(y > c, S, -F), axis=1)
    square = np.sum(w * 2 * np.where(y > c, (y - c) * S, (c - y) * F), axis=1)
    crps = np.stack([np.sum(w * np.where(y > label[:, None], S**2, F**2), axis=1) for label in labels.T], axis=1)
    beyond = np.maximum(labels - at[:, -1:], 0) + np.maximum(at[:, :1] - labels, 0)
    return c[:, 0] + bias, np.sqrt(np.maximum(square - bias**2, 0)), crps + beyond


ROWS = np.array([CALIBRATION, CALIBRATION + 3])
SETS = {
    "n = 1": np.arange(1),
    "n = 2": np.arange(2),
    "n = 5": np.arange(5),
    "n = 200": np.arange(200),
    "ties": np.array([0, 1, 1, 2, 3, 3, 3, 4, 5, 5]),
    "ties at the ends": np.argsort(Y - LOC)[[0, 0, 0, 60, 100, 140, 199, 199, 199]],
}


@cache
def fitted(pair, interpolator, which):
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)
    calibration = SETS[which]
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="one score tells no scale|all scores are equal")
        return Calibrator(PAIRS[pair].score, INTERPOLATORS[interpolator]).fit(prediction[calibration], Y[calibration])


def errors(pair, interpolator, which):
    """The largest relative errors of mean, std and crps; of the mean relative to the larger of |mean| and std."""
    calibrated = fitted(pair, interpolator, which)
    rows = ROWS[:1] if pair in SLOW or interpolator.startswith("naf") else ROWS
    H = calibrated(PREDICTIONS[PAIRS[pair].prediction](HERE)[rows])
    labels = np.stack([Y[rows], LOC[rows] - 0.1, LOC[rows] + 4 * SCALE[rows], LOC[rows] - 7 * SCALE[rows]], axis=1)
    learned = calibrated.q if interpolator.startswith("naf") else None
    mean, std, crps = reference(pair, interpolator, rows, SETS[which], labels, learned)
    off_mean = np.max(np.abs(H.mean() - mean) / np.maximum(np.abs(mean), std))
    spread = np.where(std > 1e-6 * np.abs(mean), std, np.abs(mean))  # a single atom has none
    off_std = np.max(np.abs(H.std() - std) / spread)
    return {"mean": off_mean, "std": off_std, "crps": np.max(np.abs(H.crps(labels) - crps) / crps)}


def check(pair, interpolator, which, tolerance):
    n = len(SETS[which])
    if has_infinite_mass(pair, interpolator, n):
        H = fitted(pair, interpolator, which)(PREDICTIONS[PAIRS[pair].prediction](HERE)[ROWS])
        bounded_below = np.isfinite(H.ppf(0.0))  # then no mass is at -inf, and the mean is +inf
        assert np.all(np.where(bounded_below, H.mean() == np.inf, np.isnan(H.mean())))
        assert np.all(np.isinf(H.std()))
        assert np.all(np.isinf(H.crps(Y[ROWS])))
        return
    for what, error in errors(pair, interpolator, which).items():
        assert error <= tolerance, f"{what} is off by {error:.2g}"


EXACT = [(pair, name) for pair, name in COMBINATIONS.values() if PAIRS[pair].exact and name in ("naive", *LINEAR)]
QUADRATURE = [
    (pair, name, which)
    for pair, name in COMBINATIONS.values()
    for which in SETS
    if not PAIRS[pair].exact and name in ("naive", *LINEAR) and (pair not in SLOW or which != "n = 200")
]
every_set = pytest.mark.parametrize("which", SETS)


def test_every_pair_of_the_catalogue_has_a_formula_here():
    assert set(PHI) == set(PAIRS)


@pytest.mark.parametrize("pair", PAIRS)
def test_scores_follow_their_formula(pair):
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)
    rows = np.arange(len(Y))
    np.testing.assert_allclose(PAIRS[pair].score(prediction, Y), PHI[pair](rows[:, None], Y[:, None])[:, 0], rtol=1e-9)


@every_set
@pytest.mark.parametrize(("pair", "interpolator"), EXACT)
def test_mean_std_and_crps_are_exact_to_1e_8(pair, interpolator, which):
    check(pair, interpolator, which, 1e-8)


@pytest.mark.parametrize(("pair", "interpolator", "which"), QUADRATURE)
def test_quadrature_is_exact_to_1e_6(pair, interpolator, which):
    check(pair, interpolator, which, 1e-6)


LEARNED = [(pair, "n = 5") for pair in PAIRS]
LEARNED += [(pair, which) for pair in GUARDED for which in ("n = 2", "ties", "ties at the ends")]
LEARNED += [(pair, "n = 200") for pair in ("residual", "quantile", "cdf of normal", "ensemble of z and cdf")]


@pytest.mark.parametrize("interpolator", ["naf", "naf, guarded"])
@pytest.mark.parametrize(("pair", "which"), LEARNED)
def test_naf_and_the_guard_are_exact_to_1e_6(pair, interpolator, which):
    check(pair, interpolator, which, 1e-6)


# ---- moments that do not exist ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [1.0, 1.5, 2.0])
def test_a_std_that_does_not_exist_is_no_number(df):
    """Linear q leaves the tails of the base as they are, so H has no more moments than the base."""
    base = StudentT(df, LOC, SCALE)
    H = Calibrator(CDFScore(), INTERPOLATORS["linear"]).fit(base[:50], Y[:50])(base[ROWS])
    assert not np.any(np.isfinite(H.std()))
    if df <= 1:
        assert not np.any(np.isfinite(H.mean()))


def test_the_crps_of_a_cauchy_law_is_finite():
    """2 int_0^inf (arctan(1/y) / pi)^2 dy = 2 log 2 / pi: the CRPS needs fewer moments than the mean."""
    np.testing.assert_allclose(StudentT(1.0, [0.0], [1.0]).crps(0.0), 2 * math.log(2) / math.pi, rtol=1e-8)
