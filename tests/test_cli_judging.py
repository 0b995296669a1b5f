"""What `calibrant evaluate` prints: each number with the words that it needs."""

from __future__ import annotations

import json
import re
from datetime import datetime, timedelta

import numpy as np
import pytest
from pyarrow.parquet import read_table
from test_cli import run, write
from test_cli_counts import bikes

from calibrant.cli.results import show_slices
from calibrant.metrics import evaluate
from calibrant.metrics.by_slice import SliceResult
from calibrant.metrics.interval_coverage import IntervalResult


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A folder with points, the calibration rows and test rows, and a model of them."""
    monkeypatch.chdir(tmp_path)
    rng = np.random.default_rng(0)
    f = rng.normal(size=900)
    y = f + rng.normal(size=900)
    start = datetime(2024, 3, 13, 12)
    when = [start + timedelta(hours=k) for k in range(600)]
    write(tmp_path / "cal.parquet", {"f": f[:300], "y": y[:300]})
    write(tmp_path / "test.parquet", {"f": f[300:], "y": y[300:], "when": when})
    write(tmp_path / "moved.parquet", {"f": f[300:], "y": y[300:] + 3.0, "when": when})
    run("fit", "cal.parquet", "--target", "y", "--point", "f", "-o", "m.safetensors")
    return tmp_path


def said(*arguments):
    return " ".join(run("evaluate", *arguments).stdout.split())


@pytest.mark.parametrize(("file", "before"), [("test.parquet", ""), ("moved.parquet", "What was promised: ")])
def test_the_guarantee_is_said_in_short_for_the_coverage_that_was_asked(inside, file, before):
    text = said(file, "-m", "m.safetensors", "--coverage", "0.8")
    assert f"{before}An 80% interval contains the label of a new row like the " in text
    assert " calibration rows with a probability of 80%, within" in text
    assert text.endswith("Run calibrant inspect to see the assumptions.")
    assert "|P(H(Y) <= c) - c|" not in text


def test_the_crps_of_a_point_is_called_its_absolute_error(inside):
    words = "The CRPS of a point is its absolute error."
    assert words in said("test.parquet", "-m", "m.safetensors")
    assert words in str(evaluate([0.0, 1.0], [0.5, 0.0]))
    bikes_as_rates = write(inside / "bikes.csv", bikes())
    assert words not in said(bikes_as_rates, "--target", "rentals", "--rate", "rate")


def test_moments_are_not_broken_within_a_date(inside):
    when = [datetime(2024, 3, 13, 12) + timedelta(hours=k) for k in range(300)]
    write(inside / "bikes.parquet", bikes() | {"when": when})
    text = run("evaluate", "bikes.parquet", "--target", "rentals", "--rate", "rate", "--time", "when").stdout
    table = text[text.index("PIT gap") : text.index("These are the limits")]
    assert re.search(r"\n 2024-03-13 .*\n 12:00 ", table)
    assert len(re.findall(r"\n 2024-03-\d\d .*\n \d\d:00 ", table)) == 20
    assert max(map(len, table.splitlines())) <= 80


def test_a_star_is_for_the_coverage_that_is_shown_and_a_dagger_for_what_is_not(capsys):
    def part(value, share, pvalue):
        return SliceResult(
            "width", value, 300, (IntervalResult(0.9, share, 0.858, 0.937),), 0.1, 0.5, 0.6, pvalue, 0.05
        )

    slices = [part("(1, 2]", 0.7, 0.9), part("(2, 3]", 0.917, 0.001), part("(3, 4]", 0.9, 0.9)]
    show_slices("calibrated, by slice", slices, 0.9)
    shown = capsys.readouterr().out
    lines = {line.split("]")[0].strip(): line for line in shown.splitlines() if "width in" in line}
    assert [("*" in line, "†" in line) for line in lines.values()] == [(True, False), (False, True), (False, False)]
    text = " ".join(shown.split())
    assert "* The coverage is off by more than chance allows." in text
    assert (
        "† The coverage is within chance, but the distribution is off elsewhere; calibrant report shows where." in text
    )


def test_the_names_of_slices_stay_on_one_line(inside):
    text = run("evaluate", "test.parquet", "-m", "m.safetensors").stdout
    assert text.count("predicted value in ") == 5
    assert all("]" in line for line in text.splitlines() if "predicted value in" in line)


def test_evaluate_says_when_there_are_too_few_rows_for_a_period_of_time(inside):
    write(inside / "few.parquet", {"f": np.arange(15.0), "y": np.arange(15.0) ** 0.5, "when": np.arange(15)})
    text = said("few.parquet", "-m", "m.safetensors", "--time", "when")
    assert "There is no result over time: a period needs 20 rows." in text
    assert "PIT gap" not in text


def test_evaluate_says_what_the_columns_of_its_tables_are(inside):
    write(inside / "bikes.parquet", bikes() | {"when": np.arange(300)})
    flags = ("bikes.parquet", "--target", "rentals", "--rate", "rate")
    narrow = "Narrower intervals and smaller deviations are better only where the coverage is right."
    split = "A count is either inside an interval or outside."
    for more, tables in (((), 1), (("--time", "when"), 2)):
        text = said(*flags, *more)
        assert (text.count(narrow), text.count(split), text.count("ties split")) == (1, tables, tables)
    text = said("test.parquet", "-m", "m.safetensors")
    assert (text.count(narrow), text.count(split)) == (1, 0)


def test_without_a_model_the_table_of_slices_and_why_verdict_and_p_value_differ_are_shown(inside):
    rng = np.random.default_rng(0)
    mu, noise = rng.normal(size=400), rng.normal(size=400)
    noise[:16] = 5.0  # in the far tail, which the p-value hardly sees
    write(inside / "tails.parquet", {"mu": mu, "sigma": np.ones(400), "y": mu + noise})
    text = said("tails.parquet", "--target", "y", "--mean", "mu", "--std", "sigma")
    assert text.startswith("[problem] Not calibrated: the forecasts are wrong in the tails.")
    assert "The p-value is that of the largest gap at any level, whose test is weak in the tails." in text
    assert "at 0.995 the share of PITs is 96.0%, where chance allows 98.3% to 100.0%." in text
    assert text.count("predicted value in ") == 5


def test_the_printed_tables_have_the_numbers_of_the_json(inside):
    table = {**read_table("moved.parquet").to_pydict(), "k": np.arange(600)}
    table["y"] = np.asarray(table["y"]) - np.where(np.arange(600) < 400, 3.0, 2.0)
    write(inside / "new.parquet", table)
    flags = ("evaluate", "new.parquet", "-m", "m.safetensors", "--time", "k", "--coverage", "0.8")
    shown, found = run(*flags).stdout, json.loads(run(*flags, "--json").stdout)
    lines = [line.split() for line in shown.splitlines()]
    periods = [line for line in lines if line[1:2] == ["to"] and line[0].isdigit()]
    for line, each in zip(periods, found["over_time"], strict=True):
        low, high = (f"{100 * part:.1f}" for part in each["chance_allows"])
        numbers = [f"{each['pit_deviation']:.3f}", f"{each['pit_deviation_allowed']:.3f}"]
        fault = [each["direction"]] if each["off"] else []
        when = [str(each["from"]), "to", str(each["to"]), str(each["rows"])]
        assert line == [*when, f"{100 * each['coverage']:.1f}%", f"{low}-{high}%", *numbers, *fault]
    assert {each["direction"] for each in found["over_time"]} == {None, "low"}
    slices = [line for line in lines if " ".join(line).startswith(("predicted value in", "width in"))]
    assert len(slices) == len([each for each in found["slices"] if each["by"] is not None])
    for line, each in zip(slices, (each for each in found["slices"] if each["by"] is not None), strict=True):
        assert f"{100 * each['coverage']:.1f}%" in line
        assert str(each["rows"]) in line
    assert " ".join(shown.split()).count("in 80%") == 2
