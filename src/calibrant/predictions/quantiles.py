"""Predictions by quantiles, and by intervals."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._arguments import keep, same_length
from calibrant._arrays import Array, concatenate, first_and_count, floats, namespace, to_numpy, wider
from calibrant._search import interpolated
from calibrant._types import ArrayLike
from calibrant._words import in_rows, singular_if_one, warn_user
from calibrant.forecast import Mark
from calibrant.forms import Form, increasing
from calibrant.predictions.base import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Quantiles(Prediction):
    """values[i, k] is the predicted quantile of row i at levels[k]; the levels increase strictly inside (0, 1).

    Quantiles that cross are sorted and counted in a warning. Equal ones stay equal: the score decides what distribution
    such a row has.

    >>> Quantiles([0.1, 0.5, 0.9], [[-1.0, 0.0, 1.0], [2.0, 4.0, 8.0]])
    Quantiles(n=2, levels=[0.1, 0.5, 0.9])
    """

    levels: Array = field(metadata={"shared": True})
    values: Array

    if TYPE_CHECKING:

        def __init__(self, levels: ArrayLike, values: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        values = floats("Quantiles.values", self.values, ndim=2)
        levels = to_numpy(floats("Quantiles.levels", self.levels, ndim=1))
        count = len(increasing("Quantiles.levels", levels))
        if values.shape[1] != count:
            raise ValueError(f"Quantiles.values must have a column for each of {count} levels, got {values.shape[1]}")
        own = floats("Quantiles.levels", levels, like=values)
        keep(self, levels=own, values=_in_order("Quantiles.values", values))

    def as_quantiles(self) -> Quantiles:
        """Itself."""
        return self

    def _describe(self) -> str:
        return f"levels={[round(float(level), 6) for level in self.levels]}"

    def quantile(self, level: float) -> Array:
        """The column of a level; of no other levels than its own."""
        near = np.abs(to_numpy(self.levels) - level)
        column = int(np.argmin(near))
        if near[column] > 1e-6:
            raise self.not_available(f"the quantile at level {level:.6g}")
        return self.values[:, column]

    def quantile_levels(self) -> tuple[float, ...]:
        return tuple(float(level) for level in to_numpy(self.levels))

    def centre_rows(self) -> Array:
        """The median, interpolated between the nearest levels."""
        first = self.values[:, :1]
        if self.values.shape[1] == 1:
            return first[:, 0]
        return interpolated(namespace(first).full_like(first, 0.5), self.levels[None, :], self.values)[:, 0]

    def spread_rows(self) -> Array | None:
        """The mean distance of the quantiles from the median; None for a single one."""
        if self.values.shape[1] == 1:
            return None
        xp = namespace(self.values)
        return xp.mean(xp.abs(self.values - self.centre_rows()[:, None]), axis=1)

    def marks(self) -> list[Mark]:
        return [Mark(f"quantile {p:.4g}", self.values[:, k], p) for k, p in enumerate(self.quantile_levels())]

    def form(self) -> Form:
        return Form("quantiles", levels=self.quantile_levels())


@dataclass(frozen=True, eq=False, repr=False)
class Interval(Prediction):
    """A lower and an upper bound per row.

    Bounds that cross are swapped and counted in a warning; equal ones stay equal.

    >>> Interval([0.0, 1.0], [2.0, 5.0])
    Interval(n=2)
    """

    lower: Array
    upper: Array
    own_bounds = True

    if TYPE_CHECKING:

        def __init__(self, lower: ArrayLike, upper: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        lower = floats("Interval.lower", self.lower, ndim=1)
        lower = floats("Interval.lower", lower, like=wider(lower, self.upper))
        upper = floats("Interval.upper", self.upper, ndim=1, like=lower)
        same_length("Interval.lower", lower.shape[0], "Interval.upper", upper.shape[0])
        bounds = _in_order("Interval", concatenate([lower[:, None], upper[:, None]], axis=1))
        keep(self, lower=bounds[:, 0], upper=bounds[:, 1])

    def bounds(self, coverage: float) -> tuple[Array, Array]:
        """Its own, whatever coverage is asked for: they have no level."""
        return self.lower, self.upper

    def spread_rows(self) -> Array:
        """The width."""
        return self.upper - self.lower

    def marks(self) -> list[Mark]:
        return [Mark("lower", self.lower), Mark("upper", self.upper)]

    def form(self) -> Form:
        return Form("intervals")


def _in_order(name: str, values: Array) -> Array:
    """Each row sorted; rows that were not are counted in a warning."""
    xp = namespace(values)
    crossing = values[:, 1:] < values[:, :-1]
    if not bool(xp.any(crossing)):
        return values
    first, number = first_and_count(crossing)
    warn_user(f"{name} crosses {in_rows(number, first)}: {singular_if_one(number, 'they are')} sorted")
    return xp.sort(values, axis=1)


def pinball_rows(quantiles: Array, y: Array, level: Any) -> Array:
    """max(a (y - q), (a - 1) (y - q))."""
    above = y - quantiles
    return namespace(y).maximum(level * above, (level - 1) * above)
