"""PIT histograms, reliability, coverage, spread and sharpness show the numbers that they name."""

import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
from plotted import LEVELS, Case, band_of, dots, row_names, segments, words_of

from calibrant import Interval, Normal, Quantiles, Samples, judge, metrics, plots
from calibrant.distributions import Poisson
from calibrant.interpolators import Random


@pytest.fixture(scope="module")
def case():
    return Case()


# ---- PITs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 33])
def test_the_bars_of_the_pit_histogram_count_every_row_once(bins, case):
    bars = plots.pit_histogram(case.H, case.y, bins=bins).containers[0]
    assert len(bars) == bins
    assert sum(bar.get_height() for bar in bars) == len(case.y)
    assert bars[0].get_height() == np.sum(metrics.pit(case.H, case.y) < 1 / bins)


def test_the_band_of_the_pit_histogram_is_that_of_the_metrics_and_wider_where_few_rows_calibrated(case):
    for n in (50, None):
        ax = plots.pit_histogram(case.H, case.y, bins=10, n=n)
        band = ax.patches[-1].get_bbox()
        assert (band.y0, band.y1) == metrics.pit_band(600, 10, n=n)
        assert ax.get_ylim() == pytest.approx((0, 1.05 * band.y1))


def test_the_pit_histogram_of_samples_counts_the_ranks_of_the_labels(case):
    draws = np.random.default_rng(3).normal(case.f[:, None], 1.0, (len(case.f), 9))
    bars = plots.pit_histogram(Samples(draws), case.y, bins=10).containers[0]
    ranks = np.sum(draws < case.y[:, None], axis=1)
    assert [bar.get_height() for bar in bars] == np.bincount(ranks, minlength=10).tolist()


def test_several_pit_histograms_are_outlines(case):
    ax = plots.pit_histogram(case.both, case.y, bins=10)
    for outline, (name, forecast) in zip(ax.patches, case.both.items(), strict=False):
        assert outline.get_label() == name
        assert outline.get_data().values.tolist() == np.histogram(metrics.pit(forecast, case.y), 10, (0, 1))[0].tolist()


def test_the_pits_of_a_true_distribution_with_an_atom_stay_inside_the_band():
    y = np.random.default_rng(8).normal(size=2000).clip(0)
    ax = plots.pit_histogram(Normal(np.zeros(2000), 1.0).clip(0), y)
    low, high = metrics.pit_band(2000)
    assert all(low <= bar.get_height() <= high for bar in ax.containers[0])


def test_the_reliability_curve_is_the_share_of_pits_and_its_difference_that_less_the_level(case):
    lines = [plots.reliability(case.base, case.y, difference=difference).lines[-1] for difference in (False, True)]
    (level, share), (same, less) = (line.get_data() for line in lines)
    assert share[60] == pytest.approx(np.mean(metrics.pit(case.base, case.y) <= level[60]))
    assert (level[0], level[-1], share[-1]) == (0, 1, 1)
    assert list(same) == list(level)
    assert less == pytest.approx(100 * (share - level))
    bands = [band_of(plots.reliability(case.base, case.y, difference=difference)) for difference in (False, True)]
    assert bands[1][1] - bands[1][0] == pytest.approx(100 * (bands[0][1] - bands[0][0]))
    wanted = metrics.reliability_band(600, np.arange(1, 200) / 200)
    assert np.array(bands[0])[:, 1:-1] == pytest.approx(np.array(wanted))


@pytest.mark.parametrize("kind", [lambda q: Quantiles(LEVELS, q), lambda q: Samples(q)])
def test_the_reliability_of_quantiles_is_a_dot_at_each_of_their_levels(kind, case):
    level, share = plots.reliability(kind(case.base.quantiles(LEVELS)), case.y).lines[-1].get_data()
    assert len(level) == len(LEVELS)
    assert share[2] == pytest.approx(np.mean(case.y <= case.base.ppf(0.5)))


# ---- coverage --------------------------------------------------------------------------------------------------------


def coverage_along(ax):
    """{median of a bin: (share, low, high)} as drawn."""
    shares, bars = dict(dots(ax)), {bar[0, 0]: bar[:, 1] for bar in segments(ax)}
    return {x: (shares[x] / 100, *(bars[x] / 100)) for x in sorted(bars)}


def test_coverage_by_predicted_value_is_that_of_the_bins(case):
    found = coverage_along(plots.coverage_by(case.H, case.y, bins=5, n=case.n))
    parts = np.array_split(np.argsort(case.H.median()), 5)
    for rows, (share, low, high) in zip(parts, found.values(), strict=True):
        assert share == pytest.approx(metrics.coverage(case.H[rows], case.y[rows]))
        (least,), (most,) = metrics.reliability_band(120, [0.9], 1 - 0.05 / 5, n=case.n)
        assert (low, high) == pytest.approx((least, most))


def test_coverage_by_a_number_of_few_values_has_a_bin_for_each_and_says_what_it_leaves_out(case):
    found = coverage_along(plots.coverage_by(case.H, case.y, np.arange(600) % 3))
    assert list(found) == [0, 1, 2]
    assert found[1][0] == pytest.approx(metrics.coverage(case.H[1::3], case.y[1::3]))
    ax = plots.coverage_by(case.H, case.y, np.r_[np.zeros(590), np.ones(10)])
    assert ax.get_xlabel() == "x (10 rows in bins of fewer than 20 left out)"
    assert list(coverage_along(ax)) == [0]


def test_coverage_by_draws_several_forecasts_in_the_same_bins(case):
    ax = plots.coverage_by(case.both, case.y, case.f, bins=4)
    alone = [plots.coverage_by(H, case.y, case.f, bins=4) for H in case.both.values()]
    before, after = (line for line in ax.lines if len(line.get_xdata()) == 4 and not line.get_marker())
    assert before.get_ydata() == pytest.approx(dots(alone[0])[:, 1])
    assert sorted(after.get_ydata()) == pytest.approx(sorted(dots(alone[1])[:, 1]))
    assert words_of(ax) == ["chance allows", "before", "after", "off"]
    assert len(segments(ax)) == 4


def shares_by_name(ax):
    """{row name: (share, low, high)} as drawn, for one forecast."""
    at = {y: x / 100 for x, y in dots(ax)}
    bars = {bar[0, 1]: bar[:, 0] / 100 for bar in segments(ax)}
    return {name: (at[k], *bars[k]) for k, name in enumerate(row_names(ax))}


def test_coverage_by_slice_is_that_of_the_slices_with_what_chance_allows_in_all_of_them(case):
    found = shares_by_name(plots.coverage_by_slice(case.H, case.y, {"region": case.region}, coverage=0.8, n=case.n))
    assert found["all rows (600)"][0] == pytest.approx(metrics.coverage(case.H, case.y, 0.8))
    for region in ("north", "south", "east"):
        rows = case.region == region
        value, low, high = found[f"region = {region} ({rows.sum()})"]
        assert value == pytest.approx(metrics.coverage(case.H[rows], case.y[rows], 0.8))
        (least,), (most,) = metrics.reliability_band(int(rows.sum()), [0.8], 1 - 0.05 / 4, n=case.n)
        assert (low, high) == pytest.approx((least, most))


def test_slices_that_are_off_are_hollow_and_small_ones_are_left_out(case):
    ax = plots.coverage_by_slice(case.base, case.y, case.region)
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "#ffffff"]
    assert sum(len(line.get_xdata()) for line in hollow) == 4
    ax = plots.coverage_by_slice(case.base, case.y, np.r_[["a"] * 590, ["b"] * 10])
    assert ax.get_xlabel() == "in 90% intervals, %\n1 slice of fewer than 20 rows left out"


def test_groups_stand_in_natural_order_from_the_top(case):
    group = {"group": [f"g{k}" for k in np.arange(600) % 12]}
    for ax in (plots.coverage_by_slice(case.H, case.y, group), plots.diagnosis(judge(case.H, case.y, by=group))):
        names = [name.split()[2] for name in row_names(ax) if name.startswith("group")]
        assert names == [f"g{k}" for k in range(12)]
        assert ax.get_ylim() == (len(row_names(ax)) - 0.4, -0.6)


@pytest.mark.parametrize("frame", [pd.DataFrame, polars.DataFrame, pyarrow.table])
def test_slices_come_from_frames_and_named_columns_too(frame, case):
    wanted = shares_by_name(plots.coverage_by_slice(case.H, case.y, {"region": case.region}))
    assert shares_by_name(plots.coverage_by_slice(case.H, case.y, frame({"region": case.region}))) == wanted
    series = pd.Series(case.region, name="region")
    assert shares_by_name(plots.coverage_by_slice(case.H, case.y, series)) == wanted


def test_a_judgement_is_drawn_from_its_own_numbers(case):
    found = judge(Normal(case.f, 1.05), case.y, {"scale": case.base.std()})
    ax = plots.diagnosis(found, most=60)
    wanted = [(part.tested, part.low, part.high) for part in found.parts]
    assert np.array(list(shares_by_name(ax).values())) == pytest.approx(np.array(wanted))
    assert row_names(ax) == [f"{part.name} ({part.m:,})" for part in found.parts]
    assert [text.get_text().strip() for text in ax.texts] == [part.fault for part in found.parts]
    (hollow,) = [line for line in ax.lines if line.get_markerfacecolor() == "#ffffff" and len(line.get_xdata())]
    assert hollow.get_ydata().tolist() == [k for k, part in enumerate(found.parts) if part.off]
    few = plots.diagnosis(found, most=3)
    assert row_names(few)[0] == "all rows (600)"
    assert all(name.startswith("scale in ") for name in row_names(few)[1:])


def test_of_counts_the_share_is_that_which_is_tested_and_the_axis_says_so():
    y = np.random.default_rng(71).poisson(1.0, 600).astype(float)
    P, group = Poisson(np.full(600, 1.0)), np.repeat([0.0, 1.0], 300)
    found = judge(P, y, by=group)
    assert found.overall.split_share < found.overall.share - 0.01
    drawn = (plots.diagnosis(found), plots.coverage_by_slice(P, y, group), plots.sharpness({"P": P}, y))
    for ax in drawn:
        assert ax.get_xlabel() == "in 90% intervals, ties split, %"
    assert [dots(ax)[0, 0] for ax in drawn[:2]] == pytest.approx([100 * found.overall.split_share] * 2)


# ---- spread and sharpness --------------------------------------------------------------------------------------------


def test_spread_skill_has_the_error_of_each_bin_at_its_spread(case):
    draws = np.random.default_rng(4).normal(case.f[:, None], case.base.std()[:, None], (len(case.f), 9))
    for forecast, mean, std in (
        (case.base, case.f, case.base.std()),
        (Samples(draws), draws.mean(axis=1), draws.std(axis=1)),
    ):
        spread, error = plots.spread_skill(forecast, case.y, bins=4).containers[0][0].get_data()
        for k, rows in enumerate(np.array_split(np.argsort(std), 4)):
            assert spread[k] == pytest.approx(np.sqrt(np.mean(std[rows] ** 2)))
            assert error[k] == pytest.approx(np.sqrt(np.mean((case.y - mean)[rows] ** 2)))


def test_the_bars_of_spread_skill_are_standard_errors():
    """The errors of 200 bins of like rows vary as much as their bars say; the deviation of 200 is known to 5%."""
    y = np.random.default_rng(0).normal(size=20_000)
    ax = plots.spread_skill(Normal(np.zeros(20_000), np.linspace(1, 1.001, 20_000)), y, bins=200)
    line, _, (bar,) = ax.containers[0]
    bars = [np.diff(segment[:, 1])[0] / 2 for segment in bar.get_segments()]
    assert np.mean(bars) == pytest.approx(np.std(line.get_ydata()), rel=0.15)
    assert ax.get_xlim() == ax.get_ylim()
    assert ax.get_xlim()[1] > max(segment[:, 1].max() for segment in bar.get_segments())


def test_sharpness_has_the_share_inside_and_the_width_on_a_band_of_what_chance_allows(case):
    ax = plots.sharpness(case.both, case.y, n=case.n)
    for (point, _, (bar,)), forecast in zip(ax.containers, case.both.values(), strict=True):
        lower, upper = forecast.interval(0.9)
        wanted = [100 * metrics.coverage(forecast, case.y), np.mean(upper - lower)]
        assert np.ravel(point.get_data()) == pytest.approx(wanted)
        (segment,) = bar.get_segments()
        assert np.ptp(segment[:, 1]) / 2 == pytest.approx(np.std(upper - lower) / np.sqrt(600))
    (low,), (high,) = metrics.reliability_band(600, [0.9], n=case.n)
    band = ax.patches[0].get_bbox()
    assert (band.x0, band.x1) == pytest.approx((100 * low, 100 * high))
    assert ax.get_ylim()[0] == 0


def test_a_coverage_of_89_7_percent_that_chance_explains_is_not_marked_as_off():
    y = np.r_[np.zeros(897), np.full(103, 9.0)]
    ax = plots.sharpness({"fine": Interval(np.full(1000, -1.0), np.ones(1000)), "few": Interval(y + 1, y + 2)}, y)
    assert words_of(ax)[1:] == ["fine", "few (off)"]


def test_a_forecast_of_infinite_width_is_named(case):
    infinite = case.fit(Random(), rows=5)(case.base, rng=case.rng)
    ax = plots.sharpness({"a": case.H, "random": infinite}, case.y)
    assert "random: infinite width" in words_of(ax)
    assert len(ax.containers) == 1


# ---- the summary -----------------------------------------------------------------------------------------------------


def test_a_summary_has_four_panels_of_one_forecast_or_of_several(case):
    figure = plots.summary(case.H, case.y, n=case.n)
    assert [ax.get_title("left") for ax in figure.axes] == ["a", "b", "c", "d"]
    assert [ax.get_xlabel() for ax in figure.axes] == ["y", "PIT, H(y)", "predicted value", "rows, by width"]
    examples = figure.axes[0]
    rows = [int(name.removeprefix("row ")) for name in row_names(examples)]
    assert dots(examples) == pytest.approx(np.column_stack([case.y[rows], np.arange(8)]))
    assert pytest.approx(np.array(case.H[rows].interval(0.9))) == segments(examples)[:, :, 0].T
    assert np.all(np.diff(case.H[rows].median()) > 0)
    several = plots.summary(case.both, case.y)
    assert several.axes[3].get_ylabel() == "mean width"
    assert all({"before", "after"} <= {word.split(" (")[0] for word in words_of(ax)} for ax in several.axes)


def test_a_summary_of_quantiles_or_of_few_rows_has_reliability(case):
    five = Quantiles(LEVELS, case.H.quantiles(LEVELS))
    assert plots.summary(five, case.y).axes[1].get_xlabel() == "level c"
    assert plots.summary(case.H[:5], case.y[:5]).axes[2].get_xlabel() == "level c"
