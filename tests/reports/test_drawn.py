"""The forecasts of single rows: what the page draws of them, in whole numbers that are put together again here."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import stats

from calibrant import Calibrator, Ensemble, Interval, Normal, Point, Quantiles, Samples
from calibrant.distributions import Poisson, StudentT
from calibrant.interpolators import NAF, Naive
from calibrant.judging.part import LEVELS
from calibrant.judging.rows import forecast_rows
from calibrant.reports.drawn import drawn_rows, smoothed


def drawn(H, y=None, base=None):
    """The rows as the page has them, in numbers: the forecast first, its base second."""
    y = np.zeros(len(H)) if y is None else y
    sides = [forecast_rows(each, y, 0.9) for each in (H, base) if each is not None]
    rows = drawn_rows(sides, np.arange(len(y)))
    for row in rows:
        unit = 10.0 ** row["power"]
        row["y"] *= unit
        for side in row["of"]:
            for mark in side.get("marks", []):
                mark["at"] *= unit
            if "q" in side:
                side["q"] = np.cumsum(side["q"]) * unit if None not in side["q"] else side["q"]
                side["from"], side["to"] = side["from"] * unit, side["to"] * unit
                side["density"] = np.array(side["density"]) * side["peak"] / 9999
                side["atoms"] = [(at * unit, share) for at, share in side.get("atoms", [])]
    return rows


def first(H):
    return drawn(H)[0]["of"][0]


def test_quantiles_and_densities_are_those_of_the_forecast():
    H = Normal([0.3, -5.0], [1.0, 0.01])
    for row, mean, scale in zip(drawn(H), [0.3, -5.0], [1.0, 0.01], strict=True):
        side = row["of"][0]
        np.testing.assert_allclose(side["q"], stats.norm.ppf(LEVELS, mean, scale), atol=1e-4 * scale)
        edges = np.linspace(side["from"], side["to"], 101)
        means = np.diff(stats.norm.cdf(edges, mean, scale)) / np.diff(edges)
        np.testing.assert_allclose(side["density"], means, atol=2e-4 * side["peak"])


@pytest.mark.parametrize("far", [1e9, 101_325.0])
def test_labels_far_from_zero_keep_the_digits_that_their_distributions_need(far):
    f = far + np.random.default_rng(24).normal(size=50)
    for row, y in zip(drawn(Normal(np.full(50, far), 1.0), f, Point(f)), f, strict=True):
        np.testing.assert_allclose(row["of"][0]["q"] - far, stats.norm.ppf(LEVELS), atol=1e-3)
        assert row["y"] == pytest.approx(y, abs=1e-3)
        assert row["of"][1]["marks"][0]["at"] == pytest.approx(y, abs=1e-3)


def test_a_label_on_an_atom_is_on_it_after_rounding_too():
    rng = np.random.default_rng(26)
    f = 123.456789 + 0.1 * rng.normal(size=50)
    y = np.minimum(f + rng.normal(size=50), 123.456789)
    wide, narrow = (Normal(f, scale).clip(0, 123.456789) for scale in (8.0, 0.3))
    capped = [row for row in drawn(wide, y, narrow) if y[0] <= row["y"] and abs(row["y"] - 123.456789) < 1e-4]
    assert len(capped) > 10
    assert all(row["y"] == pytest.approx(side["q"][-1], abs=1e-9) for row in capped for side in row["of"])


def test_quantiles_at_infinity_are_none():
    H = Calibrator(interpolator=Naive()).fit(np.zeros(9), np.arange(9.0))(np.zeros(1))
    wide = drawn_rows([forecast_rows(H, np.zeros(1), 0.9)], np.arange(1))[0]["of"][0]["q"]
    assert len(wide) == 199
    assert [step is None for step in wide] == (~np.isfinite(H.quantiles(LEVELS)[0])).tolist()


def test_a_heavy_tail_is_cut_where_it_would_leave_a_spike():
    H = StudentT(np.array([1.3]), np.zeros(1), 1.0)
    side, inner = first(H), H.quantiles(np.array([0.05, 0.95]))[0]
    assert side["q"][0] < side["from"] == pytest.approx(-side["to"], rel=1e-3)
    assert side["to"] < 4 * inner[1]
    light = first(Normal([0.0], 1.0))
    assert light["from"] < light["q"][0]


def test_an_atom_is_drawn_apart_and_the_density_is_of_the_rest():
    H = Normal([0.3, 5.0, -4.0], 1.0).clip(lower=0.0)
    for k, row in enumerate(drawn(H)):
        side = row["of"][0]
        edges = np.linspace(side["from"], side["to"], len(side["density"]) + 1)
        smooth = np.diff(stats.norm.cdf(edges, H.base.loc[k], 1.0)) / np.diff(edges)
        above = edges[:-1] > 1e-9
        np.testing.assert_allclose(side["density"][above], smooth[above], atol=2e-4 * side["peak"] + 1e-6)
        assert not side["density"][edges[1:] <= 0].any()
        share = stats.norm.cdf(0.0, H.base.loc[k], 1.0)
        assert side["atoms"] == ([(0.0, pytest.approx(share, rel=1e-4))] if share > 0.01 else [])


def test_both_ends_may_be_atoms_and_steps_show_what_is_far_above_the_others():
    assert [at for at, _ in first(Normal([0.5], 1.0).clip(0.0, 1.0))["atoms"]] == [0.0, pytest.approx(1.0)]
    y = np.maximum(np.random.default_rng(40).normal(size=150), 0.0)
    steps = Calibrator(interpolator=Naive()).fit(np.zeros(150), y)(np.zeros(1)).clip(lower=0.0)
    assert first(steps)["atoms"] == [(0.0, pytest.approx(np.mean(y == 0), abs=0.02))]
    few = Calibrator(interpolator=Naive()).fit(np.zeros(10), np.arange(10.0))(np.zeros(1))
    assert first(few)["atoms"] == []  # ten steps are no atom among others


def test_a_distribution_that_is_one_value_has_room_on_both_sides():
    H = Calibrator(interpolator=Naive()).fit(np.zeros(20), np.zeros(20))([0.0, 10.0])
    ends = [(side["from"], side["to"], side["atoms"]) for side in (row["of"][0] for row in drawn(H))]
    assert ends == [(-1.0, 1.0, [(0.0, 1.0)]), (9.5, 10.5, [(10.0, 1.0)])]


def test_a_count_is_a_bar_around_each_value_and_its_cdf_starts_at_zero():
    side = first(Poisson([3.0]))
    assert (side["q"][0], side["q"][-1], side["start"]) == (0, 8, 0)
    assert (side["from"], side["to"], side["step"]) == (pytest.approx(-1.5), pytest.approx(9.5), 1)
    np.testing.assert_allclose(side["density"], stats.poisson.pmf(np.arange(-1, 10), 3.0), atol=2e-5)


def test_a_hundred_counts_are_a_hundred_bars_and_more_are_put_together():
    side, more = first(Poisson([248.0])), first(Poisson([252.0]))
    assert (side["from"], side["to"]) == (pytest.approx(198.5), pytest.approx(298.5))
    np.testing.assert_allclose(side["density"], stats.poisson.pmf(np.arange(199, 299), 248.0), atol=1e-5)
    assert (more["from"], more["to"]) == (pytest.approx(202.5), pytest.approx(304.5))
    pairs = stats.poisson.pmf(np.arange(203, 305), 252.0).reshape(51, 2).mean(axis=1)
    np.testing.assert_allclose(more["density"], pairs, atol=1e-5)


@pytest.mark.parametrize("heavy", [False, True])
def test_a_rough_density_is_smoothed_and_keeps_its_height_and_its_mass(heavy):
    rng = np.random.default_rng(30)
    true = stats.t(1.3) if heavy else stats.norm
    f = rng.normal(size=2000)
    noise = rng.standard_t(1.3, 2000) if heavy else rng.normal(size=2000)
    side = first(Calibrator().fit(Point(f), f + noise)(Point(f[:1])))
    edges = np.linspace(side["from"], side["to"], 101) - f[0]
    means = np.diff(true.cdf(edges)) / np.diff(edges)
    assert side["density"].sum() * (edges[1] - edges[0]) == pytest.approx(1, abs=0.02)
    assert side["density"].max() == pytest.approx(means.max(), rel=0.15)
    if not heavy:
        assert side["smoothed"]
        rises = np.sign(np.diff(side["density"]))[side["density"][1:] > 0.05]
        assert np.sum(np.abs(np.diff(rises)) > 0) <= 3  # no comb


def test_a_smooth_density_is_left_as_it_is_and_a_smoothed_one_stays_zero_beyond_its_ends():
    rng = np.random.default_rng(31)
    f = rng.normal(size=99)
    assert "smoothed" not in first(Normal([0.0], 1.0))
    assert "smoothed" not in first(Calibrator(interpolator=NAF()).fit(f, f + rng.normal(size=99))([0.0]))
    density = np.concatenate([np.zeros(20), rng.gamma(1.0, size=60), np.zeros(20)])
    even = smoothed(density, 7)
    assert not even[[*range(20), *range(80, 100)]].any()
    assert even.sum() == pytest.approx(density.sum())
    assert smoothed(density, np.inf) is None


def test_a_base_that_is_no_distribution_has_marks():
    rng = np.random.default_rng(23)
    f, y = rng.normal(size=30), rng.normal(size=30)
    marks = {
        "point": Point(f),
        "lower": Interval(f - 1, f + 1),
        "quantile 0.05": Quantiles([0.05, 0.95], np.stack([f - 1, f + 1], 1)),
        "sample": Samples(rng.normal(size=(30, 200))),
        "member 1: point": Ensemble([Point(f), Point(f + 1)]),
    }
    for text, base in marks.items():
        found = drawn(Normal(f, 1.0), y, base)[3]["of"][1]["marks"]
        assert (found[0]["text"], len(found) <= 50) == (text, True)
        if text != "sample":
            assert found[0]["at"] == pytest.approx(f[3] - ("point" not in text), abs=1e-3)
