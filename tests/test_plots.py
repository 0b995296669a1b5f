"""Pictures: what they show is true, they look as they did, and they leave everything else alone."""

from __future__ import annotations

import importlib
import inspect
import itertools
import pickle
from datetime import date, timedelta

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import polars
import pyarrow
import pytest
import scipy.stats
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from matplotlib.colors import to_hex
from matplotlib.figure import Figure

import calibrant
from calibrant import (
    Calibrator,
    CrossCalibrated,
    Ensemble,
    GaussianMixture,
    Interval,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
    diagnose,
    from_scipy,
    metrics,
    plots,
)
from calibrant.distributions import Poisson
from calibrant.interpolators import NAF, InfiniteTails, Linear, Naive, Random
from calibrant.metrics.interval_coverage import IntervalResult
from calibrant.plots.coverage import _label
from calibrant.plots.curves import atoms, cdf_curve, quantiles, reach, shape
from calibrant.plots.legend import add_legend
from calibrant.plots.marks import ties_split_ticks
from calibrant.plots.palette import Palette, contrast, luminance
from calibrant.plots.theme import looks, plain
from calibrant.predictions import Rates
from calibrant.scores import CDFScore

torch = pytest.importorskip("torch")

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


class Case:
    """Forecasts that are half as wide as they should be, and what calibration makes of them."""

    def __init__(self, n=300, m=600, seed=0):
        rng = np.random.default_rng(seed)
        f, noise = rng.normal(size=(2, n + m))
        scale = np.exp(0.4 * rng.normal(size=n + m))
        y = f + scale * noise
        base = Normal(f, scale / 2)
        self.n, self.rng = n, rng
        self.calibration, self.y_calibration = base[:n], y[:n]
        self.base, self.y, self.f = base[n:], y[n:], f[n:]
        self.H = self.fit(NAF())(self.base)
        self.region = np.array(["north", "south", "east"])[rng.integers(0, 3, m)]

    def fit(self, interpolator, score=None, rows=None):
        return Calibrator(score, interpolator).fit(self.calibration[:rows], self.y_calibration[:rows])


@pytest.fixture(scope="module")
def case():
    return Case()


SCORES = [-1.4, -1.1, -0.4, -0.2, 0.1, 0.3, 0.9, 2.1]


def watched(case):
    """Labels that are larger from row 350 on."""
    moved = case.y + np.where(np.arange(len(case.y)) < 350, 0.0, 1.0)
    return calibrant.monitor(case.fit(Linear()), case.base, moved, rng=np.random.default_rng(0))


def every_plot(case):
    """Each public function, ready to be called with `ax`."""
    both = {"before": case.base, "after": case.H}
    linear = case.fit(Linear(), rows=20)
    by = {"region": case.region, "x": case.f}
    groups = {"region": case.region, "scale": case.base.std()}
    return {
        "pit_histogram": lambda ax=None: plots.pit_histogram(case.H, case.y, n=case.n, ax=ax),
        "reliability": lambda ax=None: plots.reliability(both, case.y, n=case.n, ax=ax),
        "parity": lambda ax=None: plots.parity(case.H, case.y, ax=ax),
        "spread_skill": lambda ax=None: plots.spread_skill(both, case.y, bins=6, ax=ax),
        "coverage_by": lambda ax=None: plots.coverage_by(Normal(case.f, 1.05), case.y, case.base.std(), ax=ax),
        "coverage_by_slice": lambda ax=None: plots.coverage_by_slice(both, case.y, by, ax=ax),
        "diagnosis": lambda ax=None: plots.diagnosis(diagnose(Normal(case.f, 1.05), case.y, groups), ax=ax),
        "density": lambda ax=None: plots.density(case.H, rows=[1, 2], base=case.base, y=case.y, ax=ax),
        "cdf": lambda ax=None: plots.cdf(case.H, rows=[1, 2], base=case.base, y=case.y, ax=ax),
        "ridgeline": lambda ax=None: plots.ridgeline(case.H, base=case.base, y=case.y, ax=ax),
        "fan": lambda ax=None: plots.fan(case.H[:60], x=case.f[:60], y=case.y[:60], ax=ax),
        "intervals": lambda ax=None: plots.intervals(case.H, case.y, ax=ax),
        "sharpness": lambda ax=None: plots.sharpness(both, case.y, ax=ax),
        "scores": lambda ax=None: plots.scores(linear, case.calibration[:20], case.y_calibration[:20], ax=ax),
        "interpolators": lambda ax=None: plots.interpolators(SCORES, ax=ax),
        "monitor": lambda ax=None: plots.monitor(watched(case), ax=ax),
    }


NAMES = [name for name in plots.__all__ if inspect.isfunction(getattr(plots, name)) and name != "theme"]
each = pytest.mark.parametrize("name", NAMES)


# ---- all of them ----------------------------------------------------------------------------------------------------


def test_every_plot_is_among_the_tested_ones(case):
    assert sorted(every_plot(case)) == sorted(NAMES)


picture = pytest.mark.mpl_image_compare(savefig_kwargs={"dpi": 110}, deterministic=True)


@picture
@each
def test_the_picture_looks_as_it_did(name, case):
    return every_plot(case)[name]().figure


@picture
def test_the_picture_of_an_atomic_distribution_looks_as_it_did(case):
    H = case.fit(Naive(), rows=12)(case.base)
    return plots.cdf(H, rows=0, base=Quantiles(LEVELS, case.base.quantiles(LEVELS)), y=case.y).figure


@picture
def test_the_picture_of_a_clipped_distribution_looks_as_it_did(case):
    return plots.density(case.H.clip(0, 9), rows=4, base=Point(case.f), y=case.y).figure


@picture
def test_the_picture_of_a_randomised_q_looks_as_it_did(case):
    calibrated = case.fit(Random(), CDFScore(), rows=15)
    return plots.scores(calibrated, case.calibration[:15], case.y_calibration[:15]).figure


@picture
def test_the_picture_on_axes_of_ones_own_looks_as_it_did(case):
    figure, ax = plt.subplots(figsize=(5, 4))
    plots.pit_histogram({"before": case.base, "after": case.H}, case.y, ax=ax)
    return figure


on_paper = pytest.mark.mpl_image_compare(deterministic=True)  # as savefig saves it
SIX = ("pit_histogram", "reliability", "coverage_by", "density", "fan", "intervals")


def grid(case, names=SIX, size=None):
    """A figure of 2 x 3 panels, as a user makes it."""
    figure, axes = plt.subplots(2, 3, figsize=size, layout="constrained")
    for ax, name in zip(axes.flat, names, strict=True):
        every_plot(case)[name](ax=ax)
    return figure


@on_paper
def test_a_grid_of_small_panels_looks_as_it_did(case):
    return grid(case)


@pytest.mark.few(1)
@on_paper
@pytest.mark.parametrize("half", [0, 1])
def test_a_dark_style_looks_as_it_did(half, case):
    with plt.style.context("dark_background"):
        return grid(
            case, (SIX, ("parity", "spread_skill", "sharpness", "ridgeline", "scores", "monitor"))[half], (11, 6.5)
        )


@pytest.mark.slow
@on_paper
def test_thirty_rows_look_as_they_did(case):
    group = [f"g{k}" for k in np.arange(600) % 30]
    figure, (left, right) = plt.subplots(1, 2, figsize=(9, 4.8), layout="constrained")
    plots.coverage_by_slice(case.H, case.y, {"group": group}, ax=left)
    plots.ridgeline(case.H, rows=range(30), base=case.base, y=case.y, ax=right)
    return figure


@picture
def test_the_difference_of_a_reliability_diagram_looks_as_it_did(case):
    return plots.reliability({"before": case.base, "after": case.H}, case.y, n=case.n, difference=True).figure


@pytest.mark.few(4)
@each
def test_ink_is_legible_in_a_dark_style(name, case):
    with plt.style.context("dark_background"):
        figure, ax = plt.subplots()
    every_plot(case)[name](ax=ax)  # the style is that of the axes, whatever the settings are by now
    figure.canvas.draw()
    panels = [ax, *(child for child in ax.child_axes if child.get_visible())]
    texts = [text for panel in panels for text in panel.findobj(matplotlib.text.Text) if text.get_text().strip()]
    assert len(texts) > 3
    assert min(contrast(text.get_color(), "black") for text in texts) > 4
    lines = [line for panel in panels for line in panel.lines]
    assert min((contrast(line.get_color(), "black") for line in lines), default=21) > 3
    papers = [text.get_bbox_patch().get_facecolor()[:3] for text in texts if text.get_bbox_patch()]
    assert all(paper == (0, 0, 0) for paper in papers)


def test_marks_are_seen_where_only_the_inside_of_the_axes_is_dark(case):
    ax = plt.figure().subplots()
    ax.set_facecolor("#222222")
    plots.fan(case.H[:60], y=case.y[:60], ax=ax)
    assert min(contrast(line.get_color(), "#222222") for line in ax.lines) > 4


def test_text_has_the_size_of_the_axes(case):
    with plots.theme():
        small = plt.figure(figsize=(3, 2)).subplots()
    large = plt.figure(figsize=(12, 9)).subplots()
    large.xaxis.label.set_fontsize(20)
    sizes = [
        plots.reliability(case.H, case.y, ax=ax).get_legend().get_texts()[0].get_fontsize() for ax in (small, large)
    ]
    assert sizes == pytest.approx([6, 20 * 6 / 7])


def test_marks_and_lines_grow_with_the_text_of_the_axes():
    """Twice the letters, on axes with room for it."""
    y = np.random.default_rng(72).normal(size=40)
    found = []
    for size in (7, 14):
        ax = plt.figure(figsize=(12, 9)).subplots()
        ax.xaxis.label.set_fontsize(size)
        palette = Palette.of(ax)
        assert palette.unit == size / 7
        (ticks,) = ties_split_ticks(
            ax, [IntervalResult(0.9, 0.9, 0.8, 0.95, split_share=0.85)], [0], palette, along="x"
        )
        (bars,) = plots.sharpness({"a": Normal(np.zeros(40), 1.0)}, y, ax=ax).containers
        found.append([bars[0].get_markersize(), *(bar.get_linewidth()[0] for bar in bars[2]), ticks.get_markersize()])
    np.testing.assert_allclose(found, [[5, 0.8, 0.8, 6], [10, 1.6, 1.6, 12]])


@pytest.mark.few(1)
@pytest.mark.parametrize("names", [SIX, ("parity", "spread_skill", "sharpness", "ridgeline", "scores", "monitor")])
@pytest.mark.parametrize("layout", ["constrained", "tight"])
def test_keys_and_labels_hide_nothing_in_a_grid(names, layout, case):
    figure, axes = plt.subplots(2, 3, layout=layout)
    for ax, name in zip(axes.flat, names, strict=True):
        every_plot(case)[name](ax=ax).set_title(name)
    for _ in range(2):  # tight takes the sizes that the first time left
        figure.canvas.draw()
    boxes = [(ax, ax.get_window_extent()) for ax in axes.flat]
    keys = [(ax, ax.get_legend().get_window_extent()) for ax in axes.flat]
    for ax, box in keys:
        assert box.y0 >= ax.get_window_extent().y1
        assert figure.bbox.x0 <= box.x0
        assert box.x1 <= figure.bbox.x1
        assert ax.title.get_window_extent().y0 >= box.y1 - 1
        assert not any(box.overlaps(other) for owner, other in (*boxes, *keys) if owner is not ax)
        label = ax.yaxis.label.get_window_extent()
        assert not (ax.get_ylabel() and box.overlaps(label))
        assert not any(label.overlaps(other) for owner, other in boxes if owner is not ax)


def test_a_key_has_as_many_columns_as_fit(case):
    heights = []
    for width in (6.0, 2.6, 1.7):
        figure, ax = plt.subplots(figsize=(width, 3), layout="constrained")
        plots.fan(case.H[:60], y=case.y[:60], ax=ax)
        figure.canvas.draw()
        box = ax.get_legend().get_window_extent()
        assert box.width <= figure.bbox.width
        heights.append(box.height)
    assert heights[0] < 0.6 * heights[1]


def test_a_key_makes_room_for_a_legend_of_ones_own(case):
    figure, ax = plt.subplots()
    plots.reliability(case.H, case.y, ax=ax)
    ax.set_title("title")
    figure.canvas.draw()
    high = ax.title.get_window_extent().y0
    assert ax.get_legend().get_window_extent().y1 <= high + 1
    own = ax.legend(loc="upper left")
    figure.canvas.draw()
    assert ax.get_legend() is own
    assert ax.title.get_window_extent().y0 < high - 5
    plots.reliability(case.H, case.y, ax=ax).get_legend().remove()
    figure.canvas.draw()
    assert ax.get_legend() is None


def test_a_figure_with_a_key_is_pickled(case):
    figure = plots.reliability(case.H, case.y).figure
    again = pickle.loads(pickle.dumps(figure))
    again.canvas.draw()
    assert again.axes[0].get_legend().get_texts()[0].get_text() == "forecast"


def test_labels_of_ones_own_stay(case):
    figure, ax = plt.subplots(layout="constrained", figsize=(2, 2))
    plots.reliability(case.H, case.y, ax=ax).set_ylabel("a label that is much longer than the axes", fontsize=11)
    figure.canvas.draw()
    assert ax.yaxis.label.get_fontsize() == 11


@pytest.mark.few(1)
@pytest.mark.parametrize("plot", [plots.pit_histogram, plots.intervals])
def test_axes_that_share_y_show_what_both_have(plot, case):
    _, (left, right) = plt.subplots(1, 2, sharey=True)
    alone = [plot(forecast, case.y).get_ylim() for forecast in (case.base, case.H)]
    plot(case.base, case.y, ax=left)
    plot(case.H, case.y, ax=right)
    assert right.get_ylim() == pytest.approx((min(low for low, _ in alone), max(high for _, high in alone)))


def test_names_of_too_many_rows_are_thinned_out(case):
    ax = plt.figure(figsize=(4, 1.2)).subplots()
    plots.ridgeline(case.H, rows=range(30), ax=ax)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert names[:2] == ["row 0", "row 3"]
    assert 5 <= ax.get_yticklabels()[0].get_fontsize() < 7  # 10 as it comes


@pytest.mark.few(4)
@each
def test_a_plot_returns_the_axes_that_it_was_given_and_opens_no_figure(name, case):
    figure, (ax, other) = plt.subplots(1, 2)
    assert every_plot(case)[name](ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    assert not other.has_data()


@pytest.mark.few(3)
@each
def test_a_plot_without_axes_makes_one_figure_80_mm_wide(name, case):
    ax = every_plot(case)[name]()
    assert plt.get_fignums() == [ax.figure.number]
    assert ax.figure.get_figwidth() * 25.4 == pytest.approx(80)


@pytest.mark.few(3)
@each
def test_no_global_setting_is_changed(name, case):
    with matplotlib.rc_context():
        matplotlib.rcdefaults()
        before = dict(matplotlib.rcParams)
        every_plot(case)[name]()
        every_plot(case)[name](ax=plt.figure().subplots())
        assert dict(matplotlib.rcParams) == before


@each
def test_axes_that_are_none_are_refused(name, case):
    with pytest.raises(TypeError, match="ax must be matplotlib axes, got Figure"):
        every_plot(case)[name](ax=plt.figure())


@pytest.mark.few(5)
@each
def test_all_text_is_inside_the_figure_and_of_5_points_or_more(name, case):
    figure = every_plot(case)[name]().figure
    figure.canvas.draw()
    for text in figure.findobj(matplotlib.text.Text):
        if not (text.get_visible() and text.get_text().strip()) or text.get_window_extent().width == 0:
            continue
        assert text.get_fontsize() >= 5
        # tick labels beyond the limits exist, and are not drawn
        if text in figure.axes[0].texts or text is figure.axes[0].xaxis.label:
            box = text.get_window_extent().transformed(figure.transFigure.inverted())
            assert box.x0 > -0.01
            assert box.x1 < 1.01


def test_a_figure_is_not_left_open_when_drawing_fails(case):
    with pytest.raises(ValueError, match="the pictures"), plots.canvas.drawing(None):
        raise ValueError("the pictures")
    assert plt.get_fignums() == []


def test_the_theme_ends_with_its_block():
    before = dict(matplotlib.rcParams)
    with plots.theme():
        assert matplotlib.rcParams["font.size"] == 7
    assert dict(matplotlib.rcParams) == before


def test_ticks_keep_the_theme_when_the_figure_is_drawn_later(case):
    ax = plots.reliability(case.H, case.y)
    ax.figure.canvas.draw()
    assert {label.get_fontsize() for label in ax.get_xticklabels()} == {6.5}


def test_before_and_after_have_their_colours_everywhere(case):
    ax = plots.reliability({"forest": case.base, "calibrated": case.H}, case.y)
    colours = {line.get_label(): to_hex(line.get_color()) for line in ax.lines}
    assert colours["forest"] == plots.BEFORE
    assert colours["calibrated"] == plots.AFTER
    ax = plots.density(case.H, rows=0, base=case.base)
    assert [to_hex(line.get_color()) for line in ax.lines] == [plots.BEFORE, plots.AFTER]


def test_no_two_of_thirty_five_forecasts_look_alike():
    assert len({(look.colour, str(look.line)) for look in looks(35)}) == 35


def test_colours_differ_in_lightness_so_that_grey_print_tells_before_from_after():
    before, after = (np.dot([0.299, 0.587, 0.114], matplotlib.colors.to_rgb(c)) for c in (plots.BEFORE, plots.AFTER))
    assert abs(before - after) > 0.05
    assert looks(2)[0].line != looks(2)[1].line
    assert looks(2)[0].marker != looks(2)[1].marker


@pytest.mark.few(3)
@pytest.mark.parametrize("name", ["$x_1$", "_hidden", "a $ and $ b", r"\$", "two\nlines", "<script>", 7])
def test_a_name_is_printed_as_it_is(name, case):
    ax = plots.reliability({name: case.H, "other": case.base}, case.y)
    ax.figure.canvas.draw()
    shown = ax.get_legend().get_texts()[0]
    text, math = shown._preprocess_math(shown.get_text())
    assert not math
    assert text.strip() == " ".join(str(name).split())


def test_a_long_name_is_cut():
    assert len(plain("x" * 100)) == 32


# ---- calibration ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bins", [2, 10, 33])
def test_the_bars_of_the_pit_histogram_count_every_row_once(bins, case):
    bars = plots.pit_histogram(case.H, case.y, bins=bins).containers[0]
    assert len(bars) == bins
    assert sum(bar.get_height() for bar in bars) == len(case.y)
    pits = metrics.pit(case.H, case.y)
    assert bars[0].get_height() == np.sum(pits < 1 / bins)


def test_the_pit_histogram_of_samples_counts_the_ranks_of_the_labels(case):
    draws = np.random.default_rng(3).normal(case.f[:, None], 1.0, (len(case.f), 9))
    bars = plots.pit_histogram(Samples(draws), case.y, bins=10).containers[0]
    ranks = np.sum(draws < case.y[:, None], axis=1)
    assert [bar.get_height() for bar in bars] == np.bincount(ranks, minlength=10).tolist()


@pytest.mark.slow
def test_the_band_of_the_pit_histogram_holds_a_calibrated_forecast_in_95_of_100_draws():
    rng, H = np.random.default_rng(1), Normal(0.0, 1.0)
    ax = plt.figure().subplots()
    held = 0
    for _ in range(100):
        ax.clear()
        plots.pit_histogram(H, rng.normal(size=150), bins=8, ax=ax)
        band = ax.patches[-1].get_bbox()
        held += all(band.y0 <= bar.get_height() <= band.y1 for bar in ax.containers[0])
    assert 0.9 <= held / 100 <= 1.0


@pytest.mark.slow
def test_the_band_of_the_reliability_diagram_holds_a_calibrated_forecast_in_95_of_100_draws():
    rng, H = np.random.default_rng(2), Normal(0.0, 1.0)
    ax = plt.figure().subplots()
    held = 0
    for _ in range(80):
        ax.clear()
        plots.reliability(H, rng.normal(size=150), ax=ax)
        low, high = band_of(ax)
        curve = ax.lines[-1].get_ydata()
        held += bool(np.all((low <= curve + 1e-12) & (curve <= high + 1e-12)))
    assert 0.88 <= held / 80 <= 1.0


def band_of(ax):
    """The lower and the upper edge of the shaded band, at the places where it is given."""
    (band,) = [c for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    corners = band.get_paths()[0].vertices
    half = len(corners) // 2
    return corners[1:half, 1], corners[half + 1 : -1, 1][::-1]


def test_the_band_is_wider_where_few_rows_calibrated(case):
    wide, narrow = (plots.pit_histogram(case.H, case.y, n=n).patches[-1].get_bbox().height for n in (50, None))
    assert wide > narrow


def test_the_reliability_curve_is_the_share_of_pits(case):
    line = plots.reliability(case.base, case.y).lines[-1]
    pits = metrics.pit(case.base, case.y)
    level, share = line.get_data()
    assert share[60] == pytest.approx(np.mean(pits <= level[60]))
    assert (level[0], level[-1], share[-1]) == (0, 1, 1)


@pytest.mark.parametrize("kind", [lambda q: Quantiles(LEVELS, q), lambda q: Samples(q)])
def test_the_reliability_of_quantiles_is_a_dot_at_each_of_their_levels(kind, case):
    forecast = kind(case.base.quantiles(LEVELS))
    level, share = plots.reliability(forecast, case.y).lines[-1].get_data()
    assert len(level) == len(LEVELS)
    assert share[2] == pytest.approx(np.mean(case.y <= case.base.ppf(0.5)))


def test_the_difference_is_the_share_less_the_level(case):
    lines = [plots.reliability(case.base, case.y, difference=difference).lines[-1] for difference in (False, True)]
    (level, share), (same, less) = (line.get_data() for line in lines)
    assert list(same) == list(level)
    assert less == pytest.approx(100 * (share - level))
    (low, high), (below, above) = (
        band_of(plots.reliability(case.base, case.y, difference=difference)) for difference in (False, True)
    )
    assert above - below == pytest.approx(100 * (high - low))
    assert below.max() <= 0 <= above.min()


def coverage_along(ax):
    """{median of a bin: (share, low, high)} as drawn."""
    dots = {x: y for line in ax.lines if line.get_marker() == "o" for x, y in zip(*line.get_data(), strict=True)}
    bars = [bar.get_bbox() for bar in ax.containers[0]]
    return {x: (dots[x] / 100, bar.y0 / 100, bar.y1 / 100) for x, bar in zip(sorted(dots), bars, strict=True)}


def test_coverage_by_predicted_value_is_that_of_the_bins(case):
    found = coverage_along(plots.coverage_by(case.H, case.y, bins=5, n=case.n))
    order = np.argsort(case.H.median())
    assert len(found) == 5
    for rows, (share, low, high) in zip(np.array_split(order, 5), found.values(), strict=True):
        assert share == pytest.approx(metrics.coverage(case.H[rows], case.y[rows]))
        (least,), (most,) = metrics.reliability_band(120, [0.9], 1 - 0.05 / 5, n=case.n)
        assert (low, high) == pytest.approx((least, most))


def test_coverage_by_a_number_of_few_values_has_a_bin_for_each(case):
    found = coverage_along(plots.coverage_by(case.H, case.y, np.arange(600) % 3))
    assert list(found) == [0, 1, 2]
    assert found[1][0] == pytest.approx(metrics.coverage(case.H[1::3], case.y[1::3]))


def test_rows_in_bins_that_are_too_small_are_said_to_be_left_out(case):
    ax = plots.coverage_by(case.H, case.y, np.r_[np.zeros(590), np.ones(10)])
    assert ax.get_xlabel().replace("\n", " ") == "x (10 rows in bins of fewer than 20 left out)"
    assert list(coverage_along(ax)) == [0]


@pytest.mark.slow
def test_the_bars_of_coverage_by_hold_a_calibrated_forecast_in_95_of_100_draws():
    rng, ax, held = np.random.default_rng(4), plt.figure().subplots(), 0
    f = rng.normal(size=400)
    for _ in range(100):
        ax.clear()
        found = coverage_along(plots.coverage_by(Normal(f, 1.0), f + rng.normal(size=400), bins=5, ax=ax))
        held += all(low <= share <= high for share, low, high in found.values())
    assert held >= 88  # binomial(100, 0.95) is less in 1 of 300 cases


def test_spread_skill_has_the_error_of_each_bin_at_its_spread(case):
    ax = plots.spread_skill(case.base, case.y, bins=4)
    spread, error = ax.containers[0][0].get_data()
    for k, rows in enumerate(np.array_split(np.argsort(case.base.std()), 4)):
        assert spread[k] == pytest.approx(np.sqrt(np.mean(case.base.std()[rows] ** 2)))
        assert error[k] == pytest.approx(np.sqrt(np.mean((case.y - case.f)[rows] ** 2)))


def test_the_spread_of_samples_is_that_of_the_draws_around_their_mean(case):
    draws = np.random.default_rng(4).normal(case.f[:, None], case.base.std()[:, None], (len(case.f), 9))
    spread, error = plots.spread_skill(Samples(draws), case.y, bins=2).containers[0][0].get_data()
    for k, rows in enumerate(np.array_split(np.argsort(draws.std(axis=1)), 2)):
        assert spread[k] == pytest.approx(np.sqrt(np.mean(draws.var(axis=1)[rows])))
        assert error[k] == pytest.approx(np.sqrt(np.mean((case.y - draws.mean(axis=1))[rows] ** 2)))


def test_the_bars_of_spread_skill_are_standard_errors():
    """The errors of 200 bins of like rows vary as much as their bars say; the deviation of 200 is known to 5%."""
    y = np.random.default_rng(0).normal(size=20_000)
    ax = plots.spread_skill(Normal(np.zeros(20_000), np.linspace(1, 1.001, 20_000)), y, bins=200)
    line, _, (bar,) = ax.containers[0]
    assert len(line.get_ydata()) == 200
    bars = [np.diff(segment[:, 1])[0] / 2 for segment in bar.get_segments()]
    assert np.mean(bars) == pytest.approx(np.std(line.get_ydata()), rel=0.15)


def test_a_spread_that_is_the_same_everywhere_is_one_bin(case):
    ax = plots.spread_skill(Normal(case.f, 1.0), case.y)
    assert ax.containers[0][0].get_xdata() == pytest.approx([1.0])


def test_groups_stand_in_natural_order(case):
    group = [f"g{k}" for k in np.arange(600) % 12]
    wanted = [f"g{k}" for k in range(12)]
    ax = plots.coverage_by_slice(case.H, case.y, {"group": group})
    names = [label.get_text() for label in ax.get_yticklabels()][1:]
    assert [name.split()[1] for name in names] == wanted
    rows = np.arange(600) % 12 == 10
    assert slices(ax)["group: g10 (50)"][0] == pytest.approx(metrics.coverage(case.H[rows], case.y[rows]))
    ax = plots.diagnosis(diagnose(case.H, case.y, {"group": group}), most=60)
    names = [label.get_text() for label in ax.get_yticklabels()]
    assert [name.split()[2] for name in names if name.startswith("group")] == wanted


def slices(ax):
    """{label: (coverage, low, high)} as drawn, for one forecast."""
    dots = {float(y): x for line in ax.lines for x, y in zip(*line.get_data(), strict=True) if line.get_marker() == "o"}
    bars = {segment[0, 1]: segment[:, 0] for c in ax.collections for segment in c.get_segments()}
    names = [label.get_text() for label in ax.get_yticklabels()]
    return {name: (dots[k] / 100, *(bars[k] / 100)) for k, name in enumerate(names)}


def test_the_dots_of_coverage_by_slice_are_the_coverages_of_the_slices(case):
    shown = slices(plots.coverage_by_slice(case.H, case.y, {"region": case.region}, coverage=0.8))
    for region in ("north", "south", "east"):
        rows = case.region == region
        value, low, high = shown[f"region: {region} ({rows.sum()})"]
        assert value == pytest.approx(metrics.coverage(case.H[rows], case.y[rows], 0.8))
        assert low < value < high
    assert shown[f"all rows ({len(case.y)})"][0] == pytest.approx(metrics.coverage(case.H, case.y, 0.8))


def test_the_bars_of_coverage_by_slice_are_clopper_pearson_intervals_after_bonferroni(case):
    shown = slices(plots.coverage_by_slice(case.H, case.y, {"region": case.region}, confidence=0.9))
    rows = case.region == "north"
    hits = round(metrics.coverage(case.H[rows], case.y[rows]) * rows.sum())
    exact = scipy.stats.binomtest(hits, int(rows.sum())).proportion_ci(1 - 0.1 / 4, method="exact")
    assert shown[f"region: north ({rows.sum()})"][1:] == pytest.approx((exact.low, exact.high))


def test_slices_whose_bar_misses_the_target_are_hollow(case):
    ax = plots.coverage_by_slice(case.base, case.y, case.region)
    hollow = [line for line in ax.lines if line.get_markerfacecolor() == "#ffffff"]
    assert sum(len(line.get_xdata()) for line in hollow) == 4


@pytest.mark.parametrize(
    "frame",
    [
        lambda case: pd.DataFrame({"region": case.region}),
        lambda case: polars.DataFrame({"region": case.region}),
        lambda case: pyarrow.table({"region": case.region}),
        lambda case: pd.Series(case.region, name="region"),
        lambda case: polars.Series("region", case.region),
    ],
)
def test_slices_come_from_frames_and_named_columns_too(frame, case):
    wanted = slices(plots.coverage_by_slice(case.H, case.y, {"region": case.region}))
    assert slices(plots.coverage_by_slice(case.H, case.y, frame(case))) == wanted


# ---- distributions
# -----------------------------------------------------------------------------------------------------------


def area(drawn):
    return np.sum(np.diff(drawn.x) * (drawn.density[1:] + drawn.density[:-1]) / 2)


@pytest.mark.parametrize("distribution", [Normal(3.0, 2.0), GaussianMixture([0.3, 0.7], [0.0, 9.0], [1.0, 1.0])])
def test_a_smooth_density_is_drawn_as_it_is(distribution):
    drawn = shape(distribution, "H")
    assert len(drawn.x) == 202
    assert drawn.density[1:-1] == pytest.approx(
        distribution.pdf(drawn.x[1:-1]), rel=0.01, abs=1e-3 * drawn.density.max()
    )


def test_many_modes_are_not_mistaken_for_noise():
    distribution = GaussianMixture(np.full(6, 1 / 6), 4.0 * np.arange(6), np.full(6, 0.5))
    assert len(shape(distribution, "H").x) == 202


def test_a_rough_density_is_drawn_as_its_mean_over_fewer_cells(case):
    H = case.fit(Linear())(case.base)
    drawn = shape(H[0], "H")
    assert len(drawn.x) < 60
    assert area(drawn) == pytest.approx(np.diff(H[0].cdf(drawn.x[[0, -1]]))[0], abs=0.02)
    distribution = case.base[0]
    assert np.sum(np.abs(np.diff(drawn.density))) < 8 * distribution.pdf(distribution.mean())


def test_an_atom_is_a_stem_and_no_part_of_the_density():
    distribution = Normal(0.0, 1.0).clip(lower=0.0)
    drawn = shape(distribution, "H")
    assert drawn.atoms.at == pytest.approx([0.0])
    assert drawn.atoms.mass == pytest.approx([0.5])
    assert area(drawn) == pytest.approx(0.5, abs=0.01)
    ax = plots.density(distribution)
    assert [text.get_text() for text in ax.texts] == ["50%"]


@pytest.mark.parametrize("interpolator", [Naive(), Random()])
@pytest.mark.parametrize("rows", [5, 300])
def test_a_distribution_of_atoms_has_no_density_to_draw(interpolator, rows, case):
    H = case.fit(interpolator, rows=rows)(case.base, rng=np.random.default_rng(0))
    for plot in (plots.density, plots.ridgeline):
        with pytest.raises(ValueError, match="row 3 of H has no density, only atoms: draw its cdf instead"):
            plot(H, rows=[3])
    assert plt.get_fignums() == []


def test_a_cdf_with_steps_is_drawn_with_upright_steps():
    distribution = Naive().fit([0.0, 1.0, 3.0])
    x, F = cdf_curve(distribution, quantiles(distribution), np.linspace(-1, 4, 7))
    for at, low, high in ((0.0, 0, 1 / 3), (1.0, 1 / 3, 2 / 3), (3.0, 2 / 3, 1)):
        assert F[x == at].min() == pytest.approx(low)
        assert F[x == at].max() == pytest.approx(high)
    assert np.all(np.diff(F) >= 0)


@pytest.mark.parametrize("rows", [3, 12, 50])
def test_the_steps_of_a_shifted_distribution_survive_rounding(rows, case):
    H = case.fit(Naive(), rows=rows)(case.base)
    for row in range(20):
        distribution = H[row]
        found = atoms(distribution, quantiles(distribution))
        assert found.mass == pytest.approx(np.full(rows, 1 / rows))
        height = cdf_curve(distribution, quantiles(distribution), np.linspace(*reach(quantiles(distribution)), 50))[1]
        assert height[[0, -1]] == pytest.approx([0.0, 1.0])


def test_the_drawn_cdf_is_the_cdf(case):
    ax = plots.cdf(case.H, rows=[5], base=case.base)
    before, after = ax.lines[:2]
    assert before.get_ydata() == pytest.approx(case.base[5].cdf(before.get_xdata()))
    assert after.get_ydata() == pytest.approx(case.H[5].cdf(after.get_xdata()))


def test_the_dot_on_the_cdf_is_the_pit(case):
    dot = plots.cdf(case.H, rows=[5], y=case.y).lines[-1]
    assert np.ravel(dot.get_data()) == pytest.approx([case.y[5], metrics.pit(case.H, case.y)[5]])


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "distribution",
    [
        Normal(1e9, 1e-3),
        Normal(0.0, 1e-12),
        StudentT(1.0, 0.0, 1.0),
        StudentT(0.3, 0.0, 1.0),
        from_scipy(scipy.stats.uniform()),
        from_scipy(scipy.stats.expon()),
        Linear(tails=InfiniteTails()).fit([0.0, 1.0]),
        Linear(tails=InfiniteTails()).fit([1.0]),
        Random().fit([1.0]),
        Naive().fit([2.0, 2.0]),
    ],
)
def test_a_distribution_is_drawn_where_its_finite_mass_is(distribution):
    low, high = reach(quantiles(distribution))
    assert np.isfinite([low, high]).all()
    assert low < high
    assert low <= distribution.ppf(0.5) <= high
    ax = plots.cdf(distribution)
    ax.figure.canvas.draw()


def test_a_heavy_tail_does_not_hide_the_middle():
    low, high = reach(quantiles(StudentT(1.0, 0.0, 1.0)))
    assert -12 < low < -8
    assert 8 < high < 12


def test_the_atoms_of_a_continuous_distribution_are_none():
    for distribution in (
        Normal(0.0, 1.0),
        Normal(np.float32(1e6), np.float32(1.0)),
        Normal(1e9, 1e-5),
        from_scipy(scipy.stats.uniform()),
    ):
        assert len(atoms(distribution, quantiles(distribution)).at) == 0


BASES = {
    "point": lambda case: (Point(case.f), 1),
    "array": lambda case: (case.f, 1),
    "interval": lambda case: (Interval(*case.base.interval(0.8)), 2),
    "quantiles": lambda case: (Quantiles(LEVELS, case.base.quantiles(LEVELS)), 5),
    "samples": lambda case: (Samples(case.base.sample(80, case.rng)), 50),
    "ensemble": lambda case: (Ensemble([Point(case.f), case.base, Point(case.f + 1)]), 2),
}


@pytest.mark.parametrize("kind", BASES)
@pytest.mark.parametrize("plot", [plots.density, plots.cdf, plots.ridgeline])
def test_a_base_that_is_no_distribution_is_drawn_by_its_numbers(kind, plot, case):
    base, count = BASES[kind](case)
    ax = plot(case.H, rows=[3], base=base)
    ticks = [s for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    squares = [line for line in ax.lines if line.get_marker() == "s"]
    assert len(ticks) + sum(len(line.get_xdata()) for line in squares) == count
    assert "before" in [text.get_text() for text in ax.get_legend().get_texts()]


def key_of(ax):
    return [text.get_text() for text in ax.get_legend().get_texts()]


@pytest.mark.parametrize("plot", [plots.density, plots.cdf, plots.ridgeline])
def test_a_label_far_off_is_an_arrow_at_the_edge_that_the_key_explains(plot):
    ax = plot(Normal([0.0], 1.0), y=[1e6])
    assert ">" in [line.get_marker() for line in ax.lines]
    assert ax.get_xlim()[1] < 5
    assert key_of(ax) == ["forecast", "beyond the axes: 1"]


def test_labels_beyond_the_axes_are_triangles_that_the_key_counts(case):
    y = case.y[:60].copy()
    y[[3, 5, 8]] = [1e6, -1e6, 1e3]
    for ax in (plots.fan(case.H[:60], y=y), plots.intervals(case.H[:60], y), plots.parity(case.H[:60], y)):
        beyond = {line.get_marker(): len(line.get_xdata()) for line in ax.lines if line.get_marker() in ("^", "v")}
        assert beyond == {"^": 2, "v": 1}
        assert "beyond the axes: 3" in key_of(ax)
        assert np.ptp(ax.get_ylim()) < 40


def far_from_zero(labels, at):
    """A fan of a standard normal distribution that is moved there, and the labels in the same units."""
    return plots.fan(Normal(np.full(len(labels), at), 1.0), y=at + np.array(labels), coverages=(0.5, 0.95))


@pytest.mark.parametrize("at", [-300.0, 0.0, 300.0])
def test_a_label_within_one_more_height_of_the_bands_is_a_dot_and_one_farther_off_a_triangle_at_the_edge(at):
    reach = scipy.stats.norm.ppf(0.975)  # the bands are 2 reach high, so that labels up to 3 reach off are near
    ax = far_from_zero([0.0, 2.99 * reach, 4.0 * reach, -3.5 * reach], at)
    low, high = -reach - 0.04 * 3.99 * reach, 2.99 * reach + 0.04 * 3.99 * reach
    assert ax.get_ylim() == pytest.approx((at + low, at + high))
    lines = {line.get_marker(): line for line in ax.lines}
    np.testing.assert_allclose(lines["o"].get_ydata() - at, [0.0, 2.99 * reach], atol=1e-9)
    assert lines["^"].get_xydata() == pytest.approx(np.array([[2.0, ax.get_ylim()[1]]]))
    assert lines["v"].get_xydata() == pytest.approx(np.array([[3.0, ax.get_ylim()[0]]]))


def test_a_label_on_the_edge_of_the_axes_is_a_dot_and_not_counted_as_beyond():
    reach = scipy.stats.norm.ppf(0.975)
    far = [2.99 * reach, -2.99 * reach, 9.0, -9.0]
    edges = far_from_zero([*far, 0.0, 0.0], 0.0).get_ylim()
    assert min(np.abs(edges)) > 3 * reach  # not near by itself, so that it does not move the edge
    ax = far_from_zero([*far, *edges], 0.0)
    assert ax.get_ylim() == edges
    assert "beyond the axes: 2" in key_of(ax)
    (dots,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_array_equal(dots.get_xdata(), [0, 1, 4, 5])


def test_what_is_cut_off_is_said_so(case):
    ax = plots.ridgeline(Normal([0.0, 1.0], 1.0), base=Normal([0.0, 1.0], 0.01))
    assert key_of(ax)[0] == "before, cut off where it is too high"
    capital = every_plot(case)["monitor"]()
    assert key_of(capital)[-1] == "cut off from here on"


def test_a_forecast_of_one_row_is_drawn_without_rows():
    for distribution in (Normal(2.0, 1.0), Normal([2.0], 1.0)):
        for plot in (plots.density, plots.cdf, plots.ridgeline):
            ax = plot(distribution, y=2.5 if not distribution.shape else [2.5])
            assert np.mean(ax.lines[0].get_xdata()) == pytest.approx(2.0, abs=1e-3)


def test_the_names_of_curves_that_peak_at_one_place_do_not_hide_each_other():
    ax = plots.density(Normal([0.0, 0.01, 0.02], [1.0, 1.001, 1.002]), rows=[0, 1, 2])
    ax.figure.canvas.draw()
    boxes = [text.get_window_extent() for text in ax.texts]
    assert len(boxes) == 3
    assert not any(a.overlaps(b) for a, b in itertools.combinations(boxes, 2))
    assert max(box.y1 for box in boxes) <= ax.get_window_extent().y1 + 1


def test_ridges_stand_in_the_order_given_from_the_top(case):
    ax = plots.ridgeline(case.H, rows=[9, 2], labels=["first", "$second$"])
    heights = {label.get_text(): label.get_position()[1] for label in ax.get_yticklabels()}
    assert heights == {"first": 1, r"\$second\$": 0}


def test_a_ridge_stands_at_its_name():
    ax = plots.ridgeline(Normal([0.0, 100.0], 1.0), rows=[1, 0], labels=["hundred", "zero"])
    heights = {label.get_text(): label.get_position()[1] for label in ax.get_yticklabels()}
    ridges = [c.get_paths()[0].vertices for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    floors = {"hundred" if corners[:, 0].mean() > 50 else "zero": corners[:, 1].min() for corners in ridges}
    assert floors == heights


def test_without_rows_ridges_are_spread_over_the_medians(case):
    ax = plots.ridgeline(case.H)
    rows = [int(label.get_text().split()[1]) for label in ax.get_yticklabels()]
    medians = case.H.median()[rows]
    assert len(rows) == 7
    assert np.all(np.diff(medians) <= 0)
    assert medians[0] > np.quantile(case.H.median(), 0.9)


# ---- intervals ------------------------------------------------------------------------------------------------------


def segments(ax):
    return np.array(next(c for c in ax.collections if isinstance(c, LineCollection)).get_segments())


def test_intervals_stand_in_the_order_of_their_widths(case):
    lines = segments(plots.intervals(case.H, case.y, most=50))
    widths = lines[:, 1, 1] - lines[:, 0, 1]
    assert len(widths) == 50
    assert np.all(np.diff(widths) >= 0)
    lower, upper = case.H.interval(0.9)
    assert widths[[0, -1]] == pytest.approx([(upper - lower).min(), (upper - lower).max()])


def test_the_legend_of_intervals_says_the_coverage_of_all_rows(case):
    ax = plots.intervals(case.base, case.y, coverage=0.8, most=10)
    share = 100 * metrics.coverage(case.base, case.y, 0.8)
    assert [text.get_text() for text in ax.get_legend().get_texts()][1] == f"inside: {share:.3g}% of 600 rows"


def test_labels_outside_their_interval_are_crosses(case):
    ax = plots.intervals(case.base, case.y, most=len(case.y))
    outside = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() in ("x", "v", "^"))
    assert outside == round((1 - metrics.coverage(case.base, case.y)) * len(case.y))


def test_parity_shows_labels_at_their_centres(case):
    ax = plots.parity(case.H, case.y, most=len(case.y))
    shown = np.concatenate([np.transpose(line.get_data()) for line in ax.lines if line.get_marker() in ("o", "x")])
    wanted = np.column_stack([case.H.median(), case.y])
    assert shown[np.argsort(shown[:, 0])] == pytest.approx(wanted[np.argsort(wanted[:, 0])])
    lines = segments(ax)
    lower, upper = case.H.interval(0.9)
    order = np.argsort(case.H.median())
    assert lines[:, 0, 1] == pytest.approx(lower[order])
    assert lines[:, 1, 1] == pytest.approx(upper[order])
    share = 100 * metrics.coverage(case.H, case.y)
    assert key_of(ax)[1] == f"inside: {share:.3g}% of 600 rows"
    assert ax.get_xlim() == ax.get_ylim()


def test_parity_takes_intervals_too(case):
    ax = plots.parity(Interval(*case.base.interval(0.8)), case.y)
    assert key_of(ax)[0] == "its own intervals"


def test_an_infinite_bound_leaves_the_picture(case):
    H = case.fit(Linear(tails=InfiniteTails()), rows=5)(case.base)
    for ax in (plots.intervals(H, case.y), plots.fan(H, y=case.y)):
        ax.figure.canvas.draw()
        assert np.isfinite(ax.get_ylim()).all()


@pytest.mark.parametrize("at", [-300.0, 0.0, 300.0])
def test_the_bar_of_an_infinite_interval_ends_one_height_beyond_the_axes_wherever_these_are(at):
    y = np.linspace(-1.0, 1.0, 5)
    distribution = Calibrator(interpolator=Linear(tails=InfiniteTails())).fit(np.zeros(5), y)(np.full(5, at))
    assert np.isinf(distribution.interval(0.9)).all()
    ax = plots.parity(distribution, at + y)
    low, high = ax.get_ylim()
    (bars,) = [each for each in ax.collections if isinstance(each, LineCollection)]
    ends = [segment[:, 1] for segment in bars.get_segments()]
    np.testing.assert_allclose(ends, [[2 * low - high, 2 * high - low]] * 5)


def test_the_bands_of_a_fan_are_the_intervals(case):
    ax = plots.fan(case.H[:30], coverages=(0.5, 0.9))
    wide, narrow = (c.get_paths()[0].vertices for c in ax.collections)
    for corners, coverage in ((wide, 0.9), (narrow, 0.5)):
        lower, upper = case.H[:30].interval(coverage)
        assert corners[:, 1].min() == pytest.approx(lower.min())
        assert corners[:, 1].max() == pytest.approx(upper.max())
    assert ax.lines[0].get_ydata() == pytest.approx(case.H[:30].median())


def test_a_fan_is_drawn_in_the_order_of_x(case):
    line = plots.fan(case.H[:30], x=case.f[:30]).lines[0]
    assert np.all(np.diff(line.get_xdata()) >= 0)
    assert line.get_ydata() == pytest.approx(case.H[:30].median()[np.argsort(case.f[:30])])


@pytest.mark.parametrize(
    "days",
    [
        lambda: [date(2024, 1, 1) + timedelta(k) for k in range(30)],
        lambda: np.datetime64("2024-01-01") + np.arange(30),
        lambda: pd.Series(pd.date_range("2024-01-01", periods=30)),
    ],
)
def test_a_fan_takes_dates(days, case):
    ax = plots.fan(case.H[:30], x=days())
    ax.figure.canvas.draw()
    assert "2024" in " ".join([label.get_text() for label in ax.get_xticklabels()] + [ax.xaxis.offsetText.get_text()])


@pytest.mark.parametrize("hours", [0.05, 2.5, 3.5, 60, 80, 100, 24 * 900, 24 * 1200])
def test_dates_of_any_span_have_a_few_ticks_and_no_warning(hours, case):
    step = np.timedelta64(int(hours * 3600e3 / 29), "ms")
    ax = plots.fan(case.H[:30], x=np.datetime64("2024-03-05T07:13", "ms") + np.arange(30) * step)
    assert 2 <= len(ax.xaxis.get_major_locator()()) <= 8


def test_sharpness_shows_coverage_error_and_width(case):
    ax = plots.sharpness({"before": case.base, "after": case.H}, case.y)
    points = [container[0] for container in ax.containers]
    for point, forecast, marker in zip(points, (case.base, case.H), ("v", None), strict=True):
        error = metrics.coverage(forecast, case.y) - 0.9
        assert np.ravel(point.get_data()) == pytest.approx([100 * abs(error), metrics.ci_width(forecast, 0.9)])
        assert point.get_marker() == (marker or ("v" if error < 0 else "^"))


def test_the_names_of_forecasts_at_one_place_do_not_hide_each_other(case):
    ax = plots.sharpness(dict.fromkeys("abcdef", case.H), case.y)
    heights = sorted(text.get_position()[1] for text in ax.texts if len(text.get_text()) == 1)
    assert np.diff(heights).min() > 0.06
    assert heights[0] > 0
    assert heights[-1] < 0.95


def test_the_name_of_a_forecast_stands_at_its_point_where_the_axes_go_below_zero(case):
    """As they do where they share y with a picture that has negative numbers."""
    other, ax = plt.figure(figsize=(8, 4)).subplots(1, 2, sharey=True)
    other.plot([0, 1], [-5.0, 5.0])
    plots.sharpness({"mine": case.base}, case.y, ax=ax)
    (name,) = [text for text in ax.texts if text.get_text() == "mine"]
    low, high = ax.get_ylim()
    assert low < -5
    assert name.get_position()[1] == pytest.approx((metrics.ci_width(case.base, 0.9) - low) / (high - low) + 0.03)


def test_a_forecast_of_infinite_width_is_named(case):
    infinite = case.fit(Random(), rows=5)(case.base, rng=case.rng)
    ax = plots.sharpness({"a": case.H, "random": infinite}, case.y)
    assert "infinite width: random" in [text.get_text() for text in ax.texts]


# ---- modules --------------------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("interpolator", [Linear(), Naive(), NAF(), Random()])
@pytest.mark.parametrize("score", [None, CDFScore()])
@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.filterwarnings("ignore:there is only one calibration row")
def test_q_lies_in_the_band_of_its_lambda(interpolator, score, rows, case):
    calibrated = case.fit(interpolator, score, rows=rows)
    ax = plots.scores(calibrated, case.calibration[:rows], case.y_calibration[:rows])
    dots, q = next(line for line in ax.lines if line.get_marker() == "o"), ax.lines[0]
    assert dots.get_ydata() == pytest.approx(np.arange(1, rows + 1) / (rows + 1))
    (band,) = ax.collections
    x, height = q.get_data()
    for path in band.get_paths():
        corners = path.vertices
        assert corners[:, 1].min() >= 0
        assert corners[:, 1].max() <= 1
    n, accuracy = rows, max(0.0, calibrated.guarantee.accuracy)
    rank = np.searchsorted(dots.get_xdata(), x, side="right")
    before = np.searchsorted(dots.get_xdata(), x, side="left")
    assert np.all(height >= (before - accuracy) / (n + 1) - 1e-6)
    assert np.all(height <= (rank + 1 + accuracy) / (n + 1) + 1e-6)


def test_the_band_touches_the_scores_at_i_plus_and_minus_lambda(case):
    calibrated = case.fit(NAF(), rows=20)
    ax = plots.scores(calibrated, case.calibration[:20], case.y_calibration[:20])
    corners = ax.collections[0].get_paths()[0].vertices
    scores = np.sort(calibrated.score(case.calibration[:20], case.y_calibration[:20]))
    at = corners[np.isclose(corners[:, 0], scores[9])][:, 1]
    promise = calibrated.guarantee.accuracy
    # just before S_(10) the band reaches from 9 - lambda to 10 + lambda, from there on from 10 - lambda to 11 + lambda
    wanted = np.array([9 - promise, 10 - promise, 10 + promise, 11 + promise]) / 21
    assert np.unique(at.round(9)) == pytest.approx(wanted)


def test_interpolators_map_the_scores_to_evenly_spaced_values():
    ax = plots.interpolators(SCORES)
    assert [panel.get_title("left").split(",")[0] for panel in ax.child_axes] == ["Naive", "Linear", "Random", "NAF"]
    n = len(SCORES)
    values = [panel.lines[-1].get_ydata() for panel in ax.child_axes]
    assert values[0] == pytest.approx(np.arange(1, n + 1) / n)
    assert values[1] == pytest.approx(np.arange(1, n + 1) / (n + 1))
    assert values[2] == pytest.approx(np.arange(1, n + 1) / (n + 1))
    assert np.abs(values[3] - np.arange(1, n + 1) / (n + 1)).max() <= NAF().accuracy(n) / (n + 1) + 1e-9


def test_interpolators_of_ones_own_have_their_names():
    ax = plots.interpolators(SCORES, {"$a_b$": Linear(), "c": Naive()})
    assert [panel.get_title("left") for panel in ax.child_axes] == [r"\$a_b\$, λ = 0", "c, λ = 1"]
    ax = plots.interpolators(SCORES, [Linear(), Linear(tails=InfiniteTails()), Naive()])
    assert [panel.get_title("left") for panel in ax.child_axes] == [
        "Linear 1, λ = 0",
        "Linear 2, λ = 0",
        "Naive, λ = 1",
    ]


# ---- what comes in --------------------------------------------------------------------------------------------------


def test_torch_forecasts_are_drawn_as_numpy_ones_are(case):
    f, y = torch.tensor(case.f, requires_grad=True), torch.tensor(case.y)
    scale = np.linspace(1.0, 2.0, len(case.y))
    H, same = Normal(f, torch.tensor(scale)), Normal(case.f, scale)
    pairs = [
        (plots.pit_histogram(H, y), plots.pit_histogram(same, case.y)),
        (plots.reliability(H, y), plots.reliability(same, case.y)),
        (plots.coverage_by_slice(H, y, case.region), plots.coverage_by_slice(same, case.y, case.region)),
        (plots.density(H, rows=1, y=y), plots.density(same, rows=1, y=case.y)),
        (plots.cdf(H, rows=1, y=y), plots.cdf(same, rows=1, y=case.y)),
        (plots.ridgeline(H, y=y), plots.ridgeline(same, y=case.y)),
        (plots.fan(H, y=y), plots.fan(same, y=case.y)),
        (plots.intervals(H, y), plots.intervals(same, case.y)),
        (plots.sharpness({"a": H}, y), plots.sharpness({"a": same}, case.y)),
    ]
    for ours, wanted in pairs:
        assert ours.dataLim.bounds == pytest.approx(wanted.dataLim.bounds)
        assert len(ours.get_children()) == len(wanted.get_children())


def test_a_single_distribution_stands_for_every_row(case):
    distribution = Normal(0.0, 1.5)
    batch = Normal(np.zeros(len(case.y)), 1.5)
    for plot in (plots.pit_histogram, plots.reliability, plots.intervals):
        assert plot(distribution, case.y).dataLim.bounds == pytest.approx(plot(batch, case.y).dataLim.bounds)
    assert plots.density(distribution, y=0.3).get_ylabel() == "density"
    assert plots.ridgeline(distribution).get_xlabel() == "y"


@pytest.mark.few(1)
@pytest.mark.parametrize("m", [1, 3])
def test_a_handful_of_rows_is_drawn(m, case):
    H, y = case.H[:m], case.y[:m]
    for ax in (
        plots.pit_histogram(H, y),
        plots.reliability({"before": case.base[:m], "after": H}, y),
        plots.coverage_by_slice(H, y, ["a"] * m),
        plots.density(H, rows=0, y=y),
        plots.ridgeline(H, y=y),
        plots.fan(H, y=y),
        plots.intervals(H, y),
        plots.sharpness({"a": H}, y),
    ):
        ax.figure.canvas.draw()


@pytest.mark.slow
def test_labels_that_are_all_equal_are_drawn(case):
    y = np.full(len(case.y), 2.0)
    H = Normal(np.full(len(y), 2.0), 1.0)
    for ax in (plots.pit_histogram(H, y), plots.reliability(H, y), plots.intervals(H, y), plots.fan(H, y=y)):
        ax.figure.canvas.draw()


@pytest.mark.slow
def test_a_million_rows_are_a_few_artists():
    m, rng = 1_000_000, np.random.default_rng(0)
    f = rng.normal(size=m)
    H, y = Normal(f, 1.0), f + rng.normal(size=m)
    axes = [plots.intervals(H, y), plots.fan(H, y=y), plots.coverage_by_slice(H, y, f), plots.pit_histogram(H, y)]
    assert max(len(ax.get_children()) for ax in axes) < 60
    assert len(segments(axes[0])) == 200
    assert len(axes[1].lines[0].get_xdata()) == 2000


REFUSED = {
    "H is no forecast": (lambda c: plots.pit_histogram("H", c.y), "a prediction must be a Point, Interval"),
    "no distribution": (
        lambda c: plots.pit_histogram(c.f, c.y),
        r"Point\(n=600\) does not give the distribution of y",
    ),
    "lengths": (lambda c: plots.reliability(c.H, c.y[:5]), "y must have one row for each of the 600 rows"),
    "NaN": (lambda c: plots.intervals(c.H, np.where(c.y > 2, np.nan, c.y)), "y is NaN or infinite in row"),
    "no forecasts": (lambda c: plots.reliability({}, c.y), "needs at least one forecast, got an empty mapping"),
    "bins": (lambda c: plots.pit_histogram(c.H, c.y, bins=1), "bins must be a count of at least 2, got 1"),
    "coverage": (lambda c: plots.intervals(c.H, c.y, coverage=90), "coverage must lie strictly inside"),
    "most": (lambda c: plots.intervals(c.H, c.y, most=0), "most must be a count of rows, at least 1, got 0"),
    "by text": (lambda c: plots.coverage_by(c.H, c.y, c.region), "by must hold real numbers"),
    "by length": (lambda c: plots.coverage_by(c.H, c.y, [1.0]), "one row for each of the 600 rows"),
    "by NaN": (lambda c: plots.coverage_by(c.H, c.y, np.where(c.f > 2, np.nan, c.f)), "by is NaN or infinite in row"),
    "small bins": (
        lambda c: plots.coverage_by(c.H[:30], c.y[:30]),
        "needs a bin of at least 20 rows, got 30 rows in 10 bins",
    ),
    "bins of spreads": (
        lambda c: plots.spread_skill(c.H, c.y, bins=1.5),
        "bins must be a count of at least 2, got 1.5",
    ),
    "no spread": (lambda c: plots.spread_skill(Point(c.f), c.y), "does not give the distribution of y"),
    "infinite spread": (
        lambda c: plots.spread_skill(StudentT(1.5, c.f, 1.0), c.y),
        "the standard deviation of the forecast is not finite in row 0",
    ),
    "parity of points": (lambda c: plots.parity(c.f, c.y), "does not give"),
    "slices": (lambda c: plots.coverage_by_slice(c.H, c.y, ["a"]), "one row for each of the 600 rows"),
    "no rows": (lambda c: plots.density(c.H), "rows must say which of the 600 rows to draw, got None"),
    "row": (lambda c: plots.cdf(c.H, rows=600), "rows must lie among the 600 rows of the forecast, got 600"),
    "mask": (lambda c: plots.cdf(c.H, rows=[True]), "rows must be a whole number or a list of them"),
    "too many": (lambda c: plots.density(c.H, rows=range(9)), "rows must name between 1 and 8 rows, got 9"),
    "rows of one": (
        lambda c: plots.density(Normal(0.0, 1.0), rows=1),
        "rows must be left out for a single distribution, got 1",
    ),
    "base": (lambda c: plots.density(c.H, rows=1, base=c.base[:5]), "the rows of the forecast, 600 rows, got 5 rows"),
    "labels": (lambda c: plots.ridgeline(c.H, rows=[1, 2], labels=["a"]), "one row for each of the 2 rows"),
    "x": (lambda c: plots.fan(c.H, x=["a"] * 600), "x must hold numbers or dates, got dtype"),
    "x of objects": (lambda c: plots.fan(c.H[:2], x=[{}, "a"]), "x must hold numbers or dates, got dict$"),
    "x of columns": (lambda c: plots.fan(c.H[:2], x=[[0.0], [1.0]]), r"x must be 1-d, got shape \(2, 1\)"),
    "x missing": (
        lambda c: plots.fan(c.H[:2], x=[0.0, np.nan]),
        r"x is missing or infinite in row 1 \(the only such row\)",
    ),
    "x length": (lambda c: plots.fan(c.H, x=[1.0]), "x must have one row for each of the 600 rows"),
    "y length": (lambda c: plots.density(c.H, rows=1, y=c.y[:5]), "y must have one row for each of the 600 rows"),
    "y of one": (
        lambda c: plots.cdf(Normal(0.0, 1.0), y=[1.0, 2.0]),
        "y must have one row, as the forecast has, got 2",
    ),
    "y of columns": (lambda c: plots.fan(c.H, y=c.y[:, None]), r"y must be 1-d, got shape \(600, 1\)"),
    "no coverages": (lambda c: plots.fan(c.H, coverages=()), "coverages must hold at least one number"),
    "no ridges": (lambda c: plots.ridgeline(c.H[:0]), "a ridgeline needs a forecast of at least one row, got "),
    "fan of one": (lambda c: plots.fan(Normal(0.0, 1.0)), "a fan needs a forecast of at least one row"),
    "no names": (lambda c: plots.sharpness(c.H, c.y), "forecasts must be a mapping of names to forecasts"),
    "calibrator": (lambda c: plots.scores(Calibrator(), c.f, c.y), "calibrated must be a Calibrated, got Calibrator"),
    "folds": (
        lambda c: plots.scores(CrossCalibrated((c.fit(Linear()),)), c.f, c.y),
        "got CrossCalibrated: draw one of its members",
    ),
    "another kind": (
        lambda c: plots.scores(c.fit(Linear()), Point(c.calibration.loc), c.y_calibration),
        "calibrated on .*: give it the kind of prediction it was calibrated on",
    ),
    "other rows": (lambda c: plots.scores(c.fit(Linear()), c.base, c.y), "the 300 rows that calibrated, got 600"),
    "no scores": (lambda c: plots.interpolators([]), "^interpolators needs at least one score, got none"),
    "no interpolators": (lambda c: plots.interpolators([1.0], []), "at least one interpolator, got none"),
    "a class": (lambda c: plots.interpolators([1.0], [Linear]), "must hold Interpolator objects, got <class"),
    "not a list": (lambda c: plots.interpolators([1.0], Linear()), "must be a list of interpolators, got Linear"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused_in_one_sentence_and_nothing_is_drawn(what, case):
    call, message = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call(case)
    assert "\n" not in str(error.value)
    assert plt.get_fignums() == []


@pytest.mark.filterwarnings("ignore:weights of 30 rows")
@pytest.mark.parametrize(
    ("plot", "message"),
    [
        (lambda H, y: plots.fan(H, y=y), "the forecast has no finite median to draw"),
        (lambda H, y: plots.cdf(H, rows=[3], y=y), "has no finite quantile to draw"),
        (plots.coverage_by, r"the predicted value is not finite in row 0 \(30 rows in all\)"),
        (plots.intervals, r"the centre of the forecast is not finite in row 0 \(30 rows in all\)"),
        (plots.parity, r"the centre of the forecast is not finite in row 0 \(30 rows in all\)"),
    ],
)
def test_a_forecast_whose_mass_is_at_infinity_is_refused(plot, message):
    calibrated = Calibrator(interpolator=Random()).fit([0.0, 0.0], [0.0, 1.0], weights=[1e-9, 1e-9])
    H = calibrated(np.zeros(30), weights=np.ones(30), rng=np.random.default_rng(0))
    assert np.isinf(H.median()).all()
    with pytest.raises(ValueError, match=message):
        plot(H, np.arange(30.0))
    assert plt.get_fignums() == []


def test_as_many_rows_are_drawn_as_the_refusal_of_more_says():
    ax = plots.cdf(Normal(np.arange(50.0), 1.0), rows=range(8))
    assert np.median(ax.lines[-1].get_xdata()) == pytest.approx(7.0)
    assert len(ax.lines) == 8


def test_two_fans_share_a_figure_that_lays_itself_out():
    """An empty line that is not clipped would leave the layout no room, and matplotlib says so in a warning."""
    figure, (left, right) = plt.subplots(1, 2, layout="constrained", figsize=(9, 3))
    for ax in (left, right):
        plots.fan(Normal(np.arange(9.0), 1.0), y=np.arange(9.0), ax=ax)
    figure.draw_without_rendering()
    assert left.get_position().width > 0.2


def test_the_pits_of_a_true_distribution_with_an_atom_stay_inside_the_band():
    rng = np.random.default_rng(8)
    ax = plots.pit_histogram(Normal(np.zeros(2000), 1.0).clip(0), rng.normal(size=2000).clip(0))
    low, high = metrics.pit_band(2000)
    assert all(low <= bar.get_height() <= high for bar in ax.containers[0])


# ---- what is on the axes ---------------------------------------------------------------------------------------------

WORDS = {
    "pit_histogram": ("PIT, H(y)", "rows", ["95% band if calibrated"]),
    "reliability": ("level c", "share with H(y) ≤ c", ["before", "after", "95% band if calibrated"]),
    "parity": ("predicted centre (200 of 600)", "y", ["90% intervals", "inside: 87.5% of 600 rows", "outside"]),
    "spread_skill": ("predicted spread: standard deviation", "error: root mean square", ["before", "after"]),
    "coverage_by": ("x", "inside 90% intervals, %", ["chance allows", "inside", "off"]),
    "coverage_by_slice": ("inside 90% intervals, %", "", ["before", "after", "off: the bar misses 90%"]),
    "diagnosis": ("inside 90% intervals, %", "", ["chance allows", "inside", "off"]),
    "density": ("y", "density", ["before", "after", "label y"]),
    "cdf": ("y", "H(y)", ["before", "after", "label y"]),
    "ridgeline": ("y", "", ["before", "after", "label y"]),
    "fan": ("x", "y", ["50%", "80%", "95%", "median", "label y"]),
    "intervals": (
        "rows, in the order of the width (200 of 600)",
        "y less the interval's centre",
        ["90% intervals", "inside: 87.5% of 600 rows", "outside"],
    ),
    "sharpness": ("| labels inside − 90% |, points", "mean width of 90% intervals", ["too few inside"]),
    "scores": ("ZScore, φ(f(x), y)", "q", ["scores, at i / (n + 1)", "q", "λ = 0: where q may be"]),
    "interpolators": ("", "", []),
    "monitor": (
        "row",
        "capital",
        ["capital", "threshold", "alarm at row 371", "since row 348", "cut off from here on"],
    ),
}


@pytest.mark.few(6)
@each
def test_the_axes_and_the_marks_of_a_picture_are_named(name, case):
    ax = every_plot(case)[name]()
    x, y, marks = WORDS[name]
    assert (ax.get_xlabel().replace("\n", " "), ax.get_ylabel().replace("\n", " ")) == (x, y)
    assert (key_of(ax) if ax.get_legend() else []) == marks


def dotted(ax):
    return [line.get_xydata().tolist() for line in ax.lines if line.get_linestyle() == ":"]


ACROSS, UP, DIAGONAL = [[0, 90], [1, 90]], [[90, 0], [90, 1]], [[0, 0], [1, 1]]


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("pit_histogram", [[0, 30], [1, 30]]),
        ("reliability", DIAGONAL),
        ("coverage_by", ACROSS),
        ("coverage_by_slice", UP),
        ("diagnosis", UP),
    ],
)
def test_a_dotted_line_shows_what_is_wanted(name, line, case):
    assert dotted(every_plot(case)[name]()) == [line]


def test_the_diagonal_of_a_square_goes_from_corner_to_corner(case):
    for name in ("parity", "spread_skill"):
        ax = every_plot(case)[name]()
        (((left, bottom), (right, top)),) = dotted(ax)
        assert (left, right) == (bottom, top) == ax.get_xlim() == ax.get_ylim()
        assert ax.get_aspect() == 1


def test_thin_lines_stand_at_zero_and_below_all_rows(case):
    for name, line in (("intervals", [[0, 0], [1, 0]]), ("coverage_by_slice", [[0, 0.5], [1, 0.5]])):
        assert line in [each.get_xydata().tolist() for each in every_plot(case)[name]().lines]


def test_a_share_has_axes_from_zero_to_one(case):
    assert plots.pit_histogram(case.H, case.y).get_xlim() == (0, 1)
    square = plots.reliability(case.H, case.y)
    assert (square.get_xlim(), square.get_ylim(), square.get_aspect()) == ((0, 1), (0, 1), 1)
    difference = plots.reliability(case.H, case.y, difference=True)
    assert difference.get_xlim() == (0, 1)
    assert dotted(difference) == [[[0, 0], [1, 0]]]
    assert difference.get_ylabel().replace("\n", " ") == "observed − nominal share, points"
    assert key_of(difference) == ["forecast", "95% band if calibrated"]
    assert plots.cdf(case.H, rows=1).get_ylim() == (0, 1.03)
    assert plots.scores(case.fit(Linear()), case.calibration, case.y_calibration).get_ylim() == (-0.02, 1.02)
    for panel in plots.interpolators(SCORES).child_axes:
        assert panel.get_ylim() == (0, 1)
        assert panel.get_yticks().tolist() == [0, 0.5, 1]


def test_the_axes_of_spread_and_error_reach_over_all_bars(case):
    ax = plots.spread_skill(case.base, case.y, bins=4)
    line, _, (bars,) = ax.containers[0]
    most = max(line.get_xdata().max(), *(segment[:, 1].max() for segment in bars.get_segments()))
    assert ax.get_xlim() == ax.get_ylim() == pytest.approx((0, 1.08 * most))


def test_counts_start_at_zero_and_have_whole_ticks(case):
    ax = plots.pit_histogram(case.H[:3], case.y[:3], bins=2)
    bars, band = ax.containers[0], ax.patches[-1].get_bbox()
    assert ax.get_ylim() == pytest.approx((0, 1.05 * max(band.y1, *(bar.get_height() for bar in bars))))
    assert plots.pit_histogram(case.H[:1], case.y[:1], bins=2).get_yticks().tolist() == [0, 1, 2]


def test_several_pit_histograms_are_outlines(case):
    ax = plots.pit_histogram({"before": case.base, "after": case.H}, case.y, bins=10)
    outlines = {each.get_label(): each.get_data() for each in ax.patches[:2]}
    for name, forecast in (("before", case.base), ("after", case.H)):
        values, edges, _ = outlines[name]
        assert edges == pytest.approx(np.linspace(0, 1, 11))
        assert values.tolist() == np.histogram(metrics.pit(forecast, case.y), edges)[0].tolist()
    most = max(values.max() for values, *_ in outlines.values())
    assert ax.get_ylim() == pytest.approx((0, 1.05 * most))  # from zero, also where no bar is that low
    assert key_of(ax) == ["before", "after", "95% band if calibrated"]


def test_rows_stand_from_the_top_down_with_room_at_both_ends(case):
    ax = plots.coverage_by_slice(case.H, case.y, case.region)
    assert ax.get_ylim() == (3.6, -0.6)
    assert plots.ridgeline(case.H, rows=[1, 2]).get_ylim()[0] == -0.15


def test_there_is_room_around_the_bars_of_coverage_by():
    y = np.random.default_rng(6).normal(size=600)
    ax = plots.coverage_by(Normal(np.zeros(600), 1.0), y, np.arange(600) % 3)
    assert ax.get_xlim() == pytest.approx((-0.04, 2.04))
    found = 100 * np.array(list(coverage_along(ax).values()))
    low, high = found[:, 1].min(), found[:, 2].max()
    assert low < found[:, 0].min() < found[:, 0].max() < high
    room = 0.05 * (high - low)
    assert ax.get_ylim() == pytest.approx((low - room, high + room))


def test_intervals_have_room_at_both_ends(case):
    assert plots.intervals(case.H, case.y, most=50).get_xlim() == pytest.approx((-1.5, 50.5))


def test_points_of_sharpness_are_seen_from_zero_on(case):
    ax = plots.sharpness({"before": case.base}, case.y)
    point, _, (across, up) = ax.containers[0]
    ((end, _),) = [segment[1] for segment in across.get_segments()]
    ((_, top),) = [segment[1] for segment in up.get_segments()]
    assert ax.get_xlim() == pytest.approx((0, 1.15 * end))
    assert ax.get_ylim() == pytest.approx((0, 1.3 * top))
    share = metrics.coverage(case.base, case.y)
    assert end - point.get_xdata()[0] == pytest.approx(100 * np.sqrt(share * (1 - share) / 600))
    lower, upper = case.base.interval(0.9)
    assert top - point.get_ydata()[0] == pytest.approx(np.std(upper - lower) / np.sqrt(600))


def test_a_forecast_of_no_width_that_is_right_has_axes_all_the_same():
    y = np.zeros(10)
    ax = plots.sharpness({"sure": Interval(y, y)}, y, coverage=0.9)
    assert ax.get_ylim() == (0, 1)
    assert ax.get_xlim() == pytest.approx((0, 11.5))


def test_the_name_of_a_forecast_does_not_hide_the_arrow_to_what_is_better():
    f, noise = np.random.default_rng(5).normal(size=(2, 1000))
    y = f + 0.1 * noise
    ax = plots.sharpness({"sharp": Normal(f, 0.1), "wide": Normal(np.zeros(1000), 5.0)}, y)
    ax.figure.canvas.draw()
    boxes = {text.get_text(): text.get_window_extent() for text in ax.texts}
    assert not boxes["sharp"].overlaps(boxes["better"])
    assert not boxes["sharp"].overlaps(boxes["wide"])


def stems(ax):
    """The dotted lines under labels, each from its foot to its head."""
    lines = [c for c in ax.collections if isinstance(c, LineCollection) and c.get_linestyle()[0][1]]
    return [segment.tolist() for each in lines for segment in each.get_segments()]


def test_a_label_is_a_dot_on_its_curve_and_a_stem_down_to_the_axis(case):
    distribution = Normal([0.0, 1.0], 1.0)
    y = np.array([0.5, 3.0])
    for plot, height in ((plots.density, distribution.pdf), (plots.cdf, distribution.cdf)):
        ax = plot(distribution, rows=[0, 1], y=y)
        dots = [line.get_xydata()[0].tolist() for line in ax.lines if line.get_marker() == "o"]
        tops = [[at, pytest.approx(top, abs=2e-3)] for at, top in zip(y, height(y), strict=True)]
        assert dots == tops
        assert stems(ax) == [[[at, 0], top] for at, top in zip(y, tops, strict=True)]
    ax = plots.ridgeline(distribution, rows=[0, 1], y=y)
    scale = 1.3 / distribution.pdf(distribution.loc)[0]
    tops = [[at, pytest.approx(1 - k + scale * distribution.pdf(y)[k], abs=5e-3)] for k, at in enumerate(y)]
    assert [line.get_xydata()[0].tolist() for line in ax.lines if line.get_marker() == "o"] == tops
    assert stems(ax) == [[[at, 1 - k], tops[k]] for k, at in enumerate(y)]


def test_a_density_stands_on_zero_with_room_above_the_highest_curve():
    peak = scipy.stats.norm.pdf(0)
    assert plots.density(Normal([0.0], 1.0)).get_ylim() == pytest.approx((0, 1.15 * peak), rel=1e-3)
    higher = plots.density(Normal([0.0], 1.0), base=Normal([0.0], 0.5))
    assert higher.get_ylim() == pytest.approx((0, 1.15 * 2 * peak), rel=1e-3)


def test_a_ridge_has_an_outline_on_a_line_and_the_base_dashed(case):
    ax = plots.ridgeline(case.H, rows=[5, 6], base=Normal(case.f, 1.0))
    assert [line.get_linestyle() for line in ax.lines] == ["-", "-", "--"] * 2
    for k, row in enumerate((5, 6)):
        outline, line, dashed = ax.lines[3 * k : 3 * k + 3]
        assert list(line.get_ydata()) == [1 - k, 1 - k]
        assert list(line.get_xdata()) == [outline.get_xdata()[0], outline.get_xdata()[-1]]
        peak = outline.get_xdata()[np.argmax(outline.get_ydata())]
        assert case.H[row].pdf(peak) == pytest.approx(max(case.H[row].pdf(outline.get_xdata())), rel=0.05)
        assert dashed.get_xdata()[np.argmax(dashed.get_ydata())] == pytest.approx(case.f[row], abs=0.05)
    assert max(line.get_ydata().max() for line in ax.lines[::3]) <= 2.3
    assert {tick.tick1line.get_markersize() for tick in ax.yaxis.get_major_ticks()} == {0}


def test_atoms_are_stems_as_high_as_their_probability():
    distribution = Normal([0.3, 0.3], 1.0).clip(lower=0.0)
    share = scipy.stats.norm.cdf(-0.3)
    ax = plots.density(distribution, rows=0)
    (stem,) = [c.get_segments()[0] for c in ax.collections if isinstance(c, LineCollection)]
    np.testing.assert_allclose(stem, [[0, 0], [0, share]], atol=1e-9)
    (tip,) = [line for line in ax.lines if line.get_marker() == "o"]
    np.testing.assert_allclose(tip.get_xydata(), [[0, share]], atol=1e-9)
    ax = plots.ridgeline(distribution, rows=[0, 1])
    ridges = [s for c in ax.collections if isinstance(c, LineCollection) for s in c.get_segments()]
    np.testing.assert_allclose(ridges, [[[0, 1], [0, 1 + share]], [[0, 0], [0, share]]], atol=1e-9)


def test_the_curves_of_several_rows_are_named(case):
    distribution = Normal([0.0, 5.0, 10.0], 1.0)
    names = {text.get_text(): text.xy for text in plots.cdf(distribution, rows=[2, 0, 1]).texts}
    assert names == {
        f"row {k}": (pytest.approx(distribution[k].ppf(level)), pytest.approx(level))
        for k, level in enumerate((0.9, 0.5, 0.1))
    }
    names = {text.get_text(): text.xy for text in plots.density(distribution, rows=[2, 0]).texts}
    assert {name: round(x) for name, (x, _) in names.items()} == {"row 0": 0, "row 2": 10}


def test_the_panels_of_interpolators_take_each_score_up_and_to_the_left():
    ax = plots.interpolators(SCORES, [Linear(), Naive(), NAF(), Random()])
    assert not ax.axison
    n = len(SCORES)
    panel = ax.child_axes[0]
    values = np.arange(1, n + 1) / (n + 1)
    left, right = panel.get_xlim()
    width = 0.1 * np.ptp(SCORES)
    assert (left, right) == pytest.approx((min(SCORES) - width, max(SCORES) + width))
    up, across = ([s.tolist() for s in c.get_segments()] for c in panel.collections if isinstance(c, LineCollection))
    assert up == [[[u, 0], [u, pytest.approx(q)]] for u, q in zip(SCORES, values, strict=True)]
    assert across == [[[left, pytest.approx(q)], [u, pytest.approx(q)]] for u, q in zip(SCORES, values, strict=True)]
    q, below, beside = panel.lines
    assert len(q.get_xdata()) >= 1000
    assert below.get_xydata().tolist() == [[u, 0] for u in SCORES]
    assert beside.get_xydata().tolist() == [[left, pytest.approx(q)] for q in values]
    large = plots.interpolators(SCORES, [Linear()], ax=plt.figure(figsize=(9, 6)).subplots())
    assert len(large.child_axes[0].get_xticks()) <= 6


def test_only_the_outer_panels_of_interpolators_have_words():
    ax = plots.interpolators(SCORES)
    assert [panel.get_ylabel() for panel in ax.child_axes] == ["q(u)", "", "q(u)", ""]
    assert [panel.get_xlabel() for panel in ax.child_axes] == ["", "", "score u", "score u"]
    for axis, shown in (("y", [True, False, True, False]), ("x", [False, False, True, True])):
        ticks = [getattr(panel, f"{axis}axis").get_major_ticks()[0] for panel in ax.child_axes]
        assert [tick.label1.get_visible() for tick in ticks] == shown


def test_scores_are_drawn_from_a_tenth_before_the_first_to_a_tenth_after_the_last(case):
    calibrated = case.fit(Linear(), rows=20)
    ordered = np.sort(calibrated.score(case.calibration[:20], case.y_calibration[:20]))
    room = 0.1 * np.ptp(ordered)
    ax = plots.scores(calibrated, case.calibration[:20], case.y_calibration[:20])
    assert ax.get_xlim() == pytest.approx((ordered[0] - room, ordered[-1] + room))


def test_an_alarm_is_a_dot_and_the_rows_since_the_change_are_shaded(case):
    found = watched(case)
    ax = plots.monitor(found)
    (dot,) = [line for line in ax.lines if line.get_marker() == "o"]
    row, since = found.alarm.row, found.alarm.since
    assert dot.get_xydata().tolist() == [[row, pytest.approx(np.exp(found.log_capital[row]))]]
    (span,) = ax.patches
    assert (span.get_x(), span.get_x() + span.get_width()) == (since, row)
    capital = np.exp(found.log_capital)
    assert capital.max() > found.threshold**2
    assert ax.get_yscale() == "log"
    (threshold,) = [line for line in ax.lines if line.get_linestyle() == "--"]
    assert list(threshold.get_ydata()) == [found.threshold, found.threshold]
    assert ax.get_ylim() == pytest.approx((capital.min() / 3, found.threshold**2))
    first = np.argmax(capital > found.threshold**2)
    assert ax.collections[0].get_offsets().tolist() == [[first, found.threshold**2]]


def test_a_fan_of_one_row_has_the_narrower_band_on_top_and_thicker():
    distribution = Normal([2.0], 1.0)
    ax = plots.fan(distribution, coverages=(0.5, 0.8, 0.95))
    assert [c.get_linewidth()[0] for c in ax.collections] == [2, 4, 6]
    for band, coverage in zip(ax.collections, (0.95, 0.8, 0.5), strict=True):
        np.testing.assert_allclose(band.get_segments(), [[[0, end[0]] for end in distribution.interval(coverage)]])
    assert ax.lines[0].get_marker() == "o"


@pytest.mark.parametrize(("rows", "size"), [(25, 2.5), (400, 1.25), (2500, 1.0)])
def test_the_labels_of_a_fan_are_the_smaller_the_more_there_are(rows, size):
    (dots,) = [
        line for line in plots.fan(Normal(np.zeros(rows), 1.0), y=np.zeros(rows)).lines if line.get_marker() == "o"
    ]
    assert dots.get_markersize() == pytest.approx(size)


def test_the_centre_of_an_interval_is_its_middle(case):
    lower, upper = case.f - 1, case.f + 3
    ax = plots.parity(Interval(lower, upper), case.f, most=600)
    at = np.concatenate([line.get_xdata() for line in ax.lines if line.get_marker() in ("o", "x")])
    np.testing.assert_allclose(at, np.sort(case.f + 1))


def test_a_second_picture_on_the_same_axes_has_labels_of_their_own_size(case):
    """The first has set a long one in small letters, and named its rows."""
    figure, ax = plt.subplots(figsize=(2, 2))
    plots.intervals(case.H, case.y, ax=ax)
    figure.canvas.draw()
    assert ax.yaxis.label.get_fontsize() < 10
    plots.cdf(case.H, rows=1, ax=ax)
    figure.canvas.draw()
    assert (ax.get_ylabel(), ax.yaxis.label.get_fontsize()) == ("H(y)", 10)
    figure, ax = plt.subplots()
    plots.ridgeline(case.H, rows=[1, 2], ax=ax)
    plots.cdf(case.H, rows=1, ax=ax)
    ax.set_yticks([0, 1], ["none", "all"])
    figure.get_tightbbox()
    assert [label.get_text() for label in ax.get_yticklabels()] == ["none", "all"]


def test_a_key_that_fits_at_no_size_is_one_column_of_the_smallest():
    figure = Figure(figsize=(2, 6), dpi=72)
    ax = figure.subplots()
    ax.xaxis.label.set_fontsize(21)
    add_legend(
        ax, [ax.plot([0, 1], label=f"{k} is a name that is much too long for it")[0] for k in range(3)], Palette.of(ax)
    )
    figure.draw_without_rendering()
    letters = 0.7 * 6 / 7 * 21
    assert 3 * letters < ax.get_legend().get_window_extent().height < 3 * 1.5 * letters


def test_a_key_is_drawn_and_the_room_that_it_takes_is_not():
    figure, ax = plt.subplots(figsize=(4, 3), dpi=50)
    add_legend(ax, [ax.plot([0, 1], label="a name")[0]], Palette.of(ax))
    figure.canvas.draw()
    box = ax.get_legend().get_window_extent()

    def ink():
        rows = slice(150 - int(box.y1), 150 - int(box.y0) - 2)
        return (np.asarray(figure.canvas.buffer_rgba())[rows, int(box.x0) : int(box.x1), :3] < 255).mean()

    assert ink() > 0.05
    ax.get_legend().set_visible(False)
    figure.canvas.draw()
    assert ink() == 0
    assert not any(child.get_visible() for child in ax.child_axes)


def test_new_axes_have_few_ticks():
    ax = plots.cdf(Normal([0.0], 1.0))
    ax.set(xlim=(0, 8), ylim=(0, 8))
    with plots.theme():  # whose letters are so small that there would be room for more
        assert ax.get_xticks().tolist() == ax.get_yticks().tolist() == [0, 2, 4, 6, 8]


# ---- the certificate -------------------------------------------------------------------------------------------------


def test_a_certificate_is_drawn_from_its_own_numbers(case):
    found = diagnose(Normal(case.f, 1.05), case.y, {"scale": case.base.std()})
    ax = plots.diagnosis(found, coverage=0.5)
    bars = [(100 * each.intervals[1].low, 100 * each.intervals[1].high) for each in found.slices]
    np.testing.assert_allclose([(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches], bars)
    inside, off = (
        dict(zip(line.get_ydata(), line.get_xdata(), strict=True)) for line in ax.lines if line.get_marker() == "o"
    )
    assert off  # the narrow and the wide
    assert {**inside, **off} == {k: 100 * each.intervals[1].share for k, each in enumerate(found.slices)}
    assert sorted(off) == [k for k, each in enumerate(found.slices) if each.intervals[1].off]


def test_there_is_room_on_both_sides_of_the_bars_of_a_certificate(case):
    found = diagnose(Normal(case.f, 1.05), case.y, {"region": case.region})
    ax = plots.diagnosis(found, ax=plt.figure(figsize=(9, 4)).subplots())
    bars = [(bar.get_x(), bar.get_x() + bar.get_width()) for bar in ax.patches]
    dots = np.concatenate([line.get_xdata() for line in ax.lines])
    ends = min(np.min(bars), *dots), max(np.max(bars), *dots)
    assert ends == (np.min(bars), np.max(bars))
    room = 0.05 * (ends[1] - ends[0])
    assert ax.get_xlim() == pytest.approx((ends[0] - room, ends[1] + room))
    assert ax.get_ylim() == (len(bars) - 0.4, -0.6)
    assert len(ax.get_xticks()) <= 6


def test_the_ticks_of_counts_stand_at_the_shares_that_are_judged_over_the_bars_and_under_the_dots():
    y = np.random.default_rng(71).poisson(1.0, 600).astype(float)
    P, group = Poisson(np.full(600, 1.0)), np.repeat([0.0, 1.0], 300)
    found = diagnose(P, y, {"group": group})
    shares = [100 * each.intervals[0].split_share for each in found.slices]
    assert all(part < 100 * each.intervals[0].share - 1 for part, each in zip(shares, found.slices, strict=True))
    for ax, along, mark in ((plots.diagnosis(found), 0, "|"), (plots.coverage_by(P, y, group), 1, "_")):
        (ticks,) = [line for line in ax.lines if line.get_label() == "ties split"]
        assert ticks.get_marker() == mark
        assert ticks.get_xydata()[:, along] == pytest.approx(shares[1:] if along else shares)
        assert "ties split" in key_of(ax)
        dots = [line for line in ax.lines if line.get_marker() == "o"]
        assert ax.patches[0].get_zorder() < ticks.get_zorder() < min(line.get_zorder() for line in dots)


def test_of_many_slices_those_farthest_out_are_drawn_and_all_rows(case):
    found = diagnose(Normal(case.f, 1.05), case.y, {"scale": case.base.std(), "noise": case.rng.normal(size=600)})
    names = [label.get_text() for label in plots.diagnosis(found, most=3).get_yticklabels()]
    assert len(names) == 3
    assert names[0] == "all rows (600)"
    assert all(name.startswith("scale in ") for name in names[1:])


def test_a_certificate_is_asked_for_what_it_has(case):
    found = diagnose(case.H, case.y)
    with pytest.raises(ValueError, match=r"coverage must be one of those diagnosed, 0\.9, 0\.5, got 0\.8"):
        plots.diagnosis(found, coverage=0.8)
    with pytest.raises(TypeError, match=r"found must be what calibrant\.diagnose returns, got ndarray"):
        plots.diagnosis(case.y)
    with pytest.raises(ValueError, match="most must be a count of slices, at least 1, got 0"):
        plots.diagnosis(found, most=0)


@pytest.mark.parametrize(
    ("colour", "light"),
    [("white", 1.0), ("black", 0.0), ("#808080", 0.21586), ("#ff0000", 0.2126), ("#0a0a0a", 0.00304)],
)
def test_the_luminance_of_a_colour_is_that_of_srgb(colour, light):
    assert luminance(colour) == pytest.approx(light, abs=1e-5)


def test_the_name_of_a_slice_is_cut_where_it_has_no_room():
    assert _label("", "x" * 28) == "x" * 28
    assert _label("", "x" * 29) == "x" * 27 + "…"
    assert _label("c" * 12, "x" * 24) == f"{'c' * 12}: {'x' * 24}"
    assert _label("c" * 13, "x" * 25) == f"{'c' * 11}…: {'x' * 23}…"


def test_a_forecast_alone_needs_no_key():
    distribution = Normal(np.zeros(300), np.linspace(0.5, 2.0, 300))
    assert plots.spread_skill(distribution, np.random.default_rng(0).normal(size=300)).get_legend() is None
    assert plots.density(distribution, rows=[0]).get_legend() is None


def test_a_label_on_either_end_is_inside_its_interval():
    distribution = Normal(np.zeros(4), np.ones(4))
    low, high = distribution.interval(0.9)
    ax = plots.intervals(distribution, np.array([low[0], high[1], low[2] - 0.1, high[3] + 0.1]), coverage=0.9)
    assert "inside: 50% of 4 rows" in [text.get_text() for text in ax.get_legend().get_texts()]


def test_labels_of_another_length_name_the_forecast():
    distribution = Normal(np.zeros(4), np.ones(4))
    with pytest.raises(ValueError, match="the forecast 'mine'"):
        plots.reliability({"mine": distribution, "other": distribution}, np.zeros(3))


def test_rates_of_counts_are_drawn_as_the_distributions_they_stand_for():
    rng = np.random.default_rng(70)
    rate = rng.uniform(1, 5, 400)
    y = rng.poisson(rate).astype(float)
    for plot in (plots.reliability, plots.pit_histogram):
        rates, distributions = (plot(H, y, ax=Figure().subplots()) for H in (Rates(rate), Poisson(rate)))
        for one, other in zip(rates.lines, distributions.lines, strict=True):
            np.testing.assert_array_equal(one.get_xydata(), other.get_xydata())
        assert [bar.get_height() for bar in rates.patches] == [bar.get_height() for bar in distributions.patches]
        with pytest.raises(TypeError, match=r"Rates\(n=400\) does not give the distribution of y: calibrate it"):
            plot(Rates(rate), y + 0.5)


def test_a_key_that_is_wider_than_the_axes_clears_the_topmost_tick():
    figure = Figure(figsize=(2.2, 2.4), layout="constrained")
    ax = figure.subplots()
    ax.set_yscale("log")
    ax.set_ylim(0.1, 1e4)
    add_legend(ax, [ax.plot([0, 1], [1, 10], label=f"a rather long name {k}")[0] for k in range(5)], Palette.of(ax))
    figure.draw_without_rendering()
    (top,) = [each for each in ax.get_yticklabels() if "10^{4}" in each.get_text()]
    box = ax.get_legend().get_window_extent()
    assert not box.overlaps(top.get_window_extent())


def test_a_key_that_is_wider_than_the_axes_ends_at_their_right():
    figure = Figure(figsize=(1.2, 2.4), layout="constrained")
    ax = figure.subplots()
    add_legend(ax, [ax.plot([0, 1], [1, 10], label=f"a rather long name {k}")[0] for k in range(5)], Palette.of(ax))
    figure.draw_without_rendering()
    box, axes = ax.get_legend().get_window_extent(), ax.get_window_extent()
    assert box.width > axes.width
    assert box.x0 < axes.x0
    assert axes.x1 - 6 < box.x1 <= axes.x1


def test_without_matplotlib_the_import_says_what_to_install(monkeypatch):
    monkeypatch.setattr("calibrant._arguments.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"^calibrant.plots needs matplotlib: pip install"):
        importlib.reload(plots)


def test_forecasts_without_any_error_have_bars_of_no_length():
    ax = plots.spread_skill(Normal(np.arange(40.0), np.repeat([1.0, 2.0], 20)), np.arange(40.0))
    line, _, (bar,) = ax.containers[0]
    assert line.get_ydata().tolist() == [0.0, 0.0]
    assert all(np.ptp(segment[:, 1]) == 0 for segment in bar.get_segments())


def test_a_bin_of_one_value_at_an_end_is_as_wide_outwards_as_inwards(case):
    ax = plots.coverage_by(case.H, case.y, np.arange(600) % 3 * 10.0)
    boxes = [bar.get_bbox() for bar in ax.containers[0]]
    assert [each for box in boxes for each in (box.x0, box.x1)] == pytest.approx([-5, 5, 5, 15, 15, 25])
