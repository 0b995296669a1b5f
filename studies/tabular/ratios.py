"""One method's values over another's, split by split, with a paired standard error."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from studies.means import Mean

Pairs = Sequence[tuple[float, float]]
"""The values of two methods on the splits of one dataset."""


def ratio(datasets: Sequence[Pairs]) -> Mean:
    """r = sum_d mean a / sum_d mean b, with the standard error sqrt(sum_d var(a - r b) / splits_d) / sum_d mean b.

    d runs over datasets. What the splits share falls out of a - r b: the error is that of the comparison, not that of
    each method by itself.

    >>> ratio([[(1.0, 2.0), (2.0, 4.0)]])
    Mean(value=0.5, se=0.0, count=1, of=1)
    >>> ratio([[(1.0, 2.0), (2.0, 2.0)], [(3.0, 6.0)]])
    Mean(value=0.5625, se=None, count=2, of=2)
    """
    of = len(datasets)
    datasets = [pairs for pairs in datasets if len(pairs)]
    below = math.fsum(_mean([b for _, b in pairs]) for pairs in datasets)
    if not datasets or not below > 0:
        return Mean(None, None, 0, of)
    r = math.fsum(_mean([a for a, _ in pairs]) for pairs in datasets) / below
    if any(len(pairs) < 2 for pairs in datasets):
        return Mean(r, None, len(datasets), of)
    variance = math.fsum(float(np.var([a - r * b for a, b in pairs], ddof=1)) / len(pairs) for pairs in datasets)
    return Mean(r, math.sqrt(variance) / below, len(datasets), of)


def _mean(values: Sequence[float]) -> float:
    return math.fsum(values) / len(values)
