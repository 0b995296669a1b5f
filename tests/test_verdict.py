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

from calibrant import Normal, evaluate, judge, report
from calibrant.cli.app import app
from calibrant.distributions import Poisson
from calibrant.labels import Counts
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


# Grades


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
    for judging in (evaluate, report, judge):
        with pytest.raises(
            ValueError, match=r"y is 0.5 in row 3 \(the only such row\): Counts\(\) takes whole numbers"
        ):
            judging(Normal(np.zeros(100), 1.0), np.where(np.arange(100) == 3, 0.5, 0.0), labels=Counts())
        with pytest.raises(TypeError, match="labels must be a name or a Labels object, got <class"):
            judging(Normal(np.zeros(100), 1.0), np.zeros(100), labels=Counts)


def test_missing_labels_are_told_the_way_out():
    y = pd.Series(np.where(np.arange(200) % 50 == 7, np.nan, 1.0), name="count")
    H = Normal(np.zeros(200), 1.0)
    for judging in (evaluate, report, judge):
        with pytest.raises(ValueError, match=r"y is NaN or infinite in row 7 \(4 rows in all\): leave out rows"):
            judging(H, y)
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
    assert found["metrics"]["coverage"] == evaluate(P, y).coverage
    assert found["n"] == 2000
    zero = found["slices"][0]
    assert (zero["by"], zero["value"]) == ("predicted value", "0")
    assert zero["coverage"] == counted(P, y)[np.asarray(P.median()) == 0].mean() > zero["coverage_ties_split"] + 0.02
    assert zero["off"]
    shown = next(line for line in result.stdout.splitlines() if line.strip().startswith("predicted value = 0"))
    assert f"{100 * zero['coverage']:.1f}%" in shown
    assert f"{100 * zero['coverage_ties_split']:.1f}%" in shown
    assert zero["fault"] in shown


def test_quantiles_of_counts_in_a_file_are_judged_by_labels(table):
    flags = "evaluate", "test.csv", "--target", "count", "--quantiles", "q05:0.05,q50:0.5,q95:0.95", "--json"
    found = json.loads(run(*flags, "--labels", "counts").stdout)
    y = table["count"]
    assert found["metrics"]["coverage"] == ((table["q05"] <= y) & (y <= table["q95"])).mean()
    assert found["verdict"].startswith("The quantiles are right at their levels")


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
        ([], "--model: name the model file that fit wrote; or, to judge predictions as they are, their columns"),
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
    assert "the column split has ties at the ends split" in " ".join(shown.split())


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
    for of_two, name in ((report, "report"), (evaluate, "evaluate")):
        with pytest.raises(TypeError, match=rf"model\.{name}\(X, y\), for another model {name}\(prediction_of"):
            of_two(object(), np.zeros((3, 2)), np.zeros(3))
    X, y = np.zeros((60, 2)), np.arange(60.0)
    model = LinearRegression().fit(X, y)
    for asked in (lambda: report(model, y), lambda: evaluate(model, y), lambda: judge(model, X, y)):
        with pytest.raises(TypeError, match=r"got the model LinearRegression: pass prediction_of\(model, X\)"):
            asked()
