"""A prediction by samples, also called particles."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from calibrant._arrays import Array, floats, namespace
from calibrant._types import ArrayLike
from calibrant.forecast import Mark
from calibrant.forms import Form
from calibrant.predictions.base import Prediction
from calibrant.predictions.quantiles import Quantiles, pinball_rows

_MOST_MARKS = 50


@dataclass(frozen=True, eq=False, repr=False)
class Samples(Prediction):
    """values[i, k], k = 1..K: draws from the predictive distribution of row i, in any order.

    Sorted, they are quantiles at the levels (k - 1/2) / K. Equal draws are ordinary and stay equal. A row whose draws
    are all equal does not tell its own spread: see `SamplesScore`.

    >>> Samples([[3.0, 1.0, 2.0], [5.0, 4.0, 7.0]])
    Samples(n=2, 3 a row)
    """

    values: Array

    if TYPE_CHECKING:

        def __init__(self, values: ArrayLike) -> None: ...

    def __post_init__(self) -> None:
        values = floats("Samples.values", self.values, ndim=2)
        if values.shape[1] == 0:
            raise ValueError("Samples.values must have at least one column")
        if not (isinstance(values, np.ndarray) and np.all(values[:, 1:] >= values[:, :-1])):  # else no copy is made
            values = namespace(values).sort(values, axis=1)
        object.__setattr__(self, "values", values)

    def as_quantiles(self) -> Quantiles:
        """The sorted draws as quantiles at (k - 1/2) / K."""
        count = self.values.shape[1]
        return Quantiles((np.arange(count) + 0.5) / count, self.values)

    def _describe(self) -> str:
        return f"{self.values.shape[1]} a row"

    def quantile(self, level: float) -> Array:
        """The draw at the level (k - 1/2) / K, and straight between two of them; of none beyond the outermost."""
        last = self.values.shape[1] - 1
        place = level * (last + 1) - 0.5
        if not -1e-6 <= place <= last + 1e-6:
            raise self.not_available(f"the quantile at level {level:.6g}")
        k, share = divmod(min(max(place, 0.0), last), 1)
        below = self.values[:, int(k)]
        return below if not share else (1 - share) * below + share * self.values[:, int(k) + 1]

    def pit_rows(self, y: Array, u: Array) -> Array:
        """(draws below y + u (1 + draws at y)) / (K + 1): the rank of y among the draws, ties by lot."""
        xp, dtype = namespace(y), self.values.dtype
        below, at = (xp.sum(xp.astype(x, dtype), axis=1) for x in (self.values < y[:, None], self.values == y[:, None]))
        return (below + u * (1 + at)) / (self.values.shape[1] + 1)

    def quantile_levels(self) -> tuple[float, ...]:
        return self.as_quantiles().quantile_levels()

    def crps_rows(self, y: Array) -> Array:
        """The CRPS of the empirical distribution: twice the pinball loss at the levels (k - 1/2) / K."""
        quantiles = self.as_quantiles()
        return 2 * namespace(y).mean(pinball_rows(quantiles.values, y[:, None], quantiles.levels), axis=1)

    def std_rows(self) -> Array:
        """The standard deviation of the empirical distribution."""
        return namespace(self.values).std(self.values, axis=1)

    spread_rows = std_rows

    def centre_rows(self) -> Array:
        return namespace(self.values).mean(self.values, axis=1)

    def marks(self) -> list[Mark]:
        """The draws, or 50 of them, evenly spaced in their order."""
        count = self.values.shape[1]
        shown = np.unique(np.linspace(0, count - 1, min(_MOST_MARKS, count)).round().astype(int))
        return [Mark("sample", self.values[:, k], (k + 0.5) / count) for k in shown.tolist()]

    def form(self) -> Form:
        return Form("samples", draws=int(self.values.shape[1]))
