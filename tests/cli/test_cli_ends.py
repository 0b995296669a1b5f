"""How a run ends: exit codes, signals, streams that are full, closed, or that lack characters."""

from __future__ import annotations

import io
import os
import signal
import subprocess
import sys

import pytest
from commands import forecasts, refused, run, write
from systems import on_posix, with_full_device

import calibrant
from calibrant import cli
from calibrant.cli.exit import Terminated, clean_exit, say

COMMANDS = {
    "version": ["--version"],
    "help": ["--help"],
    "inspect": ["inspect", "m"],
    "evaluate": ["evaluate", "test.parquet", "-m", "m"],
    "predict": ["predict", "test.parquet", "-m", "m", "--interval", "0.9", "-o", "out.csv"],
}
all_that_print = pytest.mark.parametrize("words", COMMANDS.values(), ids=COMMANDS)


@pytest.fixture(autouse=True)
def inside(tmp_path, monkeypatch):
    """A folder with a table and a model; SIGTERM is after the test what it was."""
    monkeypatch.chdir(tmp_path)
    write(tmp_path / "test.parquet", forecasts(60))
    run("fit", "test.parquet", "--target", "y", "--mean", "mu", "--std", "sigma", "-o", "m")
    before = signal.signal(signal.SIGTERM, signal.SIG_IGN)
    yield tmp_path
    signal.signal(signal.SIGTERM, before)


def typed(words, before=(), **options):
    """A command in a process of its own, as a shell runs it: its exit code and what it says on stderr."""
    kept = {name: value for name, value in os.environ.items() if name != "PYTHONUNBUFFERED"}
    options = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "env": kept, "timeout": 60, **options}
    command = [*before, sys.executable, "-m", "calibrant", *map(str, words)]
    done = subprocess.run(command, check=False, text=True, **options)
    return done.returncode, done.stderr


@pytest.mark.few(2)
@with_full_device
@all_that_print
def test_a_full_disk_behind_standard_output_is_one_sentence(words):
    with open("/dev/full", "w", encoding="utf-8") as full:
        for more in ({}, {"PYTHONUNBUFFERED": "1"}):
            found = typed(words, stdout=full, env={**os.environ, **more})
            assert found == (1, "error: standard output: no space left on device\n")


@pytest.mark.few(1)
@with_full_device
@pytest.mark.parametrize(("words", "code"), [(["inspect", "nothing"], 1), (["inspect", "--no"], 2)])
def test_a_full_disk_behind_standard_error_changes_no_exit_code(words, code):
    with open("/dev/full", "w", encoding="utf-8") as full:
        assert typed(words, stderr=full)[0] == code


@pytest.mark.few(2)
@on_posix
@all_that_print
def test_a_reader_that_went_away_is_no_traceback(words):
    reading, writing = os.pipe()
    os.close(reading)
    assert typed(words, stdout=writing) == (1, "")
    os.close(writing)


@pytest.mark.few(2)
@on_posix
@pytest.mark.parametrize("stream", [1, 2])
@all_that_print
def test_a_stream_that_is_closed_does_no_harm(words, stream):
    assert typed(words, ["sh", "-c", f'exec "$@" {stream}>&-', "sh"]) == (0, "")


@pytest.mark.few(1)
@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_that_is_not_utf_8_gets_what_it_can_show(encoding):
    env = {**os.environ, "PYTHONIOENCODING": encoding, "PYTHONUTF8": "0"}
    for words in (*COMMANDS.values(), ["report", "test.parquet", "-m", "m", "-o", "r.html"]):
        code, said = typed(words, env=env)
        assert code == 0, said


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
    words = [sys.executable, "-c", STOPPED, str(int(number))]
    found = subprocess.run(words, check=False, capture_output=True, text=True)
    assert (found.returncode, found.stderr) == (code, said)


def test_a_command_that_is_stopped_leaves_nothing_half_written(inside, monkeypatch):
    def stopped(*_):
        raise Terminated

    monkeypatch.setattr("calibrant.tables.columns.Normal", stopped)
    said = run(*COMMANDS["predict"], code=143)
    assert said.output == ""
    assert sorted(os.listdir(inside)) == ["m", "test.parquet"]


def test_the_demo_ends_as_the_command_that_was_stopped_in_it(tmp_path, monkeypatch):
    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("calibrant.cli.model.Model.read", stopped)
    assert "error: interrupted" in run("demo", "--to", tmp_path / "demo", code=130).stderr


@on_posix
def test_the_demo_neither_waits_for_a_pipe_nor_replaces_it(tmp_path):
    os.mkdir("demo")
    os.mkfifo("demo/cal.parquet")
    said = refused("demo", "--to", "demo")
    assert "is a device or a pipe" in said


# ---- in this process -----------------------------------------------------------------------------------------------


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
def test_what_stops_the_program_from_outside_is_an_exit_code(capsys, problem, code, said):
    with pytest.raises(SystemExit) as end, clean_exit():
        raise problem
    assert (end.value.code, capsys.readouterr()) == (code, ("", said))


def test_sigterm_unwinds_the_program():
    cleaned = []

    def stopped():
        try:
            signal.raise_signal(signal.SIGTERM)
        finally:
            cleaned.append(True)

    with pytest.raises(SystemExit) as end, clean_exit():
        stopped()
    assert (end.value.code, cleaned) == (143, [True])


def test_streams_that_were_closed_swallow_all(monkeypatch):
    for name in ("stdout", "stderr"):
        monkeypatch.setattr(sys, name, None)  # as Python has it after >&- in a shell
    with clean_exit():
        print("nobody reads this")
        say("nor that")
    for stream in (sys.stdout, sys.stderr):
        assert stream.name == os.devnull
        stream.close()


def test_what_a_stream_cannot_show_is_spelt_plainly_and_a_number_keeps_its_sign(monkeypatch):
    shown = {name: io.TextIOWrapper(io.BytesIO(), encoding="ascii") for name in ("stdout", "stderr")}
    for name, stream in shown.items():
        monkeypatch.setattr(sys, name, stream)
    with clean_exit():
        print("−1.5 ± 2, ε")
        say("3 ≤ 4²")
    shown["stderr"].flush()
    monkeypatch.undo()
    assert [stream.buffer.getvalue().split() for stream in shown.values()] == [
        [b"-1.5", b"+/-", b"2,", b"?"],
        [b"3", b"<=", b"4^2"],
    ]
    with pytest.raises(UnicodeDecodeError):  # what is read is never guessed
        b"\xe4".decode("ascii", "calibrant")


def test_main_ends_with_the_code_of_the_command(capsys, monkeypatch):
    def ended(*words):
        with pytest.raises(SystemExit) as end:
            cli.main(words or None)
        return end.value.code, capsys.readouterr()

    code, shown = ended("inspect", "m")
    assert (code, shown.err) == (0, "")
    assert "ZScore" in shown.out
    assert ended("inspect", "nowhere") == (1, ("", "error: nowhere: no such file or directory\n"))
    code, shown = ended("inspect")
    assert (code, shown.out) == (2, "")
    assert shown.err.endswith("(see calibrant inspect --help)\n")
    monkeypatch.setattr(sys, "argv", ["calibrant", "--version"])
    assert ended() == (0, (f"{calibrant.__version__}\n", ""))
