"""Whatever is wrong with a file: one sentence that names it, an exit code, and nothing half-written."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time

import numpy as np
import pyarrow as pa
import pytest
from commands import as_json, forecasts, refused, run, write
from pyarrow import csv, feather, parquet
from systems import on_posix

from calibrant import load
from calibrant.files import save
from calibrant.tables.files import FORMATS

BAD_ROW = 170
NORMAL = ["--target", "y", "--mean", "mu", "--std", "sigma"]
WANTED = ["-m", "m.safetensors", "--interval", "0.9", "-o"]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    folder = tmp_path_factory.mktemp("model")
    cal, model = write(folder / "cal.parquet", forecasts()), folder / "model.safetensors"
    run("fit", cal, *NORMAL, "-o", model)
    return model.read_bytes()


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch, model):
    """A folder with a model, and small batches."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("calibrant.tables.files.CSV_BLOCK", 4096)
    monkeypatch.setattr("calibrant.tables.files.BATCH", 50)
    monkeypatch.setattr("calibrant.tables.predicting.IN_CACHE", 20)
    (tmp_path / "m.safetensors").write_bytes(model)
    return tmp_path


def there(folder):
    """The files of a folder, but for the model."""
    return sorted(name for name in os.listdir(folder) if name != "m.safetensors")


def with_bad(value, column):
    values = forecasts()[column].tolist()
    values[BAD_ROW] = values[BAD_ROW + 100] = value
    return {**forecasts(), column: values}


# ---- numbers -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
@pytest.mark.parametrize(
    ("value", "column", "what"),
    [
        (None, "sigma", "is missing"),
        (float("nan"), "mu", "is NaN or infinite"),
        (float("inf"), "mu", "is NaN or infinite"),
        (-1.0, "sigma", "is negative"),
    ],
)
def test_a_bad_value_is_named_by_file_column_and_row_and_leaves_the_old_output(inside, value, column, what, suffix):
    test, out = f"test.{suffix}", inside / "out.csv"
    write(inside / test, with_bad(value, column))
    out.write_text("old", encoding="utf-8")
    if suffix == "csv" and value is not None and np.isnan(value):
        what = "is missing"  # as in other readers of csv, nan is an empty cell
    sentence = f"{test}: column {column!r} {what} in row {BAD_ROW} (counting from 0)"
    assert refused("predict", test, *WANTED, "out.csv", "--missing", "error") == sentence
    assert refused("evaluate", test, "-m", "m.safetensors", "--missing", "error") == sentence
    assert refused("fit", test, *NORMAL, "--missing", "error", "-o", "n.safetensors") == sentence
    assert out.read_text(encoding="utf-8") == "old"
    assert there(inside) == sorted([test, "out.csv"])


def test_a_missing_label_is_named_too(inside):
    write(inside / "test.parquet", with_bad(None, "y"))
    said = refused("evaluate", "test.parquet", "-m", "m.safetensors", "--missing", "error")
    assert said == "test.parquet: column 'y' is missing in row 170 (counting from 0)"


def test_a_column_that_is_missing_in_all_rows_is_named(inside):
    write(inside / "test.parquet", forecasts() | {"sigma": np.full(400, np.nan)})
    assert refused("predict", "test.parquet", *WANTED, "out.csv") == (
        "test.parquet: column 'sigma' is missing in all 400 rows"
    )
    assert there(inside) == ["test.parquet"]


def test_a_word_among_the_numbers_of_a_csv_file_is_named(inside):
    test = write(inside / "test.csv", with_bad(12345.5, "mu"))
    test.write_text(test.read_text(encoding="utf-8").replace("12345.5", "a few"))
    said = refused("predict", "test.csv", *WANTED, "out.csv")
    assert said == "test.csv: column 'mu' must hold numbers, got 'a few' in row 170 (counting from 0)"
    assert there(inside) == ["test.csv"]


@pytest.mark.parametrize("value", ["a", True, [1.0]])
def test_columns_that_are_no_numbers_are_refused(inside, value):
    write(inside / "test.parquet", {"mu": [value] * 9, "sigma": [1.0] * 9})
    said = refused("predict", "test.parquet", *WANTED, "out.parquet")
    kind = parquet.read_schema("test.parquet").field("mu").type
    assert said == f"test.parquet: column 'mu' must hold numbers, got {kind} ({value!r}) in row 0 (counting from 0)"


def test_what_the_library_refuses_is_named_by_its_file(inside):
    write(inside / "cal.csv", {"mu": [-1.5e308, 0.0], "y": [1.5e308, 0.0]})
    said = run("fit", "cal.csv", "--point", "mu", "--target", "y", "-o", "n", code=1).stderr
    assert said.splitlines()[-1].startswith("error: cal.csv: the score of")


# ---- columns -------------------------------------------------------------------------------------------------------


def test_a_missing_column_is_named_with_the_nearest_or_with_all(inside):
    write(inside / "cal.parquet", forecasts())
    fit = "fit", "cal.parquet", "--target", "y", "-o", "n.safetensors"
    assert refused(*fit, "--point", "mue") == "cal.parquet: there is no column 'mue'; did you mean 'mu'?"
    assert refused(*fit, "--point", "forecast") == (
        "cal.parquet: there is no column 'forecast'; the columns are 'mu', 'sigma', 'y'"
    )
    assert "no column 'z*'" in refused(*fit, "--samples", "z*")
    assert "no column 'id'" in refused("predict", "cal.parquet", *WANTED, "out.csv", "--keep", "id")
    assert there(inside) == ["cal.parquet"]


def test_two_columns_of_one_name_are_refused(inside):
    twice = pa.table([pa.array([1.0]), pa.array([2.0]), pa.array([1.0])], names=["mu", "mu", "sigma"])
    parquet.write_table(twice, "test.parquet")
    assert refused("predict", "test.parquet", *WANTED, "o.csv").endswith("there are 2 columns named 'mu'")


def test_a_kept_column_must_not_have_the_name_of_a_new_one(inside):
    write(inside / "test.csv", {**forecasts(), "lower": forecasts()["mu"]})
    said = refused("predict", "test.csv", *WANTED, "out.csv", "--keep", "*")
    assert said == "test.csv: column 'lower' cannot be kept: a new column has the same name"


def test_the_target_cannot_be_its_own_prediction(inside):
    write(inside / "test.csv", forecasts())
    said = refused("fit", "test.csv", "--target", "y", "--point", "y", "-o", "n", code=2)
    assert "'y' is the target, and among the columns of the prediction too" in said


def test_a_column_that_begins_empty_can_be_kept_from_csv(inside):
    lines = ["mu,sigma,note", *["1,2,"] * 2000, "1,2,at last"]
    (inside / "test.csv").write_text("\n".join(lines) + "\n", encoding="utf-8")
    run("predict", "test.csv", *WANTED, "out.parquet", "--keep", "note")
    assert parquet.read_table("out.parquet")["note"].to_pylist()[-1] == "at last"


@pytest.mark.parametrize(("suffix", "read"), [("feather", feather.read_table), ("csv", csv.read_csv)])
def test_categories_that_differ_from_batch_to_batch_can_be_kept(inside, suffix, read):
    sites = [f"site {k // 7}" for k in range(400)]
    table = pa.table({**forecasts(), "site.name": pa.array(sites).dictionary_encode()})
    parquet.write_table(table, "test.parquet", row_group_size=100)
    run("predict", "test.parquet", *WANTED, f"out.{suffix}", "--keep", "site.name")
    assert read(f"out.{suffix}")["site.name"].to_pylist() == sites


# ---- files ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("suffix", ["csv", "parquet", "feather"])
def test_a_file_without_rows_is_refused(inside, suffix):
    write(inside / f"test.{suffix}", {name: column[:0] for name, column in forecasts().items()})
    assert refused("predict", f"test.{suffix}", *WANTED, "out.csv") == f"test.{suffix}: there are no rows"
    assert refused("evaluate", f"test.{suffix}", "-m", "m.safetensors") == f"test.{suffix}: there are no rows"


@pytest.mark.parametrize("suffix", sorted(FORMATS))
@pytest.mark.parametrize("content", [b"", b"\xff\x00 not a table \x01" * 100])
def test_a_file_that_is_no_table_is_refused(inside, suffix, content):
    (inside / f"test{suffix}").write_bytes(content)
    assert refused("predict", f"test{suffix}", *WANTED, "out.csv").startswith(f"test{suffix}: ")
    assert there(inside) == [f"test{suffix}"]


@pytest.mark.parametrize("suffix", ["parquet", "feather"])
def test_a_truncated_file_is_refused(inside, suffix):
    test = write(inside / f"test.{suffix}", forecasts())
    test.write_bytes(test.read_bytes()[:-100])
    said = refused("predict", test.name, *WANTED, "out.csv")
    assert said.startswith(f"test.{suffix}: this cannot be read as {suffix} (")


def test_a_csv_that_is_not_utf8_is_named(inside):
    (inside / "latin.csv").write_bytes("mu,sigma,y,größe\n1,1,1,1\n".encode("cp1252"))
    assert refused("evaluate", "latin.csv", "-m", "m.safetensors").startswith("latin.csv: this is not UTF-8")


def test_files_that_are_not_there_or_have_no_known_ending_are_named(inside):
    write(inside / "test.csv", forecasts())
    assert refused("predict", "nowhere.csv", *WANTED, "out.csv") == "nowhere.csv: there is no such file"
    assert refused("inspect", "nowhere") == "nowhere: no such file or directory"
    assert "calibrant file" in refused("inspect", "test.csv")
    for bad in ("out.xlsx", "out"):
        assert refused("predict", "test.csv", *WANTED, bad).startswith(f"{bad}: the name must end in one of .csv")
    assert refused("predict", "test.csv", *WANTED, "no/out.csv") == "no/out.csv: there is no folder no"
    assert there(inside) == ["test.csv"]


def test_notes_of_another_writer_are_refused(inside):
    write(inside / "test.csv", forecasts())
    for notes in (
        {"by": "someone"},
        {"columns": {"kind": "magic"}, "target": "y"},
        {"columns": {"kind": "point", "point": 3}, "target": "y"},
    ):
        save("n", load("m.safetensors"), notes=notes)
        said = refused("predict", "test.csv", "-m", "n", "--interval", "0.9", "-o", "out.csv")
        assert said == "n: its notes are not those of `calibrant fit`"


def test_a_folder_is_no_table_and_no_output(inside):
    (inside / "out.csv").mkdir()
    write(inside / "t.csv", forecasts())
    assert refused("predict", "t.csv", *WANTED, "out.csv") == "out.csv: this is a folder"
    none = "there is no file in this folder that ends in one of .csv, .csv.gz, .parquet, .pq, .feather, .arrow, .ipc"
    assert refused("evaluate", "out.csv", "-m", "m.safetensors") == f"out.csv: {none}"
    for command in ("fit", "report"):
        assert refused(command, "t.csv", *NORMAL, "-o", "out.csv") == "out.csv: is a directory"
        assert refused(command, "t.csv", *NORMAL, "-o", "no/x.html") == "no: no such file or directory"


def test_a_folder_of_files_is_one_table(inside):
    (inside / "parts").mkdir()
    table = forecasts()
    for part in range(2):
        half = {name: column[part::2] for name, column in table.items()}
        write(inside / "parts" / f"part.{part}.parquet", half)
    write(inside / "whole.parquet", {name: np.concatenate([each[::2], each[1::2]]) for name, each in table.items()})
    for file, out in (("parts", "a.csv"), ("whole.parquet", "b.csv")):
        run("predict", file, *WANTED, out, "--keep", "y")
    assert (inside / "a.csv").read_bytes() == (inside / "b.csv").read_bytes()


@on_posix
def test_a_pipe_is_neither_read_nor_replaced(inside):
    os.mkfifo("pipe.csv")
    write(inside / "test.parquet", forecasts())
    assert refused("predict", "pipe.csv", *WANTED, "o.csv") == "pipe.csv: this is a pipe or a device, not a file"
    assert "is a device or a pipe" in refused("predict", "test.parquet", *WANTED, "pipe.csv")
    assert (inside / "pipe.csv").is_fifo()


@on_posix
def test_names_that_are_not_utf_8_or_too_long_and_links_in_a_circle_get_a_sentence(inside):
    write(inside / "test.parquet", forecasts())
    odd = os.fsdecode(b"o\xff.csv")
    assert "the name of a file must be UTF-8" in refused("predict", "test.parquet", *WANTED, odd)
    assert "the name of a file must be UTF-8" in refused("predict", odd, *WANTED, "o.csv")
    assert "file name too long" in refused("predict", "test.parquet", *WANTED, "x" * 300 + ".csv")
    (inside / "loop.csv").symlink_to("loop.csv")
    many = "too many levels of symbolic links"
    assert refused("predict", "test.parquet", *WANTED, "loop.csv") == f"loop.csv: this cannot be written ({many})"
    assert refused("predict", "loop.csv", *WANTED, "o.csv") == f"loop.csv: this cannot be read as csv ({many})"


# ---- output --------------------------------------------------------------------------------------------------------


def test_what_is_read_is_never_written_over(inside):
    before = write(inside / "test.csv", forecasts()).read_bytes()
    for out in ("test.csv", "m.safetensors"):
        said = refused("predict", "test.csv", *WANTED, out, code=2)
        assert f"{out} is read, so it cannot be written over" in said
    refused("fit", "test.csv", *NORMAL, "-o", "test.csv", code=2)
    assert (inside / "test.csv").read_bytes() == before


@on_posix
def test_a_link_is_followed_unless_it_leads_to_what_is_read(inside):
    write(inside / "test.csv", forecasts())
    (inside / "link.csv").symlink_to("real.csv")
    (inside / "real.csv").write_text("old", encoding="utf-8")
    run("predict", "test.csv", *WANTED, "link.csv")
    assert (inside / "link.csv").is_symlink()
    assert csv.read_csv("real.csv").num_rows == 400
    (inside / "same.csv").symlink_to("test.csv")
    assert "cannot be written over" in refused("predict", "test.csv", *WANTED, "same.csv", code=2)


@pytest.mark.parametrize("which", [2, -1])
def test_a_full_disk_leaves_the_old_output(inside, monkeypatch, which):
    write(inside / "test.csv", forecasts())
    words = "predict", "test.csv", *WANTED, "out.parquet"
    run(*words)
    calls, groups = iter(range(100)), range(parquet.ParquetFile("out.parquet").num_row_groups)

    def full(*_):
        if next(calls) == groups[which]:
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(parquet.ParquetWriter, "write_batch", full)
    (inside / "out.parquet").write_text("old", encoding="utf-8")
    assert refused(*words) == "out.parquet: this cannot be written (no space left on device)"
    assert (inside / "out.parquet").read_text(encoding="utf-8") == "old"
    assert there(inside) == ["out.parquet", "test.csv"]


@on_posix
@pytest.mark.parametrize(("name", "code", "left"), [("SIGTERM", 143, 0), ("SIGKILL", -9, 1)])
def test_a_kill_in_the_middle_leaves_nothing_under_the_final_name(inside, name, code, left):
    n = 1_500_000
    parquet.write_table(pa.table({"mu": np.zeros(n), "sigma": np.ones(n)}), "test.parquet")
    words = [sys.executable, "-m", "calibrant", "predict", "test.parquet", *WANTED, "out.csv", "--keep", "*"]
    process = subprocess.Popen(words, stdout=subprocess.DEVNULL)
    while len(there(inside)) == 1 and process.poll() is None:
        time.sleep(0.001)
    process.send_signal(signal.Signals[name])
    assert process.wait() == code
    assert not (inside / "out.csv").exists()
    assert len(there(inside)) == 1 + left


@pytest.mark.parametrize("n", [1, 50, 51, 1234])
def test_predict_says_how_many_rows_it_wrote(inside, n):
    """Batches are of 50 rows here: one row, one batch, one more, many."""
    write(inside / "test.parquet", forecasts(n))
    said = run("predict", "test.parquet", *WANTED, "out.parquet", "--keep", "mu").stdout
    assert said == f"Wrote {n:,} {'row' if n == 1 else 'rows'} to out.parquet: mu, lower, upper.\n"
    assert parquet.read_metadata("out.parquet").num_rows == n


# ---- other dialects of csv -----------------------------------------------------------------------------------------


@pytest.fixture
def german(inside):
    """A file as a German spreadsheet exports it."""
    rows = [f"{k},5;{k + (-1) ** k * 0.25}".replace(".", ",") for k in range(30)]
    (inside / "de.csv").write_text("\n".join(["f;y", *rows]) + "\n", encoding="utf-8")


DIALECT = ["--delimiter", ";", "--decimal", ","]
FIT = ["--target", "y", "--point", "f", "-o", "n"]


def test_decimal_commas_are_read_and_written_when_asked_for(inside, german):
    run("fit", "de.csv", *FIT, *DIALECT)
    for out in ("out.csv", "out.parquet"):
        run("predict", "de.csv", "-m", "n", "--interval", "0.8", "--keep", "f", *DIALECT, "-o", out)
    text = (inside / "out.csv").read_text(encoding="utf-8")
    assert "." not in text
    assert '"' not in "".join(text.splitlines()[1:])
    options = csv.ParseOptions(delimiter=";"), csv.ConvertOptions(decimal_point=",")
    found = csv.read_csv("out.csv", parse_options=options[0], convert_options=options[1])
    assert found.equals(parquet.read_table("out.parquet"))
    assert as_json("evaluate", "de.csv", "-m", "n", *DIALECT)["n"] == 30


def test_files_of_another_dialect_are_told_the_flag(inside, german):
    said = refused("fit", "de.csv", *FIT)
    assert said.startswith("de.csv: this cannot be read as csv (CSV parse error: ")
    assert said.endswith("try --delimiter ';'")
    assert refused("fit", "de.csv", *FIT, "--delimiter", ";") == (
        "de.csv: column 'y' must hold numbers, got '0,25' in row 0 (counting from 0): try --decimal ,"
    )
    (inside / "commas.csv").write_text("f,y\n1,2\n", encoding="utf-8")
    assert refused("fit", "commas.csv", *FIT, "--delimiter", ";") == (
        "commas.csv: there is no column 'y'; the only one is 'f,y': try --delimiter ','"
    )
    (inside / "points.csv").write_text("f;y\n1;2\n1.5;2\n", encoding="utf-8")
    assert refused("fit", "points.csv", *FIT, *DIALECT) == (
        "points.csv: column 'f' must hold numbers, got '1.5' in row 1 (counting from 0): try --decimal ."
    )
    for flag in ("--delimiter", "--decimal"):
        assert f"{flag}: expected one character, got ';;'" in refused("fit", "de.csv", *FIT, flag, ";;", code=2)
