"""quantile-forest: `RandomForestQuantileRegressor` and `ExtraTreesQuantileRegressor`."""

from __future__ import annotations

from typing import Any

import numpy as np

from calibrant.models.outputs import named, numbers, quantiles
from calibrant.predictions import Quantiles

LEVELS = np.arange(1, 20) / 20


def adapt(model: Any, X: Any) -> Quantiles:
    """`Quantiles` at the model's `default_quantiles` if these are several, else at 0.05, 0.10 .. 0.95."""
    default = model.default_quantiles
    levels = sorted(default) if isinstance(default, (list, tuple, np.ndarray)) and len(default) > 1 else LEVELS.tolist()
    output = numbers(named(model), model.predict(X, quantiles=levels))
    return quantiles(named(model), levels, output)
