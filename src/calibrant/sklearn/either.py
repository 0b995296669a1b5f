"""What a model of one label or of several gives, as a type checker is told.

Which it is depends on the number of columns of y, and which guarantee on the folds, the groups and the weights: no type
says so. A union would refuse what is right for one and not for all; `Any` would let every mistake pass. So these types
have what any of them has, and take what is right for one of them.
"""

from __future__ import annotations

from collections.abc import Hashable
from typing import TYPE_CHECKING, Any

from calibrant._types import RowIndex
from calibrant.distributions.base import Distribution
from calibrant.guarantee import CrossGuarantee, GroupGuarantee, Guarantee, TrackedGuarantee, WeightedGuarantee
from calibrant.metrics import Evaluation
from calibrant.refine import League
from calibrant.several import SeveralDistributions, SeveralEvaluation, SeveralGuarantee

if TYPE_CHECKING:

    class Distributions(SeveralDistributions, Distribution):
        """The distribution of each row, or those of several labels."""

        def __getitem__(self, rows_or_label: RowIndex | str) -> Distribution: ...

    class Found(SeveralEvaluation, Evaluation[float, float, float]):
        """The metrics of one label, or of several."""

        def to_dict(self) -> dict[str, Any]:
            """The metrics by name, or by label and name."""

    class Promised(  # type: ignore[misc]
        SeveralGuarantee, CrossGuarantee, GroupGuarantee, TrackedGuarantee, WeightedGuarantee
    ):
        """What is promised of all rows, of each group, of the mean over folds, of levels, or of several labels."""

        def of(self, label: Hashable) -> Promised:  # type: ignore[override]
            """What is promised to one group."""

    class Leagues(League, dict[str, League]):
        """The candidates of one label, or those of each."""

else:
    Distributions = Distribution | SeveralDistributions
    Found = Evaluation | SeveralEvaluation
    Promised = Guarantee | GroupGuarantee | CrossGuarantee | TrackedGuarantee | SeveralGuarantee
    Leagues = League | dict[str, League]
