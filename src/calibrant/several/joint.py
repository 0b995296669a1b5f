"""The dependence of the labels: how far out each calibration row was, and the ranks of its labels."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, largest_tie_of
from calibrant.intervals import standard_rank

Numbers = np.ndarray[Any, Any]


@dataclass(frozen=True, eq=False)
class Joint:
    """The n calibration rows, as far as their labels belong together."""

    ranks: NDArray[np.int64]
    """(n, d): the place of each label's score among the n scores of that label, 1 to n; ties by lot."""
    largest: Array | None = None
    """(n,): the largest two-sided score of each row over its labels, sorted; None where labels cannot be compared."""

    def __post_init__(self) -> None:
        """Each column of ranks holds 1 to n once, and the n largest scores do not fall."""
        n, largest = self.n, self.largest
        if bool(np.any(np.sort(self.ranks, axis=0) != np.arange(1, n + 1)[:, None])):
            raise ValueError(f"each label must have the ranks 1 to {n} once")
        if largest is not None and (largest.shape != (n,) or bool(np.any(np.diff(largest) < 0))):
            raise ValueError(f"its largest scores must be {n} and not fall, got {largest.shape[0]}")

    @property
    def n(self) -> int:
        """The number of calibration rows."""
        return int(self.ranks.shape[0])

    @property
    def largest_tie(self) -> int:
        """The size of the largest group of equal `largest`."""
        return 1 if self.largest is None else largest_tie_of(self.largest)

    def threshold(self, coverage: float) -> float:
        """The ceil((n + 1) coverage)-th smallest of the largest scores; infinite where there are fewer."""
        rank = standard_rank(self.n, coverage)
        return math.inf if self.largest is None or rank > self.n else float(self.largest[rank - 1])

    def uniforms(self, rows: int, size: int, rng: np.random.Generator) -> Numbers:
        """(rows, size, d) numbers, each uniform on (0, 1), that depend on each other as the ranks of a row do.

        Each draw takes a calibration row by lot, and a fresh uniform inside each of its ranks:
        (rank - 1 + uniform) / n.
        """
        chosen = rng.integers(self.n, size=(rows, size))
        inside: Numbers = rng.random((rows, size, self.ranks.shape[1]))
        # open at both ends, so that no draw is infinite unless there is mass
        levels: Numbers = np.clip((self.ranks[chosen] - 1 + inside) / self.n, 2.0**-54, 1 - 2.0**-53)
        return levels


def ranks_of(scores: Numbers, rng: np.random.Generator) -> Numbers:
    """1 to n in each column, ties by lot.

    >>> ranks_of(np.asarray([[0.5, 3.0], [0.1, 2.0], [0.9, 1.0]]), np.random.default_rng(0))
    array([[2, 3],
           [1, 2],
           [3, 1]])
    """
    lots = np.asarray(rng.random(scores.shape))
    order = np.lexsort((lots, scores), axis=0)
    ranks = np.empty(scores.shape, dtype=np.int64)
    np.put_along_axis(ranks, order, np.arange(1, len(scores) + 1)[:, None], axis=0)
    return ranks
