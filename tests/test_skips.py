"""What conftest.py does: a library that is not installed skips what needs it; of few cases the others are slow."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
NEEDS = "raise ModuleNotFoundError('no torch', name={name!r})"


def outcome(folder, source, *options):
    (folder / "test_it.py").write_text(source, encoding="utf-8")
    command = [sys.executable, "-m", "pytest", "-p", "conftest", "-q", "-rs", "-p", "no:cacheprovider", *options, "."]
    return subprocess.run(
        command, cwd=folder, env={**os.environ, "PYTHONPATH": str(ROOT)}, capture_output=True, text=True, check=False
    ).stdout


@pytest.mark.few(1)
@pytest.mark.parametrize("where", ["file", "test"])
def test_a_library_that_is_not_installed_skips_what_needs_it(tmp_path, where):
    raising = NEEDS.format(name="torch.nn")
    source = raising if where == "file" else f"def test_one():\n    {raising}\n"
    said = outcome(tmp_path, source)
    assert "torch is not installed" in said
    assert "1 skipped" in said
    assert "torch is not installed" not in outcome(tmp_path, source, "--complete")


def test_a_name_that_is_no_library_of_ours_is_an_error(tmp_path):
    said = outcome(tmp_path, f"def test_one():\n    {NEEDS.format(name='calibrant.scoers')}\n")
    assert "1 failed" in said


@pytest.mark.slow
def test_a_package_without_a_version_is_called_by_what_it_is_imported_as(tmp_path):
    asked = "from importlib.metadata import PackageNotFoundError as Lost\n\ndef test_one():\n    raise Lost({!r})\n"
    for package, module in (("uncertainty-toolbox", "uncertainty_toolbox"), ("scikit-learn", "sklearn")):
        assert f"{module} is not installed" in outcome(tmp_path, asked.format(package))


MANY = """
import pytest

@pytest.mark.few
@pytest.mark.parametrize("a", "xyz")
@pytest.mark.parametrize("b", "uv")
def test_product(a, b):
    pass

@pytest.mark.few(1)
@pytest.mark.parametrize("a", [5, 6, 7])
def test_first(a):
    pass
"""


def test_few_cases_are_the_first_or_have_every_value_once(tmp_path):
    said = outcome(tmp_path, MANY, "-o", "markers=slow\nfew", "--collect-only", "-m", "not slow")
    assert re.findall("::(.*)", said) == [
        "test_product[u-x]",
        "test_product[u-z]",
        "test_product[v-y]",
        "test_first[5]",
    ]
