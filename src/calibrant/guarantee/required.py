"""How many calibration rows it takes."""

from __future__ import annotations

import math
from fractions import Fraction
from functools import partial
from typing import Any

from calibrant._arguments import unit
from calibrant.distributions.base import Distribution
from calibrant.guarantee.marginal import Accurate, dkw
from calibrant.guarantee.worth import calibration_rows

MANY = 2000
"""Rows that reach as far out as intervals of 99.9%."""


def required_n(epsilon: float, confidence: float | None = None, *, interpolator: Accurate | None = None) -> int:
    """The smallest n that brings the error bound down to `epsilon`: on average, or for one set with some confidence.

    >>> required_n(0.01), required_n(0.05, confidence=0.95)
    (99, 778)
    """
    epsilon = unit("epsilon", epsilon)
    if confidence is not None:
        confidence = unit("confidence", confidence)

    def enough(n: int) -> bool:
        accuracy = 0.0 if interpolator is None else interpolator.accuracy(n)  # 0 is that of Linear, the default
        bound = (1 + accuracy) / (n + 1)
        return bound + (0.0 if confidence is None else dkw(n, confidence)) <= epsilon * (1 + 1e-12)

    high = 1
    while not enough(high):
        high *= 2
        if high > 2**60:
            raise ValueError(f"{interpolator!r} reaches no epsilon of {epsilon}, however large n is")
    low = high // 2
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (low, middle) if enough(middle) else (middle, high)
    return high


def required_n_for_interval(coverage: float) -> int:
    """The smallest n with finite conformal bounds: ceil((n + 1) coverage) <= n.

    >>> required_n_for_interval(0.9), required_n_for_interval(0.95)
    (9, 19)
    """
    share = exact(unit("coverage", coverage))
    return math.ceil(share / (1 - share))


def too_few_for_interval(n: int, coverage: float) -> str | None:
    """Why the ends of a centred interval of H lie beyond all n scores, where they do: n < 2 / (1 - coverage) - 1.

    >>> too_few_for_interval(9, 0.9)
    '90% intervals need 19 calibration rows, and there are 9: their ends are a guess of the tails'
    >>> too_few_for_interval(19, 0.9)
    """
    enough = math.ceil(2 / (1 - exact(coverage)) - 1)
    if n >= enough:
        return None
    rows = f"there are {n}" if n > 1 else "there is one"
    return (
        f"{100 * coverage:g}% intervals need {enough} calibration rows, and {rows}: their ends are a guess of the tails"
    )


def reaching(H: Distribution, guarantee: Any) -> Distribution:
    """The same laws, whose `interval` says where it ends beyond all scores of the calibration rows, or of a fold's."""
    n = min((each.n for each in getattr(guarantee, "folds", ())), default=calibration_rows(guarantee))
    if n is not None and n < MANY:
        return H.doubted(partial(too_few_for_interval, n))
    return H


def exact(number: float) -> Fraction:
    """A number as the decimal it was written as, so that 100 * 0.29 is 29."""
    return Fraction(repr(float(number)))
