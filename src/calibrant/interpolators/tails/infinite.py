"""Tails that are all at the ends of the line."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arrays import Array
from calibrant.interpolators.tails.base import Ends


@dataclass(frozen=True)
class InfiniteTails:
    """The mass sits at -inf and +inf: all that the ranks of the scores say. Mean, std and crps are then nan or inf."""

    def fit(self, scores: Array) -> Ends:
        """No end, and an infinite mean excess."""
        del scores
        return Ends(-math.inf, math.inf, math.inf, math.inf)
