"""Slices of the test rows: quintiles of the prediction and of the first eight features."""

from __future__ import annotations

from functools import cache

import numpy as np
from numpy.typing import NDArray

from calibrant.metrics.calibration import ece_of, expected_ece
from studies.tabular.cut import Floats

FEATURES = 8
FEWEST_TEST_ROWS = 100
"""With fewer test rows a table has no figures by slice."""

Masks = list[NDArray[np.bool_]]


def slices(test: Floats, calibration: Floats) -> Masks:
    """The test rows between two quintiles of a column of the calibration rows, for each column.

    A slice counts if it holds 30 test rows and a twentieth of all. Where quintiles coincide, there are fewer slices.
    """
    least = max(30, 0.05 * len(test))
    found = []
    for j in range(test.shape[1]):
        edges = np.unique(np.quantile(calibration[:, j], (0.2, 0.4, 0.6, 0.8)))
        place = np.searchsorted(edges, test[:, j], side="right")
        found += [place == k for k in range(len(edges) + 1)]
    return [mask for mask in found if np.sum(mask) >= least]


def slice_pit_error(pit: Floats, masks: Masks) -> float:
    """The mean over the slices of the debiased ECE: mean |PIT_(i) - (i - 1/2) / m| less what uniform PITs have.

    It may be negative. Where nothing is wrong in any slice it is about 0.
    """
    return float(np.mean([ece_of(np.sort(pit[mask])) - _expected(int(np.sum(mask))) for mask in masks]))


def worst_coverage(inside: NDArray[np.bool_], masks: Masks) -> float:
    """The lowest share of labels inside their interval, over the slices."""
    return float(min(np.mean(inside[mask]) for mask in masks))


_expected = cache(expected_ece)
