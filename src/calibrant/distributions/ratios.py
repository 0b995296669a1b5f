"""The likelihood ratios of new rows."""

from __future__ import annotations

import numpy as np

from calibrant._arrays import Array, device_like, floats, refuse, to_numpy
from calibrant.distributions.context import Context

LARGEST = 1e30
"""A row of a larger one has all of its mass in the tails, as has one of this."""


def ratios_of(context: Context, like: Array, unit: float) -> Array:
    """The ratios of the rows in a unit, beside `like`: not negative, and given."""
    if context.by is not None:
        raise TypeError("q was weighted by likelihood ratios and takes no by=")
    if context.weights is None:
        raise TypeError("q was weighted by likelihood ratios: pass weights=, those of the new rows, too")
    ratios = floats("weights", context.weights, ndim=1)
    refuse("weights", ratios < 0, "is negative")
    with np.errstate(over="ignore"):
        return device_like(np.minimum(to_numpy(ratios) / unit, LARGEST), like)
