"""A statement with whether it holds and the numbers that decide, and how such numbers are said."""

from __future__ import annotations

import math
from dataclasses import dataclass

from studies.means import Mean
from studies.names import Method


@dataclass(frozen=True)
class Verdict:
    """A statement, whether it holds (None: what there is cannot say, or it is a tie), and the numbers that decide."""

    statement: str
    holds: bool | None
    numbers: str


def below(gap: Mean) -> bool | None:
    """Whether a difference is below 0; None where it has no standard error, or is within two of them of a tie."""
    if gap.value is None or gap.se is None or abs(gap.value) <= 2 * gap.se:
        return None
    return gap.value < 0


def tie(gap: Mean) -> str:
    """What is added to a difference that is a tie."""
    known = gap.value is not None and gap.se is not None
    return ", within two standard errors of a tie" if known and below(gap) is None else ""


def short(method: Method) -> str:
    """The base type alone, but for the one that has several scores."""
    return method.name if method.base == "distribution" else method.base


def full(method: Method) -> str:
    """The same with the interpolator."""
    return method.name if method.base == "distribution" else f"{method.base} {method.interpolator}"


def plain(mean: Mean, sign: str = "") -> str:
    """A mean ± its standard error, with as many digits as show that."""
    digits = max(4, math.ceil(-math.log10(mean.se))) if mean.se else 4  # or it might read 0.0000 ± 0.0000
    error = "" if mean.se is None else f" ± {mean.se:.{digits}f}"
    return "—" if mean.value is None else f"{mean.value:{sign}z.{digits}f}{error}"
