"""Help, wrong usage, errors and warnings, progress: what every command does alike."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import warnings

import pytest
import typer
from commands import app, forecasts, refused, run, write
from typer.testing import CliRunner

from calibrant import cli
from calibrant._words import about
from calibrant.cli.app import HELP, load
from calibrant.cli.console import reported, show_statement, spinner
from calibrant.cli.options import Csv
from calibrant.cli.reading import opened
from calibrant.judging.words import Statement

NORMAL = ["--target", "y", "--mean", "mu", "--std", "sigma"]


@pytest.fixture
def inside(tmp_path, monkeypatch):
    """A folder with a table and a model."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "cal.parquet", forecasts())
    run("fit", "cal.parquet", *NORMAL, "-o", "m.safetensors")
    return tmp_path


@pytest.mark.parametrize("command", HELP)
def test_every_help_page_has_examples_that_fit_into_80_columns(command, monkeypatch):
    monkeypatch.setenv("COLUMNS", "80")
    lines = run(command, "--help").stdout.splitlines()
    examples = [line.strip() for line in lines if line.startswith(f" calibrant {command}")]
    assert len(examples) >= 2
    assert all(len(line) <= 80 for line in lines)
    after = lines[lines.index(next(line for line in lines if "Examples:" in line)) + 1 :]
    assert [line.strip() for line in after if line.strip()] == examples  # none is broken in two


def test_a_command_begins_its_help_as_the_list_of_commands_has_it():
    assert {name: load(name).help.split(": rows of")[0].split(". ")[0].split("\n")[0].rstrip(".") for name in HELP} == {
        name: words.rstrip(".") for name, words in HELP.items()
    }


HEAVY = {"torch", "polars", "matplotlib"}
FOR_JUDGING = {"sklearn", "pandas", "scipy.stats"}


@pytest.mark.parametrize(
    ("words", "also"),
    [
        (["--help"], {*FOR_JUDGING, "pyarrow"}),
        (["predict", "cal.parquet", "-m", "m.safetensors", "--interval", "0.9", "-o", "out.parquet"], FOR_JUDGING),
        (["evaluate", "cal.parquet", "-m", "m.safetensors"], set()),
    ],
    ids=lambda each: each[0] if isinstance(each, list) else "",
)
def test_the_command_line_loads_no_library_that_it_does_not_need(inside, words, also):
    code = (
        f"import sys\nfrom calibrant.cli import main\ntry:\n    main({words!r})\nexcept SystemExit as end:\n"
        f"    print(end.code, *sorted({HEAVY | also!r} & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
    assert done.stdout.splitlines()[-1] == "0"


def test_python_m_calibrant_is_the_command_line(inside):
    code = [sys.executable, "-m", "calibrant"]
    done = subprocess.run([*code, "inspect", "m.safetensors", "--json"], check=True, capture_output=True, text=True)
    assert json.loads(done.stdout)["n"] == 400
    assert not done.stderr
    done = subprocess.run([*code, "--version"], check=True, capture_output=True, text=True)
    assert done.stdout.strip().count(".") >= 1


def test_without_its_libraries_the_command_line_says_what_to_install(monkeypatch, capsys):
    monkeypatch.setattr("calibrant._arguments.find_spec", lambda name: None if name == "typer" else name)
    with pytest.raises(SystemExit) as end:
        cli.main([])
    assert end.value.code == 1
    assert capsys.readouterr().err == "error: the command line needs typer: pip install 'calibrant[cli]'\n"


# ---- wrong usage ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "sentence"),
    [
        ("fit a.csv --taget y", "there is no option --taget; did you mean --target? (see calibrant fit --help)"),
        ("predict a.csv", "missing option '--model' / '-m' (see calibrant predict --help)"),
        ("fot", "no such command 'fot'. Did you mean 'fit'? (see calibrant --help)"),
        ("fit a.csv --target y --target z", "--target was given 2 times, and only one can count (see calibrant fit"),
        ("fit a.csv --target y --mean mu -o m", "--mean needs --std too"),
        ("fit a.csv --target y -o m", "name the columns of the prediction with one of --point, --rate, --mean and"),
        ("fit a.csv --target y --quantiles a,b -o m", "expected names and levels, as in q05:0.05,q50:0.5"),
        ("fit a.csv --target y --quantiles a:0.1,b:1 -o m", "the levels must differ and lie inside (0, 1)"),
        ("predict cal.parquet -m m.safetensors -o o.csv", "say what to write, with --quantiles, --interval, --prob"),
        ("predict cal.parquet -m m.safetensors --quantiles 0.1,x -o o.csv", "strictly inside (0, 1), got 'x'"),
        ("predict cal.parquet -m m.safetensors --quantiles 0.1,0.10 -o o.csv", "--quantiles: give each number once"),
        ("predict cal.parquet -m m.safetensors --interval 90 -o o.csv", "inside (0, 1), got '90': did you mean 0.9?"),
        ("predict cal.parquet -m m.safetensors --probabilities a,1 -o o.csv", "expected numbers, got 'a,1'"),
        ("predict cal.parquet -m m.safetensors --quantiles 0.9 --joint -o o.csv", "--joint: it is for --interval"),
        ("predict cal.parquet -m m.safetensors --interval 0.9 --joint -o o.csv", "m.safetensors holds one label"),
        ("predict cal.parquet -m m.safetensors --interval 0.9 --rate mu -o o.csv", "fitted on a normal distribution"),
        ("predict cal.parquet -m m.safetensors --interval 0.9 --seed -1 -o o.csv", "'--seed'"),
        ("evaluate cal.parquet -m m.safetensors --coverage nan", "expected a number strictly inside (0, 1), got nan"),
        ("evaluate cal.parquet -m m.safetensors --labels counts", "--labels: the model knows what the labels are"),
        ("evaluate cal.parquet --target y", "--model: name the model file that fit wrote; or, to judge"),
        ("evaluate cal.parquet --point mu", "--target: without --model the column of the labels must be named"),
        ("evaluate cal.parquet --target y --point mu --labels 0:mu", "--labels: 0:mu needs a column for each row"),
        ("monitor cal.parquet -m m.safetensors --threshold 1", "--threshold: expected a number above 1, got 1"),
    ],
)
def test_wrong_usage_is_one_sentence_ends_with_2_and_writes_nothing(inside, line, sentence):
    assert sentence in refused(*line.split(), code=2)
    assert sorted(path.name for path in inside.iterdir()) == ["cal.parquet", "m.safetensors"]


def test_no_command_shows_the_help():
    assert "COMMAND [ARGS]..." in run(code=2).output


def test_a_switch_may_be_given_twice(inside):
    assert (
        run("inspect", "m.safetensors", "--json", "--json").stdout == run("inspect", "m.safetensors", "--json").stdout
    )


# ---- errors and warnings -------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "line",
    [
        "inspect m",
        "fit a.csv --target y --point f -o m",
        "predict a.csv -m m --interval 0.9 -o out.csv",
        "evaluate a.csv -m m",
        "report a.csv -m m -o r.html",
        "update m a.csv -o n",
        "monitor a.csv -m m",
        "horizons a.csv -o m",
    ],
)
def test_the_traceback_is_shown_for_debug_only(tmp_path, monkeypatch, line):
    monkeypatch.chdir(tmp_path)  # where there is no file
    said = run(*line.split(), code=1).stderr
    assert re.fullmatch(r"error: (a\.csv|m): (there is )?no such file( or directory)?\n", said)
    debugged = CliRunner().invoke(app, [*line.split(), "--debug"]).stderr
    assert debugged.startswith("Traceback")
    assert debugged.endswith(said)


@pytest.mark.parametrize(
    ("problem", "code", "sentence"),
    [
        (RuntimeError("what is this"), 1, "unexpected RuntimeError: what is this (run with --debug to see where)"),
        (MemoryError(), 1, "there is not enough memory for this"),
        (KeyboardInterrupt(), 130, "interrupted"),
        (ValueError("the first line.\nthe second"), 1, "the first line."),
        (PermissionError(13, "Permission denied", "a.csv"), 1, "a.csv: permission denied"),
        (about("by", ValueError("of no group")), 1, "of no group (--by)"),
        (about("unseen", ValueError("of no group")), 1, "of no group (calibrant fit --unseen pooled)"),
    ],
)
def test_whatever_happens_is_one_sentence(inside, monkeypatch, problem, code, sentence):
    def fail(*_):
        raise problem

    monkeypatch.setattr("calibrant.cli.model.Model.read", fail)
    assert refused("inspect", "m.safetensors", code=code) == sentence


def test_the_argument_of_an_error_is_found_behind_the_one_that_names_the_file(capsys):
    error = ValueError("a.csv: no weights")
    error.__cause__ = about("weights", TypeError("no weights"))
    with pytest.raises(typer.Exit), reported(debug=False):
        raise error
    assert capsys.readouterr().err == "error: a.csv: no weights (--weights)\n"


def test_a_warning_is_said_once_in_a_command(capsys):
    for _ in range(2):  # and again in the next
        with reported(debug=False):
            for words in ("the first", "the second", "the first"):
                warnings.warn(words, stacklevel=1)
            warnings.warn(about("score", UserWarning("the last")), stacklevel=1)
        said = capsys.readouterr().err.splitlines()
        assert said == ["warning: the first", "warning: the second", "warning: the last (--score NAME:NUMBER)"]


# ---- progress ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("terminal", "large", "drawn"), [(True, 1, True), (False, 1, False), (True, 2**20, False)])
def test_a_large_file_has_a_bar_on_stderr_where_that_is_a_terminal(inside, capsys, monkeypatch, terminal, large, drawn):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    monkeypatch.setattr("calibrant.cli.reading.LARGE", large)
    with opened(inside / "cal.parquet", Csv()) as table:
        assert sum(len(batch) for batch in table.batches(["mu"])) == 400
    out, err = capsys.readouterr()
    assert not out
    assert ("reading" in err, "400/400" in err) == (drawn, drawn)


@pytest.mark.parametrize("terminal", [False, True])
def test_work_of_unknown_length_has_a_spinner_on_stderr_where_that_is_a_terminal(capsys, monkeypatch, terminal):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setattr(sys.stderr, "isatty", lambda: terminal)
    with spinner("calibrating"):
        pass
    out, err = capsys.readouterr()
    assert not out
    assert ("calibrating" in err) == terminal


def test_the_tag_of_a_verdict_is_coloured_where_stdout_is_a_terminal(capsys, monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.delenv("NO_COLOR", raising=False)
    statement = Statement("bad", "It is off. Mend it.")
    show_statement(statement)
    assert capsys.readouterr().out == "[problem] It is off. Mend it.\n"
    monkeypatch.setattr(sys.stdout, "isatty", lambda: True)
    show_statement(statement)
    shown = capsys.readouterr().out
    assert re.sub(r"\x1b\[[\d;]*m", "", shown) == "[problem] It is off. Mend it.\n"
    assert re.match(r"\x1b\[[\d;]*m\[problem\]\x1b\[0m It is off", shown)
