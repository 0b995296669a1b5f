"""`calibrant report`: a file and a model in, a page and its verdict out."""

from __future__ import annotations

import json
import re
from datetime import date, timedelta
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from commands import as_json, counts, forecasts, plain, refused, run, write

import calibrant
from calibrant import Calibrator, Normal, Point
from calibrant.distributions import Poisson
from calibrant.interpolators import Random

M = 300
NORMAL = ["--target", "y", "--mean", "mu", "--std", "sigma"]
ROWS = forecasts(M, seed=2)


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "cal.parquet", forecasts(M, seed=1))
    write(tmp_path / "test.parquet", ROWS)
    run("fit", "cal.parquet", *NORMAL, "-o", "m.safetensors")
    return tmp_path


def report(*words, file="test.parquet", model="m.safetensors", code=0):
    return run("report", file, "-m", model, "-o", "r.html", *words, code=code)


def data():
    """What the scripts of the page draw."""
    found = re.search(r'id="data">(.*?)</script>', Path("r.html").read_text("utf-8"), re.DOTALL)
    return json.loads(found.group(1))


def test_the_page_is_that_of_the_library_and_the_verdict_is_printed():
    said = report("--coverage", "0.8", "--title", "Ours").stdout
    calibrated, base = calibrant.load("m.safetensors"), Normal(ROWS["mu"], ROWS["sigma"])
    known = {"base": base, "guarantee": calibrated.guarantee, "coverage": 0.8, "title": "Ours"}
    page = calibrant.report(calibrated(base), ROWS["y"], **known)
    assert Path("r.html").read_text("utf-8") == page.html
    statements = [f"[{each.word.lower()}] {each}" for each in (page.headline, *page.verdict)]
    assert said.splitlines() == [*statements, "Wrote r.html: open it in a browser."]
    assert "\x1b" not in said


GROUPS = {
    "region": (pa.array(["north", "south", None] * (M // 3)), ["north", "south", "missing"]),
    "kind": (pa.array(["a", "b"] * (M // 2)).dictionary_encode(), ["a", "b"]),
    "flag": (pa.array([True, None, False] * (M // 3)), ["False", "True", "missing"]),
    "year": (pa.array([2023, 2024, None] * (M // 3)), ["2023", "2024", "missing"]),
    "day": (
        pa.array([date(2024, 1, 1) + timedelta(days=k) for k in range(M)]),
        [
            "[2024-01-01, 2024-03-15]",
            "(2024-03-15, 2024-05-29]",
            "(2024-05-29, 2024-08-12]",
            "(2024-08-12, 2024-10-26]",
        ],
    ),
    "a, b": (pa.array(["one", "two"] * (M // 2)), ["one", "two"]),
}


@pytest.mark.parametrize("suffix", ["parquet", "feather", "csv"])
def test_groups_are_columns_of_any_kind_and_a_name_may_hold_a_comma(inside, suffix):
    table = ROWS | {name: column for name, (column, _) in GROUPS.items()}
    if suffix == "csv":
        table["kind"] = table["kind"].cast(pa.string())
    write(inside / f"groups.{suffix}", table)
    report("--groups", 'region,kind, flag,"a, b"', "--groups", "year,day", file=f"groups.{suffix}")
    found = {by: [each["value"] for each in data()["slices"] if each["by"] == by] for by in GROUPS}
    assert found == {by: values for by, (_, values) in GROUPS.items()}
    assert (data()["m"], data()["label"]) == (M, "y")


def test_other_columns_can_be_named_and_others_are_not_read(inside):
    table = {"m": ROWS["mu"], "s": ROWS["sigma"], "label": ROWS["y"], "text": ["no number"] * M, "empty": pa.nulls(M)}
    write(inside / "new.parquet", table)
    report("--mean", "m", "--std", "s", "--target", "label", "--groups", "empty", file="new.parquet")
    assert data()["label"] == "label"
    assert data()["slices"][1]["value"] == "missing"


def test_a_seed_makes_a_random_distribution_the_same_twice():
    Calibrator(interpolator=Random()).fit(Point(ROWS["mu"]), ROWS["y"]).save("random")
    pages = []
    for seed in (1, 1, 2):
        report("--point", "mu", "--target", "y", "--seed", seed, model="random")
        pages.append(Path("r.html").read_text("utf-8"))
    assert pages[0] == pages[1] != pages[2]


def test_names_and_values_of_strangers_stay_text(inside):
    evil = "<script>alert(1)</script>"
    write(inside / "evil.parquet", ROWS | {evil: [evil, "b"] * (M // 2)})
    report("--groups", evil, "--title", evil, file="evil.parquet")
    assert evil not in Path("r.html").read_text("utf-8")
    assert data()["slices"][1]["by"] == evil


def test_columns_are_shown_with_a_row(inside):
    more = {"id": [f"r{k}" for k in range(M)], "x": np.arange(M) / 3, "group": ["a", "b"] * (M // 2)}
    write(inside / "more.csv", ROWS | more)
    report("--features", "id,x", "--features", "group", "--groups", "group", file="more.csv")
    for row in data()["rows"]:
        k = row["row"]
        assert row["features"] == {"id": f"r{k}", "x": f"{k / 3:.4g}", "group": "ab"[k % 2]}


def test_time_gives_the_page_and_the_table_the_same_periods(inside):
    table = forecasts(600, seed=9)
    table["y"] += np.where(np.arange(600) >= 420, 3.0, 0.0)
    day = [date(2024, 1, 1) + timedelta(days=k // 3) for k in range(600)]
    order = pa.array(np.random.default_rng(0).permutation(600))
    write(inside / "late.parquet", pa.table(table | {"day": day}).take(order))
    assert "the forecasts are too low since 2024-05-20." in report("--time", "day", file="late.parquet").stdout
    found = as_json("evaluate", "late.parquet", "-m", "m.safetensors", "--time", "day")["periods"]
    for one, other in zip(found, data()["time"], strict=True):
        assert (one["from"], one["to"], one["rows"]) == (other["from"], other["to"], other["m"])
        assert one["coverage"] == pytest.approx(other["of"][0]["covered"], abs=1e-5)
        assert (other["off"], other["fault"]) == (one["off"], one["fault"] or "within chance")


@pytest.mark.parametrize(
    ("column", "message"),
    [
        ("gaps", "time is missing in row 1 (150 rows in all)"),
        ("text", "time must hold numbers or dates, and one kind in all rows, got 'a' in row 0"),
        ("dy", "there is no column 'dy'; did you mean 'day'?"),
    ],
)
def test_a_column_that_is_no_time_is_one_sentence(inside, column, message):
    more = {"gaps": pa.array([1.0, None] * (M // 2)), "text": ["a"] * M, "day": range(M)}
    write(inside / "times.parquet", ROWS | more)
    for words in (("report", "-o", "r.html"), ("evaluate",)):
        said = refused(words[0], "times.parquet", "-m", "m.safetensors", "--time", column, *words[1:])
        assert said.startswith(f"times.parquet: {message}")
    assert not Path("r.html").exists()


def test_a_rate_of_counts_is_compared_as_the_poisson_distribution_it_stands_for(inside):
    table = counts()
    write(inside / "counts.parquet", table)
    run("fit", "counts.parquet", "--target", "rentals", "--rate", "rate", "-o", "c")
    base = as_json("evaluate", "counts.parquet", "-m", "c")["base"]
    assert base["crps"] == pytest.approx(calibrant.evaluate(Poisson(table["rate"]), table["rentals"]).crps)
    report(file="counts.parquet", model="c")
    assert "bars" in data()["rows"][0]["of"][1]


def test_other_models_are_set_beside_the_first(inside):
    run("fit", "cal.parquet", "--target", "y", "--point", "mu", "-o", "points.safetensors")
    said = report("--compare", "points.safetensors")
    base = Normal(ROWS["mu"], ROWS["sigma"])
    first, other = map(calibrant.load, ("m.safetensors", "points.safetensors"))
    page = calibrant.report(
        {"m": first(base), "points": other(Point(ROWS["mu"]))},
        ROWS["y"],
        base=base,
        guarantee={"m": first.guarantee, "points": other.guarantee},
    )
    assert Path("r.html").read_text("utf-8") == page.html
    assert "Wrote r.html" in said.stdout
    (inside / "old").mkdir()
    run("fit", "cal.parquet", "--target", "y", "--point", "mu", "-o", "old/m.safetensors")
    report("--compare", "old/m.safetensors")
    assert "old/m.safetensors" in Path("r.html").read_text("utf-8")  # two of one name


def test_models_that_leave_out_different_rows_are_not_compared(inside):
    sigma = ROWS["sigma"].copy()
    sigma[7] = np.nan
    write(inside / "gaps.parquet", ROWS | {"sigma": sigma})
    run("fit", "cal.parquet", "--target", "y", "--point", "mu", "-o", "points")
    said = plain("report", "gaps.parquet", "-m", "m.safetensors", "--compare", "points", "-o", "r.html", code=1)
    assert "row 7 has a prediction for one of the models only (the only such row)" in said
    assert not Path("r.html").exists()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        ("-m m.safetensors --groups regin -o r.html", "test.parquet: there is no column 'regin'"),
        ("-m m.safetensors --target z -o r.html", "test.parquet: there is no column 'z'"),
        ("-m m.safetensors -o test.parquet", "test.parquet is read, so it cannot be written over"),
        ("-m m.safetensors -o m.safetensors", "m.safetensors is read, so it cannot be written over"),
        ("-m m.safetensors -o no/r.html", "no: no such file or directory"),
        (
            "-m m.safetensors --coverage 90 -o r.html",
            "expected a number strictly inside (0, 1), got 90.0: did you mean",
        ),
        ("-m m.safetensors --compare m.safetensors -o r.html", "--compare: m.safetensors is the model that the page"),
        ("-m m.safetensors --labels counts -o r.html", "--labels: the model knows what the labels are: leave it out"),
        ("--target y --mean mu --std sigma --weights sigma -o r.html", "--weights: it goes with --model only"),
        ("--target y --mean mu --std sigma --by mu -o r.html", "--by: it goes with --model only"),
        ("--target y --mean mu --std sigma --compare m -o r.html", "--compare: it goes with --model only"),
        ("--target y --mean mu --std sigma -o test.parquet", "--output: test.parquet is read, so it cannot be"),
        ("--target y --point mu -o r.html", "is no distribution of each row, and a report is of distributions"),
    ],
)
def test_what_is_wrong_is_said_in_a_sentence_and_nothing_is_written(inside, words, message):
    before = {path.name: path.read_bytes() for path in inside.iterdir()}
    code = 2 if "--" in message or "read, so" in message or "strictly" in message else 1
    assert message in refused("report", "test.parquet", *words.split(), code=code)
    assert {path.name: path.read_bytes() for path in inside.iterdir()} == before
