"""quantile-forest: `RandomForestQuantileRegressor` and `ExtraTreesQuantileRegressor`."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant._arrays import Array, lifted
from calibrant.models.outputs import named, numbers, quantiles
from calibrant.predictions import Quantiles
from calibrant.predictions.quantiles import apart

LEVELS = np.arange(1, 20) / 20


def adapt(model: Any, X: Any) -> Quantiles:
    """`Quantiles` at the model's `default_quantiles` if these are several, else at 0.05, 0.10 .. 0.95."""
    default = model.default_quantiles
    levels = sorted(default) if isinstance(default, (list, tuple, np.ndarray)) and len(default) > 1 else LEVELS.tolist()
    output = numbers(named(model), model.predict(X, quantiles=levels))
    return quantiles(named(model), levels, _spread(output) if output.ndim == 2 else output)


def _spread(values: Array) -> Array:
    """Equal quantiles a little apart, and no word about it: a forest's are of few labels, so many are equal.

    Rows whose quantiles are all equal are left as they are, for `Quantiles` to count in its warning.
    """
    width = np.diff(values, axis=1)
    some = np.any(width > 0, axis=1) & np.any(width <= 0, axis=1)
    if np.any(some):
        values[some] = apart(values[some], lifted("Quantiles.values", width[some], values[some, 1:]))
    return values
