"""Whatever is wrong with a file: one sentence that names it, an exit code, and nothing half-written."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from commands import WRITE, forecasts, refused, run, write
from pyarrow import csv, feather, parquet
from systems import on_posix, with_full_device
from typer.testing import CliRunner

import calibrant
from calibrant import cli
from calibrant.cli.app import app
from calibrant.cli.dialect import hint_of_number
from calibrant.cli.exit import Terminated, clean_exit, say
from calibrant.cli.formats import FORMATS
from calibrant.cli.tables import TableFile, _reason
from calibrant.files import load, save

BAD_ROW = 170


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    cal, model = write(folder / "cal.parquet", forecasts()), folder / "model.safetensors"
    run("fit", cal, "--target", "y", "--mean", "mu", "--std", "sigma", "-o", model)
    return model


@pytest.fixture(autouse=True)
def small_batches(monkeypatch):
    monkeypatch.setattr("calibrant.cli.formats.BATCH", 64)
    monkeypatch.setattr("calibrant.cli.formats.CSV_BLOCK", 4096)
    monkeypatch.setattr("calibrant.cli.tables.BATCH", 50)
    monkeypatch.setattr("calibrant.batches.predicting.IN_CACHE", 20)


def with_bad(value, column):
    values = forecasts()[column].tolist()
    values[BAD_ROW] = value
    values[BAD_ROW + 100] = value
    return {**forecasts(), column: values}


BAD = {
    "null": (None, "sigma", "is missing"),
    "nan": (float("nan"), "mu", "is NaN or infinite"),
    "infinity": (float("inf"), "mu", "is NaN or infinite"),
    "negative": (-1.0, "sigma", "is negative"),
}


@pytest.mark.parametrize("suffix", WRITE)
@pytest.mark.parametrize("bad", BAD)
def test_a_bad_value_is_named_by_file_column_and_row_and_leaves_the_old_output(tmp_path, model, bad, suffix):
    value, column, what = BAD[bad]
    test, out = write(tmp_path / f"test.{suffix}", with_bad(value, column)), tmp_path / f"out.{suffix}"
    out.write_text("old", encoding="utf-8")
    if suffix == "csv" and bad == "nan":
        what = "is missing"  # as in other readers of csv, nan is an empty cell
    sentence = f"{test}: column {column!r} {what} in row {BAD_ROW} (counting from 0)"
    strict = "--missing", "error"
    assert refused("predict", test, "-m", model, "--interval", "0.9", "-o", out, *strict) == sentence
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir(tmp_path)) == sorted([out.name, test.name])
    assert refused("evaluate", test, "-m", model, *strict) == sentence
    flags = ["--target", "y", "--mean", "mu", "--std", "sigma", *strict]
    assert refused("fit", test, *flags, "-o", tmp_path / "m.safetensors") == sentence
    assert sorted(os.listdir(tmp_path)) == sorted([out.name, test.name])


def test_a_missing_label_is_named_too(tmp_path, model):
    test = write(tmp_path / "test.parquet", with_bad(None, "y"))
    said = refused("evaluate", test, "-m", model, "--missing", "error")
    assert said == f"{test}: column 'y' is missing in row 170 (counting from 0)"


def test_a_column_that_is_missing_in_all_rows_is_named_and_leaves_the_old_output(tmp_path, model):
    rows, out = len(forecasts()["sigma"]), tmp_path / "out.csv"
    test = write(tmp_path / "test.parquet", forecasts() | {"sigma": np.full(rows, np.nan)})
    out.write_text("old", encoding="utf-8")
    said = refused("predict", test, "-m", model, "--interval", "0.9", "-o", out)
    assert said == f"{test}: column 'sigma' is missing in all {rows:,} rows"
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir(tmp_path)) == [out.name, test.name]


def test_a_word_among_the_numbers_of_a_csv_file_is_named(tmp_path, model):
    test, out = write(tmp_path / "test.csv", with_bad(12345.5, "mu")), tmp_path / "out.csv"
    test.write_text(test.read_text(encoding="utf-8").replace("12345.5", "a few"))
    said = refused("predict", test, "-m", model, "--interval", "0.9", "-o", out)
    assert said == f"{test}: column 'mu' must hold numbers, got 'a few' in row 170 (counting from 0)"
    assert os.listdir(tmp_path) == [test.name]


@pytest.mark.parametrize(
    ("values", "got"),
    [
        (["a"] * 9, "'a'"),
        ([True] * 9, "True"),
        ([[1.0]] * 9, "[1.0]"),
    ],
)
def test_columns_that_are_no_numbers_are_refused(tmp_path, model, values, got):
    test = write(tmp_path / "test.parquet", {"mu": values, "sigma": [1.0] * 9})
    said = refused("predict", test, "-m", model, "--interval", "0.9", "-o", tmp_path / "out.parquet")
    kind = parquet.read_schema(test).field("mu").type
    assert said == f"{test}: column 'mu' must hold numbers, got {kind} ({got}) in row 0 (counting from 0)"
    assert os.listdir(tmp_path) == [test.name]


def test_a_missing_column_is_named_with_the_nearest_or_with_all(tmp_path, model):
    cal = write(tmp_path / "cal.parquet", forecasts())
    out = ["-o", tmp_path / "m.safetensors", "--target", "y"]
    assert refused("fit", cal, "--point", "mue", *out) == f"{cal}: there is no column 'mue'; did you mean 'mu'?"
    said = refused("fit", cal, "--point", "forecast", *out)
    assert said == f"{cal}: there is no column 'forecast'; the columns are 'mu', 'sigma', 'y'"
    assert "no column 'z*'" in refused("fit", cal, "--samples", "z*", *out)
    keep = ["--keep", "id", "-o", tmp_path / "out.csv"]
    assert "no column 'id'" in refused("predict", cal, "-m", model, "--interval", "0.9", *keep)
    assert os.listdir(tmp_path) == [cal.name]


def test_two_columns_of_one_name_are_refused(tmp_path, model):
    twice = pa.table([pa.array([1.0]), pa.array([2.0]), pa.array([1.0])], names=["mu", "mu", "sigma"])
    parquet.write_table(twice, tmp_path / "test.parquet")
    said = refused("predict", tmp_path / "test.parquet", "-m", model, "--interval", "0.9", "-o", tmp_path / "o.csv")
    assert said.endswith("there are 2 columns named 'mu'")


@pytest.mark.parametrize("suffix", WRITE)
def test_a_file_without_rows_is_refused(tmp_path, model, suffix):
    test = write(tmp_path / f"test.{suffix}", {name: column[:0] for name, column in forecasts().items()})
    for command in (["predict", "--interval", "0.9", "-o", tmp_path / "out.csv"], ["evaluate"]):
        assert refused(command[0], test, "-m", model, *command[1:]) == f"{test}: there are no rows"
    assert os.listdir(tmp_path) == [test.name]


@pytest.mark.parametrize("suffix", sorted(FORMATS))
@pytest.mark.parametrize("content", [b"", b"\xff\x00 not a table \x01" * 100])
def test_a_file_that_is_no_table_is_refused(tmp_path, model, suffix, content):
    test = tmp_path / f"test{suffix}"
    test.write_bytes(content)
    said = refused("predict", test, "-m", model, "--interval", "0.9", "-o", tmp_path / "out.csv")
    assert said.startswith(f"{test}: ")
    assert os.listdir(tmp_path) == [test.name]


def test_a_truncated_file_is_refused(tmp_path, model):
    for suffix in ("parquet", "feather"):
        test = write(tmp_path / f"test.{suffix}", forecasts())
        test.write_bytes(test.read_bytes()[:-100])
        said = refused("predict", test, "-m", model, "--interval", "0.9", "-o", tmp_path / "out.csv")
        assert said.startswith(f"{test}: this cannot be read as {suffix} (")
        test.unlink()
    assert not os.listdir(tmp_path)


def test_files_that_are_not_there_or_have_no_known_suffix_are_named(tmp_path, model):
    test, nowhere = write(tmp_path / "test.csv", forecasts()), tmp_path / "nowhere.csv"
    wanted = ["--interval", "0.9", "-o"]
    out = tmp_path / "out.csv"
    assert refused("predict", nowhere, "-m", model, *wanted, out) == f"{nowhere}: there is no such file"
    assert refused("inspect", nowhere) == f"{nowhere}: no such file or directory"
    assert refused("predict", test, "-m", nowhere, *wanted, out) == f"{nowhere}: no such file or directory"
    assert "calibrant file" in refused("predict", test, "-m", test, *wanted, out)
    for bad in (tmp_path / "out.xlsx", tmp_path / "out"):
        said = refused("predict", test, "-m", model, *wanted, bad)
        assert said.startswith(f"{bad}: the name must end in one of .csv")
    bad = tmp_path / "nowhere" / "out.csv"
    assert refused("predict", test, "-m", model, *wanted, bad) == f"{bad}: there is no folder {bad.parent}"
    assert os.listdir(tmp_path) == [test.name]


def written_over(test, model, out):
    """What is said where the output is what is read."""
    said = run("predict", test, "-m", model, "--interval", "0.9", "-o", out, code=2)
    return " ".join(said.stderr.replace("│", " ").split())


@on_posix
def test_what_is_read_is_not_written_over_by_a_link_either(tmp_path, model):
    test, link = write(tmp_path / "test.csv", forecasts()), tmp_path / "link.csv"
    before = test.read_bytes()
    link.symlink_to(test)
    assert "cannot be written over" in written_over(test, model, link)
    assert test.read_bytes() == before


def test_what_is_read_is_never_written_over(tmp_path, model):
    test = write(tmp_path / "test.csv", forecasts())
    before = test.read_bytes()
    assert "cannot be written over" in written_over(test, model, test)
    run("predict", test, "-m", model, "--interval", "0.9", "-o", model, code=2)
    run("fit", test, "--target", "y", "--point", "mu", "-o", test, code=2)
    assert test.read_bytes() == before


def test_a_kept_column_must_not_have_the_name_of_a_new_one(tmp_path, model):
    test = write(tmp_path / "test.csv", {**forecasts(), "lower": forecasts()["mu"]})
    said = refused("predict", test, "-m", model, "--interval", "0.9", "--keep", "*", "-o", tmp_path / "out.csv")
    assert said == f"{test}: column 'lower' cannot be kept: a new column has the same name"


POINT = ["--target", "y", "--point", "mu", "-o", "m"]
USAGE = {
    "no command": [],
    "unknown command": ["guess"],
    "unknown flag": ["inspect", "m.safetensors", "--guess"],
    "no columns": ["fit", "cal.csv", "--target", "y", "-o", "m"],
    "half a kind": ["fit", "cal.csv", "--target", "y", "--mean", "mu", "-o", "m"],
    "two kinds": ["fit", "cal.csv", "--target", "y", "--point", "mu", "--samples", "s*", "-o", "m"],
    "no target": ["fit", "cal.csv", "--point", "mu", "-o", "m"],
    "no levels": ["fit", "cal.csv", "--target", "y", "--quantiles", "a,b", "-o", "m"],
    "levels beyond": ["fit", "cal.csv", "--target", "y", "--quantiles", "a:0.1,b:1", "-o", "m"],
    "unknown score": ["fit", "cal.csv", *POINT, "--score", "x"],
    "unknown q": ["fit", "cal.csv", *POINT, "--interpolator", "x"],
    "unknown tails": ["fit", "cal.csv", *POINT, "--tails", "x"],
    "no such tails": ["fit", "cal.csv", *POINT, "--interpolator", "naf", "--tails", "bounded"],
    "wrong tails": ["fit", "cal.csv", *POINT, "--interpolator", "random", "--tails", "exponential"],
    "wrong score": ["fit", "CAL", *POINT, "--score", "zscore"],
    "target predicts": ["fit", "CAL", "--target", "y", "--point", "y", "-o", "m"],
    "nothing wanted": ["predict", "CAL", "-m", "MODEL", "-o", "out.csv"],
    "no level": ["predict", "CAL", "-m", "MODEL", "--quantiles", "0.1,x", "-o", "out.csv"],
    "level beyond": ["predict", "CAL", "-m", "MODEL", "--quantiles", "0.1,1", "-o", "out.csv"],
    "level of 0": ["predict", "CAL", "-m", "MODEL", "--quantiles", "0", "-o", "out.csv"],
    "level twice": ["predict", "CAL", "-m", "MODEL", "--quantiles", "0.1,0.10", "-o", "out.csv"],
    "coverage twice": ["predict", "CAL", "-m", "MODEL", "--interval", "0.9,0.90", "-o", "out.csv"],
    "no decimal mark": ["predict", "CAL", "-m", "MODEL", "--interval", "0.9", "--decimal", "", "-o", "out.csv"],
    "coverage beyond": ["predict", "CAL", "-m", "MODEL", "--interval", "90", "-o", "out.csv"],
    "no seed": ["predict", "CAL", "-m", "MODEL", "--interval", "0.9", "--seed", "-1", "-o", "out.csv"],
    "no coverage": ["evaluate", "CAL", "-m", "MODEL", "--coverage", "nan"],
}


@pytest.mark.parametrize("case", USAGE)
def test_wrong_usage_ends_with_2_and_writes_nothing(tmp_path, model, monkeypatch, case):
    monkeypatch.chdir(tmp_path)
    cal = write(tmp_path / "cal.parquet", forecasts())
    names = {"CAL": cal, "MODEL": model}
    said = run(*(names.get(word, word) for word in USAGE[case]), code=2)
    assert "Traceback" not in said.output
    assert os.listdir(tmp_path) == [cal.name]


@pytest.mark.parametrize(
    ("problem", "code", "sentence"),
    [
        (RuntimeError("what is this"), 1, "unexpected RuntimeError: what is this (run with --debug to see where)"),
        (MemoryError(), 1, "there is not enough memory for this"),
        (KeyboardInterrupt(), 130, "interrupted"),
    ],
)
def test_the_unexpected_is_one_sentence_too(tmp_path, model, monkeypatch, problem, code, sentence):
    def fail(*arguments):
        raise problem

    test = write(tmp_path / "test.csv", forecasts())
    monkeypatch.setattr("calibrant.batches.columns.Normal", fail)
    said = refused("predict", test, "-m", model, "--interval", "0.9", "-o", tmp_path / "out.csv", code=code)
    assert said == sentence
    assert os.listdir(tmp_path) == [test.name]


@pytest.mark.parametrize("which", [2, -1])
def test_a_write_that_fails_leaves_the_old_output(tmp_path, model, monkeypatch, which):
    test, out = write(tmp_path / "test.csv", forecasts()), tmp_path / "out.parquet"
    words = ["predict", test, "-m", model, "--interval", "0.9", "-o", out]
    run(*words)
    calls = iter(range(100))
    failing = range(parquet.ParquetFile(out).num_row_groups)[which]

    def full(*arguments):
        if next(calls) == failing:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_batch", full)
    out.write_text("old", encoding="utf-8")
    assert refused(*words) == f"{out}: this cannot be written (no space left on device)"
    assert out.read_text(encoding="utf-8") == "old"
    assert sorted(os.listdir(tmp_path)) == ["out.parquet", "test.csv"]


def test_what_the_library_refuses_is_named_by_its_file(tmp_path):
    cal = write(tmp_path / "cal.csv", {"mu": [-1.5e308, 0.0], "y": [1.5e308, 0.0]})
    said = run("fit", cal, "--point", "mu", "--target", "y", "-o", tmp_path / "m.safetensors", code=1).stderr
    assert said.splitlines()[-1].startswith(f"error: {cal}: the score of")


@on_posix
def test_a_link_to_the_output_stays_a_link(tmp_path, model):
    test, real, link = write(tmp_path / "test.csv", forecasts()), tmp_path / "real.csv", tmp_path / "link.csv"
    real.write_text("old", encoding="utf-8")
    link.symlink_to(real)
    run("predict", test, "-m", model, "--interval", "0.9", "-o", link)
    assert link.is_symlink()
    assert csv.read_csv(real).num_rows == 400
    assert sorted(os.listdir(tmp_path)) == ["link.csv", "real.csv", "test.csv"]


@on_posix
@pytest.mark.parametrize(("name", "code", "left"), [("SIGTERM", 143, 0), ("SIGKILL", -9, 1)])
def test_a_kill_in_the_middle_leaves_nothing_under_the_final_name(tmp_path, model, name, code, left):
    n = 1_500_000
    test, out = tmp_path / "test.parquet", tmp_path / "out.csv"
    parquet.write_table(pa.table({"mu": np.zeros(n), "sigma": np.ones(n)}), test)
    words = ["predict", test, "-m", model, "--interval", "0.9", "--keep", "*", "-o", out]
    process = subprocess.Popen([sys.executable, "-m", "calibrant", *map(str, words)], stdout=subprocess.DEVNULL)
    while len(os.listdir(tmp_path)) == 1 and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.Signals[name])
    assert process.wait() == code
    assert not out.exists()
    assert len(os.listdir(tmp_path)) == 1 + left


def test_batches_are_small_whatever_the_file_is_made_of(tmp_path):
    for suffix in WRITE:
        test = write(tmp_path / f"test.{suffix}", forecasts(1000))
        batches = list(TableFile(test).batches(["mu"], ["y"]))
        assert max(map(len, batches)) <= 50
        assert [batch.start for batch in batches] == np.cumsum([0, *map(len, batches[:-1])]).tolist()
        assert np.array_equal(np.concatenate([batch.numbers("mu") for batch in batches]), forecasts(1000)["mu"])


def test_a_column_that_begins_empty_can_be_kept_from_csv(tmp_path, model):
    lines = ["mu,sigma,note", *["1,2,"] * 2000, "1,2,at last"]
    test, out = tmp_path / "test.csv", tmp_path / "out.parquet"
    test.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("predict", test, "-m", model, "--interval", "0.9", "--keep", "note", "-o", out)
    assert parquet.read_table(out)["note"].to_pylist()[-1] == "at last"


def test_categories_that_differ_from_batch_to_batch_can_be_kept(tmp_path, model):
    columns = {**forecasts(), "site.name": pa.array([f"site {k // 7}" for k in range(400)]).dictionary_encode()}
    for suffix, reader in (("feather", feather.read_table), ("csv", csv.read_csv), ("parquet", parquet.read_table)):
        test, out = tmp_path / "test.parquet", tmp_path / f"out.{suffix}"
        parquet.write_table(pa.table(columns), test, row_group_size=100)
        run("predict", test, "-m", model, "--interval", "0.9", "--keep", "site.name", "-o", out)
        assert reader(out)["site.name"].to_pylist() == [f"site {k // 7}" for k in range(400)]


def test_notes_of_another_writer_are_refused(tmp_path, model):
    test, other = write(tmp_path / "test.csv", forecasts()), tmp_path / "m.safetensors"
    for notes in (
        {"by": "someone"},
        {"columns": {"kind": "magic"}, "target": "y"},
        {"columns": {"kind": "point", "point": 3}, "target": "y"},
        {"columns": {"kind": "quantiles", "quantiles": [["a"]]}, "target": "y"},
        {"columns": {"kind": "point", "point": "mu"}, "target": 3},
    ):
        save(other, load(model), notes=notes)
        said = refused("predict", test, "-m", other, "--interval", "0.9", "-o", tmp_path / "out.csv")
        assert said == f"{other}: its notes are not those of `calibrant fit`"


BOTH = [[0.25, 0.75], [0.1, 0.9]]


def test_semicolons_are_read_and_written_when_asked_for(tmp_path):
    table, out, model = tmp_path / "s.csv", tmp_path / "out.csv", tmp_path / "m.safetensors"
    rows = [f"{k}.5;{k + (-1) ** k * 0.25}" for k in range(30)]
    table.write_text("\n".join(["f;y", *rows]) + "\n", encoding="utf-8")
    said = refused("fit", table, "--target", "y", "--point", "f", "-o", model)
    assert said == f"{table}: there is no column 'y'; the only one is 'f;y': try --delimiter ';'"
    run("fit", table, "--target", "y", "--point", "f", "--delimiter", ";", "-o", model)
    run("predict", table, "-m", model, "--interval", "0.5", "--interval", "0.8", "--delimiter", ";", "-o", out)
    names, first = out.read_text(encoding="utf-8").splitlines()[:2]
    assert names == '"lower_0.5";"upper_0.5";"lower_0.8";"upper_0.8"'
    narrow, wide = np.array(first.split(";"), float).reshape(2, 2)
    assert wide[0] <= narrow[0] < narrow[1] <= wide[1]
    np.testing.assert_allclose([narrow, wide], [calibrant.load(model)([0.5]).quantiles(two)[0] for two in BOTH])
    wrong = run("fit", table, "--target", "y", "--delimiter", ";;", "-o", model, code=2)
    assert "expected one character, got ';;'" in wrong.stderr


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        (
            ["fit", "a.csv", "--taget", "y"],
            "there is no option --taget; did you mean --target? (see calibrant fit --help)",
        ),
        (["predict", "a.csv"], "missing option '--model' / '-m' (see calibrant predict --help)"),
        (["fot"], "no such command 'fot'. Did you mean 'fit'? (see calibrant --help)"),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_wrong_usage_is_told_in_one_sentence(line, sentence):
    result = CliRunner().invoke(app, line, prog_name="calibrant")
    assert (result.exit_code, result.stderr) == (2, f"error: {sentence}\n")


def test_a_file_that_cannot_be_written_has_the_name_that_was_given(tmp_path, monkeypatch):
    def closed(*arguments, **options):
        raise PermissionError(13, "Permission denied", arguments[0])

    model = calibrant.Calibrator().fit([1.0, 2.0], [1.5, 1.0])
    monkeypatch.setattr("builtins.open", closed)
    with pytest.raises(PermissionError) as error:
        model.save(tmp_path / "m.safetensors")
    monkeypatch.undo()
    assert error.value.filename == str(tmp_path / "m.safetensors")


@pytest.mark.parametrize("command", ["fit", "report"])
def test_a_folder_that_cannot_be_written_is_named_as_it_was_typed(tmp_path, monkeypatch, command):
    def closed(path, *arguments, **options):
        raise PermissionError(13, "Permission denied", path)

    monkeypatch.chdir(tmp_path)
    (tmp_path / "ro").mkdir()
    write(tmp_path / "t.csv", forecasts())
    flags = ["t.csv", "--target", "y", "--mean", "mu", "--std", "sigma"]
    run("fit", *flags, "-o", "m.safetensors")
    monkeypatch.setattr("calibrant.atomic.os.open", closed)
    assert refused(command, *flags, "-o", "ro/x.html") == "ro/x.html: permission denied"


# ---- hard edges ----------------------------------------------------------------------------------------------------


@on_posix
def test_a_pipe_is_neither_read_nor_replaced(model, tmp_path):
    pipe = tmp_path / "pipe.csv"
    os.mkfifo(pipe)
    test = write(tmp_path / "test.parquet", forecasts())
    assert refused("predict", pipe, "-m", model, "--interval", "0.9", "-o", tmp_path / "o.csv") == (
        f"{pipe}: this is a pipe or a device, not a file"
    )
    assert "this is a pipe or a device" in refused("predict", test, "-m", model, "--interval", "0.9", "-o", pipe)
    assert pipe.is_fifo()


@on_posix
def test_an_old_file_keeps_its_permissions_and_a_new_one_has_those_of_any(model, tmp_path):
    test, out, fresh = write(tmp_path / "test.parquet", forecasts()), tmp_path / "out.csv", tmp_path / "fresh.csv"
    out.write_text("old", encoding="utf-8")
    out.chmod(0o600)
    (tmp_path / "any").write_text("", encoding="utf-8")
    for path in (out, fresh):
        run("predict", test, "-m", model, "--interval", "0.9", "-o", path)
    assert out.stat().st_mode & 0o777 == 0o600
    assert fresh.stat().st_mode == (tmp_path / "any").stat().st_mode


@pytest.mark.few(1)
@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "latin-1"])
def test_a_terminal_that_is_not_utf_8_gets_what_it_can_show(model, tmp_path, encoding):
    test = write(tmp_path / "test.parquet", forecasts())
    for command in (
        ["report", test, "-m", model, "-o", tmp_path / "r.html"],
        ["inspect", model],
        ["evaluate", test, "-m", model],
        ["demo", "--to", tmp_path / "demo"],
    ):
        found = subprocess.run(
            [sys.executable, "-m", "calibrant", *map(str, command)],
            check=False,
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        )
        assert found.returncode == 0, found.stderr
        assert found.stdout


@on_posix
def test_names_that_are_not_utf_8_or_too_long_get_a_sentence(model, tmp_path):
    test = write(tmp_path / "test.parquet", forecasts())
    odd = os.fsdecode(bytes(tmp_path / "o") + b"\xff.csv")
    assert "the name of a file must be UTF-8" in refused("predict", test, "-m", model, "--interval", "0.9", "-o", odd)
    assert "the name of a file must be UTF-8" in refused(
        "predict", odd, "-m", model, "--interval", "0.9", "-o", "o.csv"
    )
    long = tmp_path / ("x" * 300 + ".csv")
    assert "file name too long" in refused("predict", test, "-m", model, "--interval", "0.9", "-o", long)
    run("predict", test, "-m", model, "--interval", "0.9", "-o", tmp_path / ("x" * 251 + ".csv"))


@pytest.mark.parametrize("n", [1, 50, 51, 1234])
def test_predict_says_how_many_rows_it_wrote(model, tmp_path, n):
    """Batches are of 50 rows here: one row, one batch, one more, many."""
    test, out = write(tmp_path / "test.parquet", forecasts(n)), tmp_path / "out.parquet"
    said = run("predict", test, "-m", model, "--interval", "0.9", "--keep", "mu", "-o", out).stdout
    assert f"Wrote {n:,} {'row' if n == 1 else 'rows'} to {out}: mu, lower, upper." in " ".join(said.split())
    assert parquet.read_metadata(out).num_rows == n


@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (ValueError("the first line.\nthe second"), "the first line"),
        (OSError("it is no file"), "it is no file"),
        (FileNotFoundError(2, "whatever"), "no such file or directory"),
    ],
)
def test_the_reason_of_an_error_is_its_first_line_or_what_the_system_calls_it(error, sentence):
    assert _reason(error) == sentence


# ---- other dialects of csv -----------------------------------------------------------------------------------------


@pytest.fixture
def german(tmp_path):
    """A file as a German spreadsheet exports it."""
    rows = [f"{k},5;{k + (-1) ** k * 0.25}".replace(".", ",") for k in range(30)]
    table = tmp_path / "cal_de.csv"
    table.write_text("\n".join(["f;y", *rows]) + "\n", encoding="utf-8")
    return table


def test_decimal_commas_are_read_and_written_when_asked_for(tmp_path, german):
    model, out, plain_out = tmp_path / "m.safetensors", tmp_path / "out.csv", tmp_path / "out.parquet"
    dialect = ["--delimiter", ";", "--decimal", ","]
    run("fit", german, "--target", "y", "--point", "f", *dialect, "-o", model)
    for written in (out, plain_out):
        run("predict", german, "-m", model, "--interval", "0.8", "--keep", "f", *dialect, "-o", written)
    text = out.read_text(encoding="utf-8")
    assert "." not in text.replace("lower_0.8", "")
    options = csv.ParseOptions(delimiter=";"), csv.ConvertOptions(decimal_point=",")
    found = csv.read_csv(out, parse_options=options[0], convert_options=options[1])
    assert found.equals(parquet.read_table(plain_out))
    run("evaluate", german, "-m", model, *dialect)
    lines = out.read_text(encoding="utf-8").splitlines()[1:]
    assert lines
    assert not any('"' in line for line in lines)
    assert "expected one character, got ',,'" in run("evaluate", german, "--decimal", ",,", code=2).stderr


def test_files_of_another_dialect_are_told_the_flag(tmp_path, german):
    fit = ["--target", "y", "--point", "f", "-o", tmp_path / "m.safetensors"]
    said = refused("fit", german, *fit)
    # with several threads Arrow does not know which row it is
    assert said.replace("Row #2: ", "").startswith(
        f"{german}: this cannot be read as csv (CSV parse error: Expected 1 columns, got"
    )
    assert said.endswith("try --delimiter ';'")
    said = refused("fit", german, *fit, "--delimiter", ";")
    assert said == f"{german}: column 'f' must hold numbers, got '0,5' in row 0 (counting from 0): try --decimal ,"
    commas = tmp_path / "commas.csv"
    commas.write_text("f,y\n1,2\n", encoding="utf-8")
    said = refused("fit", commas, *fit, "--delimiter", ";")
    assert said == f"{commas}: there is no column 'y'; the only one is 'f,y': try --delimiter ','"
    point = tmp_path / "points.csv"
    point.write_text("f;y\n1;2\n1.5;2\n", encoding="utf-8")
    said = refused("fit", point, *fit, "--delimiter", ";", "--decimal", ",")
    assert said == f"{point}: column 'f' must hold numbers, got '1.5' in row 1 (counting from 0): try --decimal ."


# ---- how it ends ---------------------------------------------------------------------------------------------------


def typed(*words, **options):
    """The command line in a process of its own, as a shell runs it."""
    command = [sys.executable, "-m", "calibrant", *map(str, words)]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"stdout": subprocess.PIPE, "env": kept, "timeout": 60, **options}
    return subprocess.run(command, check=False, stderr=subprocess.PIPE, text=True, **options)


ALL_THAT_PRINT = [["--version"], ["--help"], ["inspect"], ["evaluate"], ["predict"]]


def words_of(command, model, folder):
    if command[0] not in ("inspect", "evaluate", "predict"):
        return command
    if command == ["inspect"]:
        return ["inspect", model]
    test = write(folder / "test.parquet", forecasts())
    more = ["--interval", "0.9", "-o", folder / "out.csv"] if command == ["predict"] else []
    return [*command, test, "-m", model, *more]


@pytest.mark.few(2)
@with_full_device
@pytest.mark.parametrize("command", ALL_THAT_PRINT, ids=lambda each: each[0])
def test_a_full_disk_behind_standard_output_is_one_sentence(command, model, tmp_path):
    with open("/dev/full", "w", encoding="utf-8") as full:
        for more in ({}, {"PYTHONUNBUFFERED": "1"}):
            found = typed(*words_of(command, model, tmp_path), stdout=full, env={**os.environ, **more})
            assert (found.returncode, found.stderr) == (1, "error: standard output: no space left on device\n")


@pytest.mark.few(1)
@with_full_device
@pytest.mark.parametrize(
    ("words", "code"),
    [(["predict"], 0), (["inspect", "nothing.safetensors"], 1), (["inspect", "--no-such-option"], 2)],
    ids=["a warning", "an error", "wrong usage"],
)
def test_a_full_disk_behind_standard_error_changes_no_exit_code(words, code, tmp_path):
    few = write(tmp_path / "few.csv", forecasts(12))
    run("fit", few, "--target", "y", "--point", "mu", "-o", tmp_path / "m")
    if words == ["predict"]:
        words = ["predict", few, "-m", tmp_path / "m", "--interval", "0.9", "-o", tmp_path / "out.csv"]
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    with open("/dev/full", "w", encoding="utf-8") as full:
        command = [sys.executable, "-m", "calibrant", *map(str, words)]
        found = subprocess.run(command, check=False, stdout=subprocess.DEVNULL, stderr=full, env=kept)
    assert found.returncode == code


@pytest.mark.few(2)
@on_posix
@pytest.mark.parametrize("command", ALL_THAT_PRINT, ids=lambda each: each[0])
def test_a_reader_that_went_away_is_no_traceback(command, model, tmp_path):
    reading, writing = os.pipe()
    os.close(reading)
    found = typed(*words_of(command, model, tmp_path), stdout=writing)
    os.close(writing)
    assert (found.returncode, found.stderr) == (1, "")


@pytest.mark.few(2)
@on_posix
@pytest.mark.parametrize("stream", [1, 2])
@pytest.mark.parametrize("command", ALL_THAT_PRINT, ids=lambda each: each[0])
def test_a_stream_that_is_closed_does_no_harm(command, stream, model, tmp_path):
    words = words_of(command, model, tmp_path)
    found = subprocess.run(
        ["sh", "-c", f'exec "$@" {stream}>&-', "sh", sys.executable, "-m", "calibrant", *map(str, words)],
        check=False,
        capture_output=True,
        text=True,
    )
    assert (found.returncode, found.stderr) == (0, "")


STOPPED = """
import os, sys, types
sys.modules["calibrant.cli.app"] = types.SimpleNamespace(app=lambda **words: os.kill(os.getpid(), int(sys.argv[1])))
from calibrant.cli import main
main([])
"""


@on_posix
@pytest.mark.parametrize(
    ("number", "code", "said"), [(signal.SIGINT, 130, "error: interrupted\n"), (signal.SIGTERM, 143, "")]
)
def test_a_signal_before_the_command_has_begun_is_no_traceback(number, code, said):
    found = subprocess.run(
        [sys.executable, "-c", STOPPED, str(int(number))], check=False, capture_output=True, text=True
    )
    assert (found.returncode, found.stderr) == (code, said)


def test_the_demo_ends_as_the_command_that_was_stopped_in_it(tmp_path, monkeypatch):
    def stopped(*arguments, **options):
        raise KeyboardInterrupt

    monkeypatch.setattr("calibrant.cli.inspect.description", stopped)
    assert "error: interrupted" in run("demo", "--to", tmp_path, code=130).stderr


@on_posix
def test_the_demo_neither_waits_for_a_pipe_nor_replaces_it(tmp_path):
    os.mkfifo(tmp_path / "cal.parquet")
    found = typed("demo", "--to", tmp_path)
    assert (found.returncode, found.stdout) == (1, "")
    assert found.stderr.endswith("cal.parquet: this is a pipe or a device, not a file\n")
    assert os.listdir(tmp_path) == ["cal.parquet"]


@on_posix
def test_links_in_a_circle_get_a_sentence(model, tmp_path):
    test, loop = write(tmp_path / "test.parquet", forecasts()), tmp_path / "loop.csv"
    loop.symlink_to(loop)
    words = ["-m", model, "--interval", "0.9", "-o"]
    assert refused("predict", test, *words, loop) == (
        f"{loop}: this cannot be written (too many levels of symbolic links)"
    )
    assert refused("predict", loop, *words, tmp_path / "out.csv") == (
        f"{loop}: this cannot be read as csv (too many levels of symbolic links)"
    )


def test_a_target_that_cannot_be_is_named_as_it_was_typed(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder.html").mkdir()
    write(tmp_path / "t.csv", forecasts())
    flags = ["t.csv", "--target", "y", "--mean", "mu", "--std", "sigma"]
    for command in ("fit", "report"):
        assert refused(command, *flags, "-o", "folder.html") == "folder.html: is a directory"
        assert refused(command, *flags, "-o", "nowhere/x.html") == "nowhere: no such file or directory"


def test_streams_that_were_closed_swallow_all(monkeypatch):
    monkeypatch.setattr(signal, "signal", lambda *given: None)  # that of this process stays
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)  # as Python has it after >&- in a shell
    with clean_exit():
        print("nobody reads this")
        say("nor that")
    for stream in (sys.stdout, sys.stderr):
        assert stream.name == os.devnull
        stream.close()


def test_a_number_keeps_its_sign_where_the_terminal_lacks_the_minus():
    text = ascii("−1.5 ± 2 ≤ 3², ε")  # an argument too has the encoding of the locale, which may lack these
    code = f"from calibrant.cli.exit import clean_exit\nwith clean_exit():\n    print({text})"
    for encoding, said in (("ascii", b"-1.5 +/- 2 <= 3^2, ?"), ("cp1252", "-1.5 ± 2 <= 3², ?".encode("cp1252"))):
        found = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            capture_output=True,
            env={**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"},
        )
        assert found.stdout.strip() == said


@pytest.fixture
def own_signals():
    """SIGTERM does nothing, and is again what it was after the test."""
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield
    signal.signal(signal.SIGTERM, before)


def ends(call):
    """The exit code that a call ends the program with."""
    with pytest.raises(SystemExit) as end, clean_exit():
        call()
    return end.value.code


@pytest.mark.parametrize(
    ("problem", "code", "said"),
    [
        (KeyboardInterrupt(), 130, "error: interrupted\n"),
        (Terminated(), 143, ""),
        (BrokenPipeError(32, "Broken pipe"), 1, ""),
        (OSError(28, "No space left on device"), 1, "error: standard output: no space left on device\n"),
        (PermissionError(13, "Permission denied", "a.csv"), 1, "error: a.csv: permission denied\n"),
    ],
)
def test_what_stops_the_program_from_outside_is_an_exit_code(own_signals, capsys, problem, code, said):
    def stopped():
        raise problem

    assert ends(stopped) == code
    assert capsys.readouterr() == ("", said)


def test_sigterm_unwinds_the_program(own_signals, capsys):
    cleaned = []

    def stopped():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            cleaned.append(True)

    assert ends(stopped) == 143
    assert (cleaned, capsys.readouterr().err) == ([True], "")


def test_sigterm_in_a_command_leaves_nothing_half_written(tmp_path, model, monkeypatch):
    def stopped(*arguments):
        raise Terminated

    test = write(tmp_path / "test.csv", forecasts())
    monkeypatch.setattr("calibrant.batches.columns.Normal", stopped)
    said = run("predict", test, "-m", model, "--interval", "0.9", "-o", tmp_path / "out.csv", code=143)
    assert said.output == ""
    assert os.listdir(tmp_path) == [test.name]


@with_full_device
def test_after_a_full_disk_nothing_more_is_written_to_standard_output(own_signals, monkeypatch, capsys):
    def open_nowhere():
        """The open files that lead nowhere; other files may be closed meanwhile, when Python tidies up."""
        return [link for link in Path("/proc/self/fd").iterdir() if os.path.realpath(link) == os.devnull]

    with open("/dev/full", "w", encoding="utf-8") as full:
        monkeypatch.setattr(sys, "stdout", full)
        before = len(open_nowhere())
        assert ends(lambda: print("more than fits")) == 1
        assert len(open_nowhere()) == before + 1  # standard output itself
        print("what comes later", flush=True)  # goes nowhere
        monkeypatch.undo()
    assert capsys.readouterr().err == "error: standard output: no space left on device\n"


def test_what_a_stream_cannot_show_is_spelt_plainly(own_signals, monkeypatch):
    shown = {name: io.TextIOWrapper(io.BytesIO(), encoding="ascii") for name in ("stdout", "stderr")}
    for name, stream in shown.items():
        monkeypatch.setattr(sys, name, stream)
    with clean_exit():
        print("−1.5 ± 2, ε")
        say("3 ≤ 4")
    shown["stderr"].flush()
    monkeypatch.undo()
    assert [stream.buffer.getvalue().split() for stream in shown.values()] == [
        [b"-1.5", b"+/-", b"2,", b"?"],
        [b"3", b"<=", b"4"],
    ]
    with pytest.raises(UnicodeDecodeError):  # what is read is never guessed
        b"\xe4".decode("ascii", "calibrant")


def test_main_ends_with_the_code_of_the_command(own_signals, model, capsys, monkeypatch):
    def ended(*words):
        with pytest.raises(SystemExit) as end:
            cli.main(words)
        return end.value.code, capsys.readouterr()

    code, shown = ended("inspect", str(model))
    assert (code, shown.err) == (0, "")
    assert str(model) in shown.out.replace("\n", "")
    code, shown = ended("inspect", "nowhere")
    assert (code, *shown) == (1, "", "error: nowhere: no such file or directory\n")
    code, shown = ended("inspect")
    assert (code, shown.out) == (2, "")
    assert shown.err.endswith("(see calibrant inspect --help)\n")
    monkeypatch.setattr(sys, "argv", ["calibrant", "--version"])
    with pytest.raises(SystemExit) as end:
        cli.main()
    assert (end.value.code, capsys.readouterr().out) == (0, f"{calibrant.__version__}\n")


def test_an_app_that_returns_has_done_well(own_signals, monkeypatch):
    monkeypatch.setattr("calibrant.cli.app.app", lambda **words: None)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 0


def test_a_fault_of_the_program_has_the_traceback_of_python(own_signals, monkeypatch, capsys):
    def broken(*arguments):
        raise RuntimeError("what is this")

    monkeypatch.setattr(sys, "excepthook", sys.__excepthook__)
    monkeypatch.setattr("calibrant.cli.usage.Commands.resolve_command", broken)
    with pytest.raises(RuntimeError) as fault:
        cli.main(["inspect"])
    sys.excepthook(fault.type, fault.value, fault.tb)
    lines = capsys.readouterr().err.splitlines()
    assert (lines[0], lines[-1]) == ("Traceback (most recent call last):", "RuntimeError: what is this")


@pytest.mark.parametrize("command", ["fit", "predict"])
def test_a_folder_is_no_output(tmp_path, model, monkeypatch, command):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "out.csv").mkdir()
    test = write(tmp_path / "t.csv", forecasts())
    words = {"fit": ["--target", "y", "--point", "mu"]}.get(command, ["-m", model, "--interval", "0.9"])
    wanted = "out.csv: is a directory" if command == "fit" else "out.csv: this is a folder, not a file"
    assert refused(command, test, *words, "-o", "out.csv") == wanted


def test_whoever_reads_a_file_hears_of_each_batch_that_is_done(tmp_path):
    heard = []
    table = TableFile(write(tmp_path / "t.parquet", forecasts()))
    assert [len(batch) for batch in table.batches(["mu"], done=heard.append)] == heard
    assert sum(heard) == 400


def test_a_number_with_the_usual_mark_is_no_reason_for_another():
    assert hint_of_number(" -1,5") == "try --decimal ,"
    assert hint_of_number("0.5") == ""
