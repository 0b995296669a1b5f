"""How a broken law is told."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def law(kept: bool | np.bool_, sentence: str) -> None:  # noqa: FBT001
    """Raise an AssertionError that says the sentence, unless the law is kept."""
    if not kept:
        raise AssertionError(sentence)


def first(broken: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """The first row and column where a law is broken, if there is one."""
    return [(int(row), int(k)) for row, k in np.argwhere(broken)[:1]]
