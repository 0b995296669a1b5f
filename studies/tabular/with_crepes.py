"""crepes' conformal predictive systems, in their own package: intervals, p-values, and the CRPS of their steps."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from studies.tabular.bench import Bench, timed
from studies.tabular.cut import Floats
from studies.tabular.said import COVERAGES, Said

_BINS, _IN_A_BIN = 5, 25
"""At most so many bins, of so many calibration rows at least: with fewer than 19 a 90% interval has no end."""


def knn(bench: Bench) -> Said:
    """(y - f(x)) / s(x), s the mean |residual| of the 25 nearest training rows, out of fold."""
    from crepes.extras import DifficultyEstimator

    k = min(25, len(bench.residuals) - 1)
    difficulty, seconds = timed(
        lambda: DifficultyEstimator().fit(X=bench.cut.X_train, residuals=bench.residuals, k=k, scaler=True)
    )
    return _normalised(bench, difficulty, bench.learning_seconds + seconds)


def variance(bench: Bench) -> Said:
    """(y - f(x)) / s(x), s the variance over the trees of a forest."""
    from crepes.extras import DifficultyEstimator

    difficulty, seconds = timed(
        lambda: DifficultyEstimator().fit(X=bench.cut.X_train, learner=bench.model, scaler=True)
    )
    return _normalised(bench, difficulty, bench.model_seconds + seconds)


def mondrian(bench: Bench) -> Said:
    """y - f(x) by bins of f(x): at most five, each with 25 calibration rows or more."""
    from crepes.extras import binning

    count = max(1, min(_BINS, len(bench.cut.y_cal) // _IN_A_BIN))
    bins, edges = binning(bench.point_cal, bins=count, seed=bench.seed)
    test = binning(bench.point_test, bins=edges, seed=bench.seed)
    return _system(bench, bench.model_seconds, {"bins": bins}, lambda: {"bins": test})


def _normalised(bench: Bench, difficulty: Any, seconds: float) -> Said:
    sigmas, more = timed(lambda: difficulty.apply(bench.cut.X_cal))
    return _system(bench, seconds + more, {"sigmas": sigmas}, lambda: {"sigmas": difficulty.apply(bench.cut.X_test)})


def _system(bench: Bench, seconds: float, calibration: dict[str, Any], of_test: Any) -> Said:
    from crepes import ConformalPredictiveSystem

    cut, f = bench.cut, bench.point_test
    system, more = timed(
        lambda: ConformalPredictiveSystem().fit(cut.y_cal - bench.point_cal, seed=bench.seed, **calibration)
    )

    def predict() -> Any:
        test = of_test()
        return test, {c: np.asarray(system.predict_int(f, confidence=c, **test)) for c in COVERAGES}

    (test, intervals), predicting = timed(predict)
    return Said(
        bounds={coverage: (both[:, 0], both[:, 1]) for coverage, both in intervals.items()},
        fit_seconds=seconds + more,
        predict_seconds=predicting + bench.test_seconds,
        crps=step_crps(system.predict_cpds(f, **test), cut.y_test),
        pit=np.asarray(system.predict_p(f, cut.y_test, seed=bench.seed, **test)),
    )


def step_crps(distributions: Iterable[Floats], y: Floats) -> float:
    """mean |X - y| - mean |X - X'| / 2 over the atoms of each row's distribution, then over the rows.

    crepes has a CRPS of its own; up to version 0.9.1 it takes sigma twice in the step that y falls into.

    >>> step_crps([np.array([0.0, 1.0])], np.array([0.0]))
    0.25
    """
    rows = []
    for distribution, label in zip(distributions, y, strict=True):
        atoms = np.sort(distribution)
        n = len(atoms)
        apart = np.sum((2 * np.arange(1, n + 1) - n - 1) * atoms) / n**2  # mean |X - X'| / 2
        rows.append(np.mean(np.abs(atoms - label)) - apart)
    return float(np.mean(rows))
