"""The models whose predictions the league starts from; each is made for a seed."""

from __future__ import annotations

from collections.abc import Callable
from importlib.util import find_spec
from typing import Any

from sklearn.ensemble import HistGradientBoostingRegressor, RandomForestRegressor
from sklearn.linear_model import Ridge
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler


def _boosting(seed: int) -> Any:
    return HistGradientBoostingRegressor(random_state=seed)


def _forest(seed: int) -> Any:
    return RandomForestRegressor(100, min_samples_leaf=2, random_state=seed)


def _ridge(seed: int) -> Any:
    del seed
    return make_pipeline(StandardScaler(), Ridge())


def _lightgbm(seed: int) -> Any:
    from lightgbm import LGBMRegressor

    return LGBMRegressor(random_state=seed, n_jobs=1, deterministic=True, verbose=-1)


MODELS: dict[str, Callable[[int], Any]] = {"hgb": _boosting, "rf": _forest, "ridge": _ridge, "lightgbm": _lightgbm}

TITLES = {"hgb": "gradient boosting", "rf": "forest", "ridge": "ridge", "lightgbm": "LightGBM"}

PACKAGES = {"lightgbm": "lightgbm"}
"""The package of a model that is none of scikit-learn's."""


def installed(package: str | None) -> bool:
    """Whether it can be imported; None is what is always there."""
    return package is None or find_spec(package) is not None
