"""Boosted quantiles of the residual."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from sklearn.ensemble import HistGradientBoostingRegressor

from calibrant._arrays import Array
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refiner
from calibrant.refine.features import Features
from calibrant.refine.learners import MOST, SHALLOW, boosted, leaf, predicted
from calibrant.refine.rows import TrainingRows

FIVE = (0.1, 0.3, 0.5, 0.7, 0.9)


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
        return rows.once(self, lambda: self._learned(rows.sampled(MOST)))

    def _learned(self, rows: TrainingRows) -> QuantilesRefinement:
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
