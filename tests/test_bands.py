"""Simultaneous bands of PITs against enumeration and simulation."""

from __future__ import annotations

import re
from itertools import product

import numpy as np
import pytest
from scipy import stats

from calibrant import Calibrator, Normal
from calibrant.interpolators import Linear
from calibrant.metrics import bands, pit, pit_band, reliability_band
from calibrant.metrics.bands import band_pvalue

LEVELS = np.arange(1, 200) / 200


def shares(pits, levels=LEVELS):
    return np.searchsorted(np.sort(pits), levels, side="right") / len(pits)


def multinomial(m, p):
    """Every outcome of m rows in cells of probabilities p, with its probability."""
    for counts in product(range(m + 1), repeat=len(p)):
        if sum(counts) == m:
            yield counts, stats.multinomial.pmf(counts, m, p)


def narrower(m, p, cells, inside):
    """The bounds of the largest local level at which all is inside often enough, among a fine grid of levels."""
    for gamma in np.geomspace(1, 0.05 / cells / 2, 3000):
        low, high = stats.binom.ppf(gamma / 2, m, p), stats.binom.isf(gamma / 2, m, p)
        if inside(low, high) >= 0.95:
            return low, high
    raise AssertionError


@pytest.mark.parametrize(("m", "bins"), [(1, 2), (3, 2), (4, 3), (6, 4), (7, 3)])
def test_the_band_of_a_histogram_is_that_of_all_outcomes_enumerated(m, bins):
    outcomes = list(multinomial(m, [1 / bins] * bins))
    seen = {}

    def inside(low, high):
        if (low, high) not in seen:
            seen[low, high] = sum(p for counts, p in outcomes if low <= min(counts) and max(counts) <= high)
        return seen[low, high]

    assert pit_band(m, bins) == pytest.approx(narrower(m, 1 / bins, bins, inside))


@pytest.mark.parametrize(("m", "levels"), [(1, [0.5]), (4, [0.2, 0.9]), (6, [0.1, 0.4, 0.7]), (3, [0.0, 0.3, 1.0])])
def test_the_band_of_a_diagram_is_that_of_all_paths_enumerated(m, levels):
    outcomes = [(np.cumsum(counts)[:-1], p) for counts, p in multinomial(m, np.diff([0.0, *levels, 1.0]))]
    seen = {}

    def inside(low, high):
        key = (*low, *high)
        if key not in seen:
            seen[key] = sum(p for path, p in outcomes if (low <= path).all() and (path <= high).all())
        return seen[key]

    low, high = narrower(m, np.array(levels), len(levels), inside)
    ours = reliability_band(m, levels)
    np.testing.assert_allclose(ours[0] * m, low, atol=1e-12)
    np.testing.assert_allclose(ours[1] * m, high, atol=1e-12)


@pytest.mark.parametrize("m", [20, 300, 5000])
def test_uniform_pits_are_inside_as_often_as_promised_and_not_much_oftener(m):
    rng = np.random.default_rng(m)
    low, high = pit_band(m)
    (below, above), draws = reliability_band(m, LEVELS), 3000
    histograms = rng.multinomial(m, [1 / 20] * 20, draws)
    held = ((low <= histograms) & (histograms <= high)).all(1).mean()
    paths = np.cumsum(rng.multinomial(m, [1 / 200] * 200, draws), axis=1)[:, :-1] / m
    kept = ((below <= paths) & (paths <= above)).all(1).mean()
    # integer bounds make small bands wider than asked for, never narrower
    assert 0.938 < held < (1 if m < 1000 else 0.97)
    assert 0.938 < kept < (0.99 if m < 100 else 0.965)


def test_a_confidence_that_is_larger_makes_a_band_that_is_wider():
    inner, outer = reliability_band(500, LEVELS, 0.8), reliability_band(500, LEVELS, 0.99)
    assert (outer[0] <= inner[0]).all()
    assert (inner[1] <= outer[1]).all()
    assert (outer[1] - outer[0]).mean() > 1.3 * (inner[1] - inner[0]).mean()
    assert pit_band(500, confidence=0.99)[1] > pit_band(500, confidence=0.8)[1]


def test_the_band_of_a_million_rows_is_the_limit_of_that_of_fewer():
    # the width in standard errors tends to that of a Brownian bridge
    widths = []
    for m in (10_000, 1_000_000):
        low, high = reliability_band(m, LEVELS)
        widths.append((high - low) / 2 * np.sqrt(m / (LEVELS * (1 - LEVELS))))
    np.testing.assert_allclose(widths[1], widths[1].mean(), rtol=0.01)
    assert widths[1].mean() == pytest.approx(widths[0].mean(), rel=0.01)


def test_the_recursion_over_levels_sums_to_one_without_a_band():
    # a confidence of nearly one: the path leaves so wide a band with a probability of 1e-9 at most
    m = 100_000
    low, high = reliability_band(m, LEVELS, 1 - 1e-9)
    assert (low < LEVELS).all()
    assert (high > LEVELS).all()
    assert high[99] - 0.5 < 8 * np.sqrt(0.25 / m)


@pytest.mark.parametrize("n", [None, 1, 30, 4000])
def test_local_bounds_are_quantiles_of_the_binomial_or_beta_binomial_distribution(n):
    p = np.array([0.001, 0.3, 0.5, 0.97])
    for m in (1, 7, 400, 30_000):
        distribution = bands._Counts(m, n)
        count = stats.binom(m, p) if n is None else stats.betabinom(m, (n + 1) * p, (n + 1) * (1 - p))
        for level in (1e-4, 0.011, 0.3, 0.97):
            low, high = bands._quantiles([distribution.tails(each) for each in p], level)
            np.testing.assert_array_equal(low, count.ppf(level / 2))
            assert (count.sf(high) <= level / 2 * (1 + 1e-9)).all()
            assert (count.sf(high - 1) > level / 2 * (1 - 1e-9)).all()


@pytest.mark.parametrize(("m", "n"), [(200_000, None), (100_000, 3000), (60_000, 60_000), (20_000, 100)])
def test_a_band_that_is_too_wide_to_compute_comes_out_the_same_from_fewer_rows(m, n, monkeypatch):
    fewer, fewer_counts = reliability_band(m, LEVELS, n=n), pit_band(m, n=n)
    monkeypatch.setattr(bands, "_WIDEST", 20_000)
    exact, counts = reliability_band(m, LEVELS, n=n), pit_band(m, n=n)
    width = exact[1] - exact[0]
    assert np.abs(np.array(fewer) - exact).max(0) / width == pytest.approx(0, abs=0.02)
    assert fewer_counts == pytest.approx(counts, abs=0.02 * (counts[1] - counts[0]))


@pytest.mark.parametrize(("n", "m"), [(500, 2000), (50, 50), (2000, 200), (20, 5000)])
def test_a_distribution_calibrated_on_n_rows_is_inside_the_band_of_n_rows(n, m):
    rng = np.random.default_rng(n)
    with_n, without = reliability_band(m, LEVELS, n=n), reliability_band(m, LEVELS)
    histogram, plain = pit_band(m, n=n), pit_band(m)
    draws, inside = 400, np.zeros(4)
    for _ in range(draws):
        calibrated = Calibrator(interpolator=Linear()).fit(Normal(np.zeros(n), 1.0), rng.laplace(size=n))
        pits = pit(calibrated(Normal(np.zeros(m), 1.0)), rng.laplace(size=m))
        path, counts = shares(pits), np.histogram(pits, 20, (0, 1))[0]
        for k, (low, high) in enumerate([with_n, without]):
            inside[k] += ((low <= path) & (path <= high)).all()
        for k, (low, high) in enumerate([histogram, plain], start=2):
            inside[k] += ((low <= counts) & (counts <= high)).all()
    inside /= draws
    assert 0.92 < inside[0] < 0.995
    assert 0.92 < inside[2] <= 1
    if m > n:
        assert inside[1] < 0.3
        assert inside[3] < 0.3


def test_bad_arguments_are_named():
    with pytest.raises(ValueError, match="m must be a count of rows, at least 1, got 0"):
        pit_band(0)
    with pytest.raises(ValueError, match="n must be a count of rows, at least 1, got -3"):
        pit_band(10, n=-3)
    with pytest.raises(ValueError, match="bins must be a count of at least 2, got 1"):
        pit_band(10, 1)
    with pytest.raises(ValueError, match=r"levels must increase strictly inside \[0, 1\], got \[0.5, 0.5\]"):
        reliability_band(10, [0.5, 0.5])
    for levels in ([], [[0.1, 0.9]]):
        with pytest.raises(ValueError, match=re.escape(f"levels must increase strictly inside [0, 1], got {levels}")):
            reliability_band(10, levels)
    with pytest.raises(ValueError, match="confidence must lie strictly inside"):
        reliability_band(10, [0.5], 1.0)


@pytest.mark.parametrize(("m", "n"), [(10, 3), (100, 400), (1, 1)])
def test_the_deviation_of_a_count_is_that_of_the_beta_binomial_distribution(m, n):
    """The share of m new scores below level p of n calibrated ones is a beta-binomial draw."""
    for p in (0.1, 0.5):
        distribution = stats.betabinom(m, (n + 1) * p, (n + 1) * (1 - p))
        assert bands._Counts(m, n).deviation(p) == pytest.approx(distribution.std(), rel=1e-12)
        assert bands._Counts(m, None).deviation(p) == pytest.approx(stats.binom(m, p).std(), rel=1e-12)


# ---- the p-value of a band -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [None, 20])
def test_the_p_value_is_the_risk_from_which_the_band_excludes_the_shares(n):
    rng, levels = np.random.default_rng(12), np.arange(1, 20) / 20
    pvalues = []
    for _ in range(400):
        pit = rng.random(60)
        if n is not None:  # of a distribution through n scores: between them the shares are a Dirichlet draw
            pit = np.interp(pit, np.r_[0, np.cumsum(rng.dirichlet(np.full(20, (n + 1) / 20)))], np.arange(21) / 20)
        shares = np.mean(pit[:, None] <= levels, axis=0)
        pvalues.append(band_pvalue(shares, 60, levels, n=n))
        low, high = reliability_band(60, levels, 0.9, n=n)
        excluded = bool(((shares < low - 1e-12) | (shares > high + 1e-12)).any())
        assert excluded == (pvalues[-1] <= 0.1)
    share = np.mean(np.array(pvalues) <= 0.1)
    assert 0.05 < share <= 0.1 + 3 * (0.1 * 0.9 / 400) ** 0.5


@pytest.mark.parametrize("m", [10**6, 10**7])
def test_the_p_value_agrees_with_the_band_where_both_are_approximate(m):
    levels = np.arange(1, 20) / 20
    low, high = reliability_band(m, levels, 0.99)
    assert band_pvalue(levels, m, levels) == 1
    assert band_pvalue(np.where(levels == 0.5, high + 2e-5, levels), m, levels) <= 0.011
    assert band_pvalue(np.where(levels == 0.5, low + 2e-5, levels), m, levels) >= 0.009
