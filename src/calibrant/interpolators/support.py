"""Where scores can lie, how the gaps between them fill, and the tails beyond them.

n scores leave 1/(n + 1) of mass beyond each end. The choice of tails changes no guarantee, only density, mean, std and
crps out there.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import NamedTuple, Protocol, runtime_checkable

from calibrant._arrays import Array, concatenate, device_like, namespace, refuse
from calibrant._words import warn_user
from calibrant.distributions.base import Distribution
from calibrant.distributions.logistic_linear import LogisticLinear
from calibrant.distributions.piecewise_linear import PiecewiseLinear

LARGEST = 1e150
"""The distribution of larger scores would have no second moment in floats."""


# ---- tails -----------------------------------------------------------------------------------------------------------


class Ends(NamedTuple):
    """Where a tail ends (+-inf for nowhere) and the mean excess of one that does not."""

    lower: float
    upper: float
    left: float
    right: float


@runtime_checkable
class Tails(Protocol):
    """Beyond the extreme scores."""

    def fit(self, scores: Array) -> Ends:
        """The tails below and above n sorted scores.

        Args:
            scores: The calibration scores, sorted.
        """


@dataclass(frozen=True)
class InfiniteTails(Tails):
    """The mass lies at -inf and +inf: the ranks of the scores say no more. Mean, std and crps are then nan or inf."""

    def fit(self, scores: Array) -> Ends:
        """No end, and an infinite mean excess."""
        return Ends(-math.inf, math.inf, math.inf, math.inf)


@dataclass(frozen=True)
class ExponentialTails(Tails):
    """exp(-excess / scale), with the mean excess of the ceil(sqrt(n)) most extreme scores as its scale.

    Where those are tied the spread of all the scores takes its place; where there is none, the tail is infinite.
    """

    def fit(self, scores: Array) -> Ends:
        """The mean excess at either end."""
        if _no_scale(scores):
            return InfiniteTails().fit(scores)
        xp, n = namespace(scores), scores.shape[0]
        k = min(math.isqrt(n - 1) + 1, n - 1)
        left = float(xp.mean(scores[k] - scores[:k]))
        right = float(xp.mean(scores[n - k :] - scores[n - k - 1]))
        spread = float(xp.std(scores))
        return Ends(-math.inf, math.inf, left or spread, right or spread)


@dataclass(frozen=True)
class BoundedTails(Tails):
    """The distribution ends one mean gap beyond each extreme score, as in the authors' code."""

    def fit(self, scores: Array) -> Ends:
        """The two end points."""
        if _no_scale(scores):
            return InfiniteTails().fit(scores)
        first, last = float(scores[0]), float(scores[-1])
        gap = (last - first) / (scores.shape[0] - 1)
        return Ends(first - gap, last + gap, 0.0, 0.0)


def _no_scale(scores: Array) -> bool:
    """Whether sorted scores are all equal, with a warning; then only their ranks are known."""
    if bool(scores[0] < scores[-1]):
        return False
    why = "all scores are equal" if scores.shape[0] > 1 else "there is only one calibration row"
    warn_user(f"{why}, so the tails beyond the scores are infinite, and so are wide intervals")
    return True


# ---- supports --------------------------------------------------------------------------------------------------------


class Support(ABC):
    """Where scores can lie: `Line`, or `Logits` of numbers in (0, 1)."""

    @abstractmethod
    def through(self, scores: Array, probs: Array, tails: Tails) -> Distribution:
        """With a CDF that takes these values at sorted scores, the mass of each gap spread evenly over it."""

    def check(self, scores: Array) -> None:  # noqa: B027
        """Raise if a score lies outside."""

    def bounded(self, q: Distribution) -> Distribution:
        """A distribution that was fitted without regard to the support, limited to it."""
        return q


@dataclass(frozen=True)
class Line(Support):
    """The scores lie in (lower, upper); the gaps fill evenly in the score itself, a bound takes the place of a tail."""

    lower: float = -math.inf
    upper: float = math.inf

    def __post_init__(self) -> None:
        if not self.lower < self.upper:
            raise ValueError(f"support needs lower < upper, got {self.lower:g} and {self.upper:g}")

    def through(self, scores: Array, probs: Array, tails: Tails) -> Distribution:
        """Piecewise linear through (u_(i), p_i); a bound, or else a tail, ends it."""
        lower, upper, left, right = self.lower, self.upper, 0.0, 0.0
        if math.isinf(lower) or math.isinf(upper):
            ends = tails.fit(scores)
            lower, upper, left, right = max(lower, ends.lower), min(upper, ends.upper), ends.left, ends.right
        for bound, level, side in ((lower, 0.0, -1), (upper, 1.0, 1)):
            if math.isfinite(bound):
                scores, probs = (
                    concatenate([column, device_like([end], column)][::side])
                    for column, end in ((scores, bound), (probs, level))
                )
        return PiecewiseLinear.through(scores, probs, left, right)

    def check(self, scores: Array) -> None:
        """Raise if a score lies outside."""
        xp = namespace(scores)
        largest = min(LARGEST, float(xp.finfo(scores.dtype).max) / 4)
        refuse("scores", abs(scores) > largest, f"is larger than {largest:g}, too large to square,")
        outside = (scores < self.lower) | (scores > self.upper)
        refuse("scores", outside, f"lies outside the support ({self.lower:g}, {self.upper:g})")

    def bounded(self, q: Distribution) -> Distribution:
        """The mass beyond a bound lies on the bound."""
        return q if math.isinf(self.lower) and math.isinf(self.upper) else q.clip(self.lower, self.upper)


@dataclass(frozen=True)
class Logits(Support):
    """The scores are logits of numbers u in (0, 1); the gaps fill evenly in u, and no tail is left beyond them."""

    def through(self, scores: Array, probs: Array, tails: Tails) -> Distribution:
        """Piecewise linear in u through (0, 0), (u_(i), p_i) and (1, 1)."""
        return LogisticLinear(scores, probs)


REAL_LINE = Line()
