"""The steps of a tracker: positions on the score axis that follow the quantiles of what comes."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]


class Walk(NamedTuple):
    """What the steps over some rows gave."""

    ordered_positions: Numbers
    """The ordered positions of each row, before its score was seen, (n, K)."""
    raw_positions: Numbers
    """The positions after the last row, which need not be in order, (K,)."""
    covered: NDArray[np.int64]
    """How many scores were at or below each level's position, (K,)."""


def walk(scores: Numbers, levels: Sequence[float], step: float, raw_positions: Numbers) -> Walk:
    """h_k <- h_k + step (level_k - 1{s <= theta_k}), theta = the increasing sequence nearest to h. A NaN is no step.

    What is held is never put in order itself. So the steps add up to the distance from start to end, and the long-run
    statement follows from how far h can go, see docs/time.md.
    """
    K = len(levels)
    # with j positions below the score, the first j levels go up and the others down
    moves = [[step * (level - (k >= j)) for k, level in enumerate(levels)] for j in range(K + 1)]
    h = [float(position) for position in raw_positions]
    theta = in_order(h)
    ordered, ordered_positions, below = theta == h, [], []
    for s in scores.tolist():
        ordered_positions.append(theta)
        if s != s:  # no label
            continue
        j = bisect_left(theta, s)
        below.append(j)
        h = [position + move for position, move in zip(h, moves[j], strict=True)]
        # a step brings only the two positions on either side of the score closer
        ordered = ordered and (j in (0, K) or h[j - 1] <= h[j])
        theta = h if ordered else in_order(h)
        ordered = ordered or theta == h
    counts = np.cumsum(np.bincount(np.asarray(below, np.int64), minlength=K + 1))[:K]
    return Walk(np.asarray(ordered_positions, np.float64).reshape(-1, K), np.asarray(h, np.float64), counts)


def in_order(values: Sequence[float]) -> list[float]:
    """The increasing sequence with the least sum of squared distances: neighbours that cross share their mean."""
    means: list[float] = []
    sizes: list[int] = []
    for value in values:
        mean, size = value, 1
        while means and means[-1] > mean:
            before, many = means.pop(), sizes.pop()
            mean, size = (mean * size + before * many) / (size + many), size + many
        means.append(mean)
        sizes.append(size)
    return [mean for mean, size in zip(means, sizes, strict=True) for _ in range(size)]
