"""Point predictions."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from calibrant._arrays import Array, floats, namespace, refuse
from calibrant._hints import SEVERAL
from calibrant._types import ArrayLike
from calibrant.distributions.negative_binomial import NegativeBinomial
from calibrant.distributions.poisson import Poisson
from calibrant.forecast import Mark
from calibrant.forms import Form
from calibrant.predictions.base import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Point(Prediction):
    """One number a row, such as a predicted mean. A bare 1-d array is taken for one of these.

    >>> Point([1.0, 2.0, 3.0])[1:]
    Point(n=2)
    """

    values: Array
    crps_note = "the mean absolute error of the points"

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        object.__setattr__(self, "values", floats("Point.values", self.values, ndim=1, hint=SEVERAL))

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.values.shape)

    def crps_rows(self, y: Array) -> Array:
        """|f - y|, the CRPS of a law that is sure of its point."""
        return namespace(y).abs(self.values - y)

    def marks(self) -> list[Mark]:
        return [Mark("point", self.values)]

    def form(self) -> Form:
        return Form("points")


@dataclass(frozen=True, eq=False, repr=False)
class Rates(Point):
    """A Point by a model with a Poisson loss, or a negative binomial one of this `dispersion`.

    It is a Point like any other, as such models are used for rates that are no counts too. Where the labels are
    `calibrant.labels.Counts`, it stands for the Poisson distribution, or the negative binomial one, with this mean.

    >>> Rates([0.5, 2.0]).law()
    Poisson(n=2)
    """

    dispersion: float | None = field(default=None, metadata={"shared": True})

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike, dispersion: float | None = None) -> None: ...

    def __post_init__(self) -> None:
        super().__post_init__()
        refuse("Rates.values", self.values < 0, "is negative")

    def law(self) -> Poisson | NegativeBinomial:
        """The distribution of counts with this mean."""
        return Poisson(self.values) if not self.dispersion else NegativeBinomial(self.values, self.dispersion)
