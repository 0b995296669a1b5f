"""Labels that look like counts, while nobody has said so."""

from __future__ import annotations

from typing import Any

import numpy as np

LEAST = 50
"""Rows: fewer may be whole numbers by chance, or somebody's first try."""
VALUES = 6
"""Distinct ones: fewer may be classes, or grades from 1 to 5."""
TIES = 5
"""Rows for each distinct value, at least: prices in whole dollars rarely have so many."""


def look_like_counts(y: np.ndarray[Any, Any]) -> bool:
    """Whether 50 labels or more are whole numbers from 0 or 1 on, of six values or more, with five rows a value.

    Years and the ages of adults start elsewhere.

    >>> look_like_counts(np.arange(60.0) % 6), look_like_counts(2020 + np.arange(60.0) % 6)
    (True, False)
    """
    if len(y) < LEAST or not 0 <= y.min() <= 1 or not bool(np.all(y == np.floor(y))):
        return False
    distinct = len(np.unique(y))
    return VALUES <= distinct <= len(y) / TIES
