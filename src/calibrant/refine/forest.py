"""The distribution of the residuals of similar training rows, found by a forest."""

from __future__ import annotations

from dataclasses import dataclass
from functools import partial
from numbers import Integral
from typing import Any

import numpy as np
from sklearn.ensemble import RandomForestRegressor

from calibrant._arrays import Array
from calibrant.predictions import Quantiles
from calibrant.refine.base import Refinement, Refiner, TrainingRows
from calibrant.refine.boosting import separated
from calibrant.refine.features import Encoder
from calibrant.refine.stack import LEVELS

_SPLITS = tuple((k + 0.5) / 9 for k in range(9))
_THRESHOLDS = np.concatenate([[0.002, 0.005], (np.arange(50) + 0.5) / 50, [0.995, 0.998]])
_MOST = 50_000
_BLOCK = 5_000
"""Rows whose distributions are worked out at once, such that they stay in the processor's cache."""


@dataclass(frozen=True)
class Forest(Refiner):
    """f + local quantiles: residuals of training rows, weighted by how often a forest joins them with x.

    The forest splits by 9 indicators 1{r <= t}. Each leaf keeps the share of its residuals below each of 54 thresholds,
    `prior` rows of the distribution of all added; a row's distribution is the mean over its leaves, mixed with a
    twentieth of the overall distribution. It learns from at most 50,000 training rows, drawn at random, and grows each
    tree on at most 4,000.
    """

    trees: int = 50
    leaf: int = 10
    prior: float = 1.0

    def __post_init__(self) -> None:
        for name in ("trees", "leaf"):
            if not isinstance(getattr(self, name), Integral) or getattr(self, name) < 1:
                raise ValueError(f"Forest.{name} must be a whole number from 1 on, got {getattr(self, name)!r}")
        if not 0 < self.prior < np.inf:
            raise ValueError(f"Forest.prior must be positive and finite, got {self.prior!r}")

    def fit(self, rows: TrainingRows) -> Refinement:
        """One forest and its tables."""
        rows = rows.sampled(_MOST)  # before X is made a matrix
        distribution = self.distribution(rows, rows.y - rows.centre)
        return partial(_around, features=rows.features, distribution=distribution)

    def distribution(self, rows: TrainingRows, r: Array) -> ForestDistribution:
        """The local distribution of residuals, or of scores, of these rows.

        Args:
            rows: The training rows with their out-of-fold predictions.
            r: The residuals of the rows, or their scores.
        """
        n, matrix, weight = len(rows), rows.matrix, rows.sample_weight
        splits = np.unique(np.quantile(r, _SPLITS))
        forest = RandomForestRegressor(
            self.trees,
            min_samples_leaf=max(1, min(self.leaf, n // 4)),
            max_features=0.34,
            max_samples=max(1, min(int(0.7 * n), 4_000)),
            random_state=rows.seed,
        ).fit(matrix, np.squeeze(r[:, None] <= splits, axis=1 if len(splits) == 1 else ()), sample_weight=weight)
        points = np.unique(np.concatenate([np.quantile(r, _THRESHOLDS), [r.min(), r.max()]]))
        place = np.searchsorted(points, r)
        pooled = np.cumsum(np.bincount(place, weights=weight, minlength=len(points)))
        pooled = pooled / pooled[-1]
        single = np.asarray(matrix, dtype=np.float32)
        tables = []
        for tree in forest.estimators_:  # one by one: the leaves of all trees take more memory than the rows
            shape = (tree.tree_.node_count, len(points))
            cell = tree.tree_.apply(single) * shape[1] + place
            count = np.bincount(cell, weights=weight, minlength=shape[0] * shape[1]).reshape(shape)
            below = np.cumsum(count, axis=1) + self.prior * pooled
            tables.append((below / below[:, -1:]).astype(np.float32))
        return ForestDistribution(forest, tuple(tables), points, pooled, float(np.mean(np.abs(r - np.median(r)))))


@dataclass(frozen=True, repr=False)
class ForestDistribution:
    """P(r <= t | x) at some thresholds t: the mean over the trees of the shares in x's leaf."""

    forest: RandomForestRegressor
    tables: tuple[Array, ...]
    points: Array
    pooled: Array
    unit: float

    def quantiles(self, matrix: Array) -> Array:
        """At `LEVELS`, interpolated between the thresholds."""
        single = np.asarray(matrix, dtype=np.float32)
        blocks = [self._block(single[start : start + _BLOCK]) for start in range(0, max(len(single), 1), _BLOCK)]
        return np.concatenate(blocks)

    def _block(self, matrix: Any) -> Array:
        distribution = np.zeros((len(matrix), len(self.points)), dtype=np.float32)
        seen = np.empty_like(distribution)
        for tree, table in zip(self.forest.estimators_, self.tables, strict=True):
            leaves = tree.tree_.apply(matrix)
            distribution += np.take(table, leaves, axis=0, out=seen, mode="clip")  # in range: it needs no buffer
        F = 0.95 / len(self.tables) * distribution.astype(np.float64) + 0.05 * self.pooled
        return separated(_inverse(F, self.points), self.unit)


def _inverse(F: Any, points: Any) -> Array:
    """The quantiles of distributions that are known at some points, straight lines between."""
    n, count = len(F), len(LEVELS)
    reached = np.searchsorted(LEVELS, F, side="right")  # how many levels lie at each height or below
    cells = np.arange(n)[:, None] * (count + 1) + reached
    lower = np.cumsum(np.bincount(cells.ravel(), minlength=n * (count + 1)).reshape(n, count + 1), axis=1)
    above = np.minimum(lower[:, :count], len(points) - 1)
    below = np.maximum(above - 1, 0)
    low = np.take_along_axis(F, below, axis=1)
    rise = np.take_along_axis(F, above, axis=1) - low
    share = np.divide(np.asarray(LEVELS) - low, rise, out=np.ones_like(low), where=rise > 0)
    return np.asarray(points[below] + np.clip(share, 0, 1) * (points[above] - points[below]))


def _around(X: Any, prediction: Any, features: Encoder, distribution: ForestDistribution) -> Quantiles:
    """The centre of each row and the quantiles of its residuals."""
    matrix = features(X, prediction)
    return Quantiles(LEVELS, matrix[:, :1] + distribution.quantiles(matrix))
