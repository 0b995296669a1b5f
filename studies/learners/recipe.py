"""What a training run is told: which rows are for what, and the recipe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

Rows = np.ndarray[Any, np.dtype[np.int64]]


@dataclass(frozen=True, eq=False)
class Split:
    """The rows for training, for calibration and for the test."""

    train: Rows
    calibration: Rows
    test: Rows


def splits(n: int, count: int = 16, seed: int = 0) -> list[Split]:
    """`count` random splits of n rows: 60% for training, 20% for calibration, 20% for the test.

    Split i is the same whatever the count.

    >>> split = splits(10)[0]
    >>> split.train.size, split.calibration.size, split.test.size
    (6, 2, 2)
    """
    if n < 5:
        raise ValueError(f"splits needs n of at least 5 rows to fill its three parts, got {n}")
    first, second = round(0.6 * n), round(0.8 * n)
    orders = [np.random.default_rng([seed, i]).permutation(n) for i in range(count)]
    return [Split(order[:first], order[first:second], order[second:]) for order in orders]


@dataclass(frozen=True)
class Recipe:
    """How the networks are built and trained: the same for every dataset and every kind of prediction.

    It was chosen on training rows alone. Every network trains for all the steps; what it keeps are the averaged
    weights of the check at which it was best on its own held-out slice of the training rows.
    """

    width: int = 128
    """Units in each of the two hidden layers."""
    steps: int = 4000
    batch: tuple[int, int] = (64, 256)
    """Rows a step: a 64th of the training rows, but no fewer and no more than this."""
    learning_rate: float = 1e-2
    """Adam's rate at its peak; it rises over the first twentieth of the steps and falls along a cosine."""
    shrinkage: float = 50.0
    """AdamW's weight decay is this over the number of training rows, as a prior's weight is; biases are spared."""
    strong_decay: float = 1.0
    """The weight decay of each network's twin, for noisy data; the better of the two on the held-out rows is kept."""
    average: float = 0.99
    """The weights that are kept are a moving average with this decay."""
    held_out: float = 0.1
    """The share of the training rows that early stopping watches."""
    checks: int = 100
    """How often early stopping looks."""

    def decays(self, rows: int) -> tuple[float, float]:
        """The weight decays of a network and of its twin."""
        return self.shrinkage / rows, self.strong_decay

    def batch_size(self, rows: int) -> int:
        """Rows a step where there are so many in all."""
        fewest, most = self.batch
        return min(rows, max(fewest, min(most, rows // 64)))

    def __post_init__(self) -> None:
        if len(self.batch) != 2 or not 1 <= self.batch[0] <= self.batch[1]:
            raise ValueError(f"Recipe.batch must be two increasing numbers of at least 1, got {self.batch!r}")
        for name in ("width", "steps", "checks"):
            if getattr(self, name) < 1:
                raise ValueError(f"Recipe.{name} must be at least 1, got {getattr(self, name)!r}")
        if not 0 < self.held_out < 1:
            raise ValueError(f"Recipe.held_out must lie strictly inside (0, 1), got {self.held_out!r}")
