"""A quantile prediction."""

from __future__ import annotations

import warnings
from bisect import bisect
from dataclasses import KW_ONLY, dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING, Any

import numpy as np

from calibrant._arrays import Array, complain, first_and_count, floats, namespace, to_numpy
from calibrant._types import ArrayLike
from calibrant._words import in_all, in_rows, said_of
from calibrant.forecast import Mark
from calibrant.forms import Form
from calibrant.predictions.base import Prediction


@dataclass(frozen=True, eq=False, repr=False)
class Quantiles(Prediction):
    """values[i, k] is the predicted quantile of row i at levels[k]; the levels increase strictly inside (0, 1).

    Quantiles that cross are sorted and counted in a warning. Equal ones stay equal: what such a row's law is, the score
    decides. With `strict=True` both raise.

    >>> Quantiles([0.1, 0.5, 0.9], [[-1.0, 0.0, 1.0], [2.0, 4.0, 8.0]])
    Quantiles(n=2, levels=[0.1, 0.5, 0.9])
    """

    levels: Array = field(metadata={"shared": True})
    values: Array
    _: KW_ONLY
    strict: bool = field(default=False, metadata={"shared": True})

    if TYPE_CHECKING:

        def __init__(self, levels: ArrayLike, values: ArrayLike, *, strict: bool = False) -> None: ...

    def __post_init__(self) -> None:
        values = floats("Quantiles.values", self.values, ndim=2)
        levels = floats("Quantiles.levels", self.levels, ndim=1)
        shown = [float(level) for level in to_numpy(levels)]
        if not shown or any(b <= a for a, b in zip([0.0, *shown], [*shown, 1.0], strict=True)):
            raise ValueError(f"Quantiles.levels must increase strictly inside (0, 1), got {shown}")
        if values.shape[1] != len(shown):
            raise ValueError(
                f"Quantiles.values must have a column for each of {len(shown)} levels, got {values.shape[1]}"
            )
        object.__setattr__(self, "levels", floats("Quantiles.levels", to_numpy(levels), like=values))
        values = in_order("Quantiles.values", values, strict=self.strict)
        if self.strict and bool(namespace(values).any(values[:, 1:] <= values[:, :-1])):
            complain("Quantiles.values", values[:, 1:] <= values[:, :-1], "has zero width")
        object.__setattr__(self, "values", values)

    @property
    def shape(self) -> tuple[int, ...]:
        return (self.values.shape[0],)

    def _describe(self) -> str:
        return f"levels={[round(float(level), 6) for level in self.levels]}"

    def quantile(self, level: float) -> Array:
        """The column of a level; of no other levels than its own."""
        near = np.abs(to_numpy(self.levels) - level)
        column = int(np.argmin(near))
        if near[column] > 1e-6:
            raise self.unsaid(f"the quantile at level {level:.6g}")
        return self.values[:, column]

    def quantile_levels(self) -> tuple[float, ...]:
        """Its own."""
        return tuple(float(level) for level in to_numpy(self.levels))

    def centre_rows(self) -> Array:
        """The median, interpolated between the levels beside it."""
        levels = self.quantile_levels()
        k = min(max(bisect(levels, 0.5), 1), max(len(levels) - 1, 1))
        if len(levels) == 1 or not levels[0] <= 0.5 <= levels[-1]:
            return self.values[:, 0] if levels[0] > 0.5 else self.values[:, -1]
        share = (0.5 - levels[k - 1]) / (levels[k] - levels[k - 1])
        return self.values[:, k - 1] + share * (self.values[:, k] - self.values[:, k - 1])

    def spread_rows(self) -> Array | None:
        """The mean distance of the quantiles from the median; nothing of a single one."""
        if self.values.shape[1] == 1:
            return None
        xp = namespace(self.values)
        return xp.mean(xp.abs(self.values - self.centre_rows()[:, None]), axis=1)

    def marks(self) -> list[Mark]:
        """The quantiles, each with its level."""
        levels = enumerate(self.quantile_levels())
        return [Mark(f"quantile {level:.4g}", self.values[:, k], level) for k, level in levels]

    def form(self) -> Form:
        """Quantiles and their levels."""
        return _form(self.quantile_levels())


@lru_cache(maxsize=64)
def _form(levels: tuple[float, ...]) -> Form:
    return Form("quantiles", levels=levels)


def in_order(name: str, values: Array, *, strict: bool, depth: int = 4) -> Array:
    """Each row sorted; rows that were not are counted in a warning, or raise."""
    xp = namespace(values)
    crossing = values[:, 1:] < values[:, :-1]
    if not bool(xp.any(crossing)):
        return values
    first, number = first_and_count(crossing)
    if strict:
        raise ValueError(f"{name} crosses in row {first} ({in_all(number)})")
    warnings.warn(f"{name} crosses {in_rows(number, first)}: {said_of(number, 'they are')} sorted", stacklevel=depth)
    return xp.sort(values, axis=1)


def pinball_rows(quantiles: Array, y: Array, level: Any) -> Array:
    """max(a (y - q), (a - 1) (y - q))."""
    above = y - quantiles
    return namespace(y).maximum(level * above, (level - 1) * above)
