"""What one calibration set promises, in numbers."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Protocol

from calibrant._arguments import unit
from calibrant._arrays import Array, largest_tie_of
from calibrant.guarantee.short import InShort
from calibrant.guarantee.words import drawn_words, in_words


class Accurate(Protocol):
    """As much of an interpolator as a guarantee needs."""

    def accuracy(self, n: int, /) -> float:
        """Its lambda on n scores."""


@dataclass(frozen=True)
class Guarantee(InShort):
    """sup_c |P(H[X](Y) <= c) - c| <= epsilon = (1 + lambda) / (n + 1), on average over calibration sets (Theorem 1).

    `kind` is "exact" (epsilon is 0), "marginal" (epsilon holds) or "approximate": scores are tied, so it holds only
    up to the largest tie, or rows without a width of their own got a floor learned from all calibration rows, which are
    then not quite exchangeable with later ones. `conditional(confidence)` bounds the error of this calibration set.
    """

    n: int
    accuracy: float
    """lambda: how far q(u_(i)) may be from i / (n + 1), in units of 1 / (n + 1); -1 for a randomised q."""
    largest_tie: int = 1
    floored: int = 0
    """The calibration rows without a width of their own, which got a floor learned from all."""
    drawn: bool = field(default=False, kw_only=True)
    """Whether labels were spread by a draw, as counts are: H(Y) is then the randomised PIT."""

    def __post_init__(self) -> None:
        """Neither a tie nor the rows with a floor are more than all."""
        if self.largest_tie > self.n:
            raise ValueError(f"its largest tie is of {self.largest_tie} scores, but n is {self.n}")
        if self.floored > self.n:
            raise ValueError(f"{self.floored} of its rows had no width, but n is {self.n}")

    @classmethod
    def of(cls, interpolator: Accurate, scores: Array, *, floored: int = 0) -> Guarantee:
        """The guarantee of an interpolator on these scores.

        Args:
            interpolator: What made q of the scores.
            scores: The calibration scores, an array of n numbers.
            floored: How many calibration rows had a scale below the floor, and were given the floor.
        """
        n = scores.shape[0]
        return cls(n, float(interpolator.accuracy(n)), largest_tie_of(scores), floored)

    @property
    def epsilon(self) -> float:
        """(1 + lambda) / (n + 1), at most 1."""
        return min(1.0, (1 + self.accuracy) / (self.n + 1))

    @property
    def kind(self) -> str:
        """Exact, marginal or approximate."""
        if self.floored:
            return "approximate"
        if self.randomised:
            return "exact"
        return "marginal" if self.largest_tie == 1 else "approximate"

    @property
    def randomised(self) -> bool:
        """Whether q draws a uniform for each row, which fills the jumps."""
        return self.accuracy == -1

    def conditional(self, confidence: float = 0.95) -> float:
        """epsilon + sqrt(log(2 / (1 - confidence)) / (2 n)): with that confidence no error is larger (DKW).

        Here the rows must be independent and alike, which is more than exchangeable.
        Tied scores are one jump of H, which adds the largest tie, less one, over n + 1; a randomised q fills the jump.

        Args:
            confidence: The probability with which the bound holds.
        """
        jump = 0.0 if self.randomised else (self.largest_tie - 1) / (self.n + 1)
        return min(1.0, self.epsilon + jump + dkw(self.n, unit("confidence", confidence)))

    def __str__(self) -> str:
        numbers = self.n, self.epsilon, self.conditional(), self.largest_tie, self.floored
        return in_words(*numbers, randomised=self.randomised) + drawn_words(self.drawn)


def dkw(n: int, confidence: float) -> float:
    """sqrt(log(2 / (1 - confidence)) / (2 n)), the inequality of Dvoretzky, Kiefer and Wolfowitz."""
    return math.sqrt(math.log(2 / (1 - confidence)) / (2 * n))
