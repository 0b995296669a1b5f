"""A pytest plugin: which lines of `src` each test runs, and how many seconds of processor time it takes.

`python -m pytest -p record tests/test_x.py` writes both to the file that $MUTANTS_MAP names: coverage's own format,
with one context for each test, and `.seconds` beside it, as JSON.
"""

import json
import os
from pathlib import Path

import coverage
import pytest

FILE = Path(os.environ["MUTANTS_MAP"])
MEASURED = coverage.Coverage(data_file=str(FILE), source=[str(Path("src").resolve())], config_file=False)
SECONDS: dict[str, float] = {}
FAILED: set[str] = set()


def spent() -> float:
    """By this process and those that it waited for: what others do on the machine does not count."""
    return sum(os.times()[:4])


def pytest_configure(config):
    MEASURED.start()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_protocol(item):
    MEASURED.switch_context(item.nodeid)
    began = spent()
    try:
        return (yield)
    finally:
        SECONDS[item.nodeid] = spent() - began
        MEASURED.switch_context("")


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    """A test that fails, or is skipped, judges no mutant."""
    report = yield
    if not report.passed:
        FAILED.add(item.nodeid)
    return report


def pytest_unconfigure(config):
    MEASURED.stop()
    MEASURED.save()
    kept = {name: seconds for name, seconds in SECONDS.items() if name not in FAILED}
    FILE.with_suffix(".seconds").write_text(json.dumps(kept), encoding="utf-8")
