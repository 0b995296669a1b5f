"""How many calibration rows it takes."""

from __future__ import annotations

import math

from calibrant._arguments import unit
from calibrant.guarantee.marginal import Accurate, dkw
from calibrant.guarantee.this_set import exact


def required_n(epsilon: float, confidence: float | None = None, *, interpolator: Accurate | None = None) -> int:
    """The smallest n that brings the error bound down to `epsilon`: on average, or for one set with some confidence.

    Args:
        epsilon: The error bound to reach, such as 0.01.
        confidence: None bounds the error on average over calibration sets; 0.95 bounds that of 95% of them.
        interpolator: The interpolator; `Linear()` by default.

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

    Args:
        coverage: The coverage of the conformal interval, between 0 and 1.

    >>> required_n_for_interval(0.9), required_n_for_interval(0.95)
    (9, 19)
    """
    share = exact(unit("coverage", coverage))
    return math.ceil(share / (1 - share))
