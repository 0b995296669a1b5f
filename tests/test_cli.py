"""The commands do what the library does, on real files."""

from __future__ import annotations

import json
import math
import re
import subprocess
import sys
import warnings

import numpy as np
import pyarrow as pa
import pytest
import typer
from pyarrow import csv, feather, parquet
from typer.testing import CliRunner

import calibrant
from calibrant import Calibrator, CrossCalibrated, Interval, Normal, Point, Quantiles, Samples, cli
from calibrant.cli.app import app
from calibrant.cli.console import progress, report_errors, show_statement, spinner
from calibrant.diagnosis.headline import Headline
from calibrant.files import read, save
from calibrant.interpolators import NAF, BoundedTails, InfiniteTails, Linear, Naive, Random
from calibrant.names import INTERPOLATORS, SCORES, TAILS, interpolator_named, score_named
from calibrant.scores import CDFScore, LogScore, RelativeScore, ResidualScore, SqrtScore, ZScore

READ = {"parquet": parquet.read_table, "feather": feather.read_table, "csv": csv.read_csv, "csv.gz": csv.read_csv}
LEVELS, COVERAGE = [0.05, 0.5, 0.95], 0.8
FEW = "90% intervals need 19 calibration rows, and there are 5: their ends depend on the assumed tails"
WANTED = ["--quantiles", "0.05,0.5,0.95", "--interval", "0.8"]
NAMES = ["q0.05", "q0.5", "q0.95", "lower", "upper"]

KINDS = {
    "point": (["--point", "mu"], lambda t: Point(t["mu"])),
    "normal": (["--mean", "mu", "--std", "sigma"], lambda t: Normal(t["mu"], t["sigma"])),
    "interval": (["--lower", "lo", "--upper", "hi"], lambda t: Interval(t["lo"], t["hi"])),
    "quantiles": (
        ["--quantiles", "mu:0.5,hi:0.9,lo:0.1"],
        lambda t: Quantiles([0.1, 0.5, 0.9], np.stack([t["lo"], t["mu"], t["hi"]], axis=1)),
    ),
    "samples": (["--samples", "s?"], lambda t: Samples(np.stack([t[f"s{k}"] for k in range(5)], axis=1))),
}


def rows(seed, n):
    """Forecasts of every kind, and labels; 'sy', the target, fits 's?' too."""
    rng = np.random.default_rng(seed)
    mu, sigma = rng.normal(size=n), rng.uniform(0.5, 1.5, n)
    draws = mu[:, None] + sigma[:, None] * rng.normal(size=(n, 5))
    return {
        "id": np.array([f"row {k}" for k in range(n)]),
        "mu": mu,
        "sigma": sigma,
        "lo": mu - sigma,
        "hi": mu + sigma,
        **{f"s{k}": draws[:, k] for k in range(5)},
        "sy": mu + 2 * sigma * rng.normal(size=n),
    }


def write(path, columns):
    table = pa.table(columns)
    if path.suffix == ".parquet":
        parquet.write_table(table, path, row_group_size=300)
    elif path.suffix == ".feather":
        feather.write_feather(table, path)
    else:
        with pa.output_stream(str(path)) as stream:  # packs what ends in .gz
            csv.write_csv(table, stream)
    return path


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    assert "Traceback" not in result.output
    return result


def plain(result):
    """What was said, without the frame and its line breaks."""
    return " ".join(result.stderr.replace("│", " ").split())


def columns_of(path):
    return {name: column.to_numpy() for name, column in zip(*_parts(path), strict=True)}


def _parts(path):
    table = READ["csv.gz" if path.name.endswith(".csv.gz") else path.suffix[1:]](path)
    return table.column_names, table.columns


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """cal and test in every format, and a model of normal forecasts."""
    folder = tmp_path_factory.mktemp("cli")
    for suffix in READ:
        write(folder / f"cal.{suffix}", rows(0, 400))
        write(folder / f"test.{suffix}", rows(1, 1000))
    run("fit", folder / "cal.parquet", "--target", "sy", *KINDS["normal"][0], "-o", folder / "normal.safetensors")
    return folder


def expected(kind, *, calibrator=None, seed=None):
    """The new columns, by the Python API."""
    prediction_of = KINDS[kind][1]
    before, after = rows(0, 400), rows(1, 1000)
    calibrated = (calibrator or Calibrator()).fit(prediction_of(before), before["sy"])
    H = calibrated(prediction_of(after), seed=seed)
    return dict(zip(NAMES, [*H.quantiles(LEVELS).T, *H.interval(COVERAGE)], strict=True))


def assert_same(found, wanted):
    assert list(found) == list(wanted)
    for name, column in wanted.items():
        np.testing.assert_array_equal(found[name], column, err_msg=name)


@pytest.mark.parametrize("suffix", READ)
@pytest.mark.parametrize("kind", KINDS)
def test_fit_and_predict_give_bit_for_bit_what_python_gives(folder, tmp_path, kind, suffix):
    model, out = tmp_path / "m.safetensors", tmp_path / f"out.{suffix}"
    run("fit", folder / f"cal.{suffix}", "--target", "sy", *KINDS[kind][0], "-o", model)
    run("predict", folder / f"test.{suffix}", "-m", model, *WANTED, "-o", out)
    assert_same(columns_of(out), expected(kind))


def test_probabilities_are_values_of_the_cdf(folder, tmp_path):
    out = tmp_path / "out.parquet"
    ask = ["predict", folder / "test.parquet", "-m", folder / "normal.safetensors", "-o", out]
    run(*ask, "--probabilities", "-1,0.5")
    found = columns_of(out)
    assert list(found) == ["cdf_-1", "cdf_0.5"]
    there = columns_of(folder / "test.parquet")
    wanted = calibrant.load(folder / "normal.safetensors")(Normal(there["mu"], there["sigma"]))
    np.testing.assert_array_equal(found["cdf_0.5"], wanted.cdf(0.5))
    for given, said in (("a,1", "expected numbers, got 'a,1'"), ("1,1.0", "give each number once")):
        assert said in plain(run(*ask, "--probabilities", given, code=2))
    said = plain(run(*ask, code=2))
    assert "say what to write, with --quantiles, --interval, --probabilities or --exceedances" in said


def test_exceedances_are_what_the_cdf_leaves(folder, tmp_path):
    out = tmp_path / "out.parquet"
    ask = ["predict", folder / "test.parquet", "-m", folder / "normal.safetensors", "-o", out]
    run(*ask, "--probabilities", "0.5", "--exceedances", "0.5,7")
    found = columns_of(out)
    assert list(found) == ["cdf_0.5", "sf_0.5", "sf_7"]
    np.testing.assert_allclose(found["cdf_0.5"] + found["sf_0.5"], 1.0, atol=1e-15)
    assert np.all(found["sf_7"] < found["sf_0.5"])
    assert "expected numbers, got 'a'" in plain(run(*ask, "--exceedances", "a", code=2))


def test_several_intervals_may_stand_between_commas(folder, tmp_path):
    model, outs = folder / "normal.safetensors", [tmp_path / "a.parquet", tmp_path / "b.parquet"]
    for out, asked in zip(outs, (["0.5,0.9"], ["0.5", "--interval", "0.9"]), strict=True):
        run("predict", folder / "test.parquet", "-m", model, "--interval", *asked, "-o", out)
    assert_same(*map(columns_of, outs))
    wrong = run("predict", folder / "test.parquet", "-m", model, "--interval", "0.5,b", "-o", outs[0], code=2)
    assert "expected a number strictly inside (0, 1), got 'b'" in plain(wrong)


def test_the_wrong_kind_of_columns_is_told_what_the_model_was_fitted_on(folder, tmp_path):
    model = tmp_path / "q.safetensors"
    run("fit", folder / "cal.parquet", "--target", "sy", *KINDS["quantiles"][0], "-o", model)
    ask = ["predict", folder / "test.parquet", "-m", model, "--interval", "0.9", "-o", tmp_path / "o.csv"]
    assert "the model was fitted on quantiles, got --rate" in plain(run(*ask, "--rate", "mu", code=2))
    said = plain(run("fit", folder / "cal.parquet", "--target", "sy", "-o", model, code=2))
    assert "name the columns of the prediction with one of --point, --rate, --mean and --std," in said
    said = plain(
        run("fit", folder / "cal.parquet", "--target", "sy", "--point", "mu", "--rate", "mu", "-o", model, code=2)
    )
    assert "with only one of --point, --rate," in said


def test_a_list_of_columns_does_not_end_in_one_more(folder, tmp_path):
    said = plain(run("fit", folder / "cal.parquet", "--target", "zzz", "--point", "mu", "-o", tmp_path / "m", code=1))
    assert said.endswith("the columns are 'id', 'mu', 'sigma', 'lo', 'hi', 's0', 's1', 's2', 's3', 's4', 'sy'")


@pytest.mark.parametrize("kind", KINDS)
def test_a_stream_of_small_batches_gives_what_the_whole_file_gives(folder, tmp_path, monkeypatch, kind):
    model, out = tmp_path / "m.safetensors", tmp_path / "out.parquet"
    fit = ["fit", folder / "cal.parquet", "--target", "sy", *KINDS[kind][0], "--interpolator", "random"]
    run(*fit, "--tails", "bounded", "-o", model)
    monkeypatch.setattr("calibrant.cli.formats.BATCH", 128)
    monkeypatch.setattr("calibrant.cli.tables.BATCH", 100)
    monkeypatch.setattr("calibrant.batches.predicting.IN_CACHE", 33)
    run("predict", folder / "test.parquet", "-m", model, *WANTED, "--seed", 7, "-o", out)
    calibrator = Calibrator(interpolator=Random(BoundedTails()))
    assert_same(columns_of(out), expected(kind, calibrator=calibrator, seed=7))
    assert parquet.ParquetFile(out).num_row_groups > 5


@pytest.mark.parametrize(
    ("flags", "calibrator"),
    [
        (["--score", "cdf"], Calibrator(CDFScore())),
        (["--score", "zscore", "--tails", "infinite"], Calibrator(ZScore(), Linear(InfiniteTails()))),
        (["--interpolator", "naive"], Calibrator(interpolator=Naive())),
        (["--interpolator", "naf"], Calibrator(interpolator=NAF())),
        (["--interpolator", "linear", "--tails", "bounded"], Calibrator(interpolator=Linear(BoundedTails()))),
    ],
)
def test_scores_interpolators_and_tails_go_by_name(folder, tmp_path, flags, calibrator):
    model, out = tmp_path / "m.safetensors", tmp_path / "out.parquet"
    run("fit", folder / "cal.parquet", "--target", "sy", *KINDS["normal"][0], *flags, "-o", model)
    run("predict", folder / "test.parquet", "-m", model, *WANTED, "-o", out)
    assert_same(columns_of(out), expected("normal", calibrator=calibrator))


@pytest.mark.parametrize(
    ("name", "score"),
    [("relative:0.5", RelativeScore(floor=0.5)), ("sqrt:9", SqrtScore(c=9.0)), ("log:20", LogScore(c=20.0))],
)
def test_the_number_behind_the_name_of_a_score_is_its_own(folder, tmp_path, name, score):
    model, out = tmp_path / "m.safetensors", tmp_path / "out.parquet"
    run("fit", folder / "cal.parquet", "--target", "sy", *KINDS["point"][0], "--score", name, "-o", model)
    assert read(model).calibrated.score == score
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # points near 0 are below the floor
        run("predict", folder / "test.parquet", "-m", model, *WANTED, "-o", out)
        assert_same(columns_of(out), expected("point", calibrator=Calibrator(score)))


@pytest.mark.parametrize(
    ("name", "words"),
    [
        ("log:a", "score 'log' takes a number for its c, got log:a"),
        ("cdf:1", "score 'cdf' takes no number, got cdf:1"),
        (
            "logs:1",
            "expected one of residual, relative, sqrt, log, interval, quantile, samples, zscore, cdf, got 'logs'",
        ),
        ("zscore:0", "ZScore.floor must be positive and finite, got 0.0"),
    ],
)
def test_a_number_that_a_score_cannot_have_is_refused(folder, tmp_path, name, words):
    flags = [*KINDS["normal"][0], "--score", name, "-o", tmp_path / "m.safetensors"]
    said = run("fit", folder / "cal.parquet", "--target", "sy", *flags, code=2)
    assert words in plain(said)


def test_a_label_that_a_logarithm_cannot_take_is_named_with_its_file(folder, tmp_path):
    flags = [*KINDS["point"][0], "--score", "log", "-o", tmp_path / "m.safetensors"]
    said = run("fit", folder / "cal.parquet", "--target", "sy", *flags, code=1)
    assert re.match(
        r"error: \S+cal\.parquet: --score log needs . \+ c > 0, but with c = 0 row \d+ \(\d+ rows", said.stderr
    )


def test_every_name_makes_its_object_and_an_object_stays_itself():
    assert all(isinstance(score_named(name), made) for name, made in SCORES.items())
    assert all(isinstance(interpolator_named(name), made) for name, made in INTERPOLATORS.items())
    assert sorted(TAILS) == ["bounded", "exponential", "infinite"]
    score, interpolator = ResidualScore(), Naive()
    assert score_named(score) is score
    assert score_named(None) is None
    assert interpolator_named(interpolator) is interpolator


@pytest.mark.parametrize("named", [score_named, interpolator_named])
def test_other_names_and_kinds_are_refused_with_the_list_of_names(named):
    with pytest.raises(ValueError, match=r"must be one of \w+, .*, got 'nonsense'$"):
        named("nonsense")
    for value in (3, ResidualScore, Naive):
        with pytest.raises(TypeError, match="must be one of the names"):
            named(value)


def test_fit_says_what_is_promised_and_where_it_was_written(folder, tmp_path):
    model = tmp_path / "m.safetensors"
    said = run("fit", folder / "cal.csv", "--target", "sy", "--point", "mu", "-o", model)
    assert "400 rows" in said.stdout
    assert read(model).calibrated.guarantee.in_short() in said.stdout
    assert f"Wrote {model}." in said.stdout
    assert not said.stderr


def test_few_rows_are_warned_about_in_fit_and_in_predict(folder, tmp_path):
    cal, model, out = write(tmp_path / "few.csv", rows(0, 5)), tmp_path / "m.safetensors", tmp_path / "out.csv"
    said = run("fit", cal, "--target", "sy", "--point", "mu", "-o", model)
    assert said.stderr == f"warning: {cal}: {FEW}\n"
    said = run("predict", folder / "test.csv", "-m", model, "--interval", "0.9", "-o", out)
    assert said.stderr.startswith(f"warning: {model}: {FEW}")


def test_kept_columns_come_first_and_keep_their_values(folder, tmp_path):
    before = rows(1, 1000)
    for keep, names in (("id,sy", ["id", "sy"]), ("s[0-4]", [f"s{k}" for k in range(5)]), ("*", list(before))):
        out = tmp_path / "out.csv"
        run("predict", folder / "test.csv", "-m", folder / "normal.safetensors", *WANTED, "--keep", keep, "-o", out)
        assert_same(columns_of(out), {**{name: before[name] for name in names}, **expected("normal")})


def test_numbers_of_every_type_are_taken(tmp_path):
    whole = np.arange(1, 101)
    plain = {"mu": whole.astype(float), "sigma": np.full(100, 2.0), "y": whole + np.sin(whole)}
    exact = pa.array(whole)
    types = [
        pa.int8(),
        pa.uint16(),
        pa.int64(),
        pa.float32(),
        pa.decimal128(25, 3),
        pa.dictionary(pa.int32(), pa.int64()),
    ]
    model, out = tmp_path / "m.safetensors", tmp_path / "out.feather"
    cal = write(tmp_path / "cal.parquet", plain)
    run("fit", cal, "--target", "y", "--mean", "mu", "--std", "sigma", "-o", model)
    run("predict", cal, "-m", model, *WANTED, "-o", out)
    usual = columns_of(out)
    for kind in types:
        column = exact.dictionary_encode() if pa.types.is_dictionary(kind) else exact.cast(kind)
        test = write(tmp_path / "test.feather", {"mu": column, "sigma": plain["sigma"]})
        run("predict", test, "-m", model, *WANTED, "-o", out)
        assert_same(columns_of(out), usual)


def test_other_columns_can_stand_in_for_those_of_the_fit(folder, tmp_path):
    usual, model, out = rows(1, 1000), folder / "normal.safetensors", tmp_path / "out.parquet"
    test = write(tmp_path / "test.parquet", {"centre": usual["mu"], "sigma": usual["sigma"]})
    run("predict", test, "-m", model, "--mean", "centre", *WANTED, "-o", out)
    assert_same(columns_of(out), expected("normal"))
    said = run("predict", test, "-m", model, "--point", "centre", *WANTED, "-o", out, code=2)
    assert "fitted on a normal distribution, got --point" in " ".join(said.stderr.split())


def test_a_model_saved_from_python_reads_the_columns_that_are_named(folder, tmp_path):
    model, out, before = tmp_path / "m.safetensors", tmp_path / "out.parquet", rows(0, 400)
    save(model, Calibrator().fit(KINDS["quantiles"][1](before), before["sy"]))
    test = folder / "test.parquet"
    run("predict", test, "-m", model, "--quantile-columns", "lo:0.1,mu:0.5,hi:0.9", *WANTED, "-o", out)
    assert_same(columns_of(out), expected("quantiles"))
    assert "--quantile-columns" in run("predict", test, "-m", model, *WANTED, "-o", out, code=2).stderr
    assert "--target" in run("evaluate", test, "-m", model, *KINDS["quantiles"][0], code=2).stderr


@pytest.mark.parametrize("kind", KINDS)
def test_evaluate_prints_nothing_but_the_metrics_of_python_as_strict_json(folder, tmp_path, kind):
    model = tmp_path / "m.safetensors"
    run("fit", folder / "cal.parquet", "--target", "sy", *KINDS[kind][0], "-o", model)
    said = run("evaluate", folder / "test.parquet", "-m", model, "--coverage", "0.8", "--json")
    found = json.loads(said.stdout, parse_constant=pytest.fail)
    assert not said.stderr
    prediction, y = KINDS[kind][1](rows(1, 1000)), rows(1, 1000)["sy"]
    calibrated = read(model).calibrated
    for side, forecast in (("base", prediction), ("calibrated", calibrated(prediction))):
        wanted = calibrant.evaluate(forecast, y, coverage=0.8).to_dict()
        assert wanted.pop("n") == found["n"] == 1000
        assert {name: value for name, value in found[side].items() if value is not None} == wanted
    assert found["guarantee"] == str(calibrated.guarantee)
    assert found["interval"] == 0.8


def test_a_point_has_its_absolute_error_as_crps_and_no_nll(folder, tmp_path):
    model = tmp_path / "m.safetensors"
    run("fit", folder / "cal.parquet", "--target", "sy", "--point", "mu", "-o", model)
    base = json.loads(run("evaluate", folder / "test.parquet", "-m", model, "--json").stdout)["base"]
    test = rows(1, 1000)
    assert base["crps"] == pytest.approx(np.abs(test["mu"] - test["sy"]).mean(), rel=1e-15)
    assert base["nll"] is None


def test_infinite_metrics_are_spelt_so_that_json_allows_them(folder, tmp_path):
    model = tmp_path / "m.safetensors"
    flags = ["--interpolator", "random", "--target", "sy", "--point", "mu"]
    run("fit", folder / "cal.parquet", *flags, "-o", model)
    said = run("evaluate", folder / "test.parquet", "-m", model, "--seed", 0, "--json")
    assert float(json.loads(said.stdout, parse_constant=pytest.fail)["calibrated"]["crps"]) == math.inf


def test_evaluate_shows_the_two_sides_in_a_table(folder):
    said = run("evaluate", folder / "test.csv", "-m", folder / "normal.safetensors", "--target", "sy").stdout
    lines = [line.split() for line in said.splitlines()]
    assert ["base", "calibrated", "better", "in", "units", "of"] in lines
    assert ["rows", "1,000", "1,000"] in lines
    (crps,) = (line for line in lines if line[:1] == ["CRPS"])
    assert crps[3:] == ["lower", "sy"]
    first = next(k for k, line in enumerate(lines) if line[:3] == ["90%", "interval", "coverage"])
    assert lines[first][-2:] == ["near", "90%"]
    assert lines[first + 1][:3] == ["90%", "interval", "width"]
    assert lines[first + 1][-2:] == ["narrower", "sy"]


def test_evaluate_shows_where_a_point_model_fails(tmp_path):
    rng = np.random.default_rng(3)
    f = rng.uniform(1, 10, 3000)
    table = pa.table({"f": f, "y": f + 0.2 * f * rng.normal(size=3000)})
    for name, part in (("cal.parquet", table[:1500]), ("test.parquet", table[1500:])):
        parquet.write_table(part, tmp_path / name)
    model = tmp_path / "m.safetensors"
    run("fit", tmp_path / "cal.parquet", "--target", "y", "--point", "f", "-o", model)
    said = run("evaluate", tmp_path / "test.parquet", "-m", model)
    first, *lines = said.stdout.splitlines()
    assert first.startswith("[problem] Calibrated over all rows together, but not in each group: 4 of 5 groups are off")
    slices = [line for line in lines if "predicted value in" in line]
    assert len(slices) == 5
    assert "100.0% *" in slices[0]
    assert "The coverage is off by more than chance allows" in said.stdout
    found = json.loads(run("evaluate", tmp_path / "test.parquet", "-m", model, "--json").stdout)["slices"]
    assert [(each["by"], each["rows"]) for each in found] == [("predicted value", 300)] * 5  # the width is the same
    first = {
        "by": "predicted value",
        "value": "",
        "rows": 300,
        "coverage": 1.0,
        "coverage_ties_split": None,
        "off": True,
    }
    assert found[0] | {"value": ""} == first
    assert found[-1]["coverage"] < 0.8


def test_evaluate_sends_a_model_by_group_to_finer_groups(tmp_path):
    rng = np.random.default_rng(3)
    f = rng.uniform(1, 10, 3000)
    shift = np.where(np.arange(3000) % 2, "day", "night")
    table = pa.table({"f": f, "shift": shift, "y": f + 0.2 * f * rng.normal(size=3000)})
    for name, part in (("cal.parquet", table[:1500]), ("test.parquet", table[1500:])):
        parquet.write_table(part, tmp_path / name)
    for by, groups in (([], "groups"), (["--by", "shift"], "finer groups")):
        model = tmp_path / f"{groups}.safetensors"
        run("fit", tmp_path / "cal.parquet", "--target", "y", "--point", "f", *by, "-o", model)
        said = run("evaluate", tmp_path / "test.parquet", "-m", model).stdout
        assert f"or calibrate by {groups} (calibrant fit --by)." in " ".join(said.split())


def test_inspect_tells_all_about_a_model(folder):
    said = run("inspect", folder / "normal.safetensors").stdout
    for word in (
        "ZScore(floor=",
        "ExponentialTails()",
        "400",
        "lambda",
        "mean in column 'mu', std in column 'sigma'",
        "sy",
    ):
        assert word in said
    found = json.loads(run("inspect", folder / "normal.safetensors", "--json").stdout, parse_constant=pytest.fail)
    assert found["columns"] == {"kind": "normal", "mean": "mu", "std": "sigma"}
    assert found["target"] == "sy"
    assert found["epsilon"] == 1 / 401
    assert found["calibrant"] == calibrant.files.read(folder / "normal.safetensors").about["calibrant"]


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


@pytest.mark.parametrize("command", ["fit", "predict", "evaluate", "inspect", "demo"])
def test_every_help_page_has_examples_that_fit_into_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(command, "--help").stdout.splitlines()
    examples = [line.strip() for line in lines if line.startswith(f" calibrant {command}")]
    assert len(examples) >= 2
    assert all(len(line) <= 80 for line in lines)
    after = lines[lines.index(next(line for line in lines if "Examples:" in line)) + 1 :]
    assert [line.strip() for line in after if line.strip()] == examples  # none is broken in two


HEAVY = {"torch", "sklearn", "pandas", "polars", "scipy.stats", "matplotlib"}


@pytest.mark.parametrize(("command", "also"), [("help", {"pyarrow"}), ("predict", set()), ("evaluate", set())])
def test_the_command_line_loads_no_library_that_it_does_not_need(folder, tmp_path, command, also):
    test, model = str(folder / "test.parquet"), str(folder / "normal.safetensors")
    words = {
        "help": ["--help"],
        "predict": ["predict", test, "-m", model, "--interval", "0.9", "-o", str(tmp_path / "out.parquet")],
        "evaluate": ["evaluate", test, "-m", model],
    }[command]
    code = (
        f"import sys\nfrom calibrant.cli import main\ntry:\n    main({words!r})\nexcept SystemExit as end:\n"
        f"    print(end.code, *sorted({HEAVY | also!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0"


def test_python_m_calibrant_is_the_command_line(folder):
    code = [sys.executable, "-m", "calibrant", "inspect", str(folder / "normal.safetensors"), "--json"]
    done = subprocess.run(code, check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["n"] == 400
    assert not done.stderr
    done = subprocess.run([*code[:3], "--version"], check=True, capture_output=True, text=True)
    assert done.stdout.strip().count(".") >= 1


def test_without_its_libraries_the_command_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("calibrant._arguments.find_spec", lambda name: None if name == "typer" else name)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 1
    assert capsys.readouterr().err == "error: the command line needs typer: pip install 'calibrant[cli]'\n"


@pytest.mark.parametrize(
    "words",
    [
        ("inspect", "m.safetensors"),
        ("fit", "a.csv", "--target", "y", "--point", "f", "-o", "m.safetensors"),
        ("predict", "a.csv", "-m", "m.safetensors", "--interval", "0.9", "-o", "out.csv"),
        ("evaluate", "a.csv", "-m", "m.safetensors"),
        ("report", "a.csv", "-m", "m.safetensors", "-o", "r.html"),
        ("update", "m.safetensors", "a.csv", "-o", "n.safetensors"),
        ("monitor", "a.csv", "-m", "m.safetensors"),
    ],
    ids=lambda words: words[0],
)
def test_the_traceback_is_shown_for_debug_only(tmp_path, monkeypatch, words):
    monkeypatch.chdir(tmp_path)  # where there is no file
    said = run(*words, code=1).stderr
    assert re.fullmatch(r"error: (a\.csv|m\.safetensors): (there is )?no such file( or directory)?\n", said)
    debugged = CliRunner().invoke(app, [*words, "--debug"]).stderr
    assert debugged.startswith("Traceback")
    assert debugged.endswith(said)


def test_a_file_of_folds_is_inspected_but_needs_python_to_predict(tmp_path):
    """With as many rows as folds it would even run, and give nonsense."""
    y = np.random.default_rng(0).normal(size=(3, 30))
    CrossCalibrated(tuple(Calibrator().fit(np.zeros(30), part) for part in y)).save(tmp_path / "m.safetensors")
    data = write(tmp_path / "new.csv", {"f": [1.0, 2.0, 3.0], "y": [1.0, 2.0, 3.0]})
    assert "3 folds" in run("inspect", tmp_path / "m.safetensors").stdout.replace("\n", " ")
    model = ["-m", tmp_path / "m.safetensors", "--point", "f"]
    for command in (
        ["predict", data, *model, "--interval", "0.9", "-o", tmp_path / "out.csv"],
        ["evaluate", data, *model, "--target", "y"],
    ):
        assert "m.safetensors: it was calibrated fold by fold" in run(*command, code=1).stderr
    assert not (tmp_path / "out.csv").exists()


def test_progress_is_drawn_on_stderr_where_that_is_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda answer=terminal: answer)
        with progress("reading", 30) as done:
            done(10)
            done(20)
        out, err = capsys.readouterr()
        assert not out
        assert ("reading" in err, "30/30" in err) == (terminal, terminal)


def test_work_of_unknown_length_has_a_spinner_on_stderr_where_that_is_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    for terminal in (False, True):
        monkeypatch.setattr(sys.stderr, "isatty", lambda answer=terminal: answer)
        with spinner("calibrating"):
            pass
        out, err = capsys.readouterr()
        assert not out
        assert ("calibrating" in err) == terminal


def test_the_tag_of_a_verdict_is_coloured_where_stdout_is_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    said = Headline("bad", "It is off.", "Mend it.")
    show_statement(said)
    assert capsys.readouterr().out == "[problem] It is off. Mend it.\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_statement(said)
    shown = capsys.readouterr().out
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == "[problem] It is off. Mend it.\n"
    assert re.match(r"\x1b\[[\d;]*m\[problem\]\x1b\[0m It is off", shown)


def test_a_warning_is_said_once_in_a_command(capsys):
    for _ in range(2):  # and again in the next
        with report_errors(debug=False):
            for words in ("the first", "the second", "the first"):
                warnings.warn(words, stacklevel=1)
        assert capsys.readouterr().err == "warning: the first\nwarning: the second\n"


def test_what_is_aborted_says_so(monkeypatch):
    def stopped(*_):
        raise typer.Abort

    monkeypatch.setattr("calibrant.cli.demo.demo", stopped)
    assert run("demo", code=1).stderr == "error: aborted\n"


def test_an_option_given_twice_of_which_one_would_count_is_wrong_usage(tmp_path):
    from typer.testing import CliRunner

    from calibrant.cli.app import app

    twice = CliRunner().invoke(app, ["fit", str(tmp_path / "a.csv"), "--target", "y", "--target", "z", "--point", "f"])
    assert twice.exit_code == 2
    assert "--target was given 2 times, and only one can count" in twice.output


def test_the_model_of_the_demo_knows_the_mean_and_believes_in_half_the_noise():
    from calibrant.cli.demo import forecasts

    table = {
        name: column.to_numpy()
        for name, column in zip(*_columns(forecasts(np.random.default_rng(1), 20_000)), strict=True)
    }
    hour, mu, sigma = table["hour"], table["mu"], table["sigma"]
    assert 0 <= hour.min() < 0.01
    assert 23.99 < hour.max() < 24
    np.testing.assert_allclose(mu, 50 - 30 * np.cos(np.pi * hour / 12))  # from 20 at midnight to 80 at noon
    np.testing.assert_allclose(sigma, mu / 20)
    z = (table["y"] - mu) / (2 * sigma)
    assert np.mean(np.abs(z) < 2.5706) == pytest.approx(0.95, abs=0.005)  # of Student's t with 5 degrees of freedom
    assert np.mean(z < 0) == pytest.approx(0.5, abs=0.02)


def _columns(table):
    return table.column_names, table.columns


def test_inspect_spells_numbers_and_what_is_not_known(folder, tmp_path):
    model = tmp_path / "plain.safetensors"
    calibrant.load(folder / "normal.safetensors").save(model)
    for path, target in ((folder / "normal.safetensors", "sy"), (model, "–")):
        lines = [" ".join(line.split()) for line in run("inspect", path).stdout.splitlines()]
        assert f"bytes {path.stat().st_size:,}" in lines
        assert f"epsilon {1 / 401:.4g}" in lines
        assert f"target {target}" in lines
        assert not [line for line in lines if line.startswith(("by ", "weights ", "event "))]


def test_a_switch_may_be_given_twice_and_an_option_of_several_values_too(folder, tmp_path):
    model, out = folder / "normal.safetensors", tmp_path / "out.csv"
    once, twice = (run("inspect", model, *["--json"] * count).stdout for count in (1, 2))
    assert once == twice
    run("predict", folder / "test.csv", "-m", model, "--interval", "0.8", "--interval", "0.9", "-o", out)
    assert len(columns_of(out)) == 4
