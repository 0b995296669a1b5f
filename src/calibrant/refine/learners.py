"""Gradient boosting as the refiners use it: small trees, regularised, stopped early."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext
from functools import cache
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import ThreadpoolController

from calibrant._arrays import Array
from calibrant.refine.rows import TrainingRows

MOST = 50_000
"""A boosted model learns from at most so many rows, drawn at random."""
SHALLOW = {"max_leaf_nodes": 8, "max_iter": 120}
"""For quantiles and scales: no worse out of fold than larger trees, and faster to fit and to ask."""
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
