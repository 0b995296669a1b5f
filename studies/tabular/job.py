"""One job of the league: one table, one base model, one split, and all methods on it."""

from __future__ import annotations

import logging
import time
import warnings
import zlib
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from joblib import parallel_config
from threadpoolctl import threadpool_limits

from studies.tabular.bases import MODELS
from studies.tabular.bench import Bench
from studies.tabular.cut import Cut
from studies.tabular.entrants import ENTRANTS
from studies.tabular.measures import masks_of, measured


@dataclass(frozen=True, order=True)
class Job:
    """What a line of results is about."""

    dataset: str
    base: str
    split: int

    @classmethod
    def of(cls, line: Mapping[str, Any]) -> Job:
        """The job of a line."""
        return cls(line["dataset"], line["base"], line["split"])

    def seed(self, seed: int) -> int:
        """Its own, whatever else is run; the base models of one split share it."""
        state = np.random.SeedSequence([seed, self.split, zlib.crc32(self.dataset.encode())]).generate_state(1)
        return int(state[0] >> 1)


def done(job: Job, cut: Cut, methods: Sequence[str], folds: int, seed: int) -> dict[str, Any]:
    """The line of results of a job: every method by its name, with its measures.

    A method that raises has its sentence in the place of the measures: one table that another library cannot take
    must not end a run of hours.
    """
    start = time.process_time()
    bench = Bench(cut, MODELS[job.base], folds, job.seed(seed))
    # one thread: the jobs share the cores already
    with threadpool_limits(1), parallel_config("sequential"), _quiet():
        masks = masks_of(bench)
        results = {name: _result(name, bench, masks) for name in methods if _applies(name, bench)}
    counts = {"train": cut.y_train, "calibration": cut.y_cal, "test": cut.y_test}
    return {
        **asdict(job),
        **{f"n_{part}": len(y) for part, y in counts.items()},
        "methods": results,
        "seconds": round(time.process_time() - start, 2),
    }


@contextmanager
def _quiet() -> Iterator[None]:
    """No warnings and no remarks of libraries: of ties, crossing quantiles and few rows there would be thousands."""
    before = logging.root.manager.disable
    logging.disable(logging.INFO)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        logging.disable(before)


def _applies(name: str, bench: Bench) -> bool:
    return bench.has_spread or not ENTRANTS[name].needs_spread


def _result(name: str, bench: Bench, masks: Any) -> dict[str, Any]:
    try:
        return measured(ENTRANTS[name].says(bench), bench, masks)
    except Exception as error:
        return {"failed": f"{type(error).__name__}: {error}".splitlines()[0][:300]}
