"""What is promised at each horizon."""

from __future__ import annotations

from dataclasses import dataclass, fields

from calibrant.guarantee.grouped import GroupGuarantee
from calibrant.guarantee.words import drawn_words, limit_words


@dataclass(frozen=True)
class HorizonGuarantee(GroupGuarantee):
    """sup_c |P(H[X](Y) <= c | h steps ahead) - c| <= (1 + lambda_h) / (n_h + 1) at every horizon h.

    It is the guarantee of groups: it asks for rows of one horizon that are exchangeable. Rows of many series are, if
    the series are drawn alike. Rows of one series at successive cutoffs are not: errors h steps ahead share steps, so
    that n_h of them tell as much as about n_h / h that share none.
    """

    @classmethod
    def of_groups(cls, guarantee: GroupGuarantee) -> HorizonGuarantee:
        """The same promise, of groups that are horizons.

        Args:
            guarantee: The guarantee by group.
        """
        return cls(**{each.name: getattr(guarantee, each.name) for each in fields(guarantee)})

    @property
    def kind(self) -> str:
        """As that of groups, by another name."""
        return super().kind.replace("group", "horizon", 1)

    def __str__(self) -> str:
        first, last, few = self.labels[0], self.labels[-1], min(self.counts)
        limits = limit_words(self.largest_tie, self.floored, randomised=self.randomised)
        bound, continuous = f"|P(H(Y) <= c) - c| <= {self.epsilon:.3g} for every c", ", and continuous scores"
        if self.randomised:
            bound, continuous = "P(H(Y) <= c) = c for every c", ""
        return (
            f"{bound} at each of {len(self.labels)} horizons, {first} to"
            f" {last} steps ahead{limits}, on average over calibration sets; the fewest rows of one are {few}, the most"
            f" {max(self.counts)}. Assumes rows of one horizon that are exchangeable, forecasts made without"
            f" their labels{continuous}. Successive cutoffs of one series are exchangeable only roughly, above"
            f" all where the next forecast is made before the time of the last one.{drawn_words(self.drawn)}"
        )
