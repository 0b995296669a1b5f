"""What a base model predicts for a batch of n rows."""

from __future__ import annotations

from typing import Self, cast

import numpy as np

from calibrant._arrays import Array
from calibrant._batch import first_array, row_fields, take_rows
from calibrant._types import RowIndex
from calibrant.forecast import Forecast


class Prediction(Forecast):
    """A batch of predictions that is not a distribution: it slices, concatenates and prints itself.

    To write a kind of your own, make a frozen dataclass whose arrays hold one entry per row (see `calibrant._batch`),
    with those methods of `calibrant.forecast.Forecast` that it can answer.
    """

    @property
    def shape(self) -> tuple[int, ...]:
        """(n,): as many rows as its first field has."""
        _, first = row_fields(self)[0]
        return (first.shape[0],)

    @property
    def like(self) -> Array:
        return cast(Array, first_array(self))

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: RowIndex) -> Self:
        if isinstance(index, (int, np.integer)) and not isinstance(index, bool):
            start = range(len(self))[index]
            index = slice(start, start + 1)
        return take_rows(self, index)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({', '.join(filter(None, [f'n={len(self)}', self._describe()]))})"

    def _describe(self) -> str:
        """What the repr shows after the number of rows."""
        return ""
