"""The likelihood ratios of new rows."""

from __future__ import annotations

from calibrant._arrays import Array, device_like, floats, refuse, to_numpy
from calibrant.distributions.context import Context


def ratios_of(context: Context, like: Array, unit: float) -> Array:
    """The ratios of the rows in a unit, beside `like`: not negative, and given."""
    if context.by is not None:
        raise TypeError("q was weighted by likelihood ratios and takes no by=")
    if context.weights is None:
        raise TypeError("q was weighted by likelihood ratios: pass weights=, those of the new rows, too")
    ratios = floats("weights", context.weights, ndim=1)
    refuse("weights", ratios < 0, "is negative")
    return device_like(to_numpy(ratios) / unit, like)
