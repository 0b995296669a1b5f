"""The NAFs of a study, fitted as one batch on a GPU while the workers measure the other cells."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from itertools import groupby
from typing import cast

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import Array, to_numpy
from calibrant.calibration import Calibrator
from calibrant.distributions.base import Distribution
from calibrant.interpolators import NAF, Linear
from calibrant.interpolators.history import History
from calibrant.interpolators.naf_fit import splines_together
from calibrant.interpolators.support import REAL_LINE, Support
from calibrant.interpolators.weights import in_order
from studies.cells import Task
from studies.part import Part


@dataclass(frozen=True, eq=False)
class KnownNAF:
    """A NAF whose smooth distribution was found before."""

    naf: NAF
    distribution: Distribution

    def fit(
        self, scores: Array, *, support: Support = REAL_LINE, rng: np.random.Generator | None = None
    ) -> Distribution:
        """The distribution under guard."""
        del rng
        return self.naf.guarded(self.distribution, in_order(scores, support=support))

    def accuracy(self, n: int) -> float:
        """The NAF's."""
        return self.naf.accuracy(n)


def with_smooth_distributions(parts: list[Part], seed: int, device: str) -> Iterator[list[Task]]:
    """The tasks of all parts, those of a split together: what they share is sent once, and their lines are one write.

    Those of NAFs come last, with their distributions, which a thread looks for in the meantime.
    """
    with ThreadPoolExecutor(1) as thread:
        found = [thread.submit(_found, part.tasks(seed), device) for part in parts]
        for part in parts:
            yield from _together(task for task in part.tasks(seed) if not isinstance(task.interpolator, NAF))
        for tasks in found:
            yield from _together(tasks.result())


def _together(tasks: Iterable[Task]) -> Iterator[list[Task]]:
    return (list(group) for _, group in groupby(tasks, lambda task: task.cell.split))


def _found(tasks: Iterable[Task], device: str) -> list[Task]:
    """Those of NAFs, with their distributions; where all scores are equal there is none to be found."""
    smooth = [(task, task.interpolator) for task in tasks if isinstance(task.interpolator, NAF)]
    scores = [_scores(task) for task, _ in smooth]
    units = [naf.units if u[0] < u[-1] else 0 for (_, naf), u in zip(smooth, scores, strict=True)]
    distributions: dict[int, Distribution] = {}
    for count in set(units) - {0}:
        same = [i for i, own in enumerate(units) if own == count]
        distributions |= zip(same, splines_together([scores[i] for i in same], count, device), strict=True)
    return [
        replace(task, interpolator=KnownNAF(naf, distributions[i])) if i in distributions else task
        for i, (task, naf) in enumerate(smooth)
    ]


def _scores(task: Task) -> NDArray[np.float64]:
    """The calibration scores, sorted: what every interpolator is made of."""
    history = Calibrator(task.score, Linear()).fit(task.calibration.prediction, task.calibration.y).history
    return np.sort(to_numpy(cast(History, history).scores))
