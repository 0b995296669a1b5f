"""What holds for every plot: it draws on the axes it is given, legibly in any style, and changes nothing else."""

import importlib
import pickle
from datetime import date

import matplotlib
import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.colors import to_hex, to_rgb
from plotted import NAMES, SCORES, Case, every_plot, words_of

from calibrant import Calibrator, CrossCalibrated, Normal, Point, StudentT, judge, plots
from calibrant.distributions import Poisson
from calibrant.interpolators import Linear, Random
from calibrant.plots.style import Palette, drawing, plain
from calibrant.predictions import Rates

torch = pytest.importorskip("torch")
each = pytest.mark.parametrize("name", NAMES)


@pytest.fixture(scope="module")
def case():
    return Case()


def test_every_plot_is_among_the_tested_ones(case):
    assert sorted(every_plot(case)) == sorted(NAMES)


# ---- axes and settings -----------------------------------------------------------------------------------------------


@pytest.mark.few(4)
@each
def test_a_plot_returns_the_axes_that_it_was_given_and_opens_no_figure(name, case):
    figure, (ax, other) = plt.subplots(1, 2)
    assert every_plot(case)[name](ax=ax) is ax
    assert plt.get_fignums() == [figure.number]
    assert not other.has_data()


@pytest.mark.few(4)
@each
def test_a_plot_without_axes_makes_one_figure_for_a_column_with_all_text_inside_and_of_5_points_or_more(name, case):
    ax = every_plot(case)[name]()
    figure = ax.figure
    assert plt.get_fignums() == [figure.number]
    assert figure.get_figwidth() * 25.4 == pytest.approx(110 if name in ("coverage_by_slice", "diagnosis") else 80)
    figure.canvas.draw()
    for text in figure.findobj(matplotlib.text.Text):
        if text.get_visible() and text.get_text().strip() and text.get_window_extent().width:
            assert text.get_fontsize() >= 5
    box = figure.get_tightbbox().transformed(figure.dpi_scale_trans + figure.transFigure.inverted())
    assert -0.01 < box.x0 < box.x1 < 1.01
    assert -0.01 < box.y0 < box.y1 < 1.01


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


def test_a_figure_is_not_left_open_when_drawing_fails():
    with pytest.raises(ValueError, match="the pictures"), drawing(None):
        raise ValueError("the pictures")
    assert plt.get_fignums() == []


def test_the_theme_sets_sizes_and_no_colours_and_ends_with_its_block():
    with plt.style.context("dark_background"):
        before = dict(matplotlib.rcParams)
        with plots.theme():
            assert matplotlib.rcParams["font.size"] == 7
            assert matplotlib.rcParams["axes.facecolor"] == before["axes.facecolor"] == "black"
        assert dict(matplotlib.rcParams) == before
        with plt.style.context("calibrant.plots.paper"):
            assert matplotlib.rcParams["font.size"] == 7


def test_ticks_keep_the_theme_when_the_figure_is_drawn_later(case):
    ax = plots.reliability(case.H, case.y)
    ax.figure.canvas.draw()
    assert {label.get_fontsize() for label in ax.get_xticklabels()} == {6.5}


def test_new_axes_have_few_ticks():
    ax = plots.cdf(Normal([0.0], 1.0))
    ax.set(xlim=(0, 8), ylim=(0, 8))
    assert ax.get_xticks().tolist() == ax.get_yticks().tolist() == [0, 2, 4, 6, 8]


@pytest.mark.few(1)
@pytest.mark.parametrize("plot", [plots.pit_histogram, plots.intervals])
def test_axes_that_share_y_show_what_both_have(plot, case):
    _, (left, right) = plt.subplots(1, 2, sharey=True)
    alone = [plot(forecast, case.y).get_ylim() for forecast in (case.base, case.H)]
    plot(case.base, case.y, ax=left)
    plot(case.H, case.y, ax=right)
    assert right.get_ylim() == pytest.approx((min(low for low, _ in alone), max(high for _, high in alone)))


# ---- colours and sizes -----------------------------------------------------------------------------------------------


def lightness(colour):
    return float(np.mean(to_rgb(colour)))


@pytest.mark.few(4)
@each
def test_text_and_lines_are_legible_in_a_dark_style(name, case):
    with plt.style.context("dark_background"):
        figure, ax = plt.subplots()
    every_plot(case)[name](ax=ax)  # the style is that of the axes, whatever the settings are by now
    figure.canvas.draw()
    panels = [ax, *(child for child in ax.child_axes if child.get_visible())]
    texts = [text for panel in panels for text in panel.findobj(matplotlib.text.Text) if text.get_text().strip()]
    assert len(texts) > 3
    assert min(lightness(text.get_color()) for text in texts) > 0.9
    assert min((lightness(line.get_color()) for panel in panels for line in panel.lines), default=1) > 0.3


def test_marks_are_seen_where_only_the_inside_of_the_axes_is_dark(case):
    ax = plt.figure().subplots()
    ax.set_facecolor("#222222")
    plots.fan(case.H[:60], y=case.y[:60], ax=ax)
    assert ax.lines[-1].get_color() == "#ffffff"
    ax.set_facecolor("none")  # of a transparent inside it is the figure that is seen
    ax.figure.set_facecolor("black")
    assert Palette.of(ax).ink == "#ffffff"


def test_text_marks_and_lines_have_the_size_of_the_axes(case):
    found = []
    for size in (7, 14):
        ax = plt.figure(figsize=(12, 9)).subplots()
        ax.xaxis.label.set_fontsize(size)
        plots.sharpness({"a": case.H}, case.y, ax=ax)
        (bars,) = ax.containers
        found.append(
            [bars[0].get_markersize(), bars[2][0].get_linewidth()[0], ax.get_legend().get_texts()[0].get_size()]
        )
    np.testing.assert_allclose(found, [[5, 0.8, 6], [10, 1.6, 12]])


def test_before_and_after_have_their_colours_everywhere(case):
    ax = plots.reliability({"forest": case.base, "calibrated": case.H}, case.y)
    colours = {line.get_label(): to_hex(line.get_color()) for line in ax.lines}
    assert (colours["forest"], colours["calibrated"]) == (plots.BEFORE, plots.AFTER)
    ax = plots.density(case.H, rows=0, base=case.base)
    assert [to_hex(line.get_color()) for line in ax.lines if len(line.get_xdata())] == [plots.BEFORE, plots.AFTER]


def test_no_two_of_thirty_five_forecasts_look_alike():
    looks = Palette("#000000", "#ffffff", 7).looks(35)
    assert len({(look["color"], str(look["linestyle"])) for look in looks}) == 35
    assert looks[0]["marker"] != looks[1]["marker"]
    assert "#000000" not in {look["color"] for look in Palette("#ffffff", "#000000", 7).looks(7)}


# ---- legends, labels, names ------------------------------------------------------------------------------------------


@pytest.mark.few(1)
@pytest.mark.parametrize("part", [0, 6])
@pytest.mark.parametrize("layout", ["constrained", "tight"])
def test_legends_titles_and_labels_hide_nothing_in_a_grid(layout, part, case):
    figure, axes = plt.subplots(2, 3, layout=layout)
    for ax, (name, plot) in zip(axes.flat, list(every_plot(case).items())[part:], strict=False):
        plot(ax=ax).set_title(name)
    for _ in range(2):  # tight takes the sizes that the first time left
        figure.canvas.draw()
    boxes = [(ax, ax.get_window_extent()) for ax in axes.flat]
    for ax, inside in boxes:
        legend = ax.get_legend().get_window_extent()
        assert legend.y0 >= inside.y1
        assert ax.title.get_window_extent().y0 >= legend.y1 - 1
        assert not any(legend.overlaps(other) for owner, other in boxes if owner is not ax)
        label = ax.yaxis.label.get_window_extent()
        assert not any(label.overlaps(other) for owner, other in boxes if owner is not ax)


def test_a_legend_has_as_many_columns_as_fit_and_smaller_letters_where_there_are_few(case):
    found = []
    for width in (6.0, 2.2):
        _, ax = plt.subplots(figsize=(width, 3), layout="constrained")
        legend = plots.fan(case.H[:60], y=case.y[:60], ax=ax).get_legend()
        found.append((legend._ncols, legend.get_texts()[0].get_fontsize()))
    assert found[0] == (5, pytest.approx(60 / 7))
    assert found[1] == (3, pytest.approx(40 / 7))


def test_a_legend_and_labels_of_ones_own_stay(case):
    figure, ax = plt.subplots(layout="constrained")
    plots.reliability(case.H, case.y, ax=ax).set_ylabel("mine", fontsize=11)
    own = ax.legend(loc="upper left")
    figure.canvas.draw()
    assert ax.get_legend() is own
    assert (ax.get_ylabel(), ax.yaxis.label.get_fontsize()) == ("mine", 11)


def test_a_figure_is_pickled(case):
    again = pickle.loads(pickle.dumps(plots.reliability(case.H, case.y).figure))
    again.canvas.draw()
    assert words_of(again.axes[0])[-1] == "forecast"


@pytest.mark.parametrize("name", ["$x_1$", "_hidden", "a $ and $ b", r"\$", "two\nlines", 7])
def test_a_name_is_printed_as_it_is(name, case):
    ax = plots.sharpness({name: case.H}, case.y)
    text, math = (shown := ax.get_legend().get_texts()[1])._preprocess_math(shown.get_text())
    assert not math
    assert text.strip().removesuffix(" (off)") == " ".join(str(name).split())
    assert len(plain("x" * 100)) == 32


def test_names_of_rows_are_smaller_where_they_are_many(case):
    sizes = []
    for rows in (5, 30):
        ax = plots.ridgeline(case.H, rows=range(rows), ax=plt.figure(figsize=(4, 4)).subplots())
        sizes.append(ax.get_yticklabels()[0].get_fontsize())
    assert sizes[0] == 10 > sizes[1] >= 5


WORDS = {
    "pit_histogram": ("PIT, H(y)", "rows", ["95% band if calibrated"]),
    "reliability": ("level c", "share with H(y) ≤ c", ["95% band if calibrated", "before", "after"]),
    "coverage_by": ("x", "in 90% intervals, %", ["chance allows", "off"]),
    "density": ("y", "density, smoothed", ["row 1", "row 2", "label y", "before"]),
    "fan": ("x", "y", ["95%", "80%", "50%", "median", "label y"]),
    "intervals": (
        "rows, by width",
        "y − centre",
        ["90% intervals of 200 rows", "inside: 87.5% of 600 rows", "outside"],
    ),
    "parity": ("predicted centre", "y", ["90% intervals of 200 rows", "inside: 87.5% of 600 rows", "outside"]),
    "spread_skill": ("predicted spread (std)", "error (RMS)", ["before", "after"]),
    "sharpness": ("in 90% intervals, %", "mean width", ["chance allows", "before (off)", "after"]),
    "ridgeline": ("y", "density", ["label y", "before"]),
    "scores": ("ZScore, φ(f(x), y)", "q", ["q", "λ = 0: where q may be", "scores, at i / (n + 1)"]),
    "monitor": (
        "row",
        "evidence of a change",
        ["evidence", "threshold", "alarm at row 371", "cut off from here on", "since row 348"],
    ),
    "cdf": ("y", "H(y)", ["row 1", "row 2", "label y", "before"]),
    "coverage_by_slice": ("in 90% intervals, %", "", ["before", "after", "off", "chance allows"]),
    "diagnosis": ("in 90% intervals, %", "", ["off", "chance allows"]),
    "interpolators": ("", "", []),
}


@each
def test_the_axes_and_the_marks_of_a_picture_are_named(name, case):
    ax = every_plot(case)[name]()
    x, y, marks = WORDS[name]
    assert (ax.get_xlabel(), ax.get_ylabel()) == (x, y)
    assert sorted(words_of(ax) if ax.get_legend() else []) == sorted(marks)


# ---- what comes in ---------------------------------------------------------------------------------------------------


def test_torch_forecasts_are_drawn_as_numpy_ones_are(case):
    scale = np.linspace(1.0, 2.0, len(case.y))
    f, y = torch.tensor(case.f, requires_grad=True), torch.tensor(case.y)
    H, same = Normal(f, torch.tensor(scale)), Normal(case.f, scale)
    pairs = [
        (plot(H, y), plot(same, case.y))
        for plot in (
            plots.pit_histogram,
            plots.reliability,
            plots.coverage_by,
            plots.ridgeline,
            plots.fan,
            plots.intervals,
        )
    ]
    for ours, wanted in pairs:
        assert ours.dataLim.bounds == pytest.approx(wanted.dataLim.bounds)
        assert len(ours.get_children()) == len(wanted.get_children())


def test_a_single_distribution_stands_for_every_row(case):
    distribution, batch = Normal(0.0, 1.5), Normal(np.zeros(len(case.y)), 1.5)
    for plot in (plots.pit_histogram, plots.reliability, plots.intervals):
        assert plot(distribution, case.y).dataLim.bounds == pytest.approx(plot(batch, case.y).dataLim.bounds)
    assert plots.density(distribution, y=0.3).get_ylabel() == "density"


def test_one_row_is_drawn(case):
    H, y = case.H[:1], case.y[:1]
    for plot in (plots.pit_histogram, plots.reliability, plots.density, plots.ridgeline, plots.fan, plots.intervals):
        plot(H, y).figure.canvas.draw()
    plots.sharpness({"a": H}, y).figure.canvas.draw()


def test_labels_that_are_all_equal_are_drawn(case):
    H, y = Normal(np.full(50, 2.0), 1.0), np.full(50, 2.0)
    for plot in (plots.pit_histogram, plots.reliability, plots.intervals, plots.fan, plots.spread_skill):
        plot(H, y).figure.canvas.draw()


@pytest.mark.slow
def test_a_million_rows_are_a_few_artists():
    m, rng = 1_000_000, np.random.default_rng(0)
    f = rng.normal(size=m)
    H, y = Normal(f, 1.0), f + rng.normal(size=m)
    axes = [plots.intervals(H, y), plots.fan(H, y=y), plots.coverage_by_slice(H, y, f), plots.pit_histogram(H, y)]
    assert max(len(ax.get_children()) for ax in axes) < 60


@pytest.mark.parametrize(("m", "pits", "others"), [(5, 3, 1), (30, 6, 1), (100, 9, 5), (600, 17, 10), (5000, 20, 10)])
def test_bins_are_as_many_as_the_rows_bear(m, pits, others):
    f, noise = np.random.default_rng(0).normal(size=(2, m))
    H, y = Normal(f, np.linspace(1, 2, m)), f + noise
    assert len(plots.pit_histogram(H, y).containers[0]) == pits
    if m >= 20:
        assert len(plots.spread_skill(H, y).containers[0][0].get_xdata()) == others
        assert (
            sum(len(line.get_xdata()) for line in plots.coverage_by(H, y).lines if line.get_marker() == "o") == others
        )


def test_rates_of_counts_are_drawn_as_the_distributions_they_stand_for():
    rng = np.random.default_rng(70)
    rate = rng.uniform(1, 5, 400)
    y = rng.poisson(rate).astype(float)
    for plot in (plots.reliability, plots.pit_histogram):
        rates, distributions = (plot(H, y).dataLim.bounds for H in (Rates(rate), Poisson(rate)))
        assert rates == distributions
        with pytest.raises(TypeError, match=r"Rates\(n=400\) does not give the distribution of y: calibrate it"):
            plot(Rates(rate), y + 0.5)


def test_without_matplotlib_the_import_says_what_to_install(monkeypatch):
    monkeypatch.setattr("calibrant._arguments.find_spec", lambda name: None)
    with pytest.raises(ModuleNotFoundError, match=r"^calibrant.plots needs matplotlib: pip install"):
        importlib.reload(plots)


REFUSED = {
    "H is no forecast": (lambda c: plots.pit_histogram("H", c.y), "a prediction must be a Point, Interval"),
    "no distribution": (lambda c: plots.pit_histogram(c.f, c.y), r"Point\(n=600\) does not give the distribution of y"),
    "lengths": (lambda c: plots.reliability(c.H, c.y[:5]), "y must have one row for each of the 600 rows"),
    "which forecast": (lambda c: plots.reliability({"mine": c.H}, c.y[:5]), "the forecast 'mine'"),
    "NaN": (lambda c: plots.intervals(c.H, np.where(c.y > 2, np.nan, c.y)), "y is NaN or infinite in row"),
    "no forecasts": (lambda c: plots.reliability({}, c.y), "needs at least one forecast, got an empty mapping"),
    "several": (lambda c: plots.intervals(c.both, c.y), "draws one forecast, got a mapping"),
    "bins": (lambda c: plots.pit_histogram(c.H, c.y, bins=1), "bins must be a whole number, at least 2, got 1"),
    "bins of spreads": (
        lambda c: plots.spread_skill(c.H, c.y, bins=1.5),
        "bins must be a whole number, at least 2, got",
    ),
    "coverage": (lambda c: plots.intervals(c.H, c.y, coverage=90), "coverage must lie strictly inside"),
    "most": (lambda c: plots.intervals(c.H, c.y, most=0), "most must be a whole number, at least 1, got 0"),
    "by text": (lambda c: plots.coverage_by(c.H, c.y, c.region), "by must hold real numbers"),
    "by length": (lambda c: plots.coverage_by(c.H, c.y, [1.0]), "one row for each of the 600 rows"),
    "small bins": (
        lambda c: plots.coverage_by(c.H[:5], c.y[:5]),
        "needs a bin of at least 20 rows, got 5 rows in 5 bins",
    ),
    "small slices": (lambda c: plots.coverage_by_slice(c.H[:5], c.y[:5], c.f[:5]), "needs at least 20 rows, got 5"),
    "slices": (lambda c: plots.coverage_by_slice(c.H, c.y, ["a"]), "one row for each of the 600 rows"),
    "no judgement": (lambda c: plots.diagnosis(c.y), r"found must be what calibrant\.judge returns, got ndarray"),
    "no parts": (lambda c: plots.diagnosis(judge(c.H, c.y), most=0), "most must be a whole number, at least 1, got 0"),
    "no spread": (lambda c: plots.spread_skill(Point(c.f), c.y), "does not give the distribution of y"),
    "infinite spread": (
        lambda c: plots.spread_skill(StudentT(1.5, c.f, 1.0), c.y),
        "deviation of the forecast is not finite",
    ),
    "parity of points": (lambda c: plots.parity(c.f, c.y), "does not give"),
    "summary of points": (lambda c: plots.summary(c.f, c.y), "does not give"),
    "no rows": (lambda c: plots.density(c.H), "rows must say which of the 600 rows to draw, got None"),
    "row": (lambda c: plots.cdf(c.H, rows=600), "rows must lie among the 600 rows of the forecast, got 600"),
    "mask": (lambda c: plots.cdf(c.H, rows=[True]), r"rows must lie among the 600 rows of the forecast, got \[True\]"),
    "too many": (lambda c: plots.density(c.H, rows=range(8)), "rows must name between 1 and 7 rows, got 8"),
    "rows of one": (
        lambda c: plots.density(Normal(0.0, 1.0), rows=1),
        "rows must be left out for a single distribution",
    ),
    "base": (lambda c: plots.density(c.H, rows=1, base=c.base[:5]), "the rows of the forecast, 600 rows, got 5 rows"),
    "labels": (lambda c: plots.ridgeline(c.H, rows=[1, 2], labels=["a"]), "one row for each of the 2 rows"),
    "atoms": (lambda c: plots.ridgeline(c.fit(Random())(c.base), rows=[3]), "row 3 of H has no density, only atoms"),
    "no ridges": (lambda c: plots.ridgeline(c.H[:0]), "a ridgeline needs a forecast of at least one row, got "),
    "x": (lambda c: plots.fan(c.H, x=["a"] * 600), "x must hold numbers or dates, got dtype"),
    "x of objects": (
        lambda c: plots.fan(c.H[:2], x=[{}, date(2024, 1, 1)]),
        "x must hold numbers or dates, got dtype object",
    ),
    "x of columns": (lambda c: plots.fan(c.H[:2], x=np.zeros((2, 1))), r"x must be 1-d, got shape \(2, 1\)"),
    "x missing": (lambda c: plots.fan(c.H[:2], x=[0.0, np.nan]), r"x is missing or infinite in row 1 \(the only such"),
    "x length": (lambda c: plots.fan(c.H, x=[1.0]), "x must have one row for each of the 600 rows"),
    "y length": (lambda c: plots.density(c.H, rows=1, y=c.y[:5]), "y must have one row for each of the 600 rows"),
    "y of one": (
        lambda c: plots.cdf(Normal(0.0, 1.0), y=[1.0, 2.0]),
        "y must have one row, as the forecast has, got 2",
    ),
    "y of columns": (lambda c: plots.fan(c.H, y=c.y[:, None]), r"y must be 1-d, got shape \(600, 1\)"),
    "no coverages": (lambda c: plots.fan(c.H, coverages=()), "coverages must hold at least one number"),
    "fan of one": (lambda c: plots.fan(Normal(0.0, 1.0)), "a fan needs a forecast of at least one row"),
    "no names": (lambda c: plots.sharpness(c.H, c.y), "forecasts must be a mapping of names to forecasts"),
    "calibrator": (lambda c: plots.scores(Calibrator(), c.f, c.y), "calibrated must be a Calibrated, got Calibrator"),
    "folds": (
        lambda c: plots.scores(CrossCalibrated((c.fit(Linear()),)), c.f, c.y),
        "got CrossCalibrated: draw one of its members",
    ),
    "another kind": (
        lambda c: plots.scores(c.fit(Linear()), Point(c.f[:300]), c.y_calibration),
        "calibrated on .*: give it",
    ),
    "other rows": (lambda c: plots.scores(c.fit(Linear()), c.base, c.y), "the 300 rows that calibrated, got 600"),
    "no scores": (lambda c: plots.interpolators([]), "^interpolators needs at least one score, got none"),
    "no interpolators": (lambda c: plots.interpolators([1.0], []), "at least one interpolator, got none"),
    "a class": (lambda c: plots.interpolators(SCORES, [Linear]), "must hold Interpolator objects, got <class"),
    "not a list": (lambda c: plots.interpolators(SCORES, Linear()), "must be a list of interpolators, got Linear"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_bad_input_is_refused_in_one_sentence_and_nothing_is_drawn(what, case):
    call, message = REFUSED[what]
    with pytest.raises((TypeError, ValueError), match=message) as error:
        call(case)
    assert "\n" not in str(error.value)
    assert plt.get_fignums() == []


@pytest.mark.filterwarnings("ignore:weights of 30 rows")
def test_a_forecast_whose_mass_is_at_infinity_is_refused():
    calibrated = Calibrator(interpolator=Random()).fit([0.0, 0.0], [0.0, 1.0], weights=[1e-9, 1e-9])
    H, y = calibrated(np.zeros(30), weights=np.ones(30), rng=np.random.default_rng(0)), np.arange(30.0)
    refused = "the predicted value is not finite in row 0"
    for plot in (plots.coverage_by, plots.intervals, plots.parity):
        with pytest.raises(ValueError, match=refused):
            plot(H, y)
    with pytest.raises(ValueError, match="the forecast has no finite median to draw"):
        plots.fan(H, y)
    with pytest.raises(ValueError, match="has no finite quantile to draw"):
        plots.cdf(H, y, rows=3)
    assert plt.get_fignums() == []
    assert "a: infinite width" in words_of(plots.sharpness({"a": H}, y))
