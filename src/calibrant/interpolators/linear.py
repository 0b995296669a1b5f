"""Linear interpolation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant._arguments import check_has
from calibrant.interpolators.support import ExponentialTails
from calibrant.interpolators.weights import OfOrdered

if TYPE_CHECKING:
    from calibrant.distributions.base import Distribution
    from calibrant.interpolators.support import Tails
    from calibrant.interpolators.weights import InOrder


@dataclass(frozen=True)
class Linear(OfOrdered):
    """q(u) = (i + (u - u_(i)) / (u_(i+1) - u_(i))) / (n + 1) for u in [u_(i), u_(i+1)); its lambda is 0.

    u_(i): the i-th smallest of n scores. `tails` lie beyond. `CDFScore` is interpolated in F(y), without tails.

    >>> q = Linear().fit([0.0, 1.0, 3.0])
    >>> q.cdf([0.0, 0.5, 1.0, 2.0, 3.0])
    array([0.25 , 0.375, 0.5  , 0.625, 0.75 ])
    """

    tails: Tails = ExponentialTails()

    def __post_init__(self) -> None:
        check_has("Linear.tails", self.tails, "fit", "tails such as BoundedTails()")

    def through(self, known: InOrder) -> Distribution:
        """Through (u_(i), i / (n + 1)), not i / n: for a new score all ranks 1 to n + 1 are equally likely."""
        levels = known.levels()
        q = known.support.through(known.scores, levels, self.tails)
        return known.by_row(q, float(levels[0]), float(levels[-1]))  # without weights: q itself

    def accuracy(self, n: int) -> float:
        """0: q passes through the points exactly."""
        return 0.0
