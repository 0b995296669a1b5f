"""Scores against their formulas, in numpy and scipy.stats; moments that do not exist; atoms behind curved scores."""

from __future__ import annotations

import math

import numpy as np
import pytest
from catalogue import (
    DATA,
    HERE,
    INTERPOLATORS,
    LEVELS,
    LOC,
    LOC2,
    MEANS,
    PAIRS,
    PREDICTIONS,
    SCALE,
    SCALE2,
    SPLIT,
    SPREADS,
    STDS,
    Y,
)
from reference.tolerances import TOLERANCES
from scipy import stats

from calibrant import Calibrator, Ensemble, GaussianMixture, Laplace, Mixture, Normal, Quantiles
from calibrant.distributions.student_t import StudentT
from calibrant.scores import CDFScore, EnsembleScore, QuantileScore


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


def test_every_pair_of_the_catalogue_has_a_formula_here():
    assert set(PHI) == set(PAIRS)


@pytest.mark.parametrize("pair", PAIRS)
def test_scores_follow_their_formula(pair):
    prediction = PREDICTIONS[PAIRS[pair].prediction](HERE)
    rows = np.arange(len(Y))
    np.testing.assert_allclose(PAIRS[pair].score(prediction, Y), PHI[pair](rows[:, None], Y[:, None])[:, 0], rtol=1e-9)


# ---- moments that do not exist ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("df", [1.0, 1.5, 2.0])
def test_a_std_that_does_not_exist_is_no_number(df):
    """Linear q leaves the tails of the base as they are, so H has no more moments than the base."""
    base = StudentT(df, LOC, SCALE)
    H = Calibrator(CDFScore(), INTERPOLATORS["linear"]).fit(base[:50], Y[:50])(base[50:52])
    assert not np.any(np.isfinite(H.std()))
    if df <= 1:
        assert not np.any(np.isfinite(H.mean()))


def test_the_crps_of_a_cauchy_law_is_finite():
    """2 int_0^inf (arctan(1/y) / pi)^2 dy = 2 log 2 / pi: the CRPS needs fewer moments than the mean."""
    np.testing.assert_allclose(StudentT(1.0, [0.0], [1.0]).crps(0.0), 2 * math.log(2) / math.pi, rtol=1e-7)


# ---- atoms and gradients behind curved scores ------------------------------------------------------------------------

RNG = np.random.default_rng(11)
N = 300
PLACE, WIDTH = RNG.normal(size=N), RNG.uniform(0.5, 1.5, N)
BIMODAL = GaussianMixture(
    np.tile([0.3, 0.4, 0.3], (N, 1)), PLACE[:, None] + [-6.0, 0.0, 8.0], WIDTH[:, None] * [1.0, 0.5, 1.0]
)
CURVED = {
    "modes far apart": (BIMODAL, CDFScore()),
    "a normal and a laplace": (Mixture((Normal(PLACE, WIDTH), Laplace(PLACE + 0.3, WIDTH)), (0.7, 0.3)), CDFScore()),
    "kinks beside a curve": (
        Ensemble([
            Normal(PLACE, WIDTH),
            Quantiles([0.05, 0.4, 0.6, 0.95], PLACE[:, None] + WIDTH[:, None] * np.array([-1.5, -0.2, 0.1, 1.9])),
        ]),
        EnsembleScore([CDFScore(), QuantileScore()]),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", CURVED)
def test_atoms_behind_a_curved_score_have_the_moments_of_their_images(name):
    """Also where an atom lies between two modes, where the score hardly moves and the label far."""
    forecast, score = CURVED[name]
    y = BIMODAL.ppf(RNG.beta(0.8, 1.2, N)) if name == "modes far apart" else PLACE + WIDTH * RNG.standard_t(5, N)
    H = Calibrator(score, INTERPOLATORS["naive"]).fit(forecast, y)(forecast[:40])
    atoms = H.quantiles((np.arange(N) + 0.5) / N)
    spread = atoms.std(axis=1)
    allowed = TOLERANCES["bimodal" if name == "modes far apart" else "curved"].integrals * spread
    assert np.all(np.abs(H.mean() - atoms.mean(axis=1)) <= allowed)
    assert np.all(np.abs(H.std() - spread) <= allowed)
    label = PLACE[:40] + 1.0
    pairs = np.abs(atoms[:, :, None] - atoms[:, None, :]).mean(axis=(1, 2)) / 2
    assert np.all(np.abs(H.crps(label) - (np.abs(atoms - label[:, None]).mean(axis=1) - pairs)) <= allowed)
