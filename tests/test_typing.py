"""What a user's type checker is told: right calls pass, wrong ones are named, and few places say nothing."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent / "typing"
SOURCE = Path(__file__).parents[1] / "src"
CONFIG = "[mypy]\nstrict = true\n[mypy-calibrant.*]\nfollow_imports = silent\nignore_errors = true\n"


@pytest.fixture(scope="module")
def complaints(tmp_path_factory):
    """What mypy --strict says of the users' files: the lines with an error, by file."""
    pytest.importorskip("mypy")
    pytest.importorskip("polars")
    pytest.importorskip("torch")
    pytest.importorskip("dask")
    folder = tmp_path_factory.mktemp("user")
    (folder / "mypy.ini").write_text(CONFIG, encoding="utf-8")
    files = [HERE / name for name in ("good.py", "on_torch.py", "starred.py", "swapped.py")]
    command = [sys.executable, "-m", "mypy", "--config-file", folder / "mypy.ini", "--cache-dir", folder / "cache"]
    environment = {"MYPYPATH": str(SOURCE), "PATH": ""}
    run = subprocess.run([*command, *files], cwd=folder, env=environment, capture_output=True, text=True, check=False)
    assert "Found " in run.stdout, run.stdout + run.stderr
    found = re.findall(r"(\w+\.py):(\d+): error: (.*)", run.stdout)
    return {file.name: {int(line): said for name, line, said in found if name == file.name} for file in files}


@pytest.mark.slow
@pytest.mark.parametrize("name", ["good.py", "on_torch.py", "starred.py"])
def test_what_users_write_passes(complaints, name):
    assert complaints[name] == {}


@pytest.mark.slow
def test_every_wrong_call_is_named_and_no_other_line(complaints):
    lines = (HERE / "swapped.py").read_text(encoding="utf-8").splitlines()
    wrong = {number for number, line in enumerate(lines, 1) if line.endswith("# wrong")}
    assert len(wrong) == 60
    assert set(complaints["swapped.py"]) == wrong


@pytest.mark.slow
def test_the_places_that_say_nothing_are_those_that_are_listed():
    for name in ("dask", "narwhals", "pyarrow", "sklearn", "matplotlib", "jinja2"):
        pytest.importorskip(name)
    command = [sys.executable, HERE / "public_any.py"]
    *found, count = subprocess.run(command, check=True, capture_output=True, text=True).stdout.splitlines()
    listed = (HERE / "public_any.txt").read_text(encoding="utf-8").splitlines()
    assert set(found) == {line for line in listed if line and not line.startswith("#")}
    page = (Path(__file__).parents[1] / "docs" / "api" / "typing.md").read_text(encoding="utf-8")
    assert f"{count} public" in " ".join(page.replace(",", "").split())
