"""Several labels on the command line."""

from __future__ import annotations

import json

import numpy as np
import pandas as pd
import pytest
from typer.testing import CliRunner

from calibrant import Normal, load
from calibrant.cli.app import app
from calibrant.files import save
from calibrant.several import SeveralCalibrator


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(each) for each in arguments])
    assert result.exit_code == code, result.output
    return " ".join(result.output.replace("│", " ").split())


def table(rows, seed):
    rng = np.random.default_rng(seed)
    mean = rng.normal(size=(rows, 2))
    y = mean + (rng.normal(size=(rows, 1)) + 0.5 * rng.normal(size=(rows, 2))) * [1, 10]
    columns = {"id": np.arange(rows), "a": y[:, 0], "b": y[:, 1], "m_a": mean[:, 0], "m_b": mean[:, 1]}
    return pd.DataFrame({**columns, "s_a": 0.5, "s_b": 5.0})


@pytest.fixture
def files(tmp_path):
    for seed, (name, rows) in enumerate({"cal": 300, "training": 200, "test": 400}.items()):
        table(rows, seed).to_csv(tmp_path / f"{name}.csv", index=False)
    return tmp_path


NORMAL = ("--target", "a,b", "--mean", "m_{}", "--std", "s_{}")
POINT = ("--target", "a,b", "--point", "m_{}")


def test_fit_predict_and_evaluate_several_targets(files):
    model, out = files / "m.safetensors", files / "out.csv"
    said = run("fit", files / "cal.csv", *NORMAL, "-o", model)
    assert "Calibrated a, b on 300 rows" in said
    assert said.endswith(f"Wrote {model}.")
    assert "holds all 2 labels" in said
    wanted = ("--interval", 0.9, "--joint", "--quantiles", 0.5, "--keep", "id")
    said = run("predict", files / "test.csv", "-m", model, *wanted, "-o", out)
    assert said == f"Wrote 400 rows to {out}: id, q0.5_a, lower_a, upper_a, q0.5_b, lower_b, upper_b."
    found, test, cal = pd.read_csv(out), pd.read_csv(files / "test.csv"), pd.read_csv(files / "cal.csv")
    assert list(found) == ["id", "q0.5_a", "lower_a", "upper_a", "q0.5_b", "lower_b", "upper_b"]

    def forecasts(rows):
        return {name: Normal(rows[f"m_{name}"].to_numpy(), rows[f"s_{name}"].to_numpy()) for name in "ab"}

    H = SeveralCalibrator().fit(forecasts(cal), cal[["a", "b"]])(forecasts(test))
    lower, upper = H.interval(0.9, joint=True)
    np.testing.assert_allclose(found[["lower_a", "lower_b"]], lower)
    np.testing.assert_allclose(found[["upper_a", "upper_b"]], upper)
    np.testing.assert_allclose(found[["q0.5_a", "q0.5_b"]], H.median())
    shown = json.loads(
        CliRunner().invoke(app, ["evaluate", str(files / "test.csv"), "-m", str(model), "--json"]).stdout
    )
    assert shown["together"]["joint_coverage"] == H.evaluate(test[["a", "b"]]).together["joint"]
    assert "all 2 labels in the 90% joint box" in run("evaluate", files / "test.csv", "-m", model)
    assert load(model).names == ("a", "b")


def test_separate_intervals_are_those_of_each_target(files):
    run("fit", files / "cal.csv", *NORMAL, "-o", files / "m.safetensors")
    run("fit", files / "cal.csv", "--target", "b", "--mean", "m_b", "--std", "s_b", "-o", files / "b.safetensors")
    for name in ("m", "b"):
        model = files / f"{name}.safetensors"
        run("predict", files / "test.csv", "-m", model, "--interval", 0.8, "-o", files / f"{name}.csv")
    several, one = pd.read_csv(files / "m.csv"), pd.read_csv(files / "b.csv")
    np.testing.assert_allclose(several["lower_b"], one["lower"], rtol=1e-12)


def test_points_are_compared_on_training_rows(files):
    model, out = files / "m.safetensors", files / "out.csv"
    assert "give --training FILE" in run("fit", files / "cal.csv", *POINT, "-o", model)
    box = ("predict", files / "test.csv", "-m", model, "--interval", 0.9, "--joint", "-o", out)
    assert "was fitted without --training FILE" in run(*box, code=2)
    run("fit", files / "cal.csv", *POINT, "--training", files / "training.csv", "-o", model)
    run(*box)
    found, test = pd.read_csv(out), pd.read_csv(files / "test.csv")
    inside = [(found[f"lower_{name}"] <= test[name]) & (test[name] <= found[f"upper_{name}"]) for name in "ab"]
    assert abs(np.mean(inside[0] & inside[1]) - 0.9) < 4 * np.sqrt(0.09 / 300 + 0.09 / 400)


def test_one_of_several_targets_is_evaluated_and_reported_by_name(files):
    model = files / "m.safetensors"
    run("fit", files / "cal.csv", *NORMAL, "-o", model)
    assert "base calibrated" in run("evaluate", files / "test.csv", "-m", model, "--target", "b")
    time = ("evaluate", files / "test.csv", "-m", model, "--time", "a")
    assert "it is for one label: name it by --target" in run(*time, code=2)
    assert "The column chance" in run(*time, "--target", "b")
    run("report", files / "test.csv", "-m", model, "--target", "b", "-o", files / "r.html")
    assert (files / "r.html").stat().st_size > 10_000
    page = ("report", files / "test.csv", "-m", model, "-o", files / "r.html")
    assert "expected one of a, b, got none" in run(*page, code=2)
    assert "expected one of a, b, got c" in run(*page, "--target", "c", code=2)
    shown = json.loads(CliRunner().invoke(app, ["inspect", str(model), "--json"]).stdout)
    assert shown["target"] == ["a", "b"]
    assert shown["columns"]["b"]["mean"] == "m_b"
    assert shown["n"] == 300


def test_rows_that_lack_a_number_are_left_out_for_every_target(files):
    cal = pd.read_csv(files / "cal.csv")
    cal.loc[3, "b"] = np.nan
    cal.loc[5, "m_a"] = np.nan
    cal.to_csv(files / "gaps.csv", index=False)
    said = run("fit", files / "gaps.csv", *NORMAL, "-o", files / "m.safetensors")
    assert "on 298 rows" in said
    assert "1 row, row 3, has no label: it is left out" in said
    assert "1 row, row 5, has no prediction: it is left out" in said
    out = files / "o.csv"
    said = run("predict", files / "gaps.csv", "-m", files / "m.safetensors", "--interval", 0.9, "-o", out)
    assert "1 row, row 5, has no prediction: what is written for it is NaN" in said
    assert pd.read_csv(out)["lower_b"].isna().to_numpy().nonzero()[0].tolist() == [5]


def test_what_is_mended_is_said_once_for_all_targets(files):
    cal = pd.read_csv(files / "cal.csv")
    bounds = {f"{end}_{name}": cal[f"m_{name}"] + by for name in "ab" for end, by in (("lo", -1.0), ("hi", 1.0))}
    cal = cal.assign(**bounds)
    cal.loc[4, ["lo_a", "hi_a"]] = cal.loc[4, ["hi_a", "lo_a"]].to_numpy()
    cal.loc[7, "lo_b"] = cal.loc[7, "hi_b"]
    path, model = files / "bounds.csv", files / "m.safetensors"
    cal.to_csv(path, index=False)
    for words in (
        ("fit", path, "--target", "a,b", "--lower", "lo_{}", "--upper", "hi_{}", "-o", model),
        ("predict", path, "-m", model, "--interval", 0.9, "-o", files / "o.csv"),
        ("evaluate", path, "-m", model),
    ):
        said = run(*words)
        assert said.count(f"warning: {path}: 1 row, row 4, has bounds or quantiles that cross: it is sorted") == 1
        flat = "has no width of its own: it is given the floor that was learned when fitting"
        assert said.count(f"warning: {path}: 1 row, row 7, {flat}") == 1


def test_too_few_rows_write_an_infinite_box_and_say_so(files):
    table(8, 9).to_csv(files / "few.csv", index=False)
    model, out = files / "m.safetensors", files / "o.csv"
    assert "90% intervals need 19 calibration rows, and there are 8" in run(
        "fit", files / "few.csv", *NORMAL, "-o", model
    )
    said = run("predict", files / "test.csv", "-m", model, "--interval", 0.9, "--joint", "-o", out)
    assert said.count("needs 9") == 1
    assert said.count("warning: ") == 1
    assert np.isneginf(pd.read_csv(out)["lower_a"]).all()
    said = run("predict", files / "test.csv", "-m", model, "--interval", 0.9, "-o", out)
    assert said.count("90% intervals need 19 calibration rows") == 1
    assert "warning: 90% intervals need 19 calibration rows, and there are 8" in said


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("--target", "a,b", "--mean", "m_{}", "--std", "s_a"), "{} must mark the target in --std too"),
        (("--target", "a", "--point", "m_a", "--training", "training.csv"), "it is for several labels"),
        ((*POINT, "--sample", "50"), "--sample: it is for one label"),
        ((*POINT, "--weights", "s_a"), "--weights: it is for one label"),
        ((*POINT, "--event", "s_a"), "--event: it is for one label"),
        ((*POINT, "--by", "id"), "--by: it is for one label"),
    ],
)
def test_what_cannot_be_done_is_said(files, arguments, what):
    assert what in run("fit", files / "cal.csv", *arguments, "-o", files / "m.safetensors", code=2)


def test_a_box_of_one_label_is_refused(files):
    model, out = files / "m.safetensors", files / "o.csv"
    run("fit", files / "cal.csv", "--target", "a", "--point", "m_a", "-o", model)
    assert "holds one label" in run(
        "predict", files / "test.csv", "-m", model, "--interval", 0.9, "--joint", "-o", out, code=2
    )
    assert "it is for --interval" in run(
        "predict", files / "test.csv", "-m", model, "--quantiles", 0.9, "--joint", "-o", out, code=2
    )


def test_what_is_of_one_label_is_refused_of_a_model_of_several(files):
    model, test, out = files / "m.safetensors", files / "test.csv", files / "o.csv"
    run("fit", files / "cal.csv", *NORMAL, "-o", model)
    predict = ("predict", test, "-m", model, "--interval", 0.9, "-o", out)
    for flag in ("--probabilities", "--exceedances"):
        assert f"{flag}: {model} holds several labels" in run(*predict, flag, 1, code=2)
    for command in (predict, ("evaluate", test, "-m", model)):
        assert "--weights: it is for one label" in run(*command, "--weights", "s_a", code=2)
    assert not out.exists()


def test_a_model_of_several_labels_that_does_not_name_its_columns_is_refused(files):
    model = files / "m.safetensors"
    run("fit", files / "cal.csv", *NORMAL, "-o", model)
    save(model, load(model), notes={"several": [{"target": "a"}]})
    said = run("evaluate", files / "test.csv", "-m", model, code=1)
    assert said == f"error: {model}: it holds several labels and does not say in which columns"


@pytest.mark.parametrize("name", ["cal", "training"])
def test_the_files_that_are_read_are_not_written_over(files, name):
    model, over = files / "m.safetensors", files / f"{name}.csv"
    before = over.read_bytes()
    fit = ("fit", files / "cal.csv", *POINT, "--training", files / "training.csv", "-o")
    assert f"{over} is read, so it cannot be written over" in run(*fit, over, code=2)
    assert over.read_bytes() == before
    if name == "cal":
        run("fit", over, *NORMAL, "-o", model)
        for out in (over, model):
            said = run("predict", over, "-m", model, "--interval", 0.9, "-o", out, code=2)
            assert f"{out} is read, so it cannot be written over" in said
        assert over.read_bytes() == before


def test_columns_that_are_not_there_or_clash_are_named_for_several_labels(files):
    model, out = files / "m.safetensors", files / "o.csv"
    run("fit", files / "cal.csv", *NORMAL, "-o", model)
    predict = ("predict", files / "new.csv", "-m", model, "--interval", 0.9, "-o", out)
    test = pd.read_csv(files / "test.csv")
    test.assign(lower_b=1.0, upper_b=2.0).to_csv(files / "new.csv", index=False)
    said = run(*predict, "--keep", "*", code=1)
    assert f"{files / 'new.csv'}: column 'lower_b' cannot be kept: a new column has the same name" in said
    test.drop(columns="m_b").to_csv(files / "new.csv", index=False)
    assert f"{files / 'new.csv'}: there is no column 'm_b'" in run(*predict, code=1)
    assert not out.exists()


def test_rows_that_all_lack_a_number_are_refused_in_fit_and_empty_in_predict(files, monkeypatch):
    model, out = files / "m.safetensors", files / "o.csv"
    run("fit", files / "cal.csv", *NORMAL, "-o", model)
    test = pd.read_csv(files / "test.csv")
    test.loc[::2, "a"] = np.nan
    test.loc[1::2, "b"] = np.nan
    test.to_csv(files / "none.csv", index=False)
    fit = ("fit", files / "none.csv", *NORMAL, "-o", files / "n.safetensors")
    assert run(*fit, code=1) == f"error: {files / 'none.csv'}: no row has all labels and predictions"
    monkeypatch.setattr("calibrant.cli.several.IN_CACHE", 50)
    test.loc[50:99, "m_a"] = np.nan  # all rows of a part
    test.to_csv(files / "none.csv", index=False)
    said = run("predict", files / "none.csv", "-m", model, "--interval", 0.9, "-o", out)
    assert "50 rows, the first is row 50, have no prediction: what is written for them is NaN" in said
    found = pd.read_csv(out).isna()
    assert found.loc[50:99].all(axis=None)
    assert not found.drop(index=range(50, 100)).any(axis=None)
