"""Every public name by one star, and the version without an installed package."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant

SOURCE = Path(calibrant.__file__).parents[1]
EXTRAS = ("jinja2", "matplotlib", "narwhals", "pandas", "sklearn", "torch")


def run(*arguments):
    return subprocess.run([sys.executable, *arguments], check=True, capture_output=True, text=True).stdout.split()


def starred(hidden=()):
    """What `from calibrant import *` brings, where some libraries are not installed."""
    code = f"""
import sys
sys.path.insert(0, {str(SOURCE)!r})

class Hidden:
    def find_spec(name, path=None, target=None):
        if name in {hidden!r}:
            raise ModuleNotFoundError(name, name=name)

sys.meta_path.insert(0, Hidden)
names = {{}}
exec("from calibrant import *", names)
print(*(name for name in names if not name.startswith("__")))
"""
    return set(run("-c", code))


@pytest.mark.slow
def test_a_star_brings_every_public_name_with_all_extras():
    for library in EXTRAS:
        pytest.importorskip(library)
    assert starred() == set(dir(calibrant)) - {"__version__", "dask", "spark"}  # names that users have already
    assert {"CalibratedRegressor", "neg_crps", "report", "plots", "Calibrator"} <= starred()


def test_a_type_checker_is_told_of_the_names_that_a_star_brings():
    """By a list that stands in the source, since what `__getattr__` gives is not seen there."""
    tree = ast.parse((SOURCE / "calibrant" / "__init__.py").read_text(encoding="utf-8"))
    (told,) = (
        ast.literal_eval(node.value)
        for node in ast.walk(tree)
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__"
    )
    assert sorted(told) == sorted(set(dir(calibrant)) - {"__version__", "dask", "spark"})


def test_a_star_leaves_out_what_needs_an_extra_that_is_not_installed():
    core = starred(hidden=EXTRAS)
    assert {"Calibrator", "Normal", "NAF", "evaluate", "load", "scores"} <= core
    assert not core & {"CalibratedRegressor", "neg_crps", "report", "reports", "plots"}


def test_there_is_a_version_without_an_installed_package(tmp_path):
    shutil.copytree(SOURCE / "calibrant", tmp_path / "calibrant")
    code = f"import sys; sys.path.insert(0, {str(tmp_path)!r}); import calibrant; print(calibrant.__version__)"
    assert run("-S", "-c", code) == ["0+unknown"]  # -S: without site-packages
