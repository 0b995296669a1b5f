"""The distribution beyond the extreme scores: n scores leave 1/(n + 1) of mass beyond each end.

The choice changes no guarantee, only density, mean, std and crps out there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from calibrant._arrays import Array, namespace
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
        """The tails below and above n sorted scores.

        Args:
            scores: The calibration scores, sorted.
        """


@dataclass(frozen=True)
class InfiniteTails:
    """The mass lies at -inf and +inf: the ranks of the scores say no more. Mean, std and crps are then nan or inf."""

    def fit(self, scores: Array) -> Ends:
        """No end, and an infinite mean excess.

        Args:
            scores: The calibration scores, sorted.
        """
        return Ends(-math.inf, math.inf, math.inf, math.inf)


@dataclass(frozen=True)
class ExponentialTails:
    """exp(-excess / scale), with the mean excess of the ceil(sqrt(n)) most extreme scores as its scale.

    Where those are tied the spread of all the scores takes its place; where there is none, the tail is infinite.
    """

    def fit(self, scores: Array) -> Ends:
        """The mean excess at either end.

        Args:
            scores: The calibration scores, sorted.
        """
        if _no_scale(scores):
            return InfiniteTails().fit(scores)
        xp, n = namespace(scores), scores.shape[0]
        k = min(math.isqrt(n - 1) + 1, n - 1)
        left = float(xp.mean(scores[k] - scores[:k]))
        right = float(xp.mean(scores[n - k :] - scores[n - k - 1]))
        spread = float(xp.std(scores))
        return Ends(-math.inf, math.inf, left or spread, right or spread)


@dataclass(frozen=True)
class BoundedTails:
    """The distribution ends one mean gap beyond each extreme score, as in the authors' code."""

    def fit(self, scores: Array) -> Ends:
        """The two end points.

        Args:
            scores: The calibration scores, sorted.
        """
        if _no_scale(scores):
            return InfiniteTails().fit(scores)
        first, last = float(scores[0]), float(scores[-1])
        gap = (last - first) / (scores.shape[0] - 1)
        return Ends(first - gap, last + gap, 0.0, 0.0)


def _no_scale(scores: Array) -> bool:
    """Whether sorted scores are all equal, with a warning; then only their ranks are known."""
    if bool(scores[0] < scores[-1]):
        return False
    single = "one score tells no scale (a single row calibrates)"
    why = "all scores are equal" if scores.shape[0] > 1 else single
    warn_user(f"{why}, so the mass beyond the scores is put at -inf and +inf: wide intervals are infinite")
    return True
