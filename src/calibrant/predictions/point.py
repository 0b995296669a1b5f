"""A point prediction."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from calibrant._arrays import Array, floats, namespace
from calibrant._hints import SEVERAL
from calibrant._types import ArrayLike
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
        """The points."""
        return [Mark("point", self.values)]

    def form(self) -> Form:
        """Points."""
        return Form("points")
