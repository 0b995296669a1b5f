"""Labels that look like counts, while nobody has said so."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arrays import warn_user

LEAST = 50
"""Rows: fewer may be whole numbers by chance, or somebody's first try."""
TIES = 5
"""Rows for each distinct value, at least: prices in whole dollars rarely have so many."""


def look_like_counts(y: np.ndarray[Any, Any]) -> bool:
    """Whether 50 labels or more are whole numbers from 0 or 1 on, of three values or more, with five rows a value.

    Years and ages of adults start elsewhere, classes 0 and 1 are two values.

    >>> look_like_counts(np.tile([0.0, 1.0, 2.0], 20)), look_like_counts(np.tile([2020.0, 2021.0, 2022.0], 20))
    (True, False)
    """
    if len(y) < LEAST or not 0 <= y.min() <= 1 or not bool(np.all(y == np.floor(y))):
        return False
    distinct = len(np.unique(y))
    return 3 <= distinct <= len(y) / TIES


def warn_of_counts(y: np.ndarray[Any, Any], what: str = "labels") -> None:
    """Say that a law of counts may be meant: a law on the real line reaches below 0, and between the numbers."""
    if look_like_counts(y):
        warn_user(
            f"all {what} are whole numbers of at least 0: labels='counts' keeps forecasts so, and labels='real' takes"
            " them for any real numbers without this warning"
        )
