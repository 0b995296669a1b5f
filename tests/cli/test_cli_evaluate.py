"""What `calibrant evaluate`, `inspect` and `demo` print, and as JSON."""

from __future__ import annotations

import math
import re
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
import pytest
from commands import LEVELS, QUANTILES, as_json, assert_same, columns_of, counts, forecasts, plain, run, write

import calibrant
from calibrant import Calibrator, CrossCalibrated, Normal, Point, Quantiles, evaluate, load
from calibrant.files import read
from calibrant.labels import Counts

NORMAL = ["--target", "y", "--mean", "mu", "--std", "sigma"]
TEST = forecasts(600, seed=1)


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A folder with calibration rows, test rows and a model."""
    monkeypatch.chdir(tmp_path)
    when = [datetime(2024, 3, 13, 12) + timedelta(hours=k) for k in range(600)]
    write(tmp_path / "cal.parquet", forecasts())
    write(tmp_path / "test.parquet", TEST | {"when": when})
    write(tmp_path / "moved.parquet", TEST | {"when": when, "y": TEST["y"] + 3.0})
    run("fit", "cal.parquet", *NORMAL, "-o", "m.safetensors")
    return tmp_path


def test_the_json_has_the_metrics_of_python(inside):
    found = as_json("evaluate", "test.parquet", "-m", "m.safetensors", "--coverage", "0.8")
    prediction, calibrated = Normal(TEST["mu"], TEST["sigma"]), read("m.safetensors").calibrated
    for side, forecast in (("base", prediction), ("metrics", calibrated(prediction))):
        wanted = evaluate(forecast, TEST["y"], coverage=0.8).to_dict() | {"pit_pvalue": found[side]["pit_pvalue"]}
        assert found[side] == wanted
    assert found["metrics"]["pit_pvalue"] == found["overall"]["pvalue"]
    assert found["n"] == 600
    assert found["guarantee"] == str(calibrated.guarantee)
    assert found["interval"] == 0.8


def test_a_point_has_its_absolute_error_as_crps_and_no_nll(inside):
    found = as_json("evaluate", "test.parquet", "--target", "y", "--point", "mu")
    assert found["kind"] is None
    assert found["metrics"]["crps"] == pytest.approx(np.abs(TEST["mu"] - TEST["y"]).mean(), rel=1e-15)
    assert "nll" not in found["metrics"]
    run("fit", "cal.parquet", "--target", "y", "--point", "mu", "-o", "p.safetensors")
    assert "The CRPS of a point is its absolute error." in plain("evaluate", "test.parquet", "-m", "p.safetensors")


def test_infinite_metrics_are_spelt_so_that_json_allows_them(inside):
    run("fit", "cal.parquet", "--interpolator", "random", "--target", "y", "--point", "mu", "-o", "r.safetensors")
    found = as_json("evaluate", "test.parquet", "-m", "r.safetensors", "--seed", 0)
    assert float(found["metrics"]["crps"]) == math.inf


def test_the_two_sides_stand_side_by_side(inside):
    lines = [line.split() for line in run("evaluate", "test.parquet", "-m", "m.safetensors").stdout.splitlines()]
    assert ["base", "calibrated", "better", "in", "units", "of"] in lines
    assert ["rows", "600", "600"] in lines
    (crps,) = (line for line in lines if line[:1] == ["CRPS"])
    assert crps[3:] == ["lower", "y"]


@pytest.mark.parametrize("width", [60, 40])
def test_a_narrow_terminal_loses_no_digit(inside, monkeypatch, width):
    words = "evaluate", "test.parquet", "-m", "m.safetensors", "--time", "when"
    wide = set(re.findall(r"\d[\d.,%:e-]*\d", run(*words).stdout))
    monkeypatch.setenv("COLUMNS", str(width))
    shown = run(*words).stdout
    assert "…" not in shown
    assert set(re.findall(r"\d[\d.,%:e-]*\d", shown)) == wide


@pytest.mark.parametrize(("file", "before"), [("test.parquet", ""), ("moved.parquet", "What was promised: ")])
def test_the_guarantee_is_said_in_short_for_the_coverage_that_was_asked(inside, file, before):
    text = plain("evaluate", file, "-m", "m.safetensors", "--coverage", "0.8")
    assert f"{before}An 80% interval contains the label of a new row like the 400 calibration rows" in text
    assert text.endswith("Run calibrant inspect to see the assumptions.")


def test_the_verdict_comes_first_and_names_the_options_of_the_next_step(inside):
    region = np.where(np.arange(600) % 2, "north", "south")
    write(inside / "new.parquet", TEST | {"region": region, "y": TEST["y"] + np.where(region == "north", 3.0, -3.0)})
    run("fit", "new.parquet", *NORMAL, "-o", "both.safetensors")
    late = TEST | {"when": np.arange(600), "y": TEST["y"] + np.where(np.arange(600) < 300, 3.0, -3.0)}
    write(inside / "late.parquet", late)
    said = plain("evaluate", "late.parquet", "-m", "both.safetensors", "--time", "when")
    assert said.startswith("[problem] ")
    assert plain("evaluate", "late.parquet", *NORMAL).startswith("[problem] Not calibrated: ")
    assert "calibrant fit" in plain("evaluate", "late.parquet", *NORMAL).split("base")[0]


def test_slices_stay_on_one_line_and_the_fault_of_those_that_are_off_is_named(inside):
    text = run("evaluate", "moved.parquet", "-m", "m.safetensors").stdout
    lines = [line for line in text.splitlines() if "predicted value in" in line]
    assert len(lines) == 5
    assert all("too low" in line for line in lines)


def test_the_printed_parts_have_the_numbers_of_the_json(inside):
    late = np.where(np.arange(600) < 400, 0, 2.0)
    write(inside / "new.parquet", TEST | {"k": np.arange(600), "y": TEST["y"] + late})
    words = "evaluate", "new.parquet", "-m", "m.safetensors", "--time", "k", "--coverage", "0.8"
    lines = [" ".join(line.split()) for line in run(*words).stdout.splitlines()]
    found = as_json(*words)
    assert {each["fault"] for each in found["periods"]} == {None, "too low"}
    for each in [*found["slices"], *found["periods"]]:
        name = f"{each['from']} to {each['to']}" if "from" in each else f"{each['by']} in {each['value']}"
        low, high = (f"{100 * part:.1f}" for part in each["chance_allows"])
        numbers = f"{each['rows']} {100 * each['coverage']:.1f}% {low}-{high}% {each['fault'] or ''}"
        assert f"{name} {numbers}".strip() in lines


def test_tables_of_dates_stay_within_80_columns(inside):
    text = run("evaluate", "test.parquet", "-m", "m.safetensors", "--time", "when").stdout
    table = text[text.index(" part ") : text.index("The column chance")]
    assert len(re.findall(r"2024-\d\d-\d\d \d\d:00 to 2024-\d\d-\d\d \d\d:00", table)) == 10
    assert max(map(len, table.splitlines())) <= 80


def test_too_few_rows_for_periods_are_said(inside):
    write(inside / "few.parquet", forecasts(15) | {"when": np.arange(15)})
    text = plain("evaluate", "few.parquet", "-m", "m.safetensors", "--time", "when")
    assert "There is no result over time: too few rows for two periods." in text


# ---- counts, and predictions without a model -----------------------------------------------------------------------


def test_rates_are_judged_as_counts_or_as_points(inside):
    table = counts()
    write(inside / "bikes.csv", table)
    words = "evaluate", "bikes.csv", "--target", "rentals", "--rate", "rate"
    text = plain(*words)
    assert "NLL of the counts" in text
    assert "A count is inside an interval or outside" in text
    assert as_json(*words)["metrics"]["crps"] == pytest.approx(
        evaluate(calibrant.distributions.Poisson(table["rate"]), table["rentals"]).crps
    )
    found = as_json(*words, "--labels", "real")["metrics"]
    assert found["crps"] == pytest.approx(evaluate(Point(table["rate"]), table["rentals"]).crps)


def test_the_base_is_judged_by_the_labels_of_the_model(inside):
    write(inside / "bikes.csv", counts())
    table = counts(seed=1)
    write(inside / "new.csv", table)
    run("fit", "bikes.csv", "--target", "rentals", "--quantiles", QUANTILES, "--labels", "counts", "-o", "q")
    found = as_json("evaluate", "new.csv", "-m", "q")["base"]
    values = Quantiles(list(LEVELS.values()), np.stack([table[name] for name in LEVELS], axis=1))
    wanted = evaluate(values, table["rentals"], labels=Counts()).to_dict()
    assert {name: float(found[name]) for name in wanted} == pytest.approx(wanted)


def test_evaluate_asks_whether_quantiles_of_whole_numbers_are_of_counts(inside):
    table = counts()
    write(inside / "low.csv", table | {name: table[name] / 3 for name in LEVELS})
    words = "evaluate", "low.csv", "--target", "rentals", "--quantiles", QUANTILES
    assert "If they are forecasts of counts, judge them as such first: --labels counts." in plain(*words)
    assert "f they are" not in plain(*words, "--labels", "counts")


def test_without_a_model_single_values_are_counted(inside):
    write(inside / "three.csv", {"low": [0.0, 1.0, 2.0], "high": [1.0, 1.0, 4.0], "y": [0.5, 1.5, 2.5]})
    said = run("evaluate", "three.csv", "--target", "y", "--quantiles", "low:0.1,high:0.9").stderr
    assert said == "warning: three.csv: 1 row, row 1, has no width of its own: it is evaluated as a single value\n"


# ---- inspect and demo ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("flags", "line"),
    [
        ("--mean mu --std sigma", "prediction mean in column 'mu', std in column 'sigma'"),
        ("--point mu --by g", "by g"),
        ("--point mu --weights w", "weights w"),
        ("--point mu --event w", "event w"),
        ("--quantiles mu:0.1,hi:0.9", "prediction quantile 0.1 in column 'mu', quantile 0.9 in column 'hi'"),
        ("--samples mu,hi", "prediction 2 draws in columns mu, hi"),
    ],
)
def test_inspect_shows_every_column_that_the_model_needs(inside, flags, line):
    table = forecasts()
    write(inside / "all.csv", table | {"g": ["a", "b"] * 200, "w": np.ones(400), "hi": table["mu"] + 1.0})
    run("fit", "all.csv", "--target", "y", *flags.split(), "-o", "m")
    shown = [" ".join(each.split()) for each in run("inspect", "m").stdout.splitlines()]
    assert line in shown
    assert "target y" in shown
    assert as_json("inspect", "m")["by"] == (["g"] if "--by" in flags else None)


def test_inspect_spells_numbers_and_what_is_not_known(inside):
    load("m.safetensors").save("plain")
    lines = [" ".join(line.split()) for line in run("inspect", "plain").stdout.splitlines()]
    assert f"bytes {Path('plain').stat().st_size:,}" in lines
    assert f"epsilon {1 / 401:.4g}" in lines
    assert "target –" in lines
    assert not [line for line in lines if line.startswith(("by ", "weights ", "event "))]
    found = as_json("inspect", "m.safetensors")
    assert found["columns"] == {"kind": "normal", "mean": "mu", "std": "sigma"}
    assert (found["target"], found["epsilon"]) == ("y", 1 / 401)


def test_a_file_of_folds_is_inspected_but_needs_python_to_predict(inside):
    """With as many rows as folds it would even run, and give nonsense."""
    y = np.random.default_rng(0).normal(size=(3, 30))
    CrossCalibrated(tuple(Calibrator().fit(np.zeros(30), part) for part in y)).save("folds")
    assert "3 folds" in plain("inspect", "folds")
    words = "-m", "folds", "--point", "mu"
    for command in (("predict", "--interval", "0.9", "-o", "out.csv"), ("evaluate", "--target", "y")):
        assert "folds: it was calibrated fold by fold" in plain(
            command[0], "test.parquet", *words, *command[1:], code=1
        )


def test_the_demo_shows_commands_that_work_as_printed(tmp_path, monkeypatch):
    said = run("demo", "--to", tmp_path / "demo").stdout
    commands = [line[2:] for line in said.splitlines() if line.startswith("$ calibrant")]
    assert [command.split()[1] for command in commands] == ["fit", "inspect", "evaluate", "report", "predict"]
    assert f"$ cd {tmp_path / 'demo'}" in said.splitlines()
    out = tmp_path / "demo" / "out.parquet"
    first = columns_of(out)
    shown = [line.split() for line in said[said.index("The first rows of out.parquet:") :].splitlines()[1:]]
    assert shown == [list(first), *([f"{first[name][k]:.2f}" for name in first] for k in range(3))]
    out.unlink()
    monkeypatch.chdir(tmp_path / "demo")
    for command in commands:
        run(*command.split()[1:])
    assert_same(columns_of(out), first)
    assert len(first["lower"]) == 5000
