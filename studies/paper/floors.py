"""What two metrics cannot fall below, or rise above: the debiased ECE and the authors' NLL."""

from __future__ import annotations

import numpy as np

from calibrant.metrics.calibration import expected_ece
from studies.paper.methods import zscore
from studies.results import Results

NLL_FLOOR = float(np.log(1e-4 / 1e-10))
"""What a label costs in the authors' NLL, -log((H(y + 1e-4) - H(y) + 1e-10) / 1e-4), where H is flat: 13.8155 nats."""


def ece_floor(results: Results, draws: int = 100) -> float | None:
    """The mean over datasets of the debiased ECE that exchangeable scores have under a linear q, simulated.

    It is above 0: q is of n calibration scores, and its own error does not average out over the test rows.
    """
    rng, floors = np.random.default_rng(0), []
    for dataset in results.datasets:
        sizes = [results.of(dataset, zscore("linear"), name).value for name in ("n_calibration", "n_test")]
        if None in sizes:
            return None
        n, m = (round(size) for size in sizes if size is not None)
        grid = (np.arange(m) + 0.5) / m
        errors = [np.abs(_linear_pits(rng, n, m) - grid).mean() for _ in range(draws)]
        floors.append(np.mean(errors) - expected_ece(m))
    return float(np.mean(floors))


def _linear_pits(rng: np.random.Generator, n: int, m: int) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    knots = np.concatenate([[0.0], np.sort(rng.random(n)), [1.0]])
    return np.interp(np.sort(rng.random(m)), knots, np.arange(n + 2) / (n + 1))
