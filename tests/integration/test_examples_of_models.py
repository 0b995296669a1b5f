"""The examples run, are short, and print a calibrated interval."""

from __future__ import annotations

import ast
import runpy
from pathlib import Path

import pytest

pytestmark = pytest.mark.integration

EXAMPLES = sorted((Path(__file__).parents[2] / "examples" / "models").glob("with_*.py"), key=lambda path: path.name)


def test_every_adapter_has_an_example():
    from calibrant.models.dispatch import LIBRARIES

    imported = " ".join(path.read_text(encoding="utf-8") for path in EXAMPLES)
    assert [library for library in LIBRARIES if library not in imported] == []


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_is_at_most_ten_lines(path):
    code = ast.parse(path.read_text(encoding="utf-8"))
    lines = {node.lineno for node in ast.walk(code) if isinstance(node, ast.stmt)} - {code.body[0].lineno}
    assert len(lines) <= 10


@pytest.mark.parametrize("path", EXAMPLES, ids=lambda path: path.stem)
def test_it_prints_an_interval(path, capsys):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names = [alias.name for alias in node.names] if isinstance(node, ast.Import) else []
        names += [node.module] if isinstance(node, ast.ImportFrom) else []
        for name in names:
            pytest.importorskip(name, reason=f"{name} is not installed")
    runpy.run_path(str(path))
    lower, upper = _printed(capsys.readouterr().out)
    assert len(lower) == len(upper) == 5
    assert all(a < b for a, b in zip(lower, upper, strict=True))


def _printed(text):
    import numpy as np

    scope = {"array": np.asarray, "tensor": np.asarray}
    return eval(text, scope)
