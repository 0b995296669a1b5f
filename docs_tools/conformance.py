"""Writes docs/conformance.md: `make conformance`.

What is compared is what tests/conformance tests; those tests fail where the page says something else.
"""

from __future__ import annotations

import math
import re
import sys
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).resolve().parents[1]
PAGE = ROOT / "docs" / "conformance.md"
if str(ROOT / "tests/conformance") not in sys.path:
    sys.path.insert(0, str(ROOT / "tests/conformance"))

from comparisons import Agreement, Fault, Measured, Refusal, installed  # noqa: E402

NAMES = {"mapie": "MAPIE", "torch": "PyTorch"}
"""How a library writes itself, where that is not its name in the package index."""
INTRO = """---
hide: [toc]
---

# Conformance

<!-- Made by `make conformance`; do not edit. -->

Other libraries compute some of the same numbers. Where they are right, calibrant gives the same; where they are wrong,
this page shows the case. Both parts are tests, in `tests/conformance`, which fail if this page is out of date. The
versions are those that were compared.

## The same numbers

The difference is the largest |ours − theirs| / max(1, |theirs|), and the verdict is "the same" if it is within the
tolerance of the test: 10<sup>−12</sup> for ranks and intervals, 10<sup>−8</sup> or 10<sup>−9</sup> for distributions
and their scores.

"""
CHOICES = """
Three conventions differ, and the table converts them:

- **n or n + 1.** crepes counts the new row in p-values without smoothing, (#{sᵢ ≤ s} + 1) / (n + 1). `Naive` is the
  empirical distribution, #{sᵢ ≤ s} / n. `Linear` and `Random` divide by n + 1.
- **Beyond the largest score.** scikit-learn's isotonic regression, told to clip, stays at 1/n and at 1 beyond the PITs
  that it has seen. `Calibrator(CDFScore())` continues to 0 and 1 and divides by n + 1.
- **Ensembles.** scoringrules' estimators "fair" and "pwm" estimate the CRPS of the distribution that the members were
  drawn from. `crps` is that of the members themselves: "nrg", "qd" and "int" there.

"""
FAULTS = """## Where they differ, and who is right

A case is one call of the version named, and says nothing about the rest of the library. The exact value is found in a
third way: in fractions, by a count, by integration in 40 digits, or it is what was asked for. Each case has its code
below, to run after `import numpy as np`, and a link to a report where we know of one.

"""
ONCE = """
## Measured once

Two libraries are not installed when the tests run. TorchUQ, which the paper's authors wrote, is in no package index:
its values were measured on the module for conformal calibration of the commit named, copied by hand without the parts
that a case does not use. netcal brings TensorBoard, Pyro and GPyTorch, twelve packages in all, and was run in an
environment of its own. Our values are tested like those above.

"""
REST = """
## Not compared

- puncc 0.9.3 requires numpy below 2, and calibrant 2.1 or newer.
- TorchCP 1.2.1 requires transformers and torch-geometric.
- venn-abers 1.5.4 calibrates the mean, and nonconformist 2.1.0 gives split intervals only, as MAPIE and crepes do.
- online-cp 0.4.0 calibrates models of its own.
"""


def cases() -> tuple[list[Agreement], list[Fault], list[Measured]]:
    """Those of tests/conformance."""
    import crepes_cases
    import distribution_cases
    import faults
    import mapie_cases
    import measured

    agreements = [*crepes_cases.CASES, *mapie_cases.CASES, *distribution_cases.CASES]
    return agreements, list(faults.CASES), list(measured.CASES)


def page() -> str:
    """The whole page."""
    agreements, faults, measured = cases()
    same = ["| compared | library | here | numbers | difference | verdict |", "| --- " * 6 + "|"]
    wrong = ["| library | case | theirs | calibrant | exact |", "| --- " * 5 + "|"]
    return (
        INTRO
        + "\n".join([*same, *map(agreement_row, agreements)])
        + "\n"
        + CHOICES
        + FAULTS
        + "\n".join([*wrong, *map(fault_row, faults)])
        + "\n\n"
        + "\n".join(map(reproduction, faults))
        + ONCE
        + "\n".join([*wrong, *map(fault_row, measured)])
        + "\n\n"
        + "\n".join(map(reproduction, measured))
        + REST
    )


def called(case: Agreement | Fault) -> str:
    """The library and its version."""
    version = case.of if isinstance(case, Measured) else installed(case.library)
    return f"{NAMES.get(case.library, case.library)} {version}"


def agreement_row(case: Agreement) -> str:
    """One line of the first table."""
    count, largest = case.found()
    cells = [
        case.what,
        f"{called(case)}: `{case.theirs}`",
        f"`{case.ours}`",
        f"{count:,}",
        power(largest) if largest else "0",
        case.verdict(),
    ]
    return "| " + " | ".join(cells) + " |"


def power(error: float) -> str:
    """The power of ten that an error stays within; nothing is told below 10^-16, the rounding of the numbers.

    >>> power(3e-15), power(0.0), power(1e-8), power(2e-9)
    ('10<sup>−14</sup>', '10<sup>−16</sup>', '10<sup>−8</sup>', '10<sup>−8</sup>')
    """
    exponent = max(-16, math.ceil(math.log10(error) - 1e-9)) if error > 0 else -16
    return f"10<sup>{exponent}</sup>".replace("-", "−")


def without_difference(row: str) -> str:
    """A row without what depends on the machine, in its last digits."""
    cells = row.split(" | ")
    return " | ".join([*cells[:-2], *cells[-1:]])


def fault_row(case: Fault) -> str:
    """One line of the second table."""
    theirs, ours, exact = map(shown, case.values())
    return f"| {called(case)} | {case.title} | {theirs} | {ours} | {exact} |"


def shown(value: Any) -> str:
    """A value in ten digits, an error by its kind.

    >>> shown(np.array([-np.inf, 2.5])), shown(1 / 3), shown(None)
    ('−∞, 2.5', '0.3333333333', 'to be refused')
    """
    if value is None:
        return "to be refused"
    if isinstance(value, Refusal):
        return value.kind
    numbers = ", ".join(f"{number:.10g}" for number in np.ravel(value))
    return numbers.replace("-", "−").replace("inf", "∞").replace("nan", "NaN")


def reproduction(case: Fault) -> str:
    """The heading of a case, why, what the exact value is, and the code of both."""
    code = [
        f"```python\n# {who}\n{text.strip()}\n```\n"
        for who, text in ((called(case), case.theirs), ("calibrant", case.ours))
    ]
    title = f"### {NAMES.get(case.library, case.library)}: {case.title}\n"
    return "\n".join([title, f"{case.why} The exact value: {case.how}.\n", *code])


def versions(text: str) -> dict[str, str]:
    r"""The libraries that a page names, and their versions.

    >>> versions("| intervals | MAPIE 1.6.0: split | ... |\n| crepes 0.9.1 | CRPS |")
    {'mapie': '1.6.0', 'crepes': '0.9.1'}
    """
    known = {name: library for library, name in NAMES.items()}
    rows = re.findall(r"^\|(?: [^|]+ \|)? ([\w-]+) (\d[\w.]*)(?::| \|)", text, re.MULTILINE)
    return {known.get(name, name): version for name, version in rows}


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    bad = [case for part in cases() for case in part if case.verdict() in ("DIFFERENT", "WRONG")]
    for case in bad:
        print(f"{case.library}: {case.what if isinstance(case, Agreement) else case.title}: {case.verdict()}")
    sys.exit(bool(bad))
