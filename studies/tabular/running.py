"""Running the league: one job for each table, base model and split, on several workers.

A run may be killed at any moment and started again with the same folder: it goes on where it was. What is lost are the
jobs in flight. It may also be run in parts, split by split, on one machine or several.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from joblib import Parallel, delayed, effective_n_jobs

from studies.datasets import AbsentError, DatasetError, RawTable, load
from studies.progress import Clock, said
from studies.store import opened
from studies.tabular.about import about as about_run
from studies.tabular.bases import PACKAGES, installed
from studies.tabular.cut import Cut
from studies.tabular.design import LEAGUE, Tabular
from studies.tabular.entrants import ENTRANTS
from studies.tabular.job import Job, done

_WORK = {"rf": 1.6}
"""The work of a job beside that of gradient boosting, about."""


@dataclass(frozen=True)
class LeagueRun:
    """What a run did."""

    path: Path
    jobs: int
    """That it did; those of earlier runs are beside them in the file."""
    left_out: tuple[str, ...]
    """Base models and methods whose package is absent, datasets that are not at hand."""
    seconds: float


def run(
    datasets: Sequence[str] | None = None,
    splits: int | Iterable[int] | None = None,
    *,
    design: Tabular = LEAGUE,
    folder: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    tables: Iterable[RawTable] = (),
    bases: Sequence[str] | None = None,
    methods: Sequence[str] | None = None,
    jobs: int | None = 1,
    seed: int = 0,
    command: str = "studies.tabular.run",
    say: Callable[[str], None] = lambda sentence: None,
) -> LeagueRun:
    """Do every job that `folder` has no line for yet.

    Args:
        datasets: Names of the study's; None is all of the design that are at hand, or none where `tables` are given.
        splits: How many of each table, or which: `range(3, 6)` is part of a run. None is what the design has.
        design: Bases, methods, splits and the most rows of a table.
        folder: Where the results go: `cells.jsonl`.
        data: A folder that has the study's datasets.
        tables: Tables of one's own, beside the datasets that are named.
        bases: Of the design's; None is all of them.
        methods: Of the design's; None is all of them.
        jobs: Jobs at a time, as in joblib.
        seed: Of the splits and of whatever is drawn.
        command: What to type to run it again, for the record.
        say: Told what a user should know, a sentence at a time.
    """
    design = replace(
        design,
        bases=design.bases if bases is None else tuple(bases),
        methods=design.methods if methods is None else tuple(methods),
    )
    which = _which(design.splits if splits is None else splits)
    if jobs == 0:
        raise ValueError("jobs must be a number of workers, or negative to count from all cores, got 0")
    left_out: list[str] = []
    models = _present("base model", design.bases, PACKAGES, left_out)
    entrants = _present("method", design.methods, {name: each.package for name, each in ENTRANTS.items()}, left_out)
    found = _tables(design, datasets, tuple(tables), data, left_out)
    for sentence in left_out:
        say(sentence)
    with opened(Path(folder), Job.of) as store:
        about = about_run(design, seed, command)
        store.check(about)
        every = [Job(name, base, split) for split in which for name in found for base in models]
        wanted = [job for job in every if job not in store.done]

        def cut_of(job: Job) -> Cut:
            return Cut.of(found[job.dataset], job.split, design.rows, seed)

        for job in wanted:
            if job.split == which[0]:
                cut_of(job)  # a table that cannot be cut is an error before the work begins
        clock = Clock(sum(_work(job, found, design) for job in wanted), effective_n_jobs(jobs))
        if wanted:
            store.begin(about)
        # the longest first, split by split: the last jobs are then short ones
        wanted.sort(key=lambda job: (job.split, -_work(job, found, design)))
        with clock.running():
            stream = Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1, max_nbytes=None)(
                delayed(done)(job, cut_of(job), entrants, design.folds, seed)  # cut here: a worker gets no other rows
                for job in wanted
            )
            for count, line in enumerate(stream, 1):
                store.append(line)
                clock.advance(_work(Job.of(line), found, design))
                _tell(say, line, count, len(wanted), clock)
        return LeagueRun(store.path, len(wanted), tuple(left_out), clock.seconds)


def _which(splits: int | Iterable[int]) -> list[int]:
    which = list(range(splits)) if isinstance(splits, int) else sorted(set(splits))
    if not which or which[0] < 0:
        raise ValueError(f"splits must be at least one, counted from 0, got {splits}")
    return which


def _present(what: str, names: Sequence[str], packages: Any, left_out: list[str]) -> list[str]:
    """Those whose package is installed; of the others a sentence is kept."""
    for name in names:
        if not installed(packages.get(name)):
            left_out.append(f"left out: the {what} {name} needs {packages[name]}, which is not installed")
    return [name for name in names if installed(packages.get(name))]


def _tables(
    design: Tabular,
    datasets: Sequence[str] | None,
    tables: Sequence[RawTable],
    data: str | os.PathLike[str] | None,
    left_out: list[str],
) -> dict[str, RawTable]:
    own = {table.name: table for table in tables}
    if len(own) < len(tables):
        raise DatasetError(f"tables must have different names, got {', '.join(table.name for table in tables)}")
    names = (() if tables else design.datasets) if datasets is None else datasets
    found: dict[str, RawTable] = {}
    for name in names:
        if name in own:
            raise DatasetError(f"a table must have another name than the study's datasets, got {name!r}")
        try:
            found[name] = load(name, folder=data)
        except AbsentError as error:  # a file with a wrong checksum is an error
            if datasets is not None:
                raise
            left_out.append(f"left out: {error}")
    found |= own
    if not found:
        raise AbsentError(f"none of the study's datasets is at hand; the first: {left_out[0]}")
    return found


def _work(job: Job, tables: dict[str, RawTable], design: Tabular) -> float:
    """The seconds of a job on one core, about: most is boosting, whose cost grows with rows and features."""
    rows, features = map(int, tables[job.dataset].X.shape)
    boosting: float = 3.0 + 1e-3 * min(rows, design.rows) * (3.6 + 0.05 * features)
    return boosting * _WORK.get(job.base, 1.0)


def _tell(say: Callable[[str], None], line: dict[str, Any], count: int, of: int, clock: Clock) -> None:
    what = f"{line['dataset']}, {line['base']}, split {line['split']}: {said(line['seconds'])}"
    say(f"{what}; job {count:,} of {of:,}, {said(clock.left())} left")
    for name, result in line["methods"].items():
        if "failed" in result:
            say(f"{line['dataset']}, {line['base']}, split {line['split']}: {name} failed, {result['failed']}")
