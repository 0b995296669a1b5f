"""`calibrant report`: a file and a model in, a page and its verdict out."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import csv, feather, parquet
from typer.testing import CliRunner

import calibrant
from calibrant import Calibrator, Normal, Point
from calibrant.cli.app import app
from calibrant.distributions import Poisson
from calibrant.interpolators import Random

M = 300


def columns(seed=0, m=M):
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(size=m), rng.uniform(0.5, 1.5, m)
    return {"mu": mu, "sigma": sigma, "y": mu + 2 * sigma * rng.normal(size=m)}


def run(*arguments):
    result = CliRunner().invoke(app, list(map(str, arguments)))
    assert result.exception is None or isinstance(result.exception, SystemExit), result.exception
    return result


def data_of(path):
    found = re.search(r'id="data">(.*?)</script>', path.read_text("utf-8"), re.DOTALL)
    return json.loads(found.group(1))


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    parquet.write_table(pa.table(columns(1)), "cal.parquet")
    run("fit", "cal.parquet", "--target", "y", "--mean", "mu", "--std", "sigma", "-o", "m.safetensors")
    return tmp_path


GROUPS = {
    "region": pa.array(["north", "south", None] * (M // 3)),
    "kind": pa.array(["a", "b"] * (M // 2)).dictionary_encode(),
    "flag": pa.array([True, None, False] * (M // 3)),
    "year": pa.array([2023, 2024, None] * (M // 3)),
    "x": pa.array([None, *np.linspace(0, 1, M - 1)]),
    "day": pa.array([date(2024, 1, 1) + timedelta(days=k) for k in range(M)]),
}
LABELS = {
    "region": ["north", "south", "missing"],
    "kind": ["a", "b"],
    "flag": ["False", "True", "missing"],
    "year": ["2023", "2024", "missing"],
    "x": ["[0, 0.2483]", "(0.2483, 0.5]", "(0.5, 0.7517]", "(0.7517, 1]", "missing"],
    "day": [
        "[2024-01-01, 2024-03-15]",
        "(2024-03-15, 2024-05-29]",
        "(2024-05-29, 2024-08-12]",
        "(2024-08-12, 2024-10-26]",
    ],
}


@pytest.mark.parametrize("name", ["test.parquet", "test.feather", "test.csv"])
def test_a_report_of_a_file_has_its_groups(folder, name):
    table = pa.table({**columns(2), **GROUPS})
    if name.endswith("csv"):
        decoded = table.set_column(table.column_names.index("kind"), "kind", table["kind"].cast(pa.string()))
        csv.write_csv(decoded, name)
    else:
        {"test.parquet": parquet.write_table, "test.feather": feather.write_feather}[name](table, name)
    result = run("report", name, "-m", "m.safetensors", "--groups", ",".join(GROUPS), "-o", "r.html")
    assert result.exit_code == 0, result.output
    data = data_of(folder / "r.html")
    found = {by: [each["value"] for each in data["slices"] if each["by"] == by] for by in GROUPS}
    assert found == LABELS
    assert (data["m"], data["label"]) == (M, "y")


def test_the_page_is_that_of_the_library_and_the_verdict_is_printed(folder):
    rows = columns(3)
    parquet.write_table(pa.table(rows), "test.parquet")
    result = run(
        "report", "test.parquet", "-m", "m.safetensors", "-o", "r.html", "--coverage", "0.8", "--title", "Ours"
    )
    calibrated = calibrant.load("m.safetensors")
    base = Normal(rows["mu"], rows["sigma"])
    page = calibrant.report(
        calibrated(base), rows["y"], base=base, guarantee=calibrated.guarantee, coverage=0.8, title="Ours"
    )
    assert (folder / "r.html").read_text("utf-8") == page.html
    said = [f"[{said.word.lower()}] {said}" for said in (page.headline, *page.verdict)]
    assert result.stdout.splitlines() == [*said, "Wrote r.html: open it in a browser."]
    assert "\x1b" not in result.stdout
    assert "<h1>Ours</h1>" in page.html


def test_a_seed_makes_a_random_distribution_the_same_twice(folder):
    rows = columns(4)
    Calibrator(interpolator=Random()).fit(Point(rows["mu"]), rows["y"]).save("random.safetensors")
    parquet.write_table(pa.table(rows), "test.parquet")
    pages = []
    for seed in (1, 1, 2):
        result = run(
            "report", "test.parquet", "-m", "random.safetensors", "--point", "mu", "--target", "y", "--seed", seed,
            "-o", "r.html",
        )  # fmt: skip
        assert result.exit_code == 0, result.output
        pages.append((folder / "r.html").read_text("utf-8"))
    assert pages[0] == pages[1] != pages[2]


def test_other_columns_can_be_named(folder):
    rows = columns(5)
    parquet.write_table(pa.table({"m": rows["mu"], "s": rows["sigma"], "label": rows["y"]}), "test.parquet")
    result = run(
        "report",
        "test.parquet",
        "-m",
        "m.safetensors",
        "--mean",
        "m",
        "--std",
        "s",
        "--target",
        "label",
        "-o",
        "r.html",
    )
    assert result.exit_code == 0, result.output
    assert data_of(folder / "r.html")["label"] == "label"


def test_names_and_values_of_strangers_stay_text(folder):
    evil = "<script>alert(1)</script>"
    rows = {**columns(6), evil: [evil, "b"] * (M // 2)}
    parquet.write_table(pa.table(rows), "test.parquet")
    result = run("report", "test.parquet", "-m", "m.safetensors", "--groups", evil, "--title", evil, "-o", "r.html")
    assert result.exit_code == 0, result.output
    assert evil not in (folder / "r.html").read_text("utf-8")
    assert data_of(folder / "r.html")["slices"][1]["by"] == evil


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["--groups", "regin", "-o", "r.html"], "test.parquet: there is no column 'regin'; did you mean 'region'?"),
        (["--target", "z", "-o", "r.html"], "test.parquet: there is no column 'z'"),
        (["-o", "test.parquet"], "test.parquet is read, so it cannot be written over"),
        (["-o", "m.safetensors"], "m.safetensors is read, so it cannot be written over"),
        (["-o", "nowhere/r.html"], "nowhere: no such file or directory"),
        (["--coverage", "90", "-o", "r.html"], "expected a number strictly inside (0, 1), got '90.0'"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_and_nothing_is_written(folder, arguments, message):
    parquet.write_table(pa.table({**columns(7), "region": ["n", "s"] * (M // 2)}), "test.parquet")
    before = sorted(path.name for path in folder.iterdir())
    result = run("report", "test.parquet", "-m", "m.safetensors", *arguments)
    assert result.exit_code != 0
    assert message in " ".join(result.output.replace("│", " ").split())
    assert sorted(path.name for path in folder.iterdir()) == before


def test_only_the_columns_that_are_needed_are_read(folder):
    rows = {**columns(8), "text": ["no number"] * M, "empty": pa.nulls(M)}
    parquet.write_table(pa.table(rows), "test.parquet")
    assert run("report", "test.parquet", "-m", "m.safetensors", "-o", "r.html").exit_code == 0
    result = run("report", "test.parquet", "-m", "m.safetensors", "--groups", "empty", "-o", "r.html")
    assert result.exit_code == 0, result.output
    assert data_of(folder / "r.html")["slices"][1]["value"] == "missing"


@pytest.mark.parametrize(
    "flags", [["--groups", '"a, b",c'], ["--groups", 'c, "a, b"'], ["--groups", '"a, b"', "--groups", "c"]]
)
def test_groups_may_be_named_in_one_flag_or_several_and_hold_a_comma(folder, flags):
    halves = pa.array(["one", "two"] * (M // 2))
    parquet.write_table(pa.table({**columns(2), "a, b": halves, "c": halves}), "test.parquet")
    result = run("report", "test.parquet", "-m", "m.safetensors", *flags, "-o", "r.html")
    assert result.exit_code == 0, result.output
    assert {each["by"] for each in data_of(folder / "r.html")["slices"]} == {
        None,
        "a, b",
        "c",
        "predicted value",
        "width",
    }


def test_a_csv_that_is_not_utf8_is_named(folder):
    (folder / "latin.csv").write_bytes("mu,sigma,y,größe\n1,1,1,1\n".encode("cp1252"))
    result = run("report", "latin.csv", "-m", "m.safetensors", "-o", "r.html")
    assert result.exit_code == 1
    assert result.stderr.startswith("error: latin.csv: this is not UTF-8")


def test_time_gives_the_page_and_the_table_the_same_periods(folder):
    rows = columns(9, 600)
    late = np.arange(600) >= 420
    rows["y"] = np.where(late, rows["y"] + 3, rows["y"])
    day = [date(2024, 1, 1) + timedelta(days=k // 3) for k in range(600)]
    order = np.random.default_rng(0).permutation(600)
    table = pa.table({**rows, "day": day}).take(pa.array(order))
    parquet.write_table(table, "test.parquet")
    said = run("report", "test.parquet", "-m", "m.safetensors", "--time", "day", "-o", "r.html")
    assert said.exit_code == 0, said.output
    assert "the forecasts are too low since 2024-05-20." in said.output
    drawn = data_of(folder / "r.html")
    assert {each["by"] for each in drawn["slices"]} == {None, "predicted value", "width"}  # time is no group
    found = json.loads(run("evaluate", "test.parquet", "-m", "m.safetensors", "--time", "day", "--json").stdout)
    assert [(each["from"], each["to"], each["rows"]) for each in found["over_time"]] == [
        (each["from"], each["to"], each["m"]) for each in drawn["time"]
    ]
    for one, other in zip(found["over_time"], drawn["time"], strict=True):
        assert one["coverage"] == pytest.approx(other["of"][0]["covered"], abs=1e-5)
        assert (other["off"], other["fault"]) == (one["off"], "too low" if one["off"] else "within chance")
    printed = run("evaluate", "test.parquet", "-m", "m.safetensors", "--time", "day").stdout
    lines = [line.split() for line in printed.splitlines()]
    assert ["2024-01-01", "to", "2024-01-20", "60"] in [line[:4] for line in lines]
    assert [line[-1] for line in lines if line[:1] == ["2024-05-20"]] == ["low"]


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("gaps", "test.parquet: time is missing in row 1 (counting from 0), 150 rows in all"),
        ("text", "test.parquet: time must hold numbers or dates, and one kind in all rows, got 'a' in row 0"),
        ("dy", "test.parquet: there is no column 'dy'"),
    ],
)
def test_a_column_that_is_no_time_is_one_sentence(folder, column, message):
    rows = {**columns(9), "gaps": pa.array([1.0, None] * (M // 2)), "text": ["a"] * M, "day": range(M)}
    parquet.write_table(pa.table(rows), "test.parquet")
    for command in (["report", "-o", "r.html"], ["evaluate"]):
        result = run(command[0], "test.parquet", "-m", "m.safetensors", "--time", column, *command[1:])
        assert result.exit_code == 1
        assert message in result.stderr
    assert not (folder / "r.html").exists()


def test_a_rate_of_counts_is_compared_as_the_poisson_distribution_it_stands_for(folder):
    rng = np.random.default_rng(10)
    rate = rng.uniform(0.5, 6, 2 * M)
    y = rng.poisson(rate)
    for name, rows in (("counts.parquet", slice(M)), ("new.parquet", slice(M, None))):
        parquet.write_table(pa.table({"rate": rate[rows], "y": y[rows]}), name)
    run("fit", "counts.parquet", "--target", "y", "--rate", "rate", "--labels", "counts", "-o", "c.safetensors")
    found = json.loads(run("evaluate", "new.parquet", "-m", "c.safetensors", "--json").stdout)
    distribution = calibrant.evaluate(Poisson(rate[M:]), y[M:].astype(float))
    assert found["base"]["crps"] == pytest.approx(distribution.crps)
    assert found["base"]["nll"] == pytest.approx(distribution.nll)
    said = run("report", "new.parquet", "-m", "c.safetensors", "-o", "r.html").stdout
    assert f"{distribution.crps:.3f}".rstrip("0") in said
    assert "bars" in data_of(folder / "r.html")["rows"][0]["of"][1]


@pytest.mark.parametrize("name", ["test.parquet", "test.csv"])
def test_a_report_shows_columns_beside_a_row(folder, name):
    table = pa.table(
        {**columns(2), "id": [f"r{k}" for k in range(M)], "x": np.arange(M) / 3, "group": ["a", "b"] * (M // 2)}
    )
    (csv.write_csv if name.endswith("csv") else parquet.write_table)(table, name)
    asked = ("--features", "id,x", "--features", "group", "--groups", "group")
    result = run("report", name, "-m", "m.safetensors", *asked, "-o", "r.html")
    assert result.exit_code == 0, result.output
    data = data_of(folder / "r.html")
    for row in data["rows"]:
        k = row["row"]
        assert row["features"] == {"id": f"r{k}", "x": f"{k / 3:.4g}", "group": "ab"[k % 2]}
    assert {each["by"] for each in data["slices"]} >= {"group"}
    wrong = run("report", name, "-m", "m.safetensors", "--features", "nmae", "-o", "r.html")
    assert wrong.exit_code != 0
    assert "nmae" in wrong.output


def test_a_report_sets_other_models_beside_the_first(folder):
    rows = columns(2, 3000)
    parquet.write_table(pa.table(rows), "test.parquet")
    parquet.write_table(pa.table(columns(4, 40)), "few.parquet")  # few rows excuse a gap, if the page knows of them
    run("fit", "few.parquet", "--target", "y", "--point", "mu", "-o", "points.safetensors")
    result = run("report", "test.parquet", "-m", "m.safetensors", "--compare", "points.safetensors", "-o", "r.html")
    assert result.exit_code == 0, result.output
    base, first, other = (
        Normal(rows["mu"], rows["sigma"]),
        *map(calibrant.load, ("m.safetensors", "points.safetensors")),
    )
    page = calibrant.report(
        {"m": first(base), "points": other(Point(rows["mu"]))},
        rows["y"],
        base=base,
        guarantee={"m": first.guarantee, "points": other.guarantee},
    )
    assert (folder / "r.html").read_text("utf-8") == page.html
    assert "Of 2 models" in page.html
    again = run("report", "test.parquet", "-m", "m.safetensors", "--compare", "m.safetensors", "-o", "r.html")
    assert again.exit_code == 2
    over = run(
        "report", "test.parquet", "-m", "m.safetensors", "--compare", "points.safetensors", "-o", "points.safetensors"
    )
    assert over.exit_code == 2
    assert calibrant.load("points.safetensors").guarantee == other.guarantee


def test_models_that_leave_out_different_rows_are_not_compared(folder):
    rows = columns(2)
    rows["sigma"][7] = np.nan
    parquet.write_table(pa.table(rows), "test.parquet")
    run("fit", "cal.parquet", "--target", "y", "--point", "mu", "-o", "points.safetensors")
    result = run("report", "test.parquet", "-m", "m.safetensors", "--compare", "points.safetensors", "-o", "r.html")
    assert result.exit_code == 1
    said = " ".join(result.output.split())
    assert "row 7 has a prediction for one of the models only (the only such row)" in said
    assert not (folder / "r.html").exists()


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (["--weights", "sigma"], "--weights: it goes with --model only"),
        (["--by", "mu"], "--by: it goes with --model only"),
        (["--seed", "1"], "--seed: it goes with --model only"),
        (["--seed", "0"], "--seed: it goes with --model only"),
        (["--compare", "m.safetensors"], "--compare: it goes with --model only"),
        (["-m", "m.safetensors", "--labels", "counts"], "--labels: the model knows what the labels are: leave it out"),
        (["-o", "cal.parquet"], "--output: cal.parquet is read, so it cannot be written over"),
    ],
)
def test_a_report_refuses_what_does_not_go_together(folder, more, message):
    before = {path.name: path.read_bytes() for path in folder.iterdir()}
    out = [] if "-o" in more else ["-o", "r.html"]
    result = run("report", "cal.parquet", "--target", "y", "--mean", "mu", "--std", "sigma", *out, *more)
    assert result.exit_code == 2
    assert message in " ".join(result.stderr.split())
    assert {path.name: path.read_bytes() for path in folder.iterdir()} == before


def test_models_of_one_name_are_told_apart_by_their_folders(folder):
    parquet.write_table(pa.table(columns(2)), "test.parquet")
    (folder / "old").mkdir()
    run("fit", "cal.parquet", "--target", "y", "--point", "mu", "-o", "old/m.safetensors")
    flags = ("report", "test.parquet", "-m", "m.safetensors", "--compare", "old/m.safetensors")
    assert run(*flags, "-o", "r.html").exit_code == 0
    assert "old/m.safetensors" in (folder / "r.html").read_text("utf-8")
