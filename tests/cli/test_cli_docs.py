"""The examples of the command line in the documentation print what the pages say."""

from __future__ import annotations

import doctest
import re
import shlex
from pathlib import Path

import pytest
from typer.testing import CliRunner

from calibrant.cli.app import app

DOCS = Path(__file__).parents[2] / "docs"
PAGES = {"command-line.md": 9, "five-minutes.md": 2}
"""And how many commands each has, at least."""


def examples(page):
    """Each command of a page that is shown with what it prints, and that."""
    text = (DOCS / page).read_text(encoding="utf-8")
    for block in re.findall(r"^```\n(\$ .*?)^```$", text, re.MULTILINE | re.DOTALL):
        for part in re.split(r"^\$ ", block, flags=re.MULTILINE)[1:]:
            command, _, output = part.replace("\\\n", " ").partition("\n")
            yield shlex.split(command), output


def printed(words, folder):
    """What a command prints; of the shell's own, the two that the page has."""
    if words[0] == "calibrant":
        return CliRunner().invoke(app, words[1:], prog_name="calibrant").output
    if words[0] == "ls":
        return "  ".join(sorted(path.name for path in folder.iterdir()))
    assert words[:2] == ["head", "-3"]
    return "".join((folder / words[2]).read_text(encoding="utf-8").splitlines(keepends=True)[:3])


@pytest.fixture(scope="module")
def demo(tmp_path_factory):
    folder = tmp_path_factory.mktemp("demo")
    done = CliRunner().invoke(app, ["demo", "--to", str(folder)])
    assert done.exit_code == 0, done.output
    return folder


@pytest.mark.parametrize("page", PAGES)
def test_the_examples_print_what_the_page_says(demo, monkeypatch, page):
    monkeypatch.chdir(demo)
    monkeypatch.setenv("COLUMNS", "90")
    checker, flags = doctest.OutputChecker(), doctest.ELLIPSIS | doctest.NORMALIZE_WHITESPACE
    ran = 0
    for words, wanted in examples(page):
        if words[0] == "cd" or words[1:2] == ["demo"]:
            continue
        got = printed(words, demo)
        assert checker.check_output(wanted, got, flags), f"{shlex.join(words)}\n{got}"
        ran += 1
    assert ran >= PAGES[page]
