"""Return types of estimators of one label or of several, for type checkers.

Which it is depends on the number of columns of y: no type says so. A union would refuse what is right for one and not
for all; `Any` would let every mistake pass. So these types have what any of them has, and take what is right for one.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from calibrant._types import RowIndex
from calibrant.distributions.base import Distribution
from calibrant.metrics import Evaluation
from calibrant.several.distributions import SeveralDistributions, SeveralEvaluation

if TYPE_CHECKING:

    class Distributions(SeveralDistributions, Distribution):
        """The distribution of each row, or those of several labels."""

        def __getitem__(self, rows_or_label: RowIndex | str) -> Distribution: ...

    class Metrics(SeveralEvaluation, Evaluation[float, float, float]):
        """The metrics of one label, or of several."""

        def to_dict(self) -> dict[str, Any]:
            """The metrics by name, or by label and name."""

else:
    Distributions = Distribution | SeveralDistributions
    Metrics = Evaluation | SeveralEvaluation
