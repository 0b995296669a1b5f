"""What a base model predicts for a batch of n rows."""

from __future__ import annotations

from typing import Self, cast

import numpy as np

from calibrant._arrays import Array
from calibrant._batch import first_array, take_rows
from calibrant._types import RowIndex
from calibrant.forecast import Forecast


class Prediction(Forecast):
    """A batch of predictions that is not a distribution: it slices, concatenates and prints itself.

    To write a kind of your own, make a frozen dataclass whose arrays hold one entry a row (see `calibrant._batch`),
    give its `shape`, and say what it can say by the methods that `calibrant.forecast.Forecast` lists.
    """

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
        details = self._describe()
        return f"{type(self).__name__}(n={len(self)}{', ' + details if details else ''})"

    def _describe(self) -> str:
        """What the repr says beside the number of rows."""
        return ""
