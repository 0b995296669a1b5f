"""The numbers of every case of tests/reference, against those of the commit that is the truth."""

import pytest
from reference.cases import CASES
from reference.measure import errors, read
from reference.tolerances import OTHERWISE

FAMILIES = list(dict.fromkeys(case.family for case in CASES))


@pytest.fixture(scope="module")
def references():
    return read()[0]


def otherwise(error):
    return error.function in OTHERWISE.get(str(error.case), ())


def test_the_reference_has_every_case_and_no_other(references):
    assert list(references) == [str(case) for case in CASES]


@pytest.mark.parametrize("family", FAMILIES)
def test_every_answer_is_the_references(family, references):
    found = [error for case in CASES if case.family == family for error in errors(case, references[str(case)])]
    beyond = [error for error in found if not error.error <= error.allowed]
    wrong = sorted((error for error in beyond if not otherwise(error)), key=lambda error: -error.error / error.allowed)
    assert not wrong, f"{len(wrong)} of {len(found)} answers:\n" + "\n".join(map(str, wrong[:20]))
