"""The warning of labels that look like counts, while nobody has said so."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._words import warn_user
from calibrant.labels.counts import look_like_counts


def warn_of_counts(y: np.ndarray[Any, Any], what: str = "labels") -> None:
    """Say that counts may be meant: a distribution on the real line reaches below 0, and between the numbers."""
    if look_like_counts(y):
        warn_user(
            f"all {what} are whole numbers of at least 0: labels='counts' keeps forecasts so, and labels='real' takes"
            " them for any real numbers without this warning"
        )
