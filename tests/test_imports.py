"""`import calibrant` loads nothing yet; calibrating loads numpy and scipy.special, and nothing that only some need."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

import calibrant

HEAVY = ["torch", "sklearn", "pandas", "matplotlib", "scipy.stats"]


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def loaded_by(statement):
    return set(json.loads(run(f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))")))


def test_import_calibrant_loads_no_library_at_all():
    assert not loaded_by("import calibrant").intersection([*HEAVY, "numpy", "scipy"])


@pytest.mark.parametrize("name", sorted(calibrant.__all__))
def test_every_public_name_is_there_when_it_is_asked_for(name):
    assert getattr(calibrant, name) is not None
    assert name in dir(calibrant)


def test_calibrating_loads_no_heavy_library():
    job = "import calibrant; calibrant.Calibrator().fit([1.0, 2.0, 4.0], [1.5, 2.5, 3.0])([2.0]).crps(1.0)"
    assert not loaded_by(job).intersection(HEAVY)


def test_the_list_of_heavy_libraries_is_seen_when_they_are_loaded():
    assert loaded_by("import scipy.stats").intersection(HEAVY) == {"scipy.stats"}


def seconds(statement):
    """Processor time, which other jobs on the machine do not lengthen."""
    return float(run(f"{statement}\nimport time; print(time.process_time())"))


@pytest.mark.slow
def test_loading_the_calibrator_takes_at_most_half_as_long_again_as_what_it_builds_on():
    """The best of ten interleaved runs each."""
    ours, theirs = "from calibrant import Calibrator", "import numpy, scipy.special, sklearn.base"
    runs = [(seconds(ours), seconds(theirs)) for _ in range(10)]
    calibrator, base = (min(column) for column in zip(*runs, strict=True))
    assert calibrator <= 1.5 * base, f"{calibrator:.3f} s against {base:.3f} s"


@pytest.mark.parametrize(
    ("statement", "library", "extra"),
    [
        ("import calibrant.plots", "matplotlib", "plots"),
        ("from calibrant import plots", "matplotlib", "plots"),
        ("import calibrant.tables", "pyarrow", "tables"),
        ("import calibrant.tables.dask", "dask", "dask"),
    ],
)
def test_a_library_that_is_not_there_is_named_with_its_extra(statement, library, extra):
    hidden = f"import importlib.util, sys; sys.modules[{library!r}] = None; find = importlib.util.find_spec"
    blind = f"importlib.util.find_spec = lambda name, *rest: None if name == {library!r} else find(name, *rest)"
    job = f"{hidden}\n{blind}\ntry:\n    {statement}\nexcept ModuleNotFoundError as error:\n    print(error)"
    assert f"needs {library}: pip install 'calibrant[{extra}]'" in run(job)
