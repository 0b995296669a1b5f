"""An interval prediction."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass, field
from typing import TYPE_CHECKING

from calibrant._arguments import same_length
from calibrant._arrays import Array, complain, concatenate, floats, namespace, wider
from calibrant._types import ArrayLike
from calibrant.forecast import Mark
from calibrant.forms import Form
from calibrant.predictions.base import Prediction
from calibrant.predictions.quantiles import in_order


@dataclass(frozen=True, eq=False, repr=False)
class Interval(Prediction):
    """A lower and an upper bound a row.

    Bounds that cross are swapped and counted in a warning. Bounds that are equal stay equal: what such a row's law is,
    the score decides. With `strict=True` both raise.

    >>> Interval([0.0, 1.0], [2.0, 5.0])
    Interval(n=2)
    """

    lower: Array
    upper: Array
    _: KW_ONLY
    strict: bool = field(default=False, metadata={"shared": True})
    own_bounds = True

    if TYPE_CHECKING:

        def __init__(self, lower: ArrayLike, upper: ArrayLike, *, strict: bool = False) -> None: ...

    def __post_init__(self) -> None:
        lower = floats("Interval.lower", self.lower, ndim=1)
        lower = floats("Interval.lower", lower, like=wider(lower, self.upper))
        upper = floats("Interval.upper", self.upper, ndim=1, like=lower)
        same_length("Interval.lower", lower.shape[0], "Interval.upper", upper.shape[0])
        bounds = in_order("Interval", concatenate([lower[:, None], upper[:, None]], axis=1), strict=self.strict)
        lower, upper = bounds[:, 0], bounds[:, 1]
        if self.strict and bool(namespace(upper).any(upper <= lower)):
            complain("Interval", upper <= lower, "has zero width")
        object.__setattr__(self, "lower", lower)
        object.__setattr__(self, "upper", upper)

    @property
    def shape(self) -> tuple[int, ...]:
        return tuple(self.lower.shape)

    def bounds(self, coverage: float) -> tuple[Array, Array]:
        """Its own, whatever coverage is asked for: they have no level."""
        del coverage
        return self.lower, self.upper

    def spread_rows(self) -> Array:
        """The width."""
        return self.upper - self.lower

    def marks(self) -> list[Mark]:
        """Both bounds."""
        return [Mark("lower", self.lower), Mark("upper", self.upper)]

    def form(self) -> Form:
        """Intervals."""
        return Form("intervals")
