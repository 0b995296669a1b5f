"""`import calibrant` is light: it loads numpy and scipy.special, and nothing that only some users need."""

from __future__ import annotations

import json
import subprocess
import sys

HEAVY = ["torch", "sklearn", "pandas", "matplotlib", "scipy.stats"]


def run(code):
    return subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True).stdout


def loaded_by(statement):
    return set(json.loads(run(f"import json, sys\n{statement}\nprint(json.dumps(sorted(sys.modules)))")))


def test_import_calibrant_loads_no_heavy_library():
    assert not loaded_by("import calibrant").intersection(HEAVY)


def test_the_modules_of_the_core_load_no_heavy_library():
    modules = (
        "calibrant.scores, calibrant.interpolators, calibrant.distributions, calibrant.predictions, calibrant.testing"
    )
    assert not loaded_by(f"import {modules}").intersection(HEAVY)


def test_calibrating_loads_no_heavy_library():
    job = "import calibrant; calibrant.Calibrator().fit([1.0, 2.0, 4.0], [1.5, 2.5, 3.0])([2.0]).crps(1.0)"
    assert not loaded_by(job).intersection(HEAVY)


def test_the_list_of_heavy_libraries_is_seen_when_they_are_loaded():
    assert loaded_by("import scipy.stats").intersection(HEAVY) == {"scipy.stats"}


def seconds(statement):
    """Processor time, which other jobs on the machine do not lengthen."""
    used = "r = resource.getrusage(resource.RUSAGE_SELF); print(r.ru_utime + r.ru_stime)"
    return float(run(f"import resource\n{statement}\n{used}"))


def test_import_calibrant_takes_no_more_than_twice_numpy_and_scipy_special():
    """The best of five interleaved runs each."""
    runs = [(seconds("import calibrant"), seconds("import numpy, scipy.special")) for _ in range(5)]
    calibrant, numpy = (min(column) for column in zip(*runs, strict=True))
    assert calibrant <= 2 * numpy, f"{calibrant:.3f} s against {numpy:.3f} s"
