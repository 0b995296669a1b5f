"""The report: what it computes, what it says, and that nothing in it is more than text."""

from __future__ import annotations

import json
import os
import re
from dataclasses import replace
from html import unescape
from types import SimpleNamespace

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
import torch
from scipy import integrate, stats
from systems import on_posix

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    Interval,
    Normal,
    Point,
    Quantiles,
    Samples,
    metrics,
    report,
)
from calibrant.diagnosis import diagnose, over_time
from calibrant.diagnosis.overall import overall_of
from calibrant.distributions import Poisson, StudentT
from calibrant.files import FileError
from calibrant.interpolators import NAF, InfiniteTails, Linear, Naive, Random
from calibrant.labels import Counts
from calibrant.metrics.bands import share_interval
from calibrant.metrics.by_slice import LEVELS
from calibrant.metrics.rounding import fixed, percent, rounded, shown
from calibrant.metrics.slices import all_rows
from calibrant.predictions import Rates
from calibrant.reports import bootstrap
from calibrant.reports.bootstrap import Bootstrap, Estimate, basic
from calibrant.reports.curves import COVERAGES, bins, curves
from calibrant.reports.groups import groupings
from calibrant.reports.notes import notes
from calibrant.reports.page import number, page
from calibrant.reports.rows import chosen_rows, drawn_rows, finest
from calibrant.reports.scored_forecast import scored_forecast
from calibrant.reports.smooth import WINDOW, smoothed, window_of
from calibrant.reports.table import Comparison, TableLine
from calibrant.reports.tiles import _change, _coverage, small_picture
from calibrant.scores import CDFScore

N, M = 400, 600


def forecasts(m, rng, factor=1.0, shift=0.0):
    """Forecasts whose spread is `factor` times the right one and whose mean is `shift` off, and labels."""
    f, s = rng.normal(size=m), rng.uniform(0.5, 2, m)
    return Normal(f + shift, s * factor), f + s * rng.normal(size=m)


def calibrated_on(n, rng, factor=0.5, calibrator=None):
    return (calibrator or Calibrator()).fit(*forecasts(n, rng, factor))


def data_of(page):
    found = re.search(r'<script type="application/json" id="data">(.*?)</script>', page.html, re.DOTALL)
    return json.loads(found.group(1))


DISTRIBUTION_CASES = {
    "linear": lambda rng: Calibrator(),
    "naive": lambda rng: Calibrator(interpolator=Naive()),
    "random": lambda rng: Calibrator(CDFScore(), Random()),
    "naf": lambda rng: Calibrator(interpolator=NAF()),
    "infinite tails": lambda rng: Calibrator(interpolator=Linear(InfiniteTails())),
    "cdf score": lambda rng: Calibrator(CDFScore()),
}


def distribution_of(name, m=M, n=99):
    """A distribution a row and labels; n + 1 and n share divisors with the levels, so that steps end at levels."""
    rng = np.random.default_rng(7)
    base, y = forecasts(m, rng, 0.5)
    if name == "clipped":
        return calibrated_on(n, rng)(base).clip(-0.5, 1.0), np.clip(y, -0.5, 1.0)
    if name == "naive, 100 rows":
        return calibrated_on(100, rng, 0.5, Calibrator(interpolator=Naive()))(base), y
    if name == "folds":
        members = tuple(calibrated_on(n, rng) for _ in range(3))
        return CrossCalibrated(members)([base, base, base]), y
    if name == "torch":
        H = calibrated_on(n, rng)(base)
        return H.to(torch.zeros(1, dtype=torch.float64)), torch.asarray(y)
    if name == "one distribution":
        return Normal(0.0, 1.5), y
    if name == "normal":
        return base, y
    return calibrated_on(n, rng, 0.5, DISTRIBUTION_CASES[name](rng))(base, rng=rng), y


NAMES = [*DISTRIBUTION_CASES, "clipped", "naive, 100 rows", "folds", "torch", "one distribution", "normal"]


@pytest.mark.parametrize("name", NAMES)
def test_the_columns_and_curves_are_those_of_the_metrics(name):
    H, y = distribution_of(name)
    side = scored_forecast(H, np.asarray(y), 0.9)
    mean = {name: float(np.mean(values)) for name, values in side.columns.items()}
    for ours, theirs in (
        ("nll", metrics.nll(H, y)),
        ("crps", metrics.crps(H, y)),
        ("std", metrics.std(H)),
        ("width", metrics.ci_width(H, 0.9)),
        ("covered", metrics.coverage(H, y, 0.9)),
        ("interval_score", metrics.interval_score(H, y, 0.9)),
        ("pit", metrics.pit(H, y).mean()),
    ):
        assert mean[ours] == pytest.approx(float(theirs), rel=1e-12), ours
    (drawn,) = curves(side, [all_rows(M)])
    for k in (9, 49, 79, 89, 94, 98):
        assert drawn.covered[k] == pytest.approx(float(metrics.coverage(H, y, COVERAGES[k])), abs=1e-12)
        assert drawn.width[k] == pytest.approx(float(metrics.ci_width(H, COVERAGES[k])), rel=1e-9, nan_ok=True)
    assert drawn.crps == pytest.approx(mean["crps"], rel=1e-9)
    assert drawn.pit.sum() == M
    if name not in ("clipped", "naive", "naive, 100 rows"):
        pits = np.asarray(metrics.pit(H, y))
        np.testing.assert_allclose(drawn.below, (pits[:, None] <= LEVELS).mean(axis=0), atol=1e-12)
        np.testing.assert_array_equal(drawn.pit, np.histogram(pits, 20, (0, 1))[0])


def test_the_blocks_of_many_rows_fit_together(monkeypatch):
    H, y = distribution_of("linear")
    whole = scored_forecast(H, y, 0.9)
    monkeypatch.setattr("calibrant.reports.scored_forecast.BLOCK", 64)
    parts = scored_forecast(H, y, 0.9)
    for name, values in whole.columns.items():
        np.testing.assert_array_equal(values, parts.columns[name])


def test_the_pit_of_an_atom_is_drawn_over_its_jump_and_is_then_uniform():
    rng = np.random.default_rng(0)
    f = rng.normal(size=4000)
    y = np.clip(f + rng.normal(size=4000), 0.0, np.inf)
    side = scored_forecast(Normal(f, 1.0).clip(lower=0.0), y, 0.9)
    assert stats.kstest(side.forecast.cdf(y), "uniform").pvalue < 1e-9
    assert stats.kstest(side.drawn, "uniform").pvalue > 0.01


def test_slices_have_the_curves_of_their_own_rows():
    H, y = distribution_of("linear")
    rng = np.random.default_rng(1)
    groups = {"region": rng.choice(["north", "south"], M), "x": rng.normal(size=M)}
    slices = groupings(groups, M)
    found = curves(scored_forecast(H, y, 0.9), [all_rows(M), *slices])
    assert [each.m for each in found[:3]] == [M, *np.bincount(groups["region"] == "south")]
    rows = groups["region"] == "south"
    alone = curves(scored_forecast(H[rows], y[rows], 0.9), [all_rows(int(rows.sum()))])[0]
    south = found[2]
    np.testing.assert_allclose(south.below, alone.below)
    np.testing.assert_allclose(south.covered, alone.covered)
    np.testing.assert_allclose(south.width, alone.width)
    np.testing.assert_array_equal(south.pit, alone.pit)
    assert south.crps == pytest.approx(alone.crps)


def test_widths_of_many_rows_come_from_some_and_small_slices_have_theirs():
    rng = np.random.default_rng(2)
    base, y = forecasts(30_000, rng)
    rare = np.zeros(30_000)
    rare[:5] = 1
    side = scored_forecast(base, y, 0.9)
    found = curves(side, [all_rows(30_000), *groupings(rare, 30_000)])
    assert found[0].width[89] == pytest.approx(metrics.ci_width(base, 0.9), rel=0.02)
    assert found[2].m == 5
    assert found[2].width[89] == pytest.approx(metrics.ci_width(base[:5], 0.9))


# ---- intervals -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("m", [40, 6000])
def test_bootstrap_intervals_of_a_mean_hold_it_as_often_as_they_say(m):
    rng = np.random.default_rng(m)
    draws = Bootstrap(m)
    hits = []
    for _ in range(300):
        values = rng.gamma(4.0, size=m)
        low, high = basic(values.mean(), values.mean(), draws.means(values))
        hits.append(low <= 4.0 <= high)
    assert 0.90 < np.mean(hits) < 0.985


def test_bags_of_rows_vary_as_rows_do(monkeypatch):
    values = np.random.default_rng(3).exponential(size=5000)
    rows = Bootstrap(5000).means(values).std()
    monkeypatch.setattr(bootstrap, "ROWS", 1000)
    bags = Bootstrap(5000).means(values).std()
    exact = values.std() / np.sqrt(5000)
    assert rows == pytest.approx(exact, rel=0.1)
    assert bags == pytest.approx(exact, rel=0.1)


@pytest.mark.few(1)
@pytest.mark.parametrize(("a", "least"), [(1.0, 0.85), (0.7, 0.85), (2.0, 0.88)])
def test_intervals_of_the_calibration_error_hold_the_true_one_and_reach_zero_if_that_is_it(a, least):
    # PITs of a symmetric beta distribution have a known ECE; near 0, where it has a kink, intervals are a little short
    true, _ = integrate.quad(lambda c: abs(stats.beta.cdf(c, a, a) - c), 0, 1, points=[0.5])
    rng = np.random.default_rng(4)
    draws, hits = Bootstrap(200), []
    for _ in range(200):
        pits = rng.beta(a, a, 200)
        centre, replicates = draws.eces(pits)
        low, high = basic(metrics.calibration.ece_of(np.sort(pits)), centre, replicates, 0.0, 0.5)
        hits.append(low <= true <= high)
    assert np.mean(hits) > least


def test_the_error_on_a_grid_is_the_error_up_to_the_grid():
    pits = np.random.default_rng(5).beta(0.5, 0.8, 2000)
    grid, _ = Bootstrap(2000).eces(pits)
    assert grid == pytest.approx(metrics.calibration.ece_of(np.sort(pits)), abs=1e-3)


@pytest.mark.few(2)
@pytest.mark.parametrize("factor", [1.0, 0.4, "even", "far off"])
def test_the_interval_of_the_calibration_error_in_the_table_is_the_basic_one_drawn_by_hand(factor):
    rng = np.random.default_rng(7)
    m = 30
    base, y = forecasts(m, rng, factor if isinstance(factor, float) else 1.0)
    if factor == "even":  # less than chance makes them, so that the debiased error is negative
        y = base.ppf((rng.permutation(m) + 0.5) / m)
    if factor == "far off":  # nearly 1/2, the largest error that there is: the interval ends there
        y = base.ppf(np.where(np.arange(m) < 2, 0.6, 1e-6))
    pits = base.cdf(y)

    def error(rows, counts):
        """The mean distance over the levels and one more place, which is exact: the share below level 1 is 1."""
        below = np.array([counts[rows <= level].sum() for level in LEVELS]) / m
        return np.abs(below - LEVELS).sum() / (LEVELS.size + 1)

    rows = np.random.default_rng(2).multinomial(m, np.full(m, 1 / m), bootstrap.REPLICATES)
    drawn = np.array([error(pits, counts) for counts in rows]) - error(pits, np.ones(m))
    plain = metrics.calibration.ece_of(np.sort(pits))
    low, high = (float(np.clip(plain - np.quantile(drawn, level), 0.0, 0.5)) for level in (0.975, 0.025))
    found = Comparison(None, scored_forecast(base, y, 0.9), 0.9).lines["ece"].after
    debiased = plain - metrics.calibration.expected_ece(m)
    assert found.value == pytest.approx(debiased)
    assert (found.low, found.high) == pytest.approx((min(low, debiased), max(high, debiased)))
    few = Comparison(None, scored_forecast(base[:9], y[:9], 0.9), 0.9).lines["ece"].after
    assert (few.low, few.high) == (None, None)
    ten = Comparison(None, scored_forecast(base[:10], y[:10], 0.9), 0.9).lines["ece"].after
    assert ten.low < ten.high


def test_no_calibration_error_is_said_to_be_larger_than_a_half():
    """Of all PITs at 0 it is a half. Draws of one PIT in 20 that is not vary by more than is left."""
    pits = np.where(np.arange(20) < 1, 0.3, 1e-6)
    distribution = Normal(np.zeros(20), 1.0)
    found = Comparison(None, scored_forecast(distribution, distribution.ppf(pits), 0.9), 0.9).lines["ece"].after
    assert found.low < 0.49 < found.high == 0.5


def test_the_interval_of_a_share_is_that_of_scipy():
    for count, m in ((0, 10), (3, 10), (10, 10), (1, 1), (890, 1000)):
        exact = stats.binomtest(count, m).proportion_ci(method="exact")
        assert share_interval(count, m) == pytest.approx((exact.low, exact.high))


def test_the_change_is_paired():
    # the same labels serve both sides: the difference is far surer than either
    rng = np.random.default_rng(6)
    base, y = forecasts(2000, rng)
    worse = Normal(base.loc, base.scale * 1.3)
    lines = Comparison(scored_forecast(worse, y, 0.9), scored_forecast(base, y, 0.9), 0.9).lines
    crps = lines["crps"]
    assert crps.outcome == "better"
    assert crps.change.high - crps.change.low < 0.3 * (crps.after.high - crps.after.low)
    assert lines["nll"].outcome == "better"
    assert lines["covered"].outcome == "better"
    assert lines["ece"].outcome == "better"
    assert lines["width"].outcome is None
    narrow = Comparison(
        scored_forecast(Normal(base.loc, 0.7 * base.scale), y, 0.9), scored_forecast(base, y, 0.9), 0.9
    ).lines
    assert narrow["covered"].outcome == "better"  # the target is nearer, from either side
    swapped = Comparison(scored_forecast(base, y, 0.9), scored_forecast(worse, y, 0.9), 0.9).lines
    assert {name: line.outcome for name, line in swapped.items() if line.outcome} == dict.fromkeys(
        ["nll", "crps", "interval_score", "covered", "ece"], "worse"
    )
    same = Comparison(scored_forecast(base, y, 0.9), scored_forecast(base, y, 0.9), 0.9).lines
    assert {line.outcome for line in same.values()} == {"same", None}


def test_the_table_has_what_both_sides_say():
    rng = np.random.default_rng(8)
    base, y = forecasts(M, rng)
    H = calibrated_on(N, rng)(base)
    after = scored_forecast(H, y, 0.9)
    f, s = base.loc, base.scale
    kinds = {
        "distribution": (base, {"nll", "crps", "interval_score", "covered", "width", "std", "ece", "gap"}),
        "point": (Point(f), {"crps"}),
        "interval": (Interval(f - s, f + s), set()),
        "quantiles": (Quantiles([0.05, 0.95], np.stack([f - s, f + s], 1)), {"interval_score", "covered", "width"}),
        "samples": (Samples(base.sample(7, rng)), {"crps", "std"}),
        "ensemble": (Ensemble([Point(f), base]), set()),
    }
    for kind, (prediction, said) in kinds.items():
        lines = Comparison(scored_forecast(prediction, y, 0.9), after, 0.9).lines
        assert {name for name, line in lines.items() if line.before is not None} == said, kind
        assert all(line.change is not None for name, line in lines.items() if name in said)


def test_infinite_numbers_are_said_and_have_no_interval():
    rng = np.random.default_rng(9)
    base, y = forecasts(M, rng)
    H = calibrated_on(N, rng, 0.5, Calibrator(CDFScore(), Random()))(base, rng=rng)
    lines = Comparison(scored_forecast(base, y, 0.9), scored_forecast(H, y, 0.9), 0.9).lines
    for name in ("nll", "crps", "std"):
        assert lines[name].after.value == np.inf
        assert lines[name].after.low is None
        assert lines[name].change.value == np.inf
    assert lines["nll"].outcome == "worse"
    both = Comparison(scored_forecast(H, y, 0.9), scored_forecast(H, y, 0.9), 0.9).lines["nll"]
    assert both.outcome is None
    assert "∞" in report(H, y, base=base).html


def test_every_number_of_the_table_lies_in_its_interval():
    rng = np.random.default_rng(10)
    for m in (10, 50, 300):
        base, y = forecasts(m, rng, 0.8)
        H = calibrated_on(N, rng)(base)
        for line in Comparison(scored_forecast(base, y, 0.8), scored_forecast(H, y, 0.8), 0.8).lines.values():
            for estimate in (line.before, line.after, line.change):
                if estimate.low is not None:
                    assert estimate.low <= estimate.value <= estimate.high, line.label


# ---- the verdict ---------------------------------------------------------------------------------------------------


def kinds(page):
    return [statement.kind for statement in page.verdict]


def test_an_overconfident_base_and_a_calibrated_distribution_are_called_what_they_are():
    rng = np.random.default_rng(11)
    calibrated = calibrated_on(1000, rng, 0.4)
    base, y = forecasts(4000, rng, 0.4)
    good = report(calibrated(base), y, base=base, guarantee=calibrated.guarantee)
    assert good.verdict[0].kind == "good"
    assert "as well calibrated as 1,000 calibration rows can make them" in good.verdict[0].text
    assert good.verdict[1].kind == "good"
    assert "bad" not in kinds(good)
    assert any("CRPS fell" in said.text for said in good.verdict)
    assert any("intervals are wider" in said.text for said in good.verdict)
    bad = report(base, y)
    assert kinds(bad)[:2] == ["bad", "bad"]
    assert "not calibrated on these rows" in bad.verdict[0].text
    assert "too few" in bad.verdict[1].text


def test_a_perfect_base_is_left_as_good():
    rng = np.random.default_rng(121)
    base, y = forecasts(3000, rng)
    calibrated = calibrated_on(2000, rng, 1.0)
    page = report(calibrated(base), y, base=base, guarantee=calibrated.guarantee)
    assert any("calibrated already" in statement.text for statement in page.verdict)
    assert "bad" not in kinds(page)


def test_a_biased_distribution_and_one_that_is_too_wide_are_found():
    rng = np.random.default_rng(13)
    biased, y = forecasts(2000, rng, shift=0.7)
    assert "not calibrated" in report(biased, y).verdict[0].text
    wide, y = forecasts(2000, rng, factor=2.0)
    said = report(wide, y).verdict[1]
    assert said.kind == "warn"
    assert "wider than necessary" in said.text


def test_a_calibrated_distribution_is_rarely_blamed():
    rng = np.random.default_rng(14)
    blamed = 0
    for _ in range(25):
        calibrated = calibrated_on(100, rng)
        base, y = forecasts(400, rng, 0.5)
        groups = np.arange(400) % 3
        page = report(calibrated(base), y, groups=groups, guarantee=calibrated.guarantee, rows=[0])
        blamed += any("not calibrated" in s.text or "groups are off" in s.text for s in page.verdict)
    assert blamed <= 5


def test_a_million_rows_that_show_a_small_gap_say_that_it_is_small():
    rng = np.random.default_rng(15)
    m = 200_000
    said = report(Normal(np.zeros(m), 1.0), rng.normal(0.02, 1.0, m)).verdict[0]
    assert said.kind == "warn"
    assert "nearly calibrated" in said.text


def test_atoms_are_no_fault():
    rng = np.random.default_rng(16)
    f = rng.normal(size=3000)
    y = np.clip(f + rng.normal(size=3000), 0.0, np.inf)
    page = report(Normal(f, 1.0).clip(lower=0.0), y)
    assert page.verdict[0].kind == "good"
    assert page.verdict[1].kind == "good"
    assert "With ties at the ends of the intervals split, it is " in page.verdict[1].text


# Words and charts agree


def folds(n, spread, m=2000, seed=50):
    """Folds whose distributions are `spread` apart: their mean is wide."""
    rng = np.random.default_rng(seed)
    members = tuple(Calibrator().fit(np.zeros(n), rng.normal(size=n)) for _ in range(5))
    cross = CrossCalibrated(members)
    return cross([np.full(m, k * spread) for k in (-2, -1, 0, 1, 2)]), cross.guarantee, rng.normal(size=m)


@pytest.mark.slow
def test_folds_that_are_wide_are_not_blamed_and_nothing_false_is_said_of_them():
    H, guarantee, y = folds(200, 0.5)
    page = report(H, y, guarantee=guarantee, time=np.arange(2000))
    assert not {"bad", "warn"} & set(kinds(page))
    assert page.verdict[0].text.startswith("The forecasts are wider than necessary, as the mean over folds is: 9")
    assert "bounds how many labels lie in the tails, not how few" in page.verdict[0].text
    assert "wider than necessary, as the mean over folds is." in page.verdict[1].text
    assert not any("trained on the calibration rows" in said.text for said in page.verdict)
    (time,) = [said.text for said in page.verdict if said.text.startswith("Over time")]
    assert "off by more than chance allows, but for some that are too wide" in time
    data = data_of(page)
    assert {(each["off"], each["direction"]) for each in data["time"]} >= {(False, "wide")}
    assert not any(each["interval"]["off"] for each in data["slices"])
    blamed = report(H, y, time=np.arange(2000))  # a forecast that is not known to be of folds
    assert "bad" in kinds(blamed)


def test_folds_that_are_narrow_or_biased_are_blamed_and_their_guarantee_is_said():
    H, guarantee, y = folds(200, 0.0)
    for labels in (2 * y, y - 1):
        page = report(H, labels, guarantee=guarantee)
        assert page.verdict[0].kind == "bad"
        assert not any("trained on the calibration rows" in said.text for said in page.verdict)
        level, side, allowed = re.search(
            r"at level ([\d.]+), .* it allows ([\d.]+)% of the labels (below|above)", page.verdict[0].text
        ).group(1, 3, 2)
        tail = min(float(level), 1 - float(level))
        assert side == ("below" if float(level) < 0.5 else "above")
        assert float(allowed) == pytest.approx(100 * (2 * tail + guarantee.epsilon), abs=0.1)


def test_the_share_that_is_judged_is_said_where_labels_are_tied():
    rng = np.random.default_rng(51)
    y = rng.poisson(3, 4000).astype(float)
    page = report(Poisson(np.full(4000, 3.0)), y)
    held = data_of(page)["slices"][0]["interval"]
    whole = metrics.coverage(Poisson(np.full(4000, 3.0)), y, 0.9)
    assert page.verdict[1].kind == "good"
    assert f"hold {100 * whole:.1f}%" in page.verdict[1].text
    part = f"{fixed(100 * held['part'], 1)}%"
    assert f"With ties at the ends of the intervals split, it is {part}, which is what" in page.verdict[1].text
    assert held["share"] == rounded(whole)
    assert held["part"] == pytest.approx(0.9, abs=0.015) != pytest.approx(whole, abs=0.015)
    few = report(Poisson(np.full(4000, 3.0)), rng.negative_binomial(6, 2 / 3, 4000).astype(float)).verdict[1]
    judged, low = re.search(
        r"split, it is ([\d.]+)%, which is .* That is too few, where chance allows ([\d.]+)%", few.text
    ).groups()
    assert float(judged) < float(low)


def test_the_largest_gap_is_one_number_in_words_chart_and_table():
    rng = np.random.default_rng(52)
    calibrated = calibrated_on(300, rng)
    base, y = forecasts(700, rng, 0.5)
    page = report(calibrated(base), y, base=base, guarantee=calibrated.guarantee)
    after, before = (data_of(page)["slices"][0][side]["gap"] for side in ("after", "before"))
    first = page.verdict[0].text
    assert f"the largest gap is {shown(after)}, at level" in first
    assert f"Before calibration the largest gap was {shown(before)}." in first
    cells = re.search(r"Calibration error, largest.*?</tr>", page.html, re.DOTALL).group()
    assert f"<td>{shown(before)}</td>" in cells.replace("\n", "")
    assert f"<td>{shown(after)}</td>" in cells.replace("\n", "")
    level, allowed = map(float, re.search(r"at level ([\d.]+), where .*?(0\.\d+)", first).groups())
    one, at = data_of(page)["slices"][0], round(200 * level) - 1
    above = one["after"]["below"][at] > level
    end = one["band"]["below"]["high" if above else "low"][at]
    assert allowed == pytest.approx(abs(end - level), abs=5e-4)


def test_the_bars_of_groups_are_what_the_verdict_goes_by():
    rng = np.random.default_rng(53)
    calibrated = calibrated_on(300, rng)
    base, y = forecasts(900, rng, 0.5)
    group = np.where(np.arange(900) < 15, "few", np.where(np.arange(900) < 300, "off", "usual"))
    y = np.where(group == "off", base.loc + 3 * (y - base.loc), y)
    page = report(calibrated(base), y, groups=group, guarantee=calibrated.guarantee)
    held = {each["value"]: each["interval"] for each in data_of(page)["slices"]}
    assert held["few"] is None
    assert (held["off"]["off"], held["usual"]["off"]) == (True, False)
    said = next(each.text for each in page.verdict if "groups are off" in each.text or "groups is off" in each.text)
    off = held["off"]
    numbers = [f"{100 * off[key]:.1f}%" for key in ("share", "low", "high")]
    assert f"{numbers[0]} of the labels with group = off (285 rows; chance allows {numbers[1]} to {numbers[2]})" in said


def test_the_error_of_points_is_called_by_its_name():
    rng = np.random.default_rng(54)
    base, y = forecasts(M, rng)
    page = report(calibrated_on(N, rng)(base), y, base=Point(base.loc))
    error = np.mean(np.abs(y - base.loc))
    assert any(f"from {shown(error)}, the mean absolute error of the points, to" in said.text for said in page.verdict)
    assert "CRPS (before: mean absolute error of the points)" in page.html
    assert "mean absolute error" not in report(base, y, base=base).html


def test_shares_are_in_percent_in_words_and_table():
    rng = np.random.default_rng(55)
    base, y = forecasts(2000, rng, 0.5)
    page = report(base, y, base=Normal(base.loc, 0.8 * base.scale))
    assert re.search(
        r"[\d.]+% of the labels lie below the quantile at level [\d.]+, where chance allows [\d.]+% to", str(page)
    )
    share = f"{100 * metrics.coverage(base, y, 0.9):.1f}%"
    assert share in page.verdict[1].text
    assert share in re.search(r"90% interval coverage.*?</tr>", page.html, re.DOTALL).group()


# Over time


def changed(m=2000, at=1300, shift=1.0, factor=1.0, n=500):
    """A calibrated forecast, labels that change in row `at`, and a day for every 10 rows."""
    rng = np.random.default_rng(31)
    calibrated = calibrated_on(n, rng)
    base, y = forecasts(m, rng, 0.5)
    late = np.arange(m) >= at
    y = np.where(late, base.loc + (y - base.loc) * factor + shift * base.scale * 2, y)
    return calibrated, base, y, np.datetime64("2024-01-01") + np.arange(m) // 10


@pytest.mark.parametrize(
    ("shift", "factor", "direction"), [(1.0, 1.0, "low"), (-1.0, 1.0, "high"), (0.0, 2.0, "narrow"), (0.0, 0.4, "wide")]
)
def test_the_verdict_says_since_when_the_forecasts_fail_and_how(shift, factor, direction):
    calibrated, base, y, day = changed(shift=shift, factor=factor, at=1400)
    page = report(calibrated(base), y, base=base, time=day, guarantee=calibrated.guarantee)
    (said,) = [each for each in page.verdict if each.text.startswith("Over time")]
    assert said.kind == "bad"
    assert "3 of 10 periods are off by more than chance allows" in said.text
    assert f"since 2024-05-20 the forecasts are too {direction}." in said.text
    assert "good" not in kinds(page)
    assert ">Over time</h2>" in page.html


@pytest.mark.slow
def test_a_period_in_the_middle_is_off_from_when_to_when():
    calibrated, base, y, day = changed(shift=0.0)
    y = np.where((day >= np.datetime64("2024-02-10")) & (day < np.datetime64("2024-03-21")), y - 2 * base.scale, y)
    y = np.where(day >= np.datetime64("2024-06-29"), y + 4 * base.scale, y)
    said = next(each for each in report(calibrated(base), y, time=day).verdict if each.text.startswith("Over time"))
    assert "from 2024-02-10 to 2024-03-20 the forecasts are too high; since 2024-06-29 the" in said.text
    first = report(
        calibrated(base[:1000]), np.where(day < np.datetime64("2024-01-21"), y - 9, y)[:1000], time=day[:1000]
    )
    assert any("until 2024-01-20 the forecasts are too high;" in each.text for each in first.verdict)
    always = report(Normal(base.loc, base.scale / 4), y, time=day)
    assert any(
        "off by more than chance allows: all the time the forecasts are too narrow" in s.text for s in always.verdict
    )


@pytest.mark.parametrize(("shift", "factor"), [(1.0, 1.0), (0.0, 0.3), (0.35, 0.9)])
def test_the_period_that_is_farthest_off_is_named_with_its_numbers(shift, factor):
    calibrated, base, y, day = changed(shift=shift, factor=factor, at=1400)
    H, n = calibrated(base), calibrated.guarantee.n
    page = report(H, y, time=day, guarantee=calibrated.guarantee, rows=[0])
    text = next(each.text for each in page.verdict if each.text.startswith("Over time"))
    worst = max(over_time(H, y, day, n=n), key=lambda each: each.distance)
    (held,) = worst.intervals
    gap = f"the PITs deviate by {fixed(worst.gap, 3)} (chance allows {fixed(worst.allowed, 3)})"
    share = f"the 90% intervals hold {100 * held.share:.1f}% of the labels"
    assert f"The farthest off is {worst.start} to {worst.end}, 200 rows: " in text
    assert (gap in text, share in text) == (worst.gap > worst.allowed, held.off)
    assert gap in text


@pytest.mark.parametrize(("west", "late", "first"), [(3.0, 1.0, "group"), (1.0, 3.0, "time")])
def test_what_is_farther_off_comes_first(west, late, first):
    calibrated, base, y, day = changed(shift=0.0)
    region = np.where(np.arange(2000) % 10, "east", "west")
    y = y + 2 * base.scale * np.where(region == "west", west, np.where(np.arange(2000) >= 1800, late, 0.0))
    page = report(calibrated(base), y, groups={"region": region}, time=day, guarantee=calibrated.guarantee, rows=[0])
    off = [each.text for each in page.verdict if "off by more than chance allows" in each.text]
    assert [text.startswith("Over time") for text in off] == ([False, True] if first == "group" else [True, False])


def test_what_stays_as_it_was_is_good_over_time():
    calibrated, base, y, day = changed(shift=0.0)
    page = report(calibrated(base), y, time=day, guarantee=calibrated.guarantee)
    (said,) = [each for each in page.verdict if each.text.startswith("Over time")]
    assert said.kind == "good"
    assert said.text.startswith("Over time, none of 10 periods is off by more than chance allows.")


def test_a_change_that_cancels_over_all_rows_is_not_called_good():
    rng = np.random.default_rng(32)
    y = np.concatenate([np.sort(rng.normal(size=2000))])  # PITs uniform together, and from low to high in time
    page = report(Normal(np.zeros(2000), 1.0), y, time=np.arange(2000))
    assert page.verdict[0].text.startswith("Over time, ")
    assert page.verdict[0].kind == "bad"
    assert "good" not in kinds(page)
    assert page.verdict[1].text.startswith("Over all rows together, ")


@pytest.mark.slow
def test_a_small_change_that_many_rows_show_is_not_called_good_either():
    rng = np.random.default_rng(34)
    m = 40_000
    y = rng.normal(size=m) + np.where(np.arange(m) < m // 2, 0.06, -0.06)
    page = report(Normal(np.zeros(m), 1.0), y, base=Normal(np.zeros(m), 2.0), time=np.arange(m), rows=[0])
    (time,) = [each for each in page.verdict if each.text.startswith("Over time")]
    assert time.kind == "warn"
    assert any("their CRPS fell" in each.text for each in page.verdict)
    assert "good" not in kinds(page)


def test_the_page_draws_what_the_verdict_and_over_time_go_by_in_any_order_of_rows():
    calibrated, base, y, day = changed()
    order = np.random.default_rng(33).permutation(2000)
    H, n = calibrated(base), calibrated.guarantee.n
    pages = [
        data_of(report(H[rows], y[rows], base=base[rows], time=day[rows], guarantee=calibrated.guarantee))["time"]
        for rows in (np.arange(2000), order)
    ]
    assert pages[0] == pages[1]
    before = over_time(base, y, day)
    for drawn, one, other in zip(pages[0], over_time(H, y, day, n=n), before, strict=True):
        (held,) = one.intervals
        assert (drawn["from"], drawn["to"], drawn["m"]) == (one.start, one.end, one.m)
        assert drawn["band"] == rounded([held.low, held.high])
        assert drawn["allowed"] == rounded(one.allowed)
        assert (drawn["off"], drawn["direction"]) == (one.off, f"too {one.direction}" if one.off else "within chance")
        assert drawn["after"] == {"covered": rounded(held.share), "gap": rounded(one.gap), "mean": rounded(one.mean)}
        assert drawn["before"]["covered"] == rounded(other.intervals[0].share)


def test_too_few_rows_for_time_are_said():
    H, y = distribution_of("linear", m=39)
    page = report(H, y, time=np.arange(39))
    assert any("it needs two periods of 20 rows or more" in said.text for said in page.verdict)
    assert ">Over time</h2>" not in page.html
    assert data_of(report(H, y))["time"] == []


def test_time_that_is_none_is_named():
    H, y = distribution_of("linear")
    with pytest.raises(ValueError, match="time must have one row for each of the 600 rows of the forecast, got 5"):
        report(H, y, time=np.arange(5))
    with pytest.raises(ValueError, match=r"time is missing in row 3 \(the only such row\)"):
        report(H, y, time=np.where(np.arange(M) == 3, np.nan, 1.0))
    with pytest.raises(TypeError, match="time must hold numbers or dates, and one kind in all rows, got 'a' in row 0"):
        report(H, y, time=["a"] * M)


def test_groups_that_are_off_are_named_with_their_numbers():
    rng = np.random.default_rng(17)
    base, y = forecasts(3000, rng)
    region = rng.choice(["east", "west", "north"], 3000)
    y = np.where(region == "west", y + 1.5, y)
    calibrated = Calibrator().fit(base[:1000], y[:1000])
    page = report(calibrated(base[1000:]), y[1000:], groups={"region": region[1000:]}, guarantee=calibrated.guarantee)
    (said,) = [s for s in page.verdict if "off by more than chance" in s.text]
    assert said.kind == "bad"
    assert page.verdict[0] == said
    assert "The worst is region = west (" in said.text
    assert page.verdict[1].text.startswith("Over all rows together, the forecasts are ")  # which are fine
    assert page.verdict[1].kind == "info"
    fine = report(base[1000:], base.loc[1000:], groups=region[1000:], rows=[0]).verdict
    assert any("13 of 13 groups are off" in s.text for s in fine)  # labels that are all at the median


def test_a_point_model_on_counts_is_not_called_good_where_small_predictions_hide_large_ones():
    """90% intervals of one width hold nearly all labels of quiet hours and too few of busy ones."""
    rng = np.random.default_rng(1)
    rate = np.exp(rng.normal(4.3, 1.2, 6000)).clip(1, 800)
    y = rng.negative_binomial(12, 12 / (12 + rate)).astype(float)  # rides in an hour
    calibrated = Calibrator().fit(Point(rate[:3000]), y[:3000])
    H = calibrated(Point(rate[3000:]))
    page = report(H, y[3000:], base=Point(rate[3000:]), guarantee=calibrated.guarantee, rows=[0])
    held = metrics.coverage(H, y[3000:], 0.9)
    assert abs(held - 0.9) < 0.02  # on average all is well
    assert "good" not in kinds(page)
    first = page.verdict[0]
    assert first.kind == "bad"
    assert "5 of 5 groups are off by more than chance allows, by predicted value" in first.text
    slices = {each["value"]: each["after"]["covered"][89] for each in data_of(page)["slices"][1:]}
    low, high = min(slices.values()), max(slices.values())
    assert low < 0.75
    assert high > 0.99
    assert f"{100 * low:.1f}% of the labels with predicted value in " in first.text
    assert f"{100 * high:.1f}% of the labels with predicted value in " in first.text


def test_a_distribution_that_knows_its_spread_is_called_good_by_predicted_value_and_width():
    rng = np.random.default_rng(1)
    f, scale = rng.normal(size=3000), np.exp(rng.normal(size=3000))
    page = report(Normal(f, scale), rng.normal(f, scale), rows=[0])
    assert "bad" not in kinds(page)
    assert any("10 groups looked at, by predicted value and width" in s.text for s in page.verdict)
    assert [each["by"] for each in data_of(page)["slices"]] == [None, *["predicted value"] * 5, *["width"] * 5]


def test_few_rows_are_not_cut_into_slices_by_themselves():
    assert len(data_of(report(*distribution_of("linear", m=99)))["slices"]) == 1
    assert len(data_of(report(*distribution_of("linear", m=100)))["slices"]) > 1


@pytest.mark.slow
def test_many_groups_are_looked_at_and_none_is_blamed_for_it():
    rng = np.random.default_rng(27)
    groups, blamed = np.char.mod("g%d", np.arange(1500) % 30), 0
    for _ in range(15):
        base, y = forecasts(1500, rng)
        blamed += any(
            "off by more than" in s.text and "No group" not in s.text
            for s in report(base, y, groups=groups, rows=[0]).verdict
        )
    assert blamed <= 4


def test_distributions_without_a_density_or_with_mass_at_infinity_are_told_so():
    rng = np.random.default_rng(18)
    base, y = forecasts(500, rng)
    random = report(calibrated_on(200, rng, 0.5, Calibrator(interpolator=Random()))(base, rng=rng), y)
    texts = " ".join(s.text for s in random.verdict)
    assert "NLL is infinite: the density is zero at 500 labels" in texts
    assert "CRPS is infinite" in texts
    naive = " ".join(
        s.text for s in report(calibrated_on(200, rng, 0.5, DISTRIBUTION_CASES["naive"](rng))(base), y).verdict
    )
    assert "NLL is infinite" in naive
    assert "A distribution of steps (naive, random) has no density at all" in naive
    few = report(calibrated_on(5, rng, 0.5, DISTRIBUTION_CASES["infinite tails"](rng))(base), y)
    assert any("intervals are infinite" in s.text for s in few.verdict)


@pytest.mark.parametrize("words", ["quantiles", "draws"])
def test_an_infinite_nll_of_raw_quantiles_is_explained_by_those_that_coincide(words):
    f, noise = np.random.default_rng(18).normal(size=(2, 500))
    values = f[:, None] + np.array([-1.6, -0.7, 0.0, 0.7, 1.6])
    values[:5] = 9.0
    H = Samples(values) if words == "draws" else Quantiles([0.05, 0.25, 0.5, 0.75, 0.95], values)
    said = str(report(H, f + noise, rows=[0]))
    where = f"zero at 5 labels. Rows whose {words} coincide have no density elsewhere.\n"
    assert f"The NLL is infinite: the density is {where}" in said
    assert "naive" not in said


def test_a_rough_density_is_explained():
    rng = np.random.default_rng(19)
    base, y = forecasts(4000, rng)
    page = report(calibrated_on(4000, rng, 1.0)(base), y, base=base)
    assert any("NLL rose" in s.text and "NAF()" in s.text for s in page.verdict)


@pytest.mark.parametrize("m", [1, 2, 9, 10, 60])
def test_few_rows_say_little_and_the_report_says_that(m):
    rng = np.random.default_rng(m)
    calibrated = calibrated_on(20, rng)
    base, y = forecasts(m, rng, 0.5)
    page = report(calibrated(base), y, base=base, groups=["a"] * m, guarantee=calibrated.guarantee)
    assert "good" not in [s.kind for s in page.verdict if "No group" not in s.text and "CRPS" not in s.text]
    texts = " ".join(s.text for s in page.verdict)
    assert ("are few" in texts) if m > 1 else ("One row says next to nothing" in texts)
    assert "20 calibration rows leave room for an error" in texts
    assert data_of(page)["m"] == m


def test_a_gap_that_calibration_rows_explain_is_not_blamed_on_too_few_test_rows():
    """10,000 rows see that 50 calibration rows are not enough; to say that they cannot tell would be untrue."""
    rng = np.random.default_rng(3)
    calibrated = calibrated_on(50, rng, 0.4)
    base, y = forecasts(10_000, rng, 0.4)
    first = report(calibrated(base), y, guarantee=calibrated.guarantee).verdict[0]
    assert "can tell:" not in first.text
    assert "50 calibration rows" in first.text


def test_a_coverage_that_is_off_for_want_of_calibration_rows_is_explained():
    rng = np.random.default_rng(1)
    base, y = forecasts(4000, rng, 0.5)
    seen = set()
    for _ in range(8):
        calibrated = calibrated_on(500, rng, 0.5)
        said = report(calibrated(base), y, guarantee=calibrated.guarantee).verdict[1]
        off = abs(metrics.coverage(calibrated(base), y, 0.9) - 0.9) > 0.011  # more than 4,000 rows allow
        if said.kind == "good":
            assert ("With 500 calibration rows," in said.text) == off
            seen.add(off)
        if len(seen) == 2:
            break
    assert seen == {True, False}


def test_a_report_on_the_calibration_rows_is_seen_through():
    """They fit better than chance lets any rows that were not used."""
    rng = np.random.default_rng(4)
    base, y = forecasts(1000, rng, 0.5)
    calibrated = Calibrator().fit(base, y)
    first = report(calibrated(base), y, guarantee=calibrated.guarantee).verdict[0]
    assert first.kind == "warn"
    assert "Are these the rows that calibrated them?" in first.text


def test_a_coverage_is_not_called_too_small_beside_an_interval_that_holds_the_target():
    for seed in range(10):
        base, y = forecasts(300, np.random.default_rng(seed), 0.93)
        said = next(s for s in report(base, y).verdict if "intervals hold" in s.text)
        low, high = share_interval(metrics.coverage(base, y, 0.9) * 300, 300)
        assert ("too few" in said.text or "more than asked for" in said.text) <= (not low <= 0.9 <= high)


def test_ties_are_not_to_be_cured_by_more_rows():
    labels = np.random.default_rng(0).normal(size=2000).round()
    calibrated = Calibrator().fit(Point(np.zeros(2000)), labels)
    page = report(calibrated(Point(np.zeros(200))), labels[:200], guarantee=calibrated.guarantee)
    assert not any("would bring it to" in said.text for said in page.verdict)


def test_table_and_verdict_agree_on_a_clipped_distribution():
    """Where a distribution has atoms, both take PITs that are drawn over the jump."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=3000).clip(0)
    page = report(Normal(np.zeros(3000), 1.0).clip(0), y)
    lines = Comparison(None, scored_forecast(Normal(np.zeros(3000), 1.0).clip(0), y, 0.9), 0.9).lines
    assert page.verdict[0].kind == "good"
    assert lines["ece"].after.value < 0.01


def test_what_is_guaranteed_opens_with_one_sentence_about_the_intervals_of_the_page():
    rng = np.random.default_rng(0)
    calibrated = calibrated_on(500, rng, 0.5)
    base, y = forecasts(200, rng, 0.5)
    page = report(calibrated(base), y, guarantee=calibrated.guarantee, coverage=0.8)
    section = page.html.partition('id="guarantee"')[2].partition("</section>")[0]
    first, second = re.findall(r"<p>(.*?)</p>", section, re.DOTALL)
    assert first == f"<strong>{calibrated.guarantee.in_short(0.8)}</strong>"
    assert second.startswith("|P(H(Y) ≤ c) - c|")


def test_ties_weaken_the_guarantee_and_this_is_said():
    rng = np.random.default_rng(20)
    calibrated = Calibrator().fit(Point(np.zeros(200)), rng.integers(0, 5, 200).astype(float))
    y = rng.integers(0, 5, 300).astype(float)
    page = report(calibrated(Point(np.zeros(300))), y, guarantee=calibrated.guarantee)
    assert [s.kind for s in page.verdict if "scores are tied" in s.text] == ["warn"]


def test_a_single_pair_of_equal_scores_is_told_without_alarm():
    rng = np.random.default_rng(21)
    labels = rng.normal(size=1000)
    labels[1] = labels[0]
    calibrated = Calibrator().fit(Point(np.zeros(1000)), labels)
    page = report(calibrated(Point(np.zeros(300))), rng.normal(size=300), guarantee=calibrated.guarantee)
    (said,) = [s for s in page.verdict if "scores are tied" in s.text]
    assert said.kind == "info"
    assert "up to 2 at a time (0.2% of them)" in said.text


def test_the_folds_guarantee_is_taken():
    H, y = distribution_of("folds")
    rng = np.random.default_rng(21)
    cross = CrossCalibrated(tuple(calibrated_on(99, rng) for _ in range(3)))
    page = report(H, y, guarantee=cross.guarantee)
    assert data_of(page)["n"] == 297
    assert "2c +" in unescape(page.html)


@pytest.mark.few(4)
@pytest.mark.parametrize("name", NAMES)
def test_every_distribution_has_a_report_whose_sentences_are_whole(name):
    H, y = distribution_of(name)
    base = Point(np.zeros(M))
    page = report(H, y, base=base, groups=np.arange(M) % 3)
    for statement in page.verdict:
        assert statement.kind in {"good", "warn", "bad", "info"}
        assert re.fullmatch(r"[A-Z0-9].*\.", statement.text), statement.text
        assert not re.search(r"nan|None|\binf\b|\{|\}|  ", statement.text), statement.text


# ---- the page and its data -----------------------------------------------------------------------------------------


def test_the_data_keep_the_contract():
    rng = np.random.default_rng(22)
    calibrated = calibrated_on(N, rng)
    base, y = forecasts(M, rng, 0.5)
    groups = pd.DataFrame({"region": rng.choice(["n", "s"], M), "x": rng.normal(size=M)})
    page = report(
        calibrated(base), y, base=base, groups=groups, guarantee=calibrated.guarantee, coverage=0.8, label="z"
    )
    data = data_of(page)
    assert (data["m"], data["n"], data["coverage"], data["label"]) == (M, N, 0.8, "z")
    assert data["levels"] == [k / 200 for k in range(1, 200)]
    assert data["coverages"] == [k / 100 for k in range(1, 100)]
    assert [(each["by"], each["value"]) for each in data["slices"][:3]] == [
        (None, "all rows"),
        ("region", "n"),
        ("region", "s"),
    ]
    assert len(data["slices"]) == 7 + 10
    for each in data["slices"]:
        assert len(each["band"]["pit"]) == 2
        assert len(each["band"]["below"]["low"]) == len(each["band"]["below"]["high"]) == 199
        for side in (each["before"], each["after"]):
            assert [len(side[key]) for key in ("pit", "below", "covered", "width")] == [bins(each["m"]), 199, 99, 99]
            assert sum(side["pit"]) == each["m"]
            assert isinstance(side["crps"], float)
    assert sum(each["m"] for each in data["slices"][1:3]) == M
    assert 100 <= len(data["rows"]) <= 140
    assert [row["row"] for row in data["rows"]] == sorted({row["row"] for row in data["rows"]})
    H = calibrated(base)
    for row in data["rows"][::20]:
        k = row["row"]
        assert row["y"] == pytest.approx(y[k], rel=1e-3, abs=1e-4)
        assert row["slices"][0] == 0
        assert data["slices"][row["slices"][1]]["value"] == groups["region"][k]
        assert data["slices"][row["slices"][2]]["by"] == "x"
        after = row["after"]
        np.testing.assert_allclose(after["q"], H[k : k + 1].quantiles(LEVELS)[0], atol=1e-3)
        assert len(after["density"]) == 100
        cell = (after["to"] - after["from"]) / 100
        assert sum(after["density"]) * cell == pytest.approx(1, abs=0.02)


def test_a_base_that_is_no_distribution_has_marks():
    rng = np.random.default_rng(23)
    base, y = forecasts(30, rng)
    H = calibrated_on(N, rng)(base)
    f, s = base.loc, base.scale
    marks = {
        "point": Point(f),
        "lower": Interval(f - s, f + s),
        "quantile 0.05": Quantiles([0.05, 0.95], np.stack([f - s, f + s], 1)),
        "sample": Samples(base.sample(200, rng)),
        "member 1: point": Ensemble([Point(f), base]),
    }
    for text, prediction in marks.items():
        data = data_of(report(H, y, base=prediction))
        first = data["rows"][3]["before"]["marks"]
        assert first[0]["text"] == text
        assert len(first) <= 50
        assert "before" not in data["slices"][0]
    assert first[0]["at"] == pytest.approx(f[3], abs=1e-3)
    assert "before" not in data_of(report(H, y))["rows"][0]


def test_the_small_print_says_why_a_base_that_is_no_distribution_has_no_curves():
    base, y = forecasts(30, np.random.default_rng(23))
    why = "The base predicts no distribution, so that it has no curves: it is shown by marks, row by row."
    for before, said in (
        (None, False),
        (scored_forecast(base, y, 0.9), False),
        (scored_forecast(Point(base.loc), y, 0.9), True),
    ):
        assert (why in notes(30, None, [], before)) == said
    assert f"<li>{why}</li>" in report(base, y, base=Point(base.loc), rows=[0]).html


def test_labels_far_from_zero_keep_the_digits_that_their_distributions_need():
    rng = np.random.default_rng(24)
    y = 1e9 + rng.normal(size=50)
    data = data_of(report(Normal(np.full(50, 1e9), 1.0), y))
    quantiles = np.array(data["rows"][0]["after"]["q"])
    np.testing.assert_allclose(quantiles - 1e9, stats.norm.ppf(LEVELS), atol=1e-3)
    assert data["rows"][5]["y"] == pytest.approx(y[5], abs=1e-3)


def test_the_marks_of_a_base_far_from_zero_keep_these_digits_too():
    rng = np.random.default_rng(25)
    f = 1e9 + rng.normal(size=50)
    data = data_of(report(Normal(f, 1.0), f, base=Point(f)))
    marks = [row["before"]["marks"][0]["at"] for row in data["rows"]]
    np.testing.assert_allclose(np.array(marks) - 1e9, f - 1e9, atol=1e-3)


def test_a_label_on_an_atom_is_inside_after_rounding_too():
    rng = np.random.default_rng(26)
    f = 123.456789 + 0.1 * rng.normal(size=50)
    y = np.minimum(f + rng.normal(size=50), 123.456789)
    wide, narrow = (Normal(f, scale).clip(0, 123.456789) for scale in (8.0, 0.3))
    rows = data_of(report(wide, y, base=narrow))["rows"]
    capped = [row for row in rows if y[row["row"]] == 123.456789]
    assert len(capped) > 10
    assert all(row["y"] == row[side]["q"][-1] for row in capped for side in ("after", "before"))


def drawn_distribution(H, k=0):
    side = scored_forecast(H, np.zeros(len(H)), 0.9)
    rows = np.arange(len(H))
    return drawn_rows(side, rows, finest([side], rows))[k]


def test_an_atom_is_drawn_apart_and_the_density_is_of_the_rest():
    H = Normal([0.3, 5.0, -4.0], 1.0).clip(lower=0.0)
    for k in range(3):
        distribution = drawn_distribution(H, k)
        edges = np.linspace(distribution["from"], distribution["to"], len(distribution["density"]) + 1)
        smooth = np.diff(stats.norm.cdf(edges, H.base.loc[k], 1.0)) / np.diff(edges)
        above = edges[:-1] > 0
        np.testing.assert_allclose(np.array(distribution["density"])[above], smooth[above], rtol=2e-3, atol=1e-6)
        assert not np.array(distribution["density"])[edges[1:] <= 0].any()
        share = stats.norm.cdf(0.0, H.base.loc[k], 1.0)
        assert distribution.get("atoms", []) == ([[0.0, pytest.approx(share, rel=1e-4)]] if share > 0.01 else [])


def test_both_ends_may_be_atoms_and_distributions_of_steps_show_what_is_far_above_the_others():
    both = drawn_distribution(Normal([0.5], 1.0).clip(0.0, 1.0))
    assert [at for at, _ in both["atoms"]] == [0.0, 1.0]
    assert "atoms" not in drawn_distribution(Normal([0.5], 1.0))
    rng = np.random.default_rng(40)
    y = np.maximum(rng.normal(size=150), 0.0)
    steps = Calibrator(interpolator=Naive()).fit(np.zeros(150), y)(np.zeros(1)).clip(lower=0.0)
    ((at, share),) = drawn_distribution(steps)["atoms"]
    assert (at, share) == (0.0, pytest.approx(np.mean(y == 0), abs=0.02))
    few = Calibrator(interpolator=Naive()).fit(np.zeros(10), np.arange(10.0))(np.zeros(1))
    assert "atoms" not in drawn_distribution(few)  # ten steps are no atom among others
    page = report(Normal(np.zeros(200), 1.0).clip(lower=0.0), np.maximum(rng.normal(size=200), 0.0))
    assert "The stem is a feature of the forecast" in page.html


def test_the_distribution_of_a_count_is_a_bar_around_each_value_and_a_tenth_beyond():
    distribution = drawn_distribution(Poisson([3.0]))
    assert (distribution["q"][0], distribution["q"][-1]) == (0, 8)
    assert (distribution["from"], distribution["to"], distribution["step"]) == (-1.5, 9.5, 1)  # around -0.8 and 8.8
    np.testing.assert_allclose(distribution["density"], stats.poisson.pmf(np.arange(-1, 10), 3.0), rtol=1e-4)


def test_a_hundred_counts_are_a_hundred_bars_and_more_are_put_together():
    distribution = drawn_distribution(Poisson([248.0]))
    assert (distribution["from"], distribution["to"]) == (198.5, 298.5)
    np.testing.assert_allclose(distribution["density"], stats.poisson.pmf(np.arange(199, 299), 248.0), rtol=1e-4)
    more = drawn_distribution(Poisson([252.0]))
    assert (more["from"], more["to"], len(more["density"])) == (202.5, 304.5, 51)
    pairs = stats.poisson.pmf(np.arange(203, 305), 252.0).reshape(51, 2).mean(axis=1)
    np.testing.assert_allclose(more["density"], pairs, rtol=1e-4)


def test_a_distribution_that_is_one_value_has_room_on_both_sides():
    H = Calibrator(interpolator=Naive()).fit(np.zeros(20), np.zeros(20))([0.0, 10.0])
    ends = [
        (distribution["from"], distribution["to"], distribution["atoms"])
        for distribution in (drawn_distribution(H, k) for k in (0, 1))
    ]
    assert ends == [(-1.0, 1.0, [[0.0, 1.0]]), (9.5, 10.5, [[10.0, 1.0]])]


def test_a_rate_of_counts_is_judged_as_the_poisson_distribution_it_stands_for():
    rng = np.random.default_rng(41)
    rate = rng.uniform(0.5, 6, 800)
    y = rng.poisson(rate).astype(float)
    calibrated = Calibrator(labels=Counts()).fit(Rates(rate[:400]), y[:400], rng=rng)
    H = calibrated(Rates(rate[400:]))
    rates, distribution = (
        report(H, y[400:], base=base, guarantee=calibrated.guarantee)
        for base in (Rates(rate[400:]), Poisson(rate[400:]))
    )
    assert rates.html == distribution.html
    point = report(H, y[400:], base=Point(rate[400:]), guarantee=calibrated.guarantee)
    assert point.html != distribution.html
    assert metrics.evaluate(Rates(rate), y, labels=Counts()).crps == pytest.approx(metrics.crps(Poisson(rate), y))
    assert metrics.evaluate(Rates(rate), y).crps == pytest.approx(metrics.crps(Poisson(rate), y))  # all are counts
    halved = metrics.evaluate(Rates(rate), y / 2)
    assert halved.crps == pytest.approx(np.mean(np.abs(y / 2 - rate)))  # no counts: a point
    halves = metrics.evaluate(Rates(rate), y, labels=Counts(step=0.5))
    assert halves.crps == pytest.approx(np.mean(np.abs(y - rate)))


def test_numbers_are_short_and_what_is_not_finite_is_null():
    assert rounded([0.1 + 0.2, np.nan, -np.inf, 1e-300, 123456.0, 0.0]) == [0.3, None, None, 1e-300, 123460.0, 0.0]
    H, y = distribution_of("random")
    data = data_of(report(H, y))
    assert None in data["rows"][0]["after"]["q"] or None in data["slices"][0]["after"]["width"]


def test_a_random_sample_is_shown_with_some_of_every_slice_and_the_worst():
    rng = np.random.default_rng(25)
    base, y = forecasts(50_000, rng)
    rare = np.where(np.arange(50_000) == 31_234, "rare", "usual")
    side = scored_forecast(base, y, 0.9)
    shown = chosen_rows(side, groupings(rare, 50_000))
    assert 31_234 in shown.rows
    assert list(shown.misses) == np.argsort(-side.columns["crps"])[:10].tolist()
    assert set(shown.misses) <= set(shown.rows)
    assert (shown.sample.sum(), shown.drawn) == (100, True)
    sampled = shown.rows[shown.sample]
    # that of 100 random rows: 90 labels inside, give or take three standard deviations
    assert abs(side.columns["covered"][sampled].sum() - 90) <= 3 * 3
    assert stats.kstest(sampled / 50_000, "uniform").pvalue > 0.001


@pytest.mark.parametrize("m", [7, 10, 11])
def test_few_rows_are_all_shown_and_the_worst_of_them_listed(m):
    base, y = forecasts(m, np.random.default_rng(m))
    side = scored_forecast(base, y, 0.9)
    shown = chosen_rows(side, [])
    assert shown.rows.tolist() == list(range(m))
    assert not shown.drawn
    assert list(shown.misses) == np.argsort(-side.columns["crps"], kind="stable")[:10].tolist()


def test_rows_can_be_named_and_are_checked():
    H, y = distribution_of("linear")
    assert [row["row"] for row in data_of(report(H, y, rows=[5, 2, 5]))["rows"]] == [2, 5]
    with pytest.raises(ValueError, match=r"rows must lie in 0..599, got 600"):
        report(H, y, rows=[1, 600])
    with pytest.raises(TypeError, match="rows must be a list of row numbers, got 'worst'"):
        report(H, y, rows="worst")
    with pytest.raises(ValueError, match="rows must name at most 500 rows, got 501"):
        report(H, y, rows=np.arange(501))


@pytest.mark.parametrize(
    "groups",
    [
        {"a": ["x", "y"] * 20, "b": np.arange(40)},
        pd.DataFrame({"a": ["x", "y"] * 20, "b": np.arange(40)}),
        pl.DataFrame({"a": ["x", "y"] * 20, "b": np.arange(40)}),
        pa.table({"a": ["x", "y"] * 20, "b": np.arange(40)}),
    ],
    ids=["mapping", "pandas", "polars", "pyarrow"],
)
def test_groups_come_as_mappings_and_frames(groups):
    found = groupings(groups, 40)
    assert [(slices.name, len(slices.labels)) for slices in found] == [("a", 2), ("b", 4)]


def test_a_single_column_is_called_group_or_by_its_name():
    assert groupings(["a", "b"], 2)[0].name == "group"
    assert groupings(pd.Series(["a", "b"], name="region"), 2)[0].name == "region"
    assert groupings(None, 2) == []


def test_bad_input_is_named():
    H, y = distribution_of("linear")
    with pytest.raises(
        TypeError, match=r"H must be a distribution for each row, got Point\(n=600\): calibrate it, with"
    ):
        report(Point(np.zeros(M)), y)
    with pytest.raises(ValueError, match="y must have one row for each of the 600 rows"):
        report(H, y[:10])
    with pytest.raises(ValueError, match="y is NaN or infinite in row 0"):
        report(H, np.full(M, np.nan))
    with pytest.raises(ValueError, match="base must have one row for each of the 600 rows of the forecast, got 10"):
        report(H, y, base=Point(np.zeros(10)))
    with pytest.raises(ValueError, match="the column 'group' of groups must have one row for each of the 600 rows"):
        report(H, y, groups=["a"])
    with pytest.raises(TypeError, match="groups must be an array, a mapping of names to arrays or a data frame"):
        report(H, y, groups="region")
    with pytest.raises(TypeError, match="groups must be an array, a mapping of names to arrays or a data frame"):
        report(H, y, groups=5)
    with pytest.raises(ValueError, match="groups must have at most 10 columns, got 11"):
        report(H, y, groups={str(k): y for k in range(11)})
    with pytest.raises(TypeError, match="guarantee must be that of what was calibrated"):
        report(H, y, guarantee="good")
    with pytest.raises(ValueError, match="coverage must lie strictly inside"):
        report(H, y, coverage=90)


HOSTILE = [
    "<script>alert(1)</script>",
    '"><img src=x onerror=alert(1)>',
    "</script>",
    "{{7*7}}",
    "{% raw %}",
    "a\u2028b\u2029c",
    "<!--",
    "]]>",
    "&lt;b&gt;",
]


@pytest.mark.few(3)
@pytest.mark.parametrize("text", HOSTILE)
def test_text_of_strangers_stays_text(text):
    H, y = distribution_of("linear", m=120)
    west = np.arange(120) % 2 == 0
    y = np.where(west, y + 5, y)  # so that the group is named in the verdict
    page = report(H, y, groups={text: np.where(west, text, "b")}, title=text, label=text)
    plain = report(H, y, groups={"region": np.where(west, "west", "b")}, title="title", label="label")
    tags = re.compile(r"<[a-zA-Z/!][^>]*>")
    assert sorted(map(tag_name, tags.findall(page.html))) == sorted(map(tag_name, tags.findall(plain.html)))
    assert "\u2028" not in data_text(page)
    data = data_of(page)
    assert data["label"] == text
    assert data["slices"][1]["by"] == text
    assert text in {each["value"] for each in data["slices"]}
    assert text in unescape(page.html)
    assert ">49<" not in page.html
    assert "img src=x" not in unescape_free(page.html)


def tag_name(tag):
    return tag.split()[0].rstrip(">")


def data_text(page):
    return re.search(r'id="data">(.*?)</script>', page.html, re.DOTALL).group(1)


def unescape_free(html):
    """The page without what is escaped: an image that is text has no `<` before it."""
    return " ".join(re.findall(r"<[^<>]*>", html))


def test_the_same_report_twice_is_the_same():
    H, y = distribution_of("clipped")
    groups = {"g": np.arange(M) % 5}
    assert report(H, y, groups=groups).html == report(H, y, groups=groups).html


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [10_000, 100_000])
def test_the_page_is_small_however_many_rows_there_are(m):
    rng = np.random.default_rng(26)
    base, y = forecasts(m, rng, 0.5)
    groups = {"a": rng.integers(0, 12, m), "b": rng.normal(size=m), "c": rng.choice([f"v{k}" for k in range(50)], m)}
    page = report(calibrated_on(N, rng)(base), y, base=base, groups=groups)
    assert len(page.html.encode()) < 1.5e6
    assert len(data_of(page)["slices"]) == 1 + 12 + 4 + 30 + 5 + 5


def test_a_report_is_saved_whole_or_not_at_all(tmp_path):
    H, y = distribution_of("linear")
    page = report(H, y)
    path = tmp_path / "report.html"
    page.save(path)
    assert path.read_text("utf-8") == page.html
    assert [each.name for each in tmp_path.iterdir()] == ["report.html"]
    with pytest.raises(FileNotFoundError):
        page.save(tmp_path / "nowhere" / "report.html")
    with pytest.raises(IsADirectoryError):
        page.save(tmp_path)


def test_notebooks_show_the_page_in_a_frame():
    H, y = distribution_of("linear")
    page = report(H, y)
    frame = page._repr_html_()
    assert frame.startswith('<iframe srcdoc="')
    assert frame.count("<") == 2  # the page itself is escaped
    assert unescape(frame[len('<iframe srcdoc="') : frame.index('" title=')]) == page.html
    assert repr(page).startswith("Report(")
    assert str(page) == "\n".join([str(page.headline), *(s.text for s in page.verdict)])


def test_the_function_is_in_the_package_and_loads_late():
    assert calibrant.report is report
    assert "report" in dir(calibrant)


# ---- densities, for drawing ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["normal", "heavy"])
def test_a_rough_density_is_smoothed_and_keeps_its_height_and_its_mass(name):
    rng = np.random.default_rng(30)
    f = rng.normal(size=2000)
    noise = rng.normal(size=2000) if name == "normal" else rng.standard_t(1.3, 2000)
    H = Calibrator().fit(Point(f), f + noise)(Point(f[:1]))
    row = data_of(report(H, [0.0]))["rows"][0]["after"]
    cell = (row["to"] - row["from"]) / 100
    assert sum(row["density"]) * cell == pytest.approx(1, abs=0.02)
    true = stats.norm if name == "normal" else stats.t(1.3)
    middles = row["from"] + cell * (np.arange(100) + 0.5) - f[0]
    mean = np.diff(true.cdf(np.append(middles - cell / 2, middles[-1] + cell / 2))) / cell
    assert max(row["density"]) == pytest.approx(mean.max(), rel=0.15)
    if name == "normal":
        assert row["smoothed"]
        rises = np.sign(np.diff(row["density"]))[np.array(row["density"])[1:] > 0.05]
        assert np.sum(np.abs(np.diff(rises)) > 0) <= 3  # no comb


def test_a_smooth_density_is_left_as_it_is():
    drawn = data_of(report(Normal([0.0], 1.0), [0.5]))["rows"][0]["after"]
    assert "smoothed" not in drawn
    naf = distribution_of("naf")[0][:1]
    assert "smoothed" not in data_of(report(naf, [0.5]))["rows"][0]["after"]


def test_what_is_zero_beyond_an_end_stays_zero_when_smoothed():
    rng = np.random.default_rng(31)
    density = np.concatenate([np.zeros(20), rng.gamma(1.0, size=60), np.zeros(20)])
    even = smoothed(density, 7)
    assert not even[:20].any()
    assert not even[80:].any()
    assert even.sum() == pytest.approx(density.sum())
    assert np.diff(even[25:75]).std() < 0.2 * np.diff(density[25:75]).std()


def test_features_are_texts_beside_the_shown_rows():
    H, y = distribution_of("linear")
    frame = pd.DataFrame({"id": [f"r{k}" for k in range(M)], "x": np.where(np.arange(M) == 5, np.nan, 1 / 3)})
    rows = data_of(report(H, y, features=frame, rows=[3, 5]))["rows"]
    assert [row["features"] for row in rows] == [{"id": "r3", "x": "0.3333"}, {"id": "r5", "x": "missing"}]
    hour = np.datetime64("2025-12-07T12:00", "ns") + np.arange(M) * np.timedelta64(1, "h")
    hour[5] = np.datetime64("NaT", "s")
    rows = data_of(report(H, y, features={"hour": hour, "day": hour.astype("datetime64[D]")}, rows=[3, 5]))["rows"]
    assert rows[0]["features"] == {"hour": "2025-12-07 15:00", "day": "2025-12-07"}
    assert rows[1]["features"] == {"hour": "missing", "day": "missing"}
    with pytest.raises(ValueError, match="features must have at most 30 columns, got 31"):
        report(H, y, features={str(k): y for k in range(31)})
    with pytest.raises(ValueError, match="the column 'id' of features must have one row for each of the 600 rows"):
        report(H, y, features=["a"])
    with pytest.raises(TypeError, match="features must be an array, a mapping of names to arrays or a data frame"):
        report(H, y, features=5)


@pytest.mark.parametrize(("m", "count"), [(40, 5), (200, 10), (399, 10), (400, 20)])
def test_few_rows_have_fewer_bins(m, count):
    base, y = forecasts(m, np.random.default_rng(m))
    (found,) = curves(scored_forecast(base, y, 0.9), [all_rows(m)])
    assert found.pit.tolist() == np.histogram(base.cdf(y), count, (0, 1))[0].tolist()


def test_the_small_picture_marks_the_bars_outside_the_band():
    rng = np.random.default_rng(40)
    base, y = forecasts(200, rng)
    counts = np.array([3, 5, 9, 12, 14])
    picture = small_picture(replace(curves(scored_forecast(base, y, 0.9), [all_rows(200)])[0], pit=counts), (5.0, 12.0))
    assert [bar["off"] for bar in picture["bars"]] == [True, False, False, False, True]
    assert picture["off"] == 2
    assert all(bar["y"] + bar["h"] == pytest.approx(picture["height"], abs=0.02) for bar in picture["bars"])


def test_intervals_that_are_the_same_are_as_wide_as_before():
    """Of nine rows, too few for an interval of the change."""
    rng = np.random.default_rng(41)
    base, y = forecasts(9, rng)
    said = {
        wide: " ".join(each.text for each in report(base, y, base=Normal(base.loc, wide * base.scale)).verdict)
        for wide in (1.0, 2.0, 0.5)
    }
    assert "intervals are as wide as before: " in said[1.0]
    assert "intervals are narrower: " in said[2.0]
    assert "intervals are wider: " in said[0.5]


@on_posix
def test_a_page_that_cannot_be_written_says_where(tmp_path):
    rng = np.random.default_rng(42)
    page = report(*forecasts(50, rng))
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(FileError, match=r"pipe: it is a device or a pipe"):
        page.save(tmp_path / "pipe")


# One number for one thing


def test_the_largest_gap_is_the_same_number_everywhere():
    rng = np.random.default_rng(60)
    base, y = forecasts(700, rng, factor=0.8)
    page = report(base, y, rows=[0])
    exact = metrics.sup_calibration_error(base, y)
    assert data_of(page)["slices"][0]["after"]["gap"] == rounded(exact)
    gap = next(row for row in data_of(page)["measures"]["rows"] if row[0] == "calibration error, largest")
    assert rounded(exact) in gap
    assert diagnose(base, y).slices[0].gap == pytest.approx(exact, abs=1e-12)
    good, y = forecasts(700, rng)
    said = report(good, y, rows=[0]).verdict[0].text
    exact = metrics.sup_calibration_error(good, y)
    assert f"the largest gap is {shown(exact)}, at level" in said
    allowed = float(re.search(r"chance allows ([\d.]*\d)", said).group(1))
    assert exact <= allowed


def test_half_a_percent_is_rounded_as_the_page_rounds_it():
    assert percent(0.9025, 400) == "90.3%"
    assert (shown(0.0125, 2), fixed(0.5, 0)) == ("0.013", "1")
    assert shown(0.152504) == shown(rounded(0.152504))  # the page has five digits


@pytest.mark.parametrize(
    ("value", "text"),
    [(-0.25, "−0.25"), (-1.0, "−1"), (-2e-5, "−2×10⁻⁵"), (-np.inf, "−∞"), (-0.0, "0"), (0.25, "0.25")],
)
def test_a_negative_number_has_its_sign_on_the_page(value, text):
    assert number(value) == text


@pytest.mark.parametrize(
    ("after", "said"),
    [
        (10.994, "was 1, +999%"),
        (10.99, "was 1, +999%"),
        (11.0, "was 1"),
        (0.5, "was 1, −50%"),
        (1.0, "was 1, no change"),
    ],
)
def test_a_change_of_a_tile_is_said_in_percent_up_to_a_thousand(after, said):
    line = TableLine("CRPS", "small", None, Estimate(1.0), Estimate(after), None, None)
    assert _change(line) == said


def test_over_time_has_one_tag_on_the_page():
    rng = np.random.default_rng(61)
    base, y = forecasts(3000, rng, shift=0.1)
    page = report(base, y, time=np.arange(3000), rows=[0])
    assert page.headline.kind == "bad"
    (said,) = [each for each in page.verdict if each.text.startswith("Over time")]
    section = page.html.partition('id="in-time"')[2]
    assert re.search(r'<li class="(\w+)">', section).group(1) == said.kind == "info"
    assert "independent rows; neighbours in time often are not" in said.text


def test_a_small_change_has_a_decimal_and_a_point_is_compared_by_its_name():
    rng = np.random.default_rng(62)
    f, noise = rng.normal(size=(2, 2000))
    page = report(Normal(f, 1.0), f + noise, base=Normal(f, 1.1), rows=[0]).html
    assert re.search(r"was [\d.]+, [+\N{MINUS SIGN}]0\.\d%", page)
    assert not re.search(r"[+\N{MINUS SIGN}]0%", page)
    point = report(Normal(f, 1.0), f + noise, base=Point(f), rows=[0]).html
    assert f"mean absolute error before: {shown(np.mean(np.abs(noise)))}" in point


def test_a_heavy_tail_is_cut_where_it_would_leave_a_spike():
    distribution = StudentT(np.array([1.3]), np.zeros(1), 1.0)
    drawn = drawn_distribution(distribution)
    inner = distribution.quantiles(np.array([0.05, 0.95]))[0]
    assert drawn["q"][0] < drawn["from"] == pytest.approx(-drawn["to"], rel=1e-3)
    assert drawn["to"] < 4 * inner[1]
    assert max(drawn["density"]) > 10 * np.median(drawn["density"])
    light = drawn_distribution(Normal([0.0], 1.0))
    assert light["from"] < light["q"][0]


def test_data_of_a_page_that_are_no_json_are_refused():
    with pytest.raises(ValueError, match=r"^data must be JSON, with None for a number that is not finite, got: "):
        page("page.html", (), {"share": np.nan}, title="t")


def test_ties_are_said_as_a_share_of_the_calibration_rows_and_the_new_one():
    tied = Calibrator().fit(np.zeros(9), np.array([1.0, 1.0, 1.0, 1.0, 1.0, 2.0, 3.0, 4.0, 5.0]))
    labels = np.random.default_rng(0).choice([1.0, 2.0, 3.0, 4.0, 5.0], 30)
    page = report(tied(np.zeros(30)), labels, guarantee=tied.guarantee)
    assert [each.text for each in page.verdict if "up to 5 at a time (50% of them)" in each.text] != []


def test_so_many_cells_are_averaged_as_go_into_a_part_of_the_spread():
    wide = WINDOW * 1.349 / 1.349
    assert window_of((0.0, 1.349), wide / 4) == 4
    assert window_of((0.0, 1.349), wide / 40) == 10
    assert window_of((0.0, 1.349), 0.0) == 0


def test_the_word_beside_the_coverage_is_that_of_the_whole():
    rng = np.random.default_rng(0)
    pits = rng.beta(0.5, 0.5, 1000), (np.arange(1000) + 0.5) / 1000, np.full(5, 0.5)
    wholes = [overall_of(each, 0.9) for each in pits]
    said = [_coverage(SimpleNamespace(overall=whole, one_sided=False)) for whole in wholes]
    assert said == [("bad", "too few"), ("good", "within chance"), ("info", "few rows")]
