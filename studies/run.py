"""Running a study: load the datasets, train the networks of each, then calibrate and measure cell by cell.

A run may be killed at any moment and started again with the same folder: it goes on where it was. What it had finished
is not done again: a trained split is in its file, a measured cell has its line. What is lost are the cells, or the
trainings, that were in flight, one for each job. On one CPU with the same libraries the numbers depend on the seed
alone, not on the jobs nor on how often it was killed. Another device rounds otherwise, and its networks end elsewhere.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from studies.about import about as about_run
from studies.datasets import AbsentError, RawTable
from studies.design import Design
from studies.devices import check_device
from studies.learners import Recipe
from studies.learners import splits as splits_of
from studies.paper.design import PAPER
from studies.part import Part
from studies.phases import phases
from studies.progress import Clock
from studies.sources import Source, known, sources
from studies.store import opened
from studies.trained import Trained


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


def run(
    datasets: Sequence[str] | None = None,
    splits: int | None = None,
    *,
    design: Design = PAPER,
    folder: str | os.PathLike[str],
    data: str | os.PathLike[str] | None = None,
    tables: Iterable[RawTable] = (),
    recipe: Recipe | None = None,
    jobs: int | None = 1,
    device: str = "cpu",
    seed: int = 0,
    command: str = "studies.run.run",
    say: Callable[[str], None] = lambda sentence: None,
) -> Summary:
    """Measure every cell that `folder` has no line for yet.

    Args:
        datasets: Their names; None is all that are at hand or can be downloaded, and `say` is told of the others.
        splits: The number of random splits of each; None is what the design has.
        design: The study; the paper's by default.
        folder: Where the results go: `cells.jsonl`, and what the networks said in `predictions/`.
        data: A folder that has the datasets.
        tables: Datasets in memory, in place of those of the design.
        recipe: How the networks are trained; None is the design's own recipe.
        jobs: The cells measured at a time, as in joblib; None leaves it to a `joblib.parallel_config`, and under one
            with the backend "dask" the cells go to that cluster.
        device: Where the networks are trained; a CUDA device fits the NAFs too.
        seed: Of the splits, the networks and the random interpolation.
        command: What to type to run it again, for the record.
        say: Told what a user should know, a sentence at a time.
    """
    splits = design.splits if splits is None else splits
    recipe = design.recipe if recipe is None else recipe
    _check(splits, jobs)
    check_device(device)
    about = about_run(design, recipe, device, seed, command)
    with opened(Path(folder)) as store:
        store.check(about)
        for torn in Path(folder).glob("predictions/*/.calibrant-*.tmp"):  # a kill in the middle of a file leaves one
            torn.unlink()
        loading = Clock(0.0)
        with loading.running():
            found = sources(design, known(design, tuple(tables), data), datasets, splits, store.done)
            loaded, missing = _loaded(found, say, strict=datasets is not None)
            parts = []
            for name, table in loaded.items():
                trained = Trained(table, Path(folder) / "predictions", design.bases, recipe, seed)
                parts.append(Part(design, trained, splits_of(len(table.y), splits, seed), found[name].wanted))
        if missing and not parts and not store.done:
            raise AbsentError(f"none of the study's datasets is at hand; the first: {next(iter(missing.values()))}")
        seconds = {"loading": loading.seconds}
        if parts:
            store.begin(about)
            store.append({"phase": {"name": "loading", "seconds": loading.seconds, "missing": list(missing)}})
            seconds |= phases(parts, store, device, jobs, seed)
        cells = sum(1 for part in parts for _ in part.cells())
        return Summary(store.path, cells, missing, seconds, dict(store.undefined))


def _loaded(
    found: Mapping[str, Source], say: Callable[[str], None], *, strict: bool
) -> tuple[dict[str, RawTable], dict[str, str]]:
    """The datasets, and why some are not at hand; strict is to raise then."""
    loaded, missing = {}, {}
    for name, source in found.items():
        try:
            loaded[name] = source.load()
        except AbsentError as error:  # a file with a wrong checksum is an error
            if strict:
                raise
            missing[name] = str(error)
            say(f"left out: {error}")
    return loaded, missing


def _check(splits: int, jobs: int | None) -> None:
    if splits < 1:
        raise ValueError(f"splits must be at least 1, got {splits}")
    if jobs == 0:
        raise ValueError("jobs must be a number of workers, or negative to count from all cores, got 0")
