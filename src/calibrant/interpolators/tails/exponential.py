"""Tails that fall like an exponential law."""

from __future__ import annotations

import math
from dataclasses import dataclass

from calibrant._arrays import Array, namespace
from calibrant.interpolators.tails.base import Ends, no_ends


@dataclass(frozen=True)
class ExponentialTails:
    """exp(-excess / scale), with the mean excess of the ceil(sqrt(n)) most extreme scores as its scale.

    Where those are tied the spread of all the scores takes its place; where there is none, the tail is infinite.
    """

    def fit(self, scores: Array) -> Ends:
        """The mean excess at either end."""
        xp = namespace(scores)
        n = scores.shape[0]
        k = min(math.isqrt(n - 1) + 1, n - 1)
        if k == 0:
            return no_ends("one score tells no scale (a single row calibrates)")
        if bool(scores[0] == scores[-1]):
            return no_ends("all scores are equal")
        left = float(xp.mean(scores[k] - scores[:k]))
        right = float(xp.mean(scores[n - k :] - scores[n - k - 1]))
        spread = float(xp.std(scores))
        return Ends(-math.inf, math.inf, left or spread, right or spread)
