"""What one calibration set of n rows can say of an interval."""

from __future__ import annotations

import math
from fractions import Fraction

from scipy.special import betaincinv

from calibrant._arguments import unit


def coverage_of_this_set(n: int, accuracy: float, coverage: float, confidence: float = 0.95) -> tuple[float, float]:
    """Between which probabilities a centred interval by this set holds a new label, with this confidence.

    The distribution of a new score has the probability Beta(k, n + 1 - k) between two of n independent scores k ranks
    apart. The ends of an interval lie at the ranks (n + 1)(1 -+ coverage) / 2, to within lambda and the distance to the
    next.

    >>> [round(share, 3) for share in coverage_of_this_set(2000, 0.0, 0.9)]
    [0.885, 0.913]
    """
    tail, free = (1 - unit("confidence", confidence)) / 2, abs(accuracy)  # -1: a draw moves an end by up to one rank
    first, last = (n + 1) * (1 - coverage) / 2, (n + 1) * (1 + coverage) / 2
    least = math.floor(last - free + 1e-9) - math.ceil(first + free - 1e-9)
    most = min(n + 1, math.ceil(last + free - 1e-9)) - max(0, math.floor(first - free + 1e-9))
    low = float(betaincinv(least, n + 1 - least, tail)) if least > 0 else 0.0
    high = float(betaincinv(most, n + 1 - most, 1 - tail)) if most <= n else 1.0
    return low, high


def too_few_for_interval(n: int, coverage: float) -> str | None:
    """Why the ends of a centred interval of H lie beyond all n scores, where they do: n < 2 / (1 - coverage) - 1.

    >>> too_few_for_interval(9, 0.9)
    '90% intervals need 19 calibration rows, and there are 9: their ends are a guess of the tails'
    >>> too_few_for_interval(19, 0.9)
    """
    if n > 2 / (1 - coverage):
        return None
    enough = math.ceil(2 / (1 - exact(coverage)) - 1)
    if n >= enough:
        return None
    rows = f"there are {n}" if n > 1 else "there is one"
    return (
        f"{100 * coverage:g}% intervals need {enough} calibration rows, and {rows}: their ends are a guess of the tails"
    )


def exact(number: float) -> Fraction:
    """A number as the decimal it was written as, so that 100 * 0.29 is 29."""
    return Fraction(repr(float(number)))
