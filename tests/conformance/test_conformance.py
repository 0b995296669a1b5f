"""The numbers of other libraries, where they are right and where they are wrong; docs/conformance.md says the same."""

from __future__ import annotations

import importlib.util
import re
import sys
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from comparisons import Agreement, Refusal, difference, run
from crepes_cases import CASES as CREPES
from distribution_cases import CASES as DISTRIBUTION_CASES
from faults import CASES as FAULTS
from mapie_cases import CASES as MAPIE
from measured import CASES as MEASURED

ROOT = Path(__file__).parents[2]
AGREEMENTS = (*CREPES, *MAPIE, *DISTRIBUTION_CASES)
LIBRARIES = sorted({case.library for case in (*AGREEMENTS, *FAULTS)})


def the_tool():
    spec = importlib.util.spec_from_file_location("docs_tools_conformance", ROOT / "docs_tools" / "conformance.py")
    module = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


conformance = the_tool()
PAGE = conformance.PAGE.read_text(encoding="utf-8")


@pytest.fixture
def as_on_the_page(request):
    """Skips where the library installed here is not that of the page: what it says may have changed since."""
    library = request.node.callspec.params["case"].library
    told, here = conformance.versions(PAGE)[library], conformance.installed(library)
    if told != here:
        pytest.skip(f"the page is of {library} {told}, and {here} is installed: make conformance")


@pytest.mark.parametrize("case", AGREEMENTS, ids=lambda case: case.name)
def test_two_libraries_give_the_same_numbers(case):
    count, largest = case.found()
    assert count > 0
    assert largest <= case.tolerance


@pytest.mark.parametrize("case", [*FAULTS, *MEASURED], ids=lambda case: f"{case.library}: {case.title}")
def test_ours_is_the_exact_value(case):
    assert case.right(run(case.ours), case.exact())


@pytest.mark.parametrize("case", MEASURED, ids=lambda case: f"{case.library}: {case.title}")
def test_what_was_measured_once_is_not_the_exact_value_and_is_on_the_page(case):
    assert not case.right(case.said, case.exact())
    assert conformance.fault_row(case) in PAGE.splitlines()
    assert conformance.reproduction(case) in PAGE


@pytest.mark.usefixtures("as_on_the_page")
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: f"{case.library}: {case.title}")
def test_theirs_is_not_the_exact_value(case):
    theirs, _, exact = case.values()
    assert not case.right(theirs, exact)


@pytest.mark.usefixtures("as_on_the_page")
@pytest.mark.parametrize("case", AGREEMENTS, ids=lambda case: case.name)
def test_the_page_has_the_count_and_the_verdict_of_an_agreement(case):
    assert conformance.without_difference(conformance.agreement_row(case)) in map(
        conformance.without_difference, PAGE.splitlines()
    )


@pytest.mark.usefixtures("as_on_the_page")
@pytest.mark.parametrize("case", FAULTS, ids=lambda case: f"{case.library}: {case.title}")
def test_the_page_has_the_values_and_the_code_of_a_fault(case):
    assert conformance.fault_row(case) in PAGE.splitlines()
    assert conformance.reproduction(case) in PAGE


def test_the_page_has_no_other_rows():
    rows = [line for line in PAGE.splitlines() if line.startswith("| ") and not line.startswith("| ---")]
    assert len(rows) == len(AGREEMENTS) + len(FAULTS) + len(MEASURED) + 3  # and three heads
    assert PAGE.count("\n### ") == len(FAULTS) + len(MEASURED)


@pytest.mark.parametrize("library", LIBRARIES)
def test_the_page_is_of_the_version_that_the_lock_has(library):
    """If not: make conformance."""
    lock = (ROOT / "locks" / "dev.txt").read_text(encoding="utf-8")
    pinned = re.findall(rf"^{library}==(\S+)", lock, re.MULTILINE)
    assert conformance.versions(PAGE)[library] in pinned


# ---- a comparison can fail -------------------------------------------------------------------------------------------


def test_a_difference_is_seen():
    broken = replace(AGREEMENTS[0], pairs=lambda: iter([(np.array([1.0, 2.0]), np.array([1.0, 2.0 + 1e-9]))]))
    assert broken.found() == (2, pytest.approx(5e-10, rel=1e-3))
    assert broken.verdict() == "DIFFERENT"


def test_shapes_that_would_broadcast_are_no_agreement():
    case = Agreement("numpy", "two shapes", "", "", 1.0, lambda: iter([(np.zeros(3), np.zeros((3, 1)))]))
    with pytest.raises(ValueError, match=r"ours has shape \(3,\), theirs \(3, 1\)"):
        case.found()


def test_a_value_is_right_relative_to_the_exact_one():
    tiny = next(case for case in FAULTS if "normal cdf" in case.title)
    assert tiny.right(1e-19, 1e-19)
    assert not tiny.right(0.0, 1e-19)
    assert not tiny.right(np.nan, 1.0)
    assert not tiny.right(Refusal("ValueError", "no"), 1.0)
    assert tiny.right(Refusal("ValueError", "no"), None)
    assert not tiny.right(0.0, None)


def test_equal_infinities_do_not_differ():
    assert difference([-np.inf, np.inf], [-np.inf, np.inf]) == 0
    assert difference([np.inf], [1.0]) == difference([1.0], [-np.inf]) == np.inf
