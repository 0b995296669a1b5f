"""What is promised of several labels: of each by itself, and of a box that holds them all."""

from __future__ import annotations

from dataclasses import dataclass

from calibrant._arguments import unit
from calibrant.guarantee import Guarantee, required_n_for_interval
from calibrant.guarantee.words import floor_words
from calibrant.intervals.conformal import IntervalGuarantee, standard_rank


@dataclass(frozen=True)
class BoxGuarantee:
    """P(all labels in the box) >= rank / (n + 1) >= coverage, rank = ceil((n + 1) coverage), on average over sets.

    The largest two-sided score of a new row is exchangeable with those of the calibration rows, whatever the labels
    have to do with each other. Without ties the first is an equality, so the box covers less than
    coverage + 1 / (n + 1).

    >>> print(BoxGuarantee(0.9, 99, 3))
    P(all 3 labels in the box) = 0.9 (0.9 asked for, rank 90 of n = 99), on average over calibration sets; this one
    covers at least 0.847 with 95% confidence, if rows are independent. Assumes exchangeable rows, a model not trained
    on the calibration set, and continuous labels.
    """

    coverage: float
    """What was asked for."""
    n: int
    d: int
    """How many labels."""
    largest_tie: int = 1
    floored: int = 0
    """The calibration rows without a width of their own, which got a floor learned from all: see `Guarantee`."""

    @property
    def rank(self) -> int:
        """ceil((n + 1) coverage)."""
        return standard_rank(self.n, self.coverage)

    @property
    def _as_interval(self) -> IntervalGuarantee:
        return IntervalGuarantee(self.coverage, self.n, self.rank, self.largest_tie, self.floored)

    @property
    def lower(self) -> float:
        """The box holds all labels with at least this probability."""
        return self._as_interval.lower

    @property
    def upper(self) -> float:
        """And with at most this one, which with ties is 1."""
        return self._as_interval.upper

    @property
    def kind(self) -> str:
        """Exact, a lower bound (ties), approximate (a learned floor), or trivial (n rows cannot bound the box)."""
        return self._as_interval.kind

    def conditional(self, confidence: float = 0.95) -> float:
        """What this very set, of independent rows, covers at least with this confidence."""
        return self._as_interval.conditional(confidence)

    def __str__(self) -> str:
        asked = f"{self.coverage:g} asked for, rank {self.rank} of n = {self.n}"
        event = f"P(all {self.d} labels in the box)"
        if self.kind == "trivial":
            enough = required_n_for_interval(self.coverage)
            return f"{event} = 1 ({asked}): the box is infinite, since it takes {enough} calibration rows to bound it."
        sign, continuous = (">=", "") if self.largest_tie > 1 else ("=", ", and continuous labels")
        about = f", but only approximately: {floor_words(self.floored)}" if self.floored else ""
        return (
            f"{event} {sign} {self.lower:.6g} ({asked}){about}, on average over calibration sets; this one covers at"
            f" least {self.conditional():.3g} with 95% confidence, if rows are independent. Assumes exchangeable rows,"
            f" a model not trained on the calibration set{continuous}."
        )


@dataclass(frozen=True)
class SeveralGuarantee:
    """What each label is promised by itself, and `joint(coverage)`: what a box is promised."""

    margins: dict[str, Guarantee]
    largest_tie: int = 1
    """Among the largest scores of the calibration rows."""
    boxed: bool = True
    """Whether there is a box at all."""

    @property
    def n(self) -> int:
        """The number of calibration rows."""
        return self._widest.n

    @property
    def epsilon(self) -> float:
        """The largest of the labels: see `Guarantee`."""
        return self._widest.epsilon

    def joint(self, coverage: float) -> BoxGuarantee:
        """Of the box of this coverage.

        Args:
            coverage: The probability that the box holds all labels at once.
        """
        floored = max(each.floored for each in self.margins.values())
        return BoxGuarantee(unit("coverage", coverage), self.n, len(self.margins), self.largest_tie, floored)

    @property
    def _widest(self) -> Guarantee:
        return max(self.margins.values(), key=lambda each: each.epsilon)

    def __str__(self) -> str:
        each = f"Each of the {len(self.margins)} labels by itself: {self._widest}"
        if not self.boxed:
            return f"{each} There is no joint box."
        most = f" and at most c + 1/(n + 1) = c + {1 / (self.n + 1):.3g}" if self.largest_tie == 1 else ""
        return (
            f"{each} All together: a joint box of coverage c holds all {len(self.margins)} labels with a probability of"
            f" at least c{most}, on average over calibration sets, however they depend on each other. Joint draws"
            " promise each label by itself; that the labels depend on each other alike at every x is assumed."
        )
