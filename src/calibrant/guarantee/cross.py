"""What the mean of several calibrations promises, one for each fold."""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from typing import cast

from calibrant.guarantee.grouped import GroupGuarantee
from calibrant.guarantee.marginal import Guarantee
from calibrant.guarantee.short import InShort
from calibrant.guarantee.words import drawn_words, limit_words


@dataclass(frozen=True)
class CrossGuarantee(InShort):
    """P(H[X](Y) <= c) <= 2 c + epsilon and P(H[X](Y) >= 1 - c) <= 2 c + epsilon for every c: what folds can promise.

    H is the mean of K distributions with the weights w_k, each calibrated on a fold that its model did not see, up to
    its own epsilon_k = (1 + lambda) / (n_k + 1). So H_k + epsilon_k is a p-value, and twice a mean of p-values is one,
    however they depend on each other: the models share rows (Rüschendorf 1982; Vovk and Wang 2020). Hence epsilon = 2
    sum of w_k epsilon_k, about 2 K (1 + lambda) / n. In practice the error is far smaller; nothing better is proved.
    """

    folds: tuple[Guarantee | GroupGuarantee, ...]
    """A `Guarantee` or a `GroupGuarantee` of each fold."""
    weights: tuple[float, ...]

    @property
    def n(self) -> int:
        """The number of scores, over all folds: that of the rows, if no row is in two folds."""
        return sum(int(fold.n) for fold in self.folds)

    @property
    def epsilon(self) -> float:
        """2 sum of w_k (1 + lambda) / (n_k + 1), at most 1."""
        return min(1.0, 2 * sum(w * float(fold.epsilon) for w, fold in zip(self.weights, self.folds, strict=True)))

    def of(self, label: Hashable) -> CrossGuarantee:
        """What is promised to one group, where the folds were calibrated by group.

        Args:
            label: The group, as `by` has it.
        """
        return CrossGuarantee(tuple(cast(GroupGuarantee, fold).of(label) for fold in self.folds), self.weights)

    @property
    def largest_tie(self) -> int:
        """The largest group of equal scores in any one fold."""
        return max(int(fold.largest_tie) for fold in self.folds)

    @property
    def floored(self) -> int:
        """The scores of rows that got a learned floor, over all folds."""
        return sum(int(fold.floored) for fold in self.folds)

    @property
    def drawn(self) -> bool:
        """Whether labels were spread by a draw."""
        return any(fold.drawn for fold in self.folds)

    @property
    def kind(self) -> str:
        """Cross; "cross, approximate" where one of the folds is approximate: for ties, or for a learned floor."""
        return "cross, approximate" if any(fold.kind.endswith("approximate") for fold in self.folds) else "cross"

    @property
    def _assumed(self) -> str:
        if all(fold.kind.startswith("weighted") for fold in self.folds):
            return "weights that are the likelihood ratios of new rows, and y given x as it was"
        if all(fold.kind.startswith("group") for fold in self.folds):
            return "groups fixed beforehand, in each of which this holds, rows exchangeable within each"
        return "exchangeable data"

    def __str__(self) -> str:
        randomised = all(fold.randomised for fold in self.folds)
        ties = limit_words(self.largest_tie, self.floored, randomised=randomised)
        continuous = "" if randomised else ", and continuous scores"
        return (
            f"P(H(Y) <= c) <= 2c + {self.epsilon:.3g} and P(H(Y) >= 1 - c) <= 2c + {self.epsilon:.3g} for every"
            f" c{ties}: the distributions of {len(self.folds)} folds are averaged, n = {self.n} scores in all, each by"
            f" a model that did not see its row. Assumes {self._assumed}{continuous}.{drawn_words(self.drawn)}"
        )
