"""One cell of the study: calibrate a base predictor, and measure what comes out on the test rows."""

from __future__ import annotations

import math
import time
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from calibrant import metrics
from calibrant.calibration import Calibrator
from calibrant.distributions.base import Distribution
from calibrant.interpolators import Interpolator
from calibrant.intervals import Centred, ConformalInterval
from calibrant.scores import Score
from studies.datasets.dataset import need
from studies.design import Design
from studies.names import Cell
from studies.paper.formulas import nll_finite_difference

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Rows:
    """A base predictor's predictions of some rows, with their labels; both on the standardised scale."""

    prediction: Any
    y: Floats


@dataclass(frozen=True, eq=False)
class Task:
    """All that the measurement of one cell needs, ready to be sent to another process or machine."""

    cell: Cell
    score: Score
    interpolator: Interpolator
    coverage: float | None
    """Of the intervals that are laid side by side; None where the cell has none."""
    calibration: Rows
    test: Rows
    n_train: int
    seed: int


def measure(task: Task) -> dict[str, Any]:
    """The line of results of one cell; a value that is infinite or not defined is None.

    One thread: the workers share the cores already, and sums in another order would round to another number.
    """
    with one_thread():
        start = time.perf_counter()
        values = _values(task)
        seconds = time.perf_counter() - start
    return {
        **task.cell.names(),
        "n_train": task.n_train,
        "n_calibration": len(task.calibration.y),
        "n_test": len(task.test.y),
        **{name: finite(value) for name, value in values.items()},
        "seconds": round(seconds, 4),
    }


def one_thread() -> Any:
    """A context in which the linear algebra of this process keeps to one thread."""
    return _libraries().limit(limits=1)


@cache
def _libraries() -> Any:
    return need("threadpoolctl").ThreadpoolController()


def _values(task: Task) -> dict[str, float]:
    fitted = Calibrator(task.score, task.interpolator).fit(task.calibration.prediction, task.calibration.y)
    y, rng = task.test.y, task.cell.rng(task.seed)
    H = fitted(task.test.prediction, rng=rng)
    density = H.logpdf(y)
    found: dict[str, Any] = {
        "std": metrics.std(H),
        "ci95_width": metrics.ci_width(H, 0.95),
        "nll": float(-np.mean(density)),
        "nll_infinite_rows": int(np.isneginf(density).sum()),
        "nll_authors": nll_finite_difference(H, y),
        "crps": metrics.crps(H, y),
        "ece": metrics.debiased_ece(H, y),
        "coverage95": metrics.coverage(H, y, 0.95),
    }
    return found if task.coverage is None else found | _intervals(task, task.coverage, H)


def _intervals(task: Task, coverage: float, H: Distribution) -> dict[str, float]:
    """The paper's figure: |phi - centre| against the centred credible interval."""
    conformal = ConformalInterval(Centred(task.score), coverage)
    ends = H.quantiles([(1 - coverage) / 2, (1 + coverage) / 2])
    bounds = {
        "conformal": conformal.fit(task.calibration.prediction, task.calibration.y)(task.test.prediction),
        "credible": (ends[:, 0], ends[:, 1]),
    }
    found = {}
    for name, (lower, upper) in bounds.items():
        found[f"{name}_width"] = float(np.mean(upper - lower))
        found[f"{name}_coverage"] = float(np.mean((lower <= task.test.y) & (task.test.y <= upper)))
    return found


def finite(value: float) -> float | None:
    """A number that JSON has, or None."""
    return value if math.isfinite(value) else None


def standardised(y: Floats, train: NDArray[np.int64]) -> Floats:
    """(y - mean) / std by the training rows, the scale of the predictions; constant labels are only centred."""
    sample = y[train]
    scale = float(sample.std())
    return np.asarray((y - sample.mean()) / (scale if scale > 1e-10 * np.abs(sample).max() else 1.0))


def task_of(design: Design, cell: Cell, calibration: Rows, test: Rows, n_train: int, seed: int) -> Task:
    """The task of a cell, whose names are those of the design."""
    return Task(
        cell,
        design.scores[cell.score],
        design.interpolators[cell.interpolator],
        design.coverage if cell.interpolator == design.reference else None,
        calibration,
        test,
        n_train,
        seed,
    )


def tasks(
    design: Design,
    wanted: list[Cell],
    predictions: Mapping[str, tuple[Any, Any]],
    y: Floats,
    split: Any,
    seed: int,
) -> list[Task]:
    """The tasks of some cells of one split, given its networks' predictions and the dataset's labels."""
    labels = standardised(y, split.train)
    calibration, test = labels[split.calibration], labels[split.test]
    return [
        task_of(
            design,
            cell,
            Rows(predictions[cell.base][0], calibration),
            Rows(predictions[cell.base][1], test),
            len(split.train),
            seed,
        )
        for cell in wanted
    ]
