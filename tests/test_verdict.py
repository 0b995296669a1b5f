"""What a verdict says of counts, of slices that are off both ways, of borderline cases, and of raw forecasts."""

from __future__ import annotations

import json
import re

import numpy as np
import pandas as pd
import pytest
from scipy import stats
from sklearn.linear_model import LinearRegression
from typer.testing import CliRunner

from calibrant import Calibrator, Normal, diagnose, evaluate, report
from calibrant.cli.app import app
from calibrant.cli.results import pvalue_note
from calibrant.diagnosis.headline import headline
from calibrant.diagnosis.opposite_slices import opposite_slices
from calibrant.diagnosis.over_time import over_time
from calibrant.diagnosis.overall import overall_of
from calibrant.distributions import Poisson
from calibrant.labels import Counts
from calibrant.metrics.by_slice import IntervalResult, SliceResult
from calibrant.metrics.interval_coverage import InsideFlags, inside
from calibrant.metrics.label_kinds import HINT as ANY_DOOR

HINT = ANY_DOOR.format("labels=Counts()")

LEVELS = [0.05, 0.25, 0.5, 0.75, 0.95]


def data_of(page):
    return json.loads(re.search(r'<script type="application/json"[^>]*>(.*?)</script>', page.html, re.DOTALL).group(1))


def counted(distribution, y, coverage=0.9):
    low, high = distribution.interval(coverage)
    return (low <= y) & (y <= high)


@pytest.fixture(scope="module")
def few_counts():
    """Poisson forecasts whose rate is too small, by two groups of different rates."""
    rng = np.random.default_rng(0)
    group = np.where(np.arange(3000) % 2, "day", "night")
    rate = np.where(group == "day", 3.0, 0.2)
    return Poisson(rate), rng.poisson(1.5 * rate).astype(float), group


# One number for one thing


def test_a_diagnosis_and_periods_of_time_say_the_share_that_one_counts(few_counts):
    P, y, group = few_counts
    found = diagnose(P, y, {"group": group})
    for each in found.slices:
        rows = np.ones(3000, bool) if not each.by else group == each.value if each.by == "group" else None
        for held in each.intervals if rows is not None else ():
            assert held.share == counted(P, y, held.coverage)[rows].mean()
            assert held.split_share < held.share
    assert found.worst.interval.share > found.worst.interval.split_share
    text = str(found)
    farthest = max(found.off[0].intervals, key=lambda held: abs(held.tested - held.coverage) * held.off)
    assert f"intervals hold {100 * farthest.share:.1f}% of the labels, and {100 * farthest.tested:.1f}% with" in text
    head, first = found.table().splitlines()[:2]
    assert head.split()[1:6] == ["in", "90%", "ties", "split", "chance"]
    assert f"{100 * found.slices[0].intervals[0].share:.1f}%" in first
    (period, *_) = over_time(P, y, bins=3)
    assert period.intervals[0].share == counted(P, y)[:1000].mean() > period.intervals[0].split_share
    continuous = diagnose(Normal(np.zeros(200), 1.0), np.random.default_rng(0).normal(size=200))
    assert all(held.split_share is None for each in continuous.slices for held in each.intervals)
    assert "ties" not in str(continuous) + continuous.table()


def test_counts_of_a_true_distribution_are_seldom_called_off_by_groups():
    """Their intervals hold far more than asked for, and that is no fault."""
    rng = np.random.default_rng(1)
    off = 0
    for _ in range(100):
        rate = np.where(np.arange(600) % 2, 3.0, 0.2)
        y = rng.poisson(rate).astype(float)
        off += any(each.off for each in diagnose(Poisson(rate), y, permutations=59).slices)
    assert off <= 5 + 3 * (5 * 0.95) ** 0.5  # at most a third of 5% goes to the slices; 100 draws
    assert counted(Poisson(rate), y).mean() > 0.94


def test_the_share_that_is_judged_decides():
    assert not IntervalResult(0.9, 0.97, 0.87, 0.93, split_share=0.9).off
    assert IntervalResult(0.9, 0.9, 0.87, 0.93, split_share=0.8).off
    assert IntervalResult(0.9, 0.97, 0.87, 0.93).off
    pit = np.random.default_rng(0).random(1000)
    overall = overall_of(pit, 0.9, flags=InsideFlags(np.ones(1000, bool), inside(pit, 0.9)))
    assert overall.interval.share == 1.0
    assert overall.coverage_fault == ""


# Grades


@pytest.mark.parametrize(("power", "fault"), [(0.5, "too low"), (2.0, "too high")])
def test_a_shift_is_shown_where_it_exceeds_chance_most(power, fault):
    overall = overall_of(np.random.default_rng(0).random(2000) ** power, 0.9)
    low, high = overall.band
    beyond = low - overall.below if fault == "too low" else overall.below - high
    assert overall.fault == fault
    assert beyond[overall.clearest_level] == beyond.max() > 0


def test_a_borderline_crossing_is_a_warning_and_breaks_no_guarantee():
    rng = np.random.default_rng(2)
    found = [overall_of(rng.random(500), 0.9) for _ in range(400)]
    borderline = [each for each in found if each.state == "borderline"]
    assert borderline
    for each in borderline:
        said = headline(each)
        assert said.kind == "warn"
        assert said.text.startswith("Perhaps not calibrated: the forecasts look ")
        assert not each.fails
        assert each.is_consistent_with(Calibrator().fit(np.arange(9.0), np.arange(9.0) + rng.normal(size=9)).guarantee)
    # the band of 99% and that of the coverage: at most 0.015 of 400 draws, and three standard deviations
    red = np.mean([headline(each).kind == "bad" for each in found])
    assert red <= 0.015 + 3 * (0.015 / 400) ** 0.5
    assert any(each.outside.max() > 0 for each in found)


def test_p_value_and_verdict_say_why_they_differ():
    rng = np.random.default_rng(3)
    pit = np.where(rng.random(1500) < 0.02, 1 - 1e-3 * rng.random(1500), 0.99 * rng.random(1500))
    tails = overall_of(pit, 0.9)
    assert tails.outside.max() > 0
    assert re.match(r"The p-value is that of the largest gap.* at [\d.]+ the share", pvalue_note(0.3, tails))
    assert pvalue_note(1e-4, tails) == pvalue_note(None, tails) == ""
    fine = next(each for each in (overall_of(rng.random(1500), 0.9) for _ in range(9)) if each.state == "calibrated")
    assert pvalue_note(0.5, fine) == ""
    assert "is small, but the verdict finds no level" in pvalue_note(0.01, fine)


def slice_of(by, value, share, m=500):
    return SliceResult(by, value, m, (IntervalResult(0.9, share, 0.86, 0.94),), None, None, None, 1.0, 0.05)


def test_slices_that_are_off_both_ways_are_found_in_one_column():
    off = [slice_of("x", "a", 1.0), slice_of("x", "b", 0.97), slice_of("x", "c", 0.8), slice_of("z", "d", 0.5)]
    found = opposite_slices(off)
    assert (found.wide.value, found.narrow.value, found.forecast_slices) == ("a", "c", False)
    assert str(found) == "too wide for x = a and too narrow for x = c"
    assert opposite_slices(off[:2]) is None
    assert opposite_slices([off[0], off[3]]) is None  # of two columns
    assert opposite_slices([slice_of("x", "a", 0.945), slice_of("x", "b", 0.5)]) is None  # the one is all that is wrong
    # by the share that is judged: all labels are inside where counts are small
    held = IntervalResult(0.9, 0.99, 0.86, 0.94, split_share=0.8)
    assert opposite_slices([slice_of("x", "a", 1.0), SliceResult("x", "b", 9, (held,), None, None, None, 1.0, 0.05)])


# Raw forecasts


def test_a_table_with_dashes_says_why():
    said = str(evaluate([1.0, 2.0], [0.5, 1.5])).splitlines()[-1]
    dash = "A dash: Point(n=2) does not determine it. Calibrate it to have a distribution per row."
    assert said == f"{dash} The CRPS of a point is its absolute error."
    assert "dash" not in str(evaluate(Normal([1.0, 2.0], 1.0), [0.5, 1.5]))


@pytest.fixture(scope="module")
def count_quantiles():
    rng = np.random.default_rng(7)
    rate = rng.gamma(1.2, 2.0, 3000)
    exact = stats.poisson.ppf(np.array(LEVELS)[None], rate[:, None])
    beside = np.maximum(np.sort(exact + rng.uniform(-0.4, 0.4, exact.shape), axis=1), 0)
    return exact, beside, rng.poisson(rate).astype(float)


def test_labels_of_another_kind_are_refused_by_all():
    for judge in (evaluate, report, diagnose):
        with pytest.raises(
            ValueError, match=r"y is 0.5 in row 3 \(the only such row\): Counts\(\) takes whole numbers"
        ):
            judge(Normal(np.zeros(100), 1.0), np.where(np.arange(100) == 3, 0.5, 0.0), labels=Counts())
        with pytest.raises(TypeError, match="labels must be a name or a Labels object, got <class"):
            judge(Normal(np.zeros(100), 1.0), np.zeros(100), labels=Counts)


def test_missing_labels_are_told_the_way_out():
    y = pd.Series(np.where(np.arange(200) % 50 == 7, np.nan, 1.0), name="count")
    H = Normal(np.zeros(200), 1.0)
    for judge in (evaluate, report, diagnose):
        with pytest.raises(ValueError, match=r"y is NaN or infinite in row 7 \(4 rows in all\): leave out rows"):
            judge(H, y)
    known = np.isfinite(y)
    assert evaluate(H[known], y[known]).n == 196


# The terminal


@pytest.fixture
def table(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(10)
    night = np.arange(2000) % 4 == 0
    rate = np.where(night, 0.1, rng.uniform(1, 9, 2000))
    y = rng.poisson(np.where(night, 0.25, rate))
    frame = pd.DataFrame({"rate": rate, "count": y, "part": np.where(night, "night", "day"), "t": np.arange(2000)})
    quantiles = stats.poisson.ppf(np.array([0.05, 0.5, 0.95])[None], rate[:, None])
    frame[["q05", "q50", "q95"]] = quantiles
    frame.to_csv("test.csv", index=False)
    return frame


def run(*arguments):
    return CliRunner().invoke(app, list(arguments))


def test_evaluate_judges_a_file_without_a_model(table):
    P, y = Poisson(table["rate"].to_numpy()), table["count"].to_numpy(float)
    result = run("evaluate", "test.csv", "--target", "count", "--rate", "rate", "--time", "t")
    assert result.exit_code == 0, result.output
    assert result.stdout.startswith("[problem] ")
    assert "Calibrator()" not in result.stdout
    found = json.loads(run("evaluate", "test.csv", "--target", "count", "--rate", "rate", "--json").stdout)
    assert found["base"]["coverage"] == evaluate(P, y).coverage
    assert found["n"] == 2000
    zero = found["slices"][0]
    assert (zero["by"], zero["value"]) == ("predicted value", "0")
    assert zero["coverage"] == counted(P, y)[np.asarray(P.median()) == 0].mean() > zero["coverage_ties_split"] + 0.02
    assert zero["off"]
    shown = next(line for line in result.stdout.splitlines() if line.strip().startswith("predicted value = 0"))
    assert f"{100 * zero['coverage']:.1f}%" in shown
    assert f"{100 * zero['coverage_ties_split']:.1f}% *" in shown


def test_quantiles_of_counts_in_a_file_are_judged_by_labels(table):
    flags = "evaluate", "test.csv", "--target", "count", "--quantiles", "q05:0.05,q50:0.5,q95:0.95", "--json"
    found = json.loads(run(*flags, "--labels", "counts").stdout)
    y = table["count"]
    assert found["base"]["coverage"] == ((table["q05"] <= y) & (y <= table["q95"])).mean()
    assert found["verdict"]["text"].startswith("The quantiles are right at their levels")


@pytest.mark.usefixtures("table")
def test_report_writes_a_page_without_a_model():
    result = run("report", "test.csv", "--target", "count", "--rate", "rate", "--groups", "part", "-o", "page")
    assert result.exit_code == 0, result.output
    assert "Wrote page.html: open it in a browser." in result.stdout
    assert "part = night" in result.stdout
    point = run("report", "test.csv", "--target", "count", "--point", "rate", "-o", "page")
    assert point.exit_code == 1
    assert "Point(n=2000) is no distribution of each row" in point.output
    dashes = run("evaluate", "test.csv", "--target", "count", "--point", "rate")
    assert dashes.exit_code == 0
    assert "A dash: Point(n=2000) does not determine it." in dashes.stdout
    assert "[problem]" not in dashes.stdout


@pytest.mark.usefixtures("table")
@pytest.mark.parametrize(
    ("more", "said"),
    [
        ([], "--model: name the model file that fit wrote; or, to evaluate predictions as they are, their columns"),
        (["--rate", "rate"], "--target: without --model the column of the labels must be named"),
        (["--rate", "rate", "--target", "count", "--by", "part"], "--by: it goes with --model only"),
        (["--rate", "rate", "--target", "count", "--labels", "whole"], "--labels: labels must be one of log, "),
        (["--rate", "rate", "--target", "count", "--labels", "0:q95"], "--labels: 0:q95 needs a column for each row"),
    ],
)
def test_wrong_usage_without_a_model_is_told(more, said):
    result = run("evaluate", "test.csv", *more)
    assert result.exit_code == 2
    assert said in " ".join(result.output.split())


@pytest.mark.usefixtures("table")
def test_a_model_knows_its_labels_and_its_slices_are_counted():
    fitted = run("fit", "test.csv", "--target", "count", "--rate", "rate", "--labels", "counts", "-o", "m.safetensors")
    assert fitted.exit_code == 0, fitted.output
    both = run("evaluate", "test.csv", "-m", "m.safetensors", "--labels", "counts")
    assert both.exit_code == 2
    assert "the model knows what the labels are" in " ".join(both.output.split())
    shown = run("evaluate", "test.csv", "-m", "m.safetensors").stdout
    assert "For this set it is at least 88.5% (95% confidence)" in " ".join(shown.split())
    assert "ties split" in shown


@pytest.mark.usefixtures("table")
def test_the_steps_at_a_terminal_are_commands():
    """No argument of Python: neither calibrated nor raw, neither on the page nor below it."""
    columns = "test.csv", "--target", "count", "--rate", "rate"
    assert run("fit", *columns, "-o", "m.safetensors").exit_code == 0
    frame = pd.read_csv("test.csv")
    frame.assign(count=2 * frame["count"] + 3).to_csv("later.csv", index=False)
    quantiles = "test.csv", "--target", "count", "--quantiles", "q05:0.05,q95:0.95"
    said = [
        run("report", "later.csv", "-m", "m.safetensors", "--target", "count", "-o", "p").stdout,
        run("evaluate", "later.csv", "-m", "m.safetensors", "--target", "count").stdout,
        run("report", *columns, "-o", "p").stdout,
        run("evaluate", *quantiles).stdout,
        run("report", *quantiles, "-o", "p").stdout,
    ]
    assert "--labels counts" in said[4]
    for text in said:
        assert not re.search(r"\b(time|by|labels|refine|guarantee)=|Calibrator\(", text)


def test_a_model_in_place_of_forecasts_is_told_the_way():
    for judge, name in ((report, "report"), (evaluate, "evaluate")):
        with pytest.raises(TypeError, match=rf"model\.{name}\(X, y\), for another model {name}\(prediction_of"):
            judge(object(), np.zeros((3, 2)), np.zeros(3))
    X, y = np.zeros((60, 2)), np.arange(60.0)
    model = LinearRegression().fit(X, y)
    for asked in (lambda: report(model, y), lambda: evaluate(model, y), lambda: diagnose(model, X, y)):
        with pytest.raises(TypeError, match=r"got the model LinearRegression: pass prediction_of\(model, X\)"):
            asked()
