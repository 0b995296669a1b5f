"""Gradient boosting as the refiners use it, small trees stopped early, and boosted quantiles of the residual."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import ThreadpoolController

from calibrant._arrays import Array
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refiner, TrainingRows
from calibrant.refine.features import Features

MOST = 50_000
"""A boosted model learns from at most so many rows, drawn at random."""
SHALLOW = {"max_leaf_nodes": 8, "max_iter": 120}
"""For quantiles and scales: no worse out of fold than larger trees, and faster to fit and to ask."""
FIVE = (0.1, 0.3, 0.5, 0.7, 0.9)
_LITTLE = 500_000
"""Numbers in a matrix."""


def boosted(rows: TrainingRows, target: Array, **settings: Any) -> HistGradientBoostingRegressor:
    """Fitted to the target on X and the prediction of these rows."""
    model = HistGradientBoostingRegressor(
        **{
            "learning_rate": 0.1,
            "max_iter": 100,
            "max_leaf_nodes": 16,
            "min_samples_leaf": leaf(rows, 30),
            "l2_regularization": 5.0,
            "early_stopping": len(rows) >= 50,  # it sets a tenth of the rows aside
            "random_state": rows.seed,
            **settings,
        }
    )
    with few_threads(rows.matrix):
        return model.fit(rows.matrix, target, sample_weight=rows.sample_weight)


def leaf(rows: TrainingRows, most: int) -> int:
    """The fewest rows of a leaf: a twentieth of all, at least 5."""
    return max(5, min(most, len(rows) // 20))


def predicted(model: HistGradientBoostingRegressor, matrix: Array) -> Any:
    """The predictions of a boosted model."""
    with few_threads(matrix):
        return model.predict(matrix)


def few_threads(matrix: Any) -> AbstractContextManager[Any]:
    """One thread where there is little to do: many would wait for each other at each of a thousand short steps."""
    return nullcontext() if matrix.size > _LITTLE else _threads().limit(limits=1, user_api="openmp")


@cache
def _threads() -> ThreadpoolController:
    return ThreadpoolController()


def crossed(rows: TrainingRows, target: Array, count: int = 5, **settings: Any) -> Array:
    """The prediction of each row by a boosted model that did not see it."""
    out = np.empty(len(rows))
    for train, test in rows.folds(count):
        out[test] = predicted(boosted(rows[train], target[train], **settings), rows.matrix[test])
    return out


@dataclass(frozen=True)
class ResidualQuantiles(Refiner):
    """f + the quantiles of the residual given x and f, boosted, one model per level."""

    levels: Sequence[float] = FIVE

    def __post_init__(self) -> None:
        levels = np.asarray(self.levels, dtype=np.float64)
        if levels.ndim != 1 or not levels.size or np.any(np.diff(levels, prepend=0.0, append=1.0) <= 0):
            raise ValueError(f"ResidualQuantiles.levels must increase strictly inside (0, 1), got {self.levels!r}")
        object.__setattr__(self, "levels", tuple(levels.tolist()))

    def fit(self, rows: TrainingRows) -> QuantilesRefinement:
        """One fit per level."""
        rows = rows.sampled(MOST)
        r = rows.y - rows.centre
        settings = {**SHALLOW, "min_samples_leaf": leaf(rows, 20), "l2_regularization": 2.0, "loss": "quantile"}
        models = tuple(boosted(rows, r, quantile=level, **settings) for level in self.levels)
        return QuantilesRefinement(rows.features, models, tuple(self.levels), float(np.mean(np.abs(r))))


@dataclass(frozen=True)
class QuantilesRefinement:
    """(X, prediction) -> Quantiles."""

    features: Features
    models: tuple[HistGradientBoostingRegressor, ...]
    levels: tuple[float, ...]
    unit: float
    """The mean absolute residual, by which the least distance of two quantiles is measured."""

    def __call__(self, X: Any, prediction: Any) -> Quantiles:
        """The quantiles of each row."""
        matrix = self.features(X, prediction)
        values = np.stack([predicted(model, matrix) for model in self.models], axis=1)
        return Quantiles(self.levels, matrix[:, :1] + separated(values, self.unit))


def separated(values: Array, unit: float, least: float = 1e-4) -> Array:
    """Each row in order, neighbours at least `least` units apart: so that no part of the distribution is degenerate."""
    values = np.sort(values, axis=1)
    gaps = np.maximum(np.diff(values, axis=1), least * max(unit, np.finfo(np.float64).tiny))
    return np.concatenate([values[:, :1], values[:, :1] + np.cumsum(gaps, axis=1)], axis=1)
