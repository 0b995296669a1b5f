"""What lies beyond the extreme scores: n scores leave 1/(n + 1) of mass beyond each end.

The choice changes no guarantee, only what density, mean, std and crps can be said to be out there.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Protocol

from calibrant._arrays import Array, namespace, warn_user


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
            return _infinite("one score tells no scale")
        if bool(scores[0] == scores[-1]):
            return _infinite("all scores are equal")
        left = float(xp.mean(scores[k] - scores[:k]))
        right = float(xp.mean(scores[n - k :] - scores[n - k - 1]))
        spread = float(xp.std(scores))
        return Ends(-math.inf, math.inf, left or spread, right or spread)


@dataclass(frozen=True)
class BoundedTails:
    """The law ends one mean gap beyond each extreme score, as in the authors' code."""

    def fit(self, scores: Array) -> Ends:
        """The two end points."""
        first, last = float(scores[0]), float(scores[-1])
        if first == last:
            return _infinite("all scores are equal" if scores.shape[0] > 1 else "one score tells no scale")
        gap = (last - first) / (scores.shape[0] - 1)
        return Ends(first - gap, last + gap, 0.0, 0.0)


@dataclass(frozen=True)
class InfiniteTails:
    """The mass sits at -inf and +inf: all that the ranks of the scores say. Mean, std and crps are then nan or inf."""

    def fit(self, scores: Array) -> Ends:
        """No end, and an infinite mean excess."""
        del scores
        return Ends(-math.inf, math.inf, math.inf, math.inf)


def check_tails(name: str, tails: object) -> None:
    """Raise unless these are tails: an object, not a name or a class."""
    if isinstance(tails, type) or not callable(getattr(tails, "fit", None)):
        raise TypeError(f"{name} must be tails such as BoundedTails(), got {tails!r}")


def _infinite(why: str) -> Ends:
    warn_user(f"{why}, so the mass beyond the scores is put at -inf and +inf")
    return Ends(-math.inf, math.inf, math.inf, math.inf)
