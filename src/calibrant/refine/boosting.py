"""Gradient boosting with small trees, stopped early: the quantiles of the residual, or its location and scale."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass
from functools import cache, partial
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor
from threadpoolctl import ThreadpoolController

from calibrant._arrays import Array
from calibrant.distributions import Distribution, Normal
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement, Refiner, TrainingRows
from calibrant.refine.features import Encoder
from calibrant.refine.spread import Shrinkage

MOST = 50_000
"""A boosted model learns from at most so many rows, drawn at random."""
SHALLOW = {"max_leaf_nodes": 8, "max_iter": 120}
"""For quantiles and scales: no worse out of fold than larger trees, and faster to fit and to ask."""
FIVE = (0.1, 0.3, 0.5, 0.7, 0.9)
_LITTLE = 500_000
"""Numbers in a matrix."""
_STEPS = (0.0, 0.25, 0.5, 0.75, 1.0)
_LEAST = 0.05
"""Of the median error: what is added before the logarithm, so that an error of 0 is no -inf."""
_SCALE: dict[str, Any] = {**SHALLOW, "loss": "absolute_error"}


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

    def fit(self, rows: TrainingRows) -> Refinement:
        """One fit per level."""
        rows = rows.sampled(MOST)
        r = rows.y - rows.centre
        settings = {**SHALLOW, "min_samples_leaf": leaf(rows, 20), "l2_regularization": 2.0, "loss": "quantile"}
        models = tuple(boosted(rows, r, quantile=level, **settings) for level in self.levels)
        unit = float(np.mean(np.abs(r)))
        return partial(_quantiles, features=rows.features, models=models, levels=tuple(self.levels), unit=unit)


def _quantiles(X: Any, prediction: Any, features: Encoder, models: Any, levels: Sequence[float], unit: float) -> Any:
    """The quantiles of each row, apart by some of the mean absolute residual."""
    matrix = features(X, prediction)
    values = np.stack([predicted(model, matrix) for model in models], axis=1)
    return Quantiles(levels, matrix[:, :1] + separated(values, unit))


def separated(values: Array, unit: float, least: float = 1e-4) -> Array:
    """Each row in order, neighbours at least `least` units apart: so that no part of the distribution is degenerate."""
    values = np.sort(values, axis=1)
    gaps = np.maximum(np.diff(values, axis=1), least * max(unit, np.finfo(np.float64).tiny))
    return np.concatenate([values[:, :1], values[:, :1] + np.cumsum(gaps, axis=1)], axis=1)


@dataclass(frozen=True)
class ResidualLocationScale(Refiner):
    """Normal(f + alpha m(x, f), s(x, f)): boosted mean m and scale s of the out-of-fold residual r = y - f.

    m is fitted to r and log s to log |r - alpha m|. Both are evaluated by models that did not see the row: the step
    alpha, one of 0, 1/4, ..., 1, by the mean absolute error, and the scale is shrunk towards a common one by
    likelihood, see `Shrinkage`. So where residuals do not depend on x, the prediction stays the same.
    """

    def fit(self, rows: TrainingRows) -> LocationScaleRefinement:
        """Ten fits to judge by, two to keep."""
        return self.with_scores(rows)[0]

    def with_scores(self, rows: TrainingRows) -> tuple[LocationScaleRefinement, TrainingRows, Array]:
        """What was learned, the rows that taught it, and their out-of-fold scores (y - location) / scale.

        Args:
            rows: The training rows to learn from.
        """
        rows = rows.sampled(MOST)
        r, weight = rows.y - rows.centre, rows.sample_weight
        location = crossed(rows, r)
        step = min(_STEPS, key=lambda alpha: float(np.average(np.abs(r - alpha * location), weights=weight)))
        errors = r - step * location
        least = _LEAST * float(np.median(np.abs(errors)))
        target = np.log(np.abs(errors) + max(least, np.finfo(np.float64).tiny))
        spread = np.exp(crossed(rows, target, **_SCALE))
        shrinkage = Shrinkage.of(spread, errors, weight, powers=True)
        fitted = LocationScaleRefinement(
            rows.features,
            boosted(rows, r) if step else None,
            step,
            boosted(rows, target, **_SCALE) if shrinkage.factor else None,
            shrinkage,
        )
        return fitted, rows, errors / shrinkage(spread)


@dataclass(frozen=True)
class LocationScaleRefinement:
    """(X, prediction) -> Normal."""

    features: Encoder
    location: HistGradientBoostingRegressor | None
    step: float
    scale: HistGradientBoostingRegressor | None
    shrinkage: Shrinkage

    def __call__(self, X: Any, prediction: Any) -> Distribution:
        """The distribution of each row."""
        return Normal(*self.loc_scale(self.features(X, prediction)))

    def loc_scale(self, matrix: Array) -> tuple[Array, Array]:
        """The location and the scale of each row of a matrix of X and the prediction."""
        location = matrix[:, 0]
        if self.location is not None:
            location = location + self.step * predicted(self.location, matrix)
        log_scale = np.zeros(len(matrix)) if self.scale is None else predicted(self.scale, matrix)
        return location, self.shrinkage(np.exp(log_scale))
