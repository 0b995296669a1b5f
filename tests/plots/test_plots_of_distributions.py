"""Densities, CDFs, ridges, fans, intervals, scores and q show what they name."""

from datetime import date, timedelta
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
import scipy.stats
from matplotlib.collections import FillBetweenPolyCollection, LineCollection
from plotted import LEVELS, SCORES, Case, dots, row_names, segments, words_of

from calibrant import (
    Calibrator,
    Ensemble,
    GaussianMixture,
    Interval,
    Normal,
    Point,
    Quantiles,
    Samples,
    StudentT,
    from_scipy,
    metrics,
    plots,
)
from calibrant.interpolators import NAF, InfiniteTails, Linear, Naive, Random
from calibrant.plots.curves import cdf_of, density_of
from calibrant.scores import CDFScore


@pytest.fixture(scope="module")
def case():
    return Case()


# ---- curves ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "distribution",
    [
        Normal(3.0, 2.0),
        GaussianMixture([0.3, 0.7], [0.0, 9.0], [1.0, 1.0]),
        GaussianMixture(np.full(6, 1 / 6), 4.0 * np.arange(6), np.full(6, 0.5)),
    ],
)
def test_a_smooth_density_is_drawn_as_it_is_however_many_modes_it_has(distribution):
    drawn = density_of(distribution, "H")
    assert not drawn.smoothed
    within = slice(1, -1)
    wanted = pytest.approx(distribution.pdf(drawn.x[within]), rel=0.015, abs=1e-3 * drawn.height.max())
    assert drawn.height[within] == wanted


@pytest.mark.parametrize("rows", [5, 20, 300])
def test_the_density_of_a_linear_interpolation_is_smoothed_and_the_axis_says_so(rows):
    noise = np.random.default_rng(0).normal(size=rows)
    H = Calibrator(interpolator=Linear()).fit(np.zeros(rows), noise)([0.0])
    drawn = density_of(H[0], "H")
    assert drawn.smoothed
    assert np.trapezoid(drawn.height, drawn.x) == pytest.approx(np.diff(H[0].cdf(drawn.x[[0, -1]]))[0], abs=0.01)
    assert np.sum(np.abs(np.diff(drawn.height))) < 3 * drawn.height.max()
    assert plots.density(H).get_ylabel() == plots.ridgeline(H).get_ylabel() == "density, smoothed"


def test_an_atom_is_a_stem_as_high_as_its_probability_and_no_part_of_the_density():
    distribution = Normal([0.3, 0.3], 1.0).clip(lower=0.0)
    share = scipy.stats.norm.cdf(-0.3)
    drawn = density_of(distribution[0], "H")
    assert (drawn.atoms, drawn.masses) == (pytest.approx([0.0]), pytest.approx([share]))
    assert np.trapezoid(drawn.height, drawn.x) == pytest.approx(1 - share, abs=0.01)
    ax = plots.density(distribution, rows=0)
    np.testing.assert_allclose(segments(ax), [[[0, 0], [0, share]]], atol=1e-9)
    np.testing.assert_allclose(dots(ax), [[0, share]], atol=1e-9)
    assert [text.get_text() for text in ax.texts] == [" 38%"]
    ax = plots.ridgeline(distribution, rows=[0, 1])
    np.testing.assert_allclose(
        [segments(ax, 0)[0], segments(ax, 1)[0]], [[[0, 1], [0, 1 + share]], [[0, 0], [0, share]]]
    )


def test_a_cdf_with_steps_is_drawn_with_upright_steps(case):
    drawn = cdf_of(Naive().fit([0.0, 1.0, 3.0]))
    for at, low, high in ((0.0, 0, 1 / 3), (1.0, 1 / 3, 2 / 3), (3.0, 2 / 3, 1)):
        assert drawn.height[drawn.x == at].min() == pytest.approx(low, abs=1 / 400)
        assert drawn.height[drawn.x == at].max() == pytest.approx(high, abs=1 / 400)
    assert len(np.unique(cdf_of(case.fit(Naive(), rows=12)(case.base)[0]).x)) == 12


def test_the_density_of_a_continuous_distribution_has_no_atoms():
    single = Normal(np.float32(1e6), np.float32(1.0))
    for distribution in (Normal(0.0, 1.0), single, Normal(1e9, 1e-5), from_scipy(scipy.stats.uniform())):
        assert len(density_of(distribution, "H").atoms) == 0


@pytest.mark.parametrize(
    "distribution",
    [
        Normal(1e9, 1e-3),
        StudentT(0.3, 0.0, 1.0),
        from_scipy(scipy.stats.uniform()),
        Linear(tails=InfiniteTails()).fit([1.0]),
        Random().fit([1.0]),
        Naive().fit([2.0, 2.0]),
    ],
)
def test_a_distribution_is_drawn_where_its_finite_mass_is(distribution):
    drawn = cdf_of(distribution)
    assert np.isfinite(drawn.x).all()
    assert drawn.x[0] <= distribution.ppf(0.5) <= drawn.x[-1]
    plots.cdf(distribution).figure.canvas.draw()


def test_a_heavy_tail_does_not_hide_the_middle():
    drawn = cdf_of(StudentT(1.0, 0.0, 1.0))
    assert -12 < drawn.x[0] < -5
    assert 5 < drawn.x[-1] < 12


# ---- densities, CDFs, ridges -----------------------------------------------------------------------------------------


def test_the_drawn_cdf_is_the_cdf_and_the_dot_on_it_the_pit(case):
    ax = plots.cdf(case.H, rows=[5], base=case.base, y=case.y)
    before, after = ax.lines[:2]
    assert before.get_ydata() == pytest.approx(case.base[5].cdf(before.get_xdata()))
    assert after.get_ydata() == pytest.approx(case.H[5].cdf(after.get_xdata()))
    assert dots(ax) == pytest.approx(np.array([[case.y[5], metrics.pit(case.H, case.y)[5]]]))


def test_several_rows_have_a_colour_each_and_their_names_in_the_legend(case):
    for plot in (plots.cdf, plots.density):
        ax = plot(Normal(np.arange(50.0), 1.0), rows=range(7))
        assert words_of(ax) == [f"row {k}" for k in range(7)]
        assert len({line.get_color() for line in ax.lines}) == 7
        before = plot(case.H, rows=[3, 4], base=case.base)
        dashed = [line.get_color() for line in before.lines if line.get_linestyle() == "--"]
        assert dashed[:2] == [line.get_color() for line in before.lines if line.get_linestyle() == "-"]


def test_a_label_is_a_dot_on_its_curve_and_a_stem_down_to_the_axis():
    distribution, y = Normal([0.0, 1.0], 1.0), np.array([0.5, 3.0])
    for plot, height in ((plots.density, distribution.pdf), (plots.cdf, distribution.cdf)):
        ax = plot(distribution, rows=[0, 1], y=y)
        assert dots(ax) == pytest.approx(np.column_stack([y, height(y)]), abs=2e-3)
        stems = [segment for c in ax.collections if isinstance(c, LineCollection) for segment in c.get_segments()]
        assert [stem[0].tolist() for stem in stems if len(stem)] == [[0.5, 0], [3.0, 0]]


@pytest.mark.parametrize("plot", [plots.density, plots.cdf, plots.ridgeline])
def test_a_label_far_off_is_an_arrow_at_the_edge_that_the_legend_explains(plot):
    ax = plot(Normal([0.0], 1.0), y=[1e6])
    assert ">" in [line.get_marker() for line in ax.lines]
    assert ax.get_xlim()[1] < 5
    assert words_of(ax) == ["label beyond"]


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
    marks = [line for line in ax.lines if line.get_marker() in ("s", "|")]
    assert sum(len(line.get_xdata()) for line in marks) == count
    assert "before" in words_of(ax)


def test_ridges_stand_at_their_names_in_the_order_given_from_the_top():
    ax = plots.ridgeline(Normal([0.0, 100.0], 1.0), rows=[1, 0], labels=["hundred", "$zero$"])
    heights = {label.get_text(): label.get_position()[1] for label in ax.get_yticklabels()}
    ridges = [c.get_paths()[0].vertices for c in ax.collections if isinstance(c, FillBetweenPolyCollection)]
    floors = {"hundred" if corners[:, 0].mean() > 50 else r"\$zero\$": corners[:, 1].min() for corners in ridges}
    assert floors == heights == {"hundred": 1, r"\$zero\$": 0}


def test_without_rows_ridges_are_spread_over_the_medians_and_what_is_cut_off_is_said_so(case):
    ax = plots.ridgeline(case.H, base=Normal(case.f, 0.01))
    medians = case.H.median()[[int(name.split()[1]) for name in row_names(ax)]]
    assert len(medians) == 7
    assert np.all(np.diff(medians) <= 0)
    assert medians[0] > np.quantile(case.H.median(), 0.9)
    assert words_of(ax) == ["before, cut off where too high"]
    assert max(line.get_ydata().max() for line in ax.lines if len(line.get_xdata())) <= 6 + 2.6


# ---- intervals -------------------------------------------------------------------------------------------------------


def test_intervals_stand_in_the_order_of_their_widths_and_the_legend_counts_all_rows(case):
    ax = plots.intervals(case.base, case.y, coverage=0.8, most=50)
    widths = np.diff(segments(ax)[:, :, 1]).ravel()
    lower, upper = case.base.interval(0.8)
    assert len(widths) == 50
    assert np.all(np.diff(widths) >= 0)
    assert widths[[0, -1]] == pytest.approx([(upper - lower).min(), (upper - lower).max()])
    assert words_of(ax)[1] == f"inside: {100 * metrics.coverage(case.base, case.y, 0.8):.3g}% of 600 rows"


def test_labels_outside_their_interval_are_crosses_and_one_on_an_end_is_inside(case):
    ax = plots.intervals(case.base, case.y, most=600)
    outside = sum(len(line.get_xdata()) for line in ax.lines if line.get_marker() in ("x", "v", "^"))
    assert outside == round((1 - metrics.coverage(case.base, case.y)) * 600)
    low, high = (distribution := Normal(np.zeros(4), np.ones(4))).interval(0.9)
    ax = plots.intervals(distribution, np.array([low[0], high[1], low[2] - 0.1, high[3] + 0.1]))
    assert "inside: 50% of 4 rows" in words_of(ax)


def test_parity_shows_labels_at_their_centres_with_their_intervals(case):
    ax = plots.parity(case.H, case.y, most=600)
    order, shown = np.argsort(case.H.median()), [line for line in ax.lines if line.get_marker() in ("o", "x")]
    shown = np.concatenate([line.get_xydata() for line in shown])
    assert shown[np.argsort(shown[:, 0])] == pytest.approx(np.column_stack([case.H.median(), case.y])[order])
    assert segments(ax)[:, :, 1] == pytest.approx(np.column_stack(case.H.interval(0.9))[order])
    assert ax.get_xlim() == ax.get_ylim()
    own = plots.parity(Interval(case.f - 1, case.f + 3), case.f, most=600)
    assert words_of(own)[0] == "its own intervals"
    assert np.sort(dots(own)[:, 0]) == pytest.approx(np.sort(case.f + 1))


@pytest.mark.parametrize("at", [-300.0, 300.0])
def test_the_bar_of_an_infinite_interval_ends_one_height_beyond_the_axes_wherever_these_are(at):
    y = np.linspace(-1.0, 1.0, 5)
    H = Calibrator(interpolator=Linear(tails=InfiniteTails())).fit(np.zeros(5), y)(np.full(5, at))
    ax = plots.parity(H, at + y)
    low, high = ax.get_ylim()
    np.testing.assert_allclose(segments(ax)[:, :, 1], [[2 * low - high, 2 * high - low]] * 5)
    assert np.isfinite(plots.fan(H, at + y).get_ylim()).all()


def test_labels_far_beyond_the_bands_are_triangles_at_the_edge_that_the_legend_counts():
    edge = scipy.stats.norm.ppf(0.975)  # the bands are 2 edges high, so that labels up to 3 edges off are near
    y = 300 + edge * np.array([0.0, 2.99, 4.0, -3.5, -400.0])
    ax = plots.fan(Normal(np.full(5, 300.0), 1.0), y, coverages=(0.5, 0.95))
    assert dots(ax)[:, 1] == pytest.approx(y[:2])
    beyond = {line.get_marker(): line.get_xydata() for line in ax.lines if line.get_marker() in ("^", "v")}
    low, high = ax.get_ylim()
    assert beyond["^"] == pytest.approx(np.array([[2.0, high]]))
    assert beyond["v"] == pytest.approx(np.array([[3.0, low], [4.0, low]]))
    assert "label beyond" in words_of(ax)


def test_the_bands_of_a_fan_are_the_intervals_in_the_order_of_x(case):
    ax = plots.fan(case.H[:30], x=case.f[:30], coverages=(0.5, 0.9))
    order = np.argsort(case.f[:30])
    for band, coverage in zip(ax.collections, (0.9, 0.5), strict=True):
        lower, upper = (end[order] for end in case.H[:30].interval(coverage))
        corners = band.get_paths()[0].vertices
        assert corners[1:31, 1] == pytest.approx(lower)
        assert corners[32:62, 1] == pytest.approx(upper[::-1])
    assert ax.lines[0].get_xydata() == pytest.approx(np.column_stack([case.f[:30], case.H[:30].median()])[order])


def test_a_fan_of_one_row_is_seen():
    ax = plots.fan(distribution := Normal([2.0], 1.0), coverages=(0.5, 0.95))
    for band, coverage in zip(ax.collections, (0.95, 0.5), strict=True):
        corners = band.get_paths()[0].vertices[:, 1]
        assert (corners.min(), corners.max()) == pytest.approx(np.ravel(distribution.interval(coverage)))
        assert band.get_linewidth()[0] > 2


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


@pytest.mark.parametrize("hours", [0.05, 2.5, 60, 80, 100, 24 * 900, 24 * 1200])
def test_dates_of_any_span_have_a_few_ticks_that_do_not_overlap_and_no_warning(hours, case):
    step = np.timedelta64(int(hours * 3600e3 / 29), "ms")
    ax = plots.fan(case.H[:30], x=np.datetime64("2024-03-05T07:13", "ms") + np.arange(30) * step)
    ax.figure.canvas.draw()
    boxes = [label.get_window_extent() for label in ax.get_xticklabels() if label.get_text()]
    assert 2 <= len(boxes) <= 8
    assert all(a.x1 < b.x0 for a, b in pairwise(boxes))


# ---- modules and the alarm -------------------------------------------------------------------------------------------


@pytest.mark.few
@pytest.mark.parametrize("interpolator", [Linear(), Naive(), NAF(), Random()])
@pytest.mark.parametrize("score", [None, CDFScore()])
@pytest.mark.parametrize("rows", [1, 2, 40])
@pytest.mark.filterwarnings("ignore:there is only one calibration row")
def test_q_lies_in_the_band_of_its_lambda(interpolator, score, rows, case):
    calibrated = case.fit(interpolator, score, rows=rows)
    ax = plots.scores(calibrated, case.calibration[:rows], case.y_calibration[:rows])
    scores, heights = dots(ax).T
    assert heights == pytest.approx(np.arange(1, rows + 1) / (rows + 1))
    x, q = ax.lines[0].get_data()
    accuracy = max(0.0, calibrated.guarantee.accuracy)
    rank, before = np.searchsorted(scores, x, side="right"), np.searchsorted(scores, x, side="left")
    assert np.all(q >= (before - accuracy) / (rows + 1) - 1e-6)
    assert np.all(q <= (rank + 1 + accuracy) / (rows + 1) + 1e-6)


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


def test_interpolators_take_each_score_up_to_its_value_and_to_the_left():
    ax = plots.interpolators(SCORES)
    n, room = len(SCORES), 0.1 * np.ptp(SCORES)
    even = np.arange(1, n + 1) / (n + 1)
    for panel, values in zip(ax.child_axes, (np.arange(1, n + 1) / n, even, even, None), strict=True):
        left, right = panel.get_xlim()
        assert (left, right) == pytest.approx((min(SCORES) - room, max(SCORES) + room))
        below, beside = panel.lines[-2].get_xydata(), panel.lines[-1].get_xydata()
        assert below.tolist() == [[u, 0] for u in SCORES]
        assert np.all(beside[:, 0] == left)
        if values is None:  # NAF
            assert np.abs(beside[:, 1] - even).max() <= NAF().accuracy(n) / (n + 1) + 1e-9
        else:
            assert beside[:, 1] == pytest.approx(values)
    assert [panel.get_ylabel() for panel in ax.child_axes] == ["q(u)", "", "q(u)", ""]
    assert [panel.get_xlabel() for panel in ax.child_axes] == ["", "", "score u", "score u"]


def test_interpolators_of_ones_own_have_their_names():
    ax = plots.interpolators(SCORES, {"$a_b$": Linear(), "c": Naive()})
    assert [panel.get_title("left") for panel in ax.child_axes] == [r"\$a_b\$, λ = 0", "c, λ = 1"]
    ax = plots.interpolators(SCORES, [Linear(), Linear(tails=InfiniteTails()), Random()])
    titles = [panel.get_title("left") for panel in ax.child_axes]
    assert titles == ["Linear 1, λ = 0", "Linear 2, λ = 0", "Random, exact"]


def test_an_alarm_is_a_dot_and_the_rows_since_the_change_are_shaded(case):
    found = case.watched()
    ax = plots.monitor(found)
    row, since = found.alarm.row, found.alarm.since
    assert dots(ax).tolist() == [[row, pytest.approx(np.exp(found.log_capital[row]))]]
    (span,) = ax.patches
    assert (span.get_x(), span.get_x() + span.get_width()) == (since, row)
    evidence = np.exp(found.log_capital)
    assert ax.get_ylim() == pytest.approx((evidence.min() / 3, found.threshold**2))
    (cut,) = [line for line in ax.lines if line.get_marker() == "^"]
    assert cut.get_xydata().tolist() == [[np.argmax(evidence > found.threshold**2), found.threshold**2]]
