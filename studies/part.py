"""One dataset's share of a run: what is to be trained, what is to be measured, and how much work that is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import chain, groupby

from studies.cells import Task, tasks
from studies.design import Design
from studies.devices import on_gpu
from studies.learners import Split
from studies.names import Cell
from studies.progress import cell_work, training_work
from studies.trained import Trained, Training

TOGETHER = 2
"""Splits trained in one program on a CPU: more at a time are hardly quicker, and fewer leave no core idle."""


@dataclass(frozen=True, eq=False)
class Part:
    """One dataset's share of a run."""

    design: Design
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
        size = len(self.splits) if on_gpu(device) else TOGETHER
        missing = [split for split in self.wanted if not self.trained.has(split)]
        groups = groupby(missing, lambda split: split // size)
        own = self.trained
        return [
            Training(own.table, {i: self.splits[i] for i in group}, own.bases, own.recipe, own.seed, device)
            for _, group in groups
        ]

    @property
    def split_work(self) -> float:
        """The work of training a split."""
        features, rows = self.trained.table.X.shape[1], len(self.splits[0].train)
        return training_work(self.design.networks, features, self.trained.recipe, rows)

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
            yield from tasks(self.design, cells, found, self.trained.table.y, self.splits[split], seed)
