"""skpro: every regressor with `predict_proba`."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calibrant._arrays import Array
from calibrant.distributions import Laplace, Logistic, LogNormal, Normal, StudentT
from calibrant.models.outputs import column, named, quantiles, without_arrow
from calibrant.predictions import Point, Samples

LEVELS = np.arange(1, 100) / 100


def adapt(model: Any, X: Any) -> Any:
    """The distribution of `predict_proba`: ours where we have it, else its quantiles at 0.01 .. 0.99."""
    model.check_is_fitted()
    distribution = model.predict_proba(without_arrow(X))
    if distribution.shape[1:] != (1,):
        raise ValueError(f"{named(model)} must predict one distribution per row, got shape {distribution.shape}")
    return _KINDS.get(type(distribution).__name__, _by_quantiles)(distribution)


def _by_quantiles(distribution: Any) -> Any:
    return quantiles(type(distribution).__name__, LEVELS.tolist(), distribution.quantile(LEVELS.tolist()))


def _of_draws(distribution: Any) -> Any:
    """`Samples` of draws of equal weight that come in blocks of all rows, which is how skpro makes them."""
    blocks, rest = divmod(len(distribution.spl), distribution.shape[0])
    rows = distribution.spl.index.get_level_values(-1)
    if distribution.weights is not None or rest or list(rows) != list(distribution.index) * blocks:
        return _by_quantiles(distribution)
    return Samples(distribution.spl.to_numpy(dtype=np.float64).reshape(blocks, distribution.shape[0]).T)


def _parameters(distribution: Any, *names: str) -> list[Array]:
    """One value per row of each."""
    return [
        np.broadcast_to(np.asarray(getattr(distribution, name), dtype=np.float64), distribution.shape)[:, 0]
        for name in names
    ]


_KINDS: dict[str, Callable[[Any], Any]] = {
    "Delta": lambda distribution: Point(column("Delta", distribution.mean())),
    "Empirical": _of_draws,
    "Laplace": lambda distribution: Laplace(*_parameters(distribution, "mu", "scale")),
    "LogNormal": lambda distribution: LogNormal(*_parameters(distribution, "mu", "sigma")),
    "Logistic": lambda distribution: Logistic(*_parameters(distribution, "mu", "scale")),
    "Normal": lambda distribution: Normal(*_parameters(distribution, "mu", "sigma")),
    "TDistribution": lambda distribution: StudentT(*_parameters(distribution, "df", "mu", "sigma")),
}
