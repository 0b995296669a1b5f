"""NGBoost: `NGBRegressor` and `NGBSurvival`."""

from __future__ import annotations

from typing import Any

from sklearn.exceptions import NotFittedError

from calibrant.distributions import Distribution, from_scipy
from calibrant.models.outputs import named


def adapt(model: Any, X: Any) -> Distribution:
    """The distribution of `pred_dist`: ours where we have it, else scipy's."""
    if model.init_params is None:
        raise NotFittedError(f"this {named(model)} is not fitted yet: call fit first")
    distribution = model.pred_dist(X)
    if not hasattr(distribution, "dist"):
        raise TypeError(
            f"{named(model)} must predict a distribution that scipy.stats has, got {type(distribution).__name__}"
        )
    return from_scipy(distribution.dist)
