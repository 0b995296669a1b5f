"""The distribution between and beyond tracked positions: the calibrated one, laid through them."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant.distributions.base import Distribution
from calibrant.distributions.pulled import ByRow, Pull, PulledBroken
from calibrant.scores.transforms.base import BrokenLine
from calibrant.scores.transforms.combined import compose

Numbers = NDArray[np.float64]

LEAST = 1e-6
"""The least gap between two positions, in mean gaps of the calibrated quantiles."""


class TrackedDistributions(PulledBroken, ByRow):
    """q(T_t(s)): one q for all rows, and a broken line for each."""

    def pulled(self, map: Any, pull: Pull) -> Distribution:
        """H: q pulled back through the row's own map and then its line; two broken lines stay apart, and exact."""
        if isinstance(map, BrokenLine):
            return PulledBroken(map, PulledBroken(self.map, self.q))
        return pull(self.q, compose(map, self.map))


def tracked_distribution(q: Distribution, quantiles: Numbers, positions: Numbers) -> Distribution:
    """q_t(s) = q(T_t(s)), T_t the broken line through (positions[t, k], quantiles[k]), for each row t of the positions.

    Beyond the outer positions T_t has its mean slope, so tails stretch as much as what lies between. One level alone
    moves q and stretches nothing.
    """
    K = len(quantiles)
    rise = np.diff(quantiles)
    if K > 1:
        positions = separated(positions, LEAST * float(rise.mean()))
    mean = rise.sum() / (positions[:, -1:] - positions[:, :1]) if K > 1 else np.ones_like(positions)
    slopes = np.concatenate([mean, rise / np.diff(positions, axis=1), mean], axis=1)
    line: Any = BrokenLine(positions, quantiles[None, :], slopes)
    return TrackedDistributions(line, q)


def separated(positions: Numbers, least: float) -> Numbers:
    """Positions that coincide, set `least` apart or, far from 0, a few floats; all others stay as they are."""
    steps = least + 4 * np.spacing(np.abs(positions).max(axis=1, keepdims=True, initial=0.0))
    short = (np.diff(positions, axis=1) < steps).any(axis=1)
    if not short.any():
        return positions
    lift = steps[short] * np.arange(positions.shape[1])
    new = positions.copy()
    new[short] = np.maximum.accumulate(positions[short] - lift, axis=1) + lift
    return new
