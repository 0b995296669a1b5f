"""Predictions of any kind as quantiles at common levels, so that several can be averaged."""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy.special import ndtri

from calibrant._arrays import to_numpy
from calibrant.distributions.base import Distribution
from calibrant.predictions import Quantiles

Numbers = np.ndarray[Any, Any]

LEVELS = tuple((k + 0.5) / 25 for k in range(25))


def at_levels(prediction: Any) -> Numbers:
    """The quantiles at `LEVELS`; those of a `Quantiles` lie on straight lines in the normal score."""
    if isinstance(prediction, Distribution):
        return to_numpy(prediction.quantiles(LEVELS))
    if not isinstance(prediction, Quantiles):
        raise TypeError(f"a mean is taken of distributions and quantiles, got {prediction!r}")
    values = to_numpy(prediction.values)
    if prediction.quantile_levels() == LEVELS:
        return values
    if values.shape[1] == 1:
        raise TypeError(f"a mean needs quantiles at two levels or more, got {prediction!r}")
    own, asked = ndtri(to_numpy(prediction.levels)), ndtri(np.asarray(LEVELS))
    left = np.clip(np.searchsorted(own, asked, side="right") - 1, 0, len(own) - 2)
    share = (asked - own[left]) / (own[left + 1] - own[left])
    return np.asarray(values[:, left] * (1 - share) + values[:, left + 1] * share)
