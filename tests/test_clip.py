"""Clipped laws, at ordinary and at extreme bounds, against an integral of the CDF that is done independently."""

from __future__ import annotations

import numpy as np
import pytest
from catalogue import CALIBRATION, COMBINATIONS, DISTRIBUTIONS, HERE, LATTICES, PAIRS, UGLY, H, cases, lattice_of
from reference.tolerances import TOLERANCES

from calibrant import Calibrator, LogNormal, Normal, StudentT
from calibrant.distributions.context import Context
from calibrant.interpolators import NAF, BoundedTails, Random
from calibrant.metrics.calibration import pit_by

_x, _w = np.polynomial.legendre.leggauss(8)
NODES, WEIGHTS = (_x + 1) / 2, _w / 2
TAIL = np.exp(-np.linspace(1, 30, 59))
LEVELS = np.sort(np.concatenate([TAIL / 64, (np.arange(640) + 0.5) / 640, 1 - TAIL / 64]))


def integrals(law, low, high, y, cuts=()):
    """Mean, std and CRPS of min(max(Y, low), high) for a single law or a batch of one, from values of its CDF alone."""
    q = np.ravel(law.quantiles(LEVELS))
    middle = float(np.clip(np.ravel(law.median())[0], low, high))
    finite = q[np.isfinite(q)]
    step = np.ptp(finite[[len(finite) // 10, -len(finite) // 10]]) if finite.size else 1.0
    far = middle + np.concatenate([-np.geomspace(1e-3, 1e9, 200), np.geomspace(1e-3, 1e9, 200)]) * (step or 1.0)
    far = np.concatenate([far, middle + 4 * (step or 1.0) * np.linspace(-1, 1, 801)])
    ends = [each for each in (low, high) if np.isfinite(each)]
    inside = np.linspace(low, high, 200) if len(ends) == 2 and high - low < 1e3 * (step or 1.0) else ends
    edges = np.unique(np.clip(np.concatenate([finite, far, inside, [middle, y], cuts, ends]), low, high))
    h = np.diff(edges)[:, None]
    t, w = edges[:-1, None] + h * NODES, h * WEIGHTS
    F, S = (np.reshape(getattr(law, method)(np.reshape(t, (1, -1))), t.shape) for method in ("cdf", "sf"))
    below, above = t < middle, t > middle
    lower, upper = np.sum((w * F)[below]), np.sum((w * S)[above])
    square = 2 * (np.sum((w * F * (middle - t))[below]) + np.sum((w * S * (t - middle))[above]))
    crps = np.sum((w * F**2)[t < y]) + np.sum((w * S**2)[t > y])
    # beyond the bounds the clipped law is 0 or 1, and so far its label may lie
    crps += max(y - high, 0.0) + max(low - y, 0.0)
    return middle + (upper - lower), np.sqrt(max(square - (upper - lower) ** 2, 0.0)), crps


def single(name):
    """The last row of a law, as a batch of one; a single law as it is."""
    law = H(*COMBINATIONS[name]) if name in COMBINATIONS else {**DISTRIBUTIONS, **UGLY}[name](HERE)
    return law[-1:] if law.shape else law


def bounds_of(law):
    """Pairs of bounds by name."""
    at = {p: float(np.ravel(law.quantiles([p]))[0]) for p in (0.0005, 0.15, 0.45, 0.5, 0.8, 0.9991, 0.9999)}
    spread = at[0.8] - at[0.15]
    spread = spread if spread > 0 else 1.0
    found = {
        "ordinary": (at[0.15], at[0.8]),
        "from below": (at[0.15], np.inf),
        "from above": (-np.inf, at[0.8]),
        "far outside": (at[0.5] - 1e6 * spread, at[0.5] + 1e6 * spread),
        "a narrow gap": (at[0.45] + 1e-3 * spread, at[0.45] + 2e-3 * spread),
        "the upper tail": (at[0.9991], at[0.9999]),
        "beyond the upper tail": (at[0.9999] + spread, at[0.9999] + 3 * spread),
        "the lower tail": (at[0.0005] - 2 * spread, at[0.0005]),
    }
    return {name: (low, high) for name, (low, high) in found.items() if low < high and not np.isnan(low + high)}


def allowed(name):
    """Of the spread: that of its class, and what the integral that is done here has."""
    if name in COMBINATIONS:
        pair, interpolator = COMBINATIONS[name]
        straight = PAIRS[pair].exact and not pair.startswith("cdf") and not interpolator.startswith("naf")
        return 1e-6 if straight else TOLERANCES["bimodal" if "mixture" in pair else "curved"].integrals
    if name.startswith(("an outlier", "half the labels", "q of")) and "naf" not in name:
        return 1e-6
    return TOLERANCES["heavy" if name in UGLY else "curved"].integrals


NAMES = [*DISTRIBUTIONS, *UGLY, *COMBINATIONS]


@pytest.mark.parametrize("name", cases(NAMES))
def test_a_clipped_law_has_the_mean_std_and_crps_of_the_clipped_label(name):
    law = single(name)
    at = np.ravel(law.quantiles([0.0005, 0.15, 0.45, 0.5, 0.8, 0.9991, 0.9999]))
    if not np.all(np.isfinite(at)):  # mass at infinity: it comes to lie on the bounds
        tried = {"ordinary": (float(at[1]), float(at[4])), "wide": (float(at[1]) - 50.0, float(at[4]) + 50.0)}
    else:
        tried = bounds_of(law)
    if name.startswith("an outlier") or name in ("modes far apart", "a heavy log-normal"):
        # the bounds lie closer together than floats at 1e9 tell apart, or as far apart as the modes are
        far = {"beyond the upper tail", "the lower tail", *["the upper tail"] * (name == "modes far apart")}
        tried = {where: tried[where] for where in tried if where not in far}
    if name == "folds of different scale" or name == "pool":  # which is slow
        tried = {where: tried[where] for where in ("ordinary", "from below", "the upper tail")}
    bends = np.ravel(law.quantiles(np.arange(1, CALIBRATION + 1) / (CALIBRATION + 1)))
    if name in LATTICES or name == "a spread poisson":
        step, first = lattice_of(name)
        bends = first + step * np.arange(500)
    for where, (low, high) in tried.items():
        C = law.clip(low, high)
        y = float(np.clip(at[2] + 0.01, low, high))
        mean, std, crps = integrals(law, low, high, y, cuts=bends[np.isfinite(bends)])
        if name.startswith(("student t, df", "a heavy")) and not np.isfinite(high - low):
            continue  # the integral that is done here ends at 1e9: see the test of one-sided clips
        # a law that is all but on one point is as exact as its width allows
        width = high - low if np.isfinite(high - low) else 0.0
        size = max(std, 0.05 * width) if std > 1e-5 * width else width
        size = max(
            size, 1e-9 * max(abs(low) if np.isfinite(low) else 0.0, abs(high) if np.isfinite(high) else 0.0, 1e-300)
        )
        found = {"mean": (C.mean(), mean), "std": (C.std(), std), "crps": (C.crps(y), crps)}
        for what, (got, wanted) in found.items():
            off = abs(float(np.ravel(got)[0]) - wanted)
            assert off <= allowed(name) * size, (
                f"{where}, {low:.6g} to {high:.6g}: {what} is {np.ravel(got)[0]:.12g}, not {wanted:.12g}: off by"
                f" {off / size:.1e}"
            )


# ---- what went wrong once --------------------------------------------------------------------------------------------

Z = np.random.default_rng(1).normal(size=49)


def test_an_outlier_far_beyond_the_bounds_does_not_touch_a_clipped_std():
    outlier = 1e6
    H = Calibrator().fit(np.zeros(50), np.r_[Z, outlier])([0.0])
    C = H.clip(-5.0, 5.0)
    assert C.std()[0] == pytest.approx(1.35373, abs=5e-6)
    mean, std, crps = integrals(H, -5.0, 5.0, 0.3, cuts=np.r_[Z, outlier])
    np.testing.assert_allclose([C.mean()[0], C.std()[0], C.crps(0.3)[0]], [mean, std, crps], rtol=1e-9)


def test_a_clipped_log_normal_with_a_heavy_tail():
    assert LogNormal([0.0], [5.0]).clip(0.0, 10.0).std()[0] == pytest.approx(4.4855, abs=5e-5)


def test_a_clipped_cauchy_has_moments():
    C = StudentT(1.0, [0.0], [1.0]).clip(-1.0, 5.0)
    assert C.mean()[0] == pytest.approx(0.47239, abs=5e-6)
    assert C.crps(0.3)[0] == pytest.approx(0.36395, abs=5e-6)


def test_a_law_clipped_on_one_side_keeps_the_tail_of_the_other():
    """The mean of a Cauchy label is infinite also if it is clipped from below."""
    assert StudentT(1.0, [0.0], [1.0]).clip(lower=-1.0).mean()[0] == np.inf
    assert StudentT(1.5, [0.0], [1.0]).clip(lower=-1.0).std()[0] == np.inf
    for law in (LogNormal([0.0], [5.0]), LogNormal([0.0], [2.0])):
        assert law.clip(lower=1e-9).std()[0] == pytest.approx(law.std()[0], rel=1e-9)


def test_naf_takes_an_outlier():
    H = Calibrator(None, NAF()).fit(np.zeros(50), np.r_[Z, 1e6])([0.0])
    assert np.all(np.diff(H.quantiles([0.01, 0.25, 0.5, 0.75, 0.97])[0]) > 0)
    assert np.abs(H.quantiles([0.05, 0.5, 0.9])).max() < 5
    mean, std, _ = integrals(H, -5.0, 5.0, 0.3)
    C = H.clip(-5.0, 5.0)
    np.testing.assert_allclose([C.mean()[0], C.std()[0]], [mean, std], rtol=1e-5)


def test_a_clip_of_a_clip_that_does_not_meet_it_is_one_point():
    C = Normal([0.0], [1.0]).clip(-1.0, 1.0)
    for low, high, point in ((2.0, 3.0, 2.0), (-3.0, -2.0, -2.0)):
        D = C.clip(low, high)
        assert D.mean()[0] == point
        assert D.std()[0] == 0
        assert D.crps(0.0)[0] == pytest.approx(abs(point), rel=1e-12)


@pytest.mark.parametrize("tails", [None, BoundedTails()], ids=["infinite", "bounded"])
@pytest.mark.parametrize(("lower", "upper"), [(1.0, 3.0), (1.0, np.inf), (-np.inf, 3.0), (1.5, 2.5)])
def test_a_clipped_randomised_law_has_all_mass_beyond_a_bound_on_it(tails, lower, upper):
    scores = np.array([0.0, 1.0, 1.0, 2.0, 3.0, 3.0, 4.0])
    q = (Random() if tails is None else Random(tails)).fit(scores)
    law = q.for_rows(Context(5, rng=np.random.default_rng(2)))
    clipped, U = law.clip(lower, upper), law.uniform
    ends = (law.lower, law.upper)
    points = np.stack([*np.tile(scores[:, None], 5), *ends], axis=1)
    mass = np.stack([*np.full((7, 5), 1 / 8), U / 8, (1 - U) / 8], axis=1)
    moved = np.clip(points, lower, upper)
    for bound in (b for b in (lower, upper) if np.isfinite(b)):
        np.testing.assert_allclose(clipped.cdf(bound), np.sum(mass * (moved <= bound), axis=1), rtol=1e-14)
        np.testing.assert_allclose(clipped.cdf_left(bound), np.sum(mass * (moved < bound), axis=1), atol=1e-15)
        np.testing.assert_array_equal(clipped.ppf(clipped.cdf(bound) - 1e-9), bound)
        np.testing.assert_array_equal(clipped.ppf(np.minimum(clipped.cdf_left(bound) + 1e-9, 1.0)), bound)
    if np.isfinite(moved).all():
        np.testing.assert_allclose(clipped.mean(), np.sum(mass * moved, axis=1), rtol=1e-14)
        pairs = np.abs(moved[:, :, None] - moved[:, None, :]) * mass[:, :, None] * mass[:, None, :]
        crps = np.sum(mass * np.abs(moved - 2.2), axis=1) - pairs.sum(axis=(1, 2)) / 2
        np.testing.assert_allclose(clipped.crps(2.2), crps, rtol=1e-13)


def test_the_pit_of_a_label_on_a_bound_is_drawn_over_the_mass_there():
    law, u = Normal([0.0, 1.0, 0.0], 1.0).clip(-0.5, 1.5), np.array([0.25, 0.5, 0.75])
    free = Normal([0.0, 1.0, 0.0], 1.0)
    found = pit_by(law, np.array([-0.5, 1.5, 0.3]), u)
    low, high = free[:1].cdf(-0.5)[0], free[1:2].cdf(1.5)[0]
    np.testing.assert_allclose(found, [0.75 * low, 1 - 0.5 * (1 - high), free.cdf([0.3] * 3)[2]], rtol=1e-12)
