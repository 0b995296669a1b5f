"""A predicted mean of counts."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calibrant._arrays import refuse
from calibrant._types import ArrayLike
from calibrant.distributions.counts import NegativeBinomial, Poisson
from calibrant.predictions.point import Point


@dataclass(frozen=True, eq=False, repr=False)
class Rates(Point):
    """A Point by a model with a Poisson loss, or a negative binomial one of this `dispersion`.

    It is a Point like any other, as such models are used for rates that are no counts too. Where the labels are
    `calibrant.labels.Counts`, it stands for the Poisson distribution, or the negative binomial one, with this mean.

    >>> Rates([0.5, 2.0]).distribution()
    Poisson(n=2)
    """

    dispersion: float | None = field(default=None, metadata={"shared": True})

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike, dispersion: float | None = None) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse("Rates.values", self.values < 0, "is negative")

    def distribution(self) -> Poisson | NegativeBinomial:
        """The distribution of counts with this mean."""
        return Poisson(self.values) if not self.dispersion else NegativeBinomial(self.values, self.dispersion)
