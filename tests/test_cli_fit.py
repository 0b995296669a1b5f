"""`calibrant fit` looks at the labels and at their order, and `calibrant inspect` shows what it kept."""

from __future__ import annotations

import json

import numpy as np
import pytest
from test_cli import plain, run, write
from test_cli_counts import FLAG, bikes

from calibrant import Calibrator, Quantiles
from calibrant.interpolators import Linear
from calibrant.interpolators.by_group import by_group


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


HINT = (
    "warning: cal.csv: the labels look like counts: --labels counts gives distributions on whole numbers, --labels real"
    " keeps this quiet"
)


@pytest.mark.parametrize("prediction", [["--point", "rate"], ["--quantiles", FLAG]])
@pytest.mark.parametrize("more", [[], ["--sample", "200"]])
def test_labels_that_look_like_counts_are_pointed_out_unless_labels_say_what_they_are(inside, prediction, more):
    write(inside / "cal.csv", bikes())
    fit = ["fit", "cal.csv", "--target", "rentals", *prediction, *more, "-o", "m.safetensors"]
    assert HINT in run(*fit).stderr.splitlines()
    for labels in ("real", "counts", "0:"):
        assert "look like counts" not in run(*fit, "--labels", labels).stderr
    write(inside / "cal.csv", bikes() | {"rentals": bikes()["rate"]})
    assert "look like counts" not in run(*fit).stderr


def days(n=100):
    rng = np.random.default_rng(0)
    f = rng.normal(size=n)
    return {"f": f, "y": f + rng.normal(size=n), "day": np.arange(n), "w": rng.uniform(1, 2, n), "g": ["a", "b"] * 50}


@pytest.mark.parametrize("more", [[], ["--last", "50"], ["--half-life", "30"]])
def test_rows_that_run_backwards_in_time_are_refused_where_a_column_says_when(inside, more):
    table = days()
    write(inside / "cal.csv", table)
    fit = ["fit", "cal.csv", "--target", "y", "--point", "f", *more, "-o", "m.safetensors"]
    run(*fit, "--time", "day")
    table["day"][[3, 4]] = table["day"][[4, 3]]
    write(inside / "cal.csv", table)
    said = plain(run(*fit, "--time", "day", code=1))
    assert "cal.csv: column 'day' runs backwards in row 4 (counting from 0), from 4 to 3: sort the rows" in said
    run(*fit)


def test_time_goes_with_neither_a_sample_nor_several_labels(inside):
    write(inside / "cal.csv", days())
    fit = ["fit", "cal.csv", "--time", "day", "-o", "m.safetensors"]
    assert "a sample has no order" in plain(run(*fit, "--target", "y", "--point", "f", "--sample", "20", code=2))
    assert "it is for one label" in plain(run(*fit, "--target", "f,y", "--point", "{}", code=2))


INSPECTED = {
    "by": (["--point", "f", "--by", "g"], ["prediction point in column 'f'", "target y", "by g"]),
    "weights": (["--point", "f", "--weights", "w"], ["weights w"]),
    "normal": (["--mean", "f", "--std", "w"], ["prediction mean in column 'f', std in column 'w'"]),
    "quantiles": (
        ["--quantiles", "f:0.1,w:0.9"],
        ["prediction quantile 0.1 in column 'f', quantile 0.9 in column 'w'"],
    ),
    "samples": (["--samples", "f,w"], ["prediction 2 draws in columns f, w"]),
}


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("case", INSPECTED)
def test_inspect_shows_every_column_that_the_model_needs(inside, case):
    flags, lines = INSPECTED[case]
    write(inside / "cal.csv", days())
    run("fit", "cal.csv", "--target", "y", *flags, "-o", "m.safetensors")
    shown = [" ".join(line.split()) for line in run("inspect", "m.safetensors").stdout.splitlines()]
    for line in lines:
        assert line in shown
    found = json.loads(run("inspect", "m.safetensors", "--json").stdout)
    assert found["by"] == (["g"] if case == "by" else None)
    assert found["weights"] == ("w" if case == "weights" else None)


def test_inspect_says_what_predictions_a_model_without_columns_takes(inside):
    y = np.random.default_rng(0).normal(size=50)
    values = np.stack([y - 1, y, y + 1], axis=1)
    Calibrator().fit(Quantiles([0.1, 0.5, 0.9], values), y + 0.1).save(inside / "m.safetensors")
    shown = " ".join(run("inspect", "m.safetensors").stdout.split())
    assert "prediction quantiles at levels 0.1, 0.5, 0.9" in shown


@pytest.mark.parametrize("command", ["predict", "evaluate"])
def test_a_group_never_seen_is_named_by_its_row_of_the_file(inside, command):
    rng = np.random.default_rng(0)
    columns = {"f": rng.normal(size=60), "y": rng.normal(size=60), "part": ["day", "night"] * 30}
    write(inside / "cal.csv", columns)
    run("fit", "cal.csv", "--target", "y", "--point", "f", "--by", "part", "-o", "m.safetensors")
    columns["f"] = columns["f"].tolist()
    columns["f"][1] = columns["f"][4] = None
    columns["part"][7] = "dusk"
    write(inside / "mess.csv", columns)
    out = ["--interval", "0.9", "-o", "o.csv"] if command == "predict" else []
    said = plain(run(command, "mess.csv", "-m", "m.safetensors", *out, code=1))
    assert said.endswith(
        "error: mess.csv: by is 'dusk', which no calibration row had, in row 7 (1 row of 58 is of no known group):"
        " calibrant fit --unseen pooled makes a model that gives such rows the distribution of all rows"
    )


@pytest.mark.parametrize(
    ("more", "said"),
    [
        (["--by", "g", "--weights", "w"], "--by: groups go with neither --weights nor --event"),
        (["--by", "g", "--event", "w"], "--by: groups go with neither --weights nor --event"),
        (["--event", "w", "--weights", "w"], "--event: censored labels take no --weights"),
        (["--unseen", "pooled"], "--unseen: it says what groups never seen get, and needs --by"),
        (["--by", "g", "--unseen", "guess"], "--unseen: unseen must be "),
        (["--ids", "g"], "--ids: it is for --sample"),
        (["--sample", "50", "--event", "w"], "--sample: it goes with neither --event nor --last nor --half-life"),
        (["--sample", "50", "--last", "20"], "--sample: it goes with neither --event nor --last nor --half-life"),
    ],
)
def test_flags_that_do_not_go_together_are_refused(inside, more, said):
    write(inside / "cal.csv", days())
    assert said in plain(run("fit", "cal.csv", "--target", "y", "--point", "f", *more, "-o", "m.safetensors", code=2))
    assert not (inside / "m.safetensors").exists()


def test_a_model_by_group_from_python_is_told_its_columns(inside):
    table = days()
    Calibrator(interpolator=by_group(Linear())).fit(table["f"], table["y"], by=table["g"]).save("m.safetensors")
    write(inside / "new.csv", table)
    predict = ["predict", "new.csv", "-m", "m.safetensors", "--point", "f", "--interval", "0.9", "-o", "o.csv"]
    said = plain(run(*predict, code=2))
    assert "--by: the model was calibrated by group and does not say by which columns" in said
    run(*predict, "--by", "g")
