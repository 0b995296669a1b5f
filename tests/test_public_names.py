"""Every public name by one star, the version without an installed package, and names that go away."""

from __future__ import annotations

import ast
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import calibrant
from calibrant._deprecation import deprecate

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


def test_an_old_name_warns_at_the_users_line_and_gives_the_new_one(monkeypatch):
    monkeypatch.setitem(calibrant._RENAMED, "Recalibrator", ("Calibrator", "0.2", "0.4"))
    with pytest.warns(DeprecationWarning, match="is deprecated since") as caught:
        assert calibrant.Recalibrator is calibrant.Calibrator
    (warning,) = caught
    assert str(warning.message) == (
        "calibrant.Recalibrator is deprecated since 0.2 and will be gone in 0.4: write calibrant.Calibrator"
    )
    assert warning.filename == __file__
    assert "Recalibrator" not in dir(calibrant)


def test_every_old_name_leads_to_one_that_is_there_and_warns_long_enough():
    for old in calibrant._RENAMED:
        with pytest.warns(DeprecationWarning, match="is deprecated since"):
            assert getattr(calibrant, old) is not None


@pytest.mark.parametrize("gone", ["0.2", "0.3", "0.1"])
def test_a_name_that_goes_away_sooner_is_an_error_of_ours(gone):
    with pytest.raises(
        ValueError, match=f"must warn for two minor versions, got one deprecated in 0.2 and gone in {gone}"
    ):
        deprecate("a", "b", "0.2", gone)


@pytest.mark.parametrize(("since", "gone"), [("0.2", "0.4"), ("0.9", "1.0"), ("1.9", "1.11")])
def test_two_minor_versions_or_a_major_one_are_long_enough(since, gone):
    with pytest.warns(DeprecationWarning, match=f"since {since} and will be gone in {gone}"):
        deprecate("a", "b", since, gone)


def test_a_version_that_is_none_is_named():
    with pytest.raises(ValueError, match=r"versions must look like 0\.2, got 'soon' and '0.4'"):
        deprecate("a", "b", "soon", "0.4")
