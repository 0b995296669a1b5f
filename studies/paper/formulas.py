"""Two formulas of the paper that the library does not follow: its NLL, and the rank of its conformal intervals."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from calibrant.distributions.base import Distribution
from calibrant.guarantee import as_written


def nll_finite_difference(H: Distribution, y: NDArray[np.float64], step: float = 1e-4, floor: float = 1e-10) -> float:
    """mean_i -log((H_i(y_i + step) - H_i(y_i) + floor) / step): the NLL of the paper's tables.

    It never exceeds log(step / floor), 13.8155 by default: the price of a label where H is flat. It depends on the unit
    of y (the study standardises), and float32 rounds the difference away.

    >>> from calibrant import Normal
    >>> round(nll_finite_difference(Normal([0.0, 1.0], 1.0), np.array([0.5, 1.0])), 4)
    0.9814
    """
    rise = H.cdf(y + step) - H.cdf(y)
    return float(np.mean(-np.log((rise + floor) / step)))


def paper_rank(n: int, coverage: float) -> int:
    """floor(n coverage) + 1: the paper's I_c, which may cover by up to coverage / (n + 1) too little.

    It is a `rank` of `ConformalInterval`; the library's own is `standard_rank`.

    >>> paper_rank(15, 0.9), paper_rank(100, 0.29)
    (14, 30)
    """
    return math.floor(n * as_written(coverage)) + 1
