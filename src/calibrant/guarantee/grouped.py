"""What is promised to each group."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass, field

from calibrant.guarantee.marginal import Guarantee
from calibrant.guarantee.short import InShort
from calibrant.guarantee.words import drawn_words, limit_words


def in_text(label: Hashable) -> str:
    """A group as text.

    >>> in_text("north"), in_text(("north", 2))
    ('north', 'north, 2')
    """
    return ", ".join(map(str, label)) if isinstance(label, tuple) else str(label)


@dataclass(frozen=True)
class GroupGuarantee(InShort):
    """sup_c |P(H[X](Y) <= c | group g) - c| <= (1 + lambda_g) / (n_g + 1) in every group; `of(label)` is that of one.

    A new score is exchangeable with the n_g of its group, and its distribution is within lambda_g of their ranks,
    whatever it borrows: so Theorem 1 holds in the group. The groups must be fixed before the calibration labels
    are seen.
    """

    labels: tuple[Hashable, ...]
    counts: tuple[int, ...]
    """n_g."""
    accuracies: tuple[float, ...]
    """lambda_g; -1 for a randomised q."""
    ties: tuple[int, ...]
    """The largest tie of each group."""
    floored: int = 0
    """The calibration rows, over all groups, that got a floor learned from all."""
    drawn: bool = field(default=False, kw_only=True)
    """Whether labels were spread by a draw, as counts are: H(Y) is then the randomised PIT."""

    def __post_init__(self) -> None:
        """A count, a lambda and a largest tie for each group."""
        groups, counts, lambdas = len(self.labels), len(self.counts), len(self.accuracies)
        if not groups == counts == lambdas == len(self.ties):
            raise ValueError(f"{groups} groups do not go with {counts} counts and {lambdas} lambdas")
        for g in range(groups):
            self._each(g)  # it checks itself, as do all rows together
        Guarantee(self.n, 0.0, floored=self.floored)

    def of(self, label: Hashable) -> Guarantee:
        """What is promised to one group.

        Args:
            label: The group, as `by` has it.
        """
        if label not in self.labels:
            raise KeyError(f"no calibration row was of the group {label!r}, so nothing is promised to it")
        return self._each(self.labels.index(label))

    def _each(self, g: int) -> Guarantee:
        n, floored = self.counts[g], min(self.floored, self.counts[g])
        return Guarantee(n, self.accuracies[g], self.ties[g], floored, drawn=self.drawn)

    @property
    def n(self) -> int:
        """The calibration rows of all groups."""
        return sum(self.counts)

    @property
    def sizes(self) -> dict[str, int]:
        """n_g by the group as text."""
        return {in_text(label): n for label, n in zip(self.labels, self.counts, strict=True)}

    @property
    def worst(self) -> Hashable:
        """The group to which the least is promised."""
        bounds = [(1 + accuracy) / (n + 1) for n, accuracy in zip(self.counts, self.accuracies, strict=True)]
        return self.labels[max(range(len(bounds)), key=lambda g: (bounds[g], -self.counts[g]))]

    @property
    def epsilon(self) -> float:
        """The bound that holds in every group: that of the worst."""
        return self.of(self.worst).epsilon

    @property
    def accuracy(self) -> float:
        """The largest lambda."""
        return max(self.accuracies)

    @property
    def largest_tie(self) -> int:
        """The largest group of equal scores in any one group."""
        return max(self.ties)

    @property
    def randomised(self) -> bool:
        """Whether q draws a uniform for each row."""
        return self.accuracy == -1

    @property
    def kind(self) -> str:
        """Group; "group, exact" for a randomised q, "group, approximate" for ties or a learned floor."""
        plain = Guarantee(self.n, self.accuracy, self.largest_tie, self.floored).kind
        return "group" if plain == "marginal" else f"group, {plain}"

    def conditional(self, confidence: float = 0.95) -> float:
        """The error of this calibration set in the worst group, at most, with that confidence for any one group.

        Args:
            confidence: The probability with which the bound holds.
        """
        return max(self._each(g).conditional(confidence) for g in range(len(self.labels)))

    def __str__(self) -> str:
        bound, continuous = f"|P(H(Y) <= c) - c| <= {self.epsilon:.3g} for every c", ", and continuous scores"
        if self.randomised:
            bound, continuous = "P(H(Y) <= c) = c for every c", ""
        limits = limit_words(self.largest_tie, self.floored, randomised=self.randomised)
        smallest = min(range(len(self.counts)), key=self.counts.__getitem__)
        largest = max(range(len(self.counts)), key=self.counts.__getitem__)
        best = "" if self.randomised else f", and {self._each(largest).epsilon:.3g} in the largest"
        few, many = (f"{in_text(self.labels[g])}, " for g in (smallest, largest))
        return (
            f"{bound} in each of {len(self.labels)} groups{limits}, on average over calibration sets; the smallest,"
            f" {few}has n = {self.counts[smallest]}, the largest, {many}{self.counts[largest]}{best}. Assumes groups"
            " fixed beforehand, exchangeable rows within each, a model not trained on the calibration"
            f" set{continuous}.{drawn_words(self.drawn)}"
        )
