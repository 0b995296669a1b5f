"""The rank of each new score among all earlier ones, as a p-value."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Numbers = NDArray[np.float64]

BLOCK = 256
"""Rows that are compared with one another at once; earlier ones are found by binary search."""


def online_p_values(pool: Numbers, scores: Numbers, uniform: Numbers) -> tuple[Numbers, Numbers]:
    """p_t = (#{i: s_i < s_t} + U_t (1 + #{i: s_i = s_t})) / (1 + #{i}), i all scores before t; and the new pool.

    `pool` holds the earlier scores in increasing order. If all scores are exchangeable, the p_t are independent and
    uniform: given which scores there are up to t, each is as likely to be the last one, and U_t fills the steps.

    >>> online_p_values(np.array([1.0, 2.0, 3.0]), np.array([2.5, 2.0]), np.array([0.5, 0.5]))
    (array([0.625, 0.4  ]), array([1. , 2. , 2. , 2.5, 3. ]))
    """
    p = np.empty(len(scores))
    for start in range(0, len(scores), BLOCK):
        new = scores[start : start + BLOCK]
        left, right = (np.searchsorted(pool, new, side=side) for side in ("left", "right"))
        earlier = np.tri(len(new), k=-1, dtype=bool)  # row t, column i: i < t
        below = left + ((new[None, :] < new[:, None]) & earlier).sum(axis=1)
        equal = right - left + ((new[None, :] == new[:, None]) & earlier).sum(axis=1)
        before = len(pool) + np.arange(len(new))
        p[start : start + BLOCK] = (below + uniform[start : start + BLOCK] * (1 + equal)) / (1 + before)
        new = np.sort(new)
        pool = np.insert(pool, np.searchsorted(pool, new), new)
    return p, pool
