"""Every public name by one star, and the version without an installed package."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import calibrant

SOURCE = Path(calibrant.__file__).parents[1]


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


def test_a_star_brings_every_public_name_without_any_extra():
    names = starred(hidden=("matplotlib", "pyarrow", "dask", "torch", "pandas"))
    assert names == set(calibrant.__all__) - {"__version__"}
    assert {"CalibratedRegressor", "neg_crps", "report", "Calibrator", "NAF", "load", "scores"} <= names
    assert not names & {"plots", "dask", "spark"}  # one needs an extra, two are names that users have already


def test_there_is_a_version_without_an_installed_package():
    code = """
from importlib import metadata

def version(name):
    raise metadata.PackageNotFoundError(name)

metadata.version = version
import calibrant
print(calibrant.__version__)
"""
    assert run("-c", code) == ["0+unknown"]
