"""What lies beyond the extreme scores: n scores leave 1/(n + 1) of mass beyond each end.

The choice changes no guarantee, only what density, mean, std and crps can be said to be out there.
"""

from __future__ import annotations

import math
from typing import NamedTuple, Protocol

from calibrant._arrays import Array
from calibrant._words import warn_user


class Ends(NamedTuple):
    """Where a tail ends (+-inf for nowhere) and the mean excess of one that does not."""

    lower: float
    upper: float
    left: float
    right: float


class Tails(Protocol):
    """Beyond the extreme scores."""

    def fit(self, scores: Array) -> Ends:
        """The tails below and above n sorted scores."""


def no_ends(why: str) -> Ends:
    """All that the ranks of the scores say, where they tell no scale."""
    warn_user(f"{why}, so the mass beyond the scores is put at -inf and +inf: wide intervals are infinite")
    return Ends(-math.inf, math.inf, math.inf, math.inf)
