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
    """The law of `predict_proba`: ours where we have it, else its quantiles at 0.01 .. 0.99."""
    model.check_is_fitted()
    law = model.predict_proba(without_arrow(X))
    if law.shape[1:] != (1,):
        raise ValueError(f"{named(model)} must predict one law a row, got shape {law.shape}")
    return _KINDS.get(type(law).__name__, _by_quantiles)(law)


def _by_quantiles(law: Any) -> Any:
    return quantiles(type(law).__name__, LEVELS.tolist(), law.quantile(LEVELS.tolist()))


def _of_draws(law: Any) -> Any:
    """`Samples` of draws of equal weight that come in blocks of all rows, which is how skpro makes them."""
    blocks, rest = divmod(len(law.spl), law.shape[0])
    rows = law.spl.index.get_level_values(-1)
    if law.weights is not None or rest or list(rows) != list(law.index) * blocks:
        return _by_quantiles(law)
    return Samples(law.spl.to_numpy(dtype=np.float64).reshape(blocks, law.shape[0]).T)


def _parameters(law: Any, *names: str) -> list[Array]:
    """One value a row of each."""
    return [np.broadcast_to(np.asarray(getattr(law, name), dtype=np.float64), law.shape)[:, 0] for name in names]


_KINDS: dict[str, Callable[[Any], Any]] = {
    "Delta": lambda law: Point(column("Delta", law.mean())),
    "Empirical": _of_draws,
    "Laplace": lambda law: Laplace(*_parameters(law, "mu", "scale")),
    "LogNormal": lambda law: LogNormal(*_parameters(law, "mu", "sigma")),
    "Logistic": lambda law: Logistic(*_parameters(law, "mu", "scale")),
    "Normal": lambda law: Normal(*_parameters(law, "mu", "sigma")),
    "TDistribution": lambda law: StudentT(*_parameters(law, "df", "mu", "sigma")),
}
