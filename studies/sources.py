"""Which datasets a run still has cells to measure of, and how each is loaded."""

from __future__ import annotations

import os
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from functools import partial

from studies.datasets import Dataset, DatasetError, RawTable
from studies.datasets.find import load_entry
from studies.design import Design
from studies.names import Cell

Folder = str | os.PathLike[str]


@dataclass(frozen=True, eq=False)
class Source:
    """A dataset before it is loaded."""

    load: Callable[[], RawTable]
    wanted: dict[int, list[Cell]]
    """The cells that have no line yet, by split."""


def known(design: Design, tables: Sequence[RawTable], data: Folder | None) -> dict[str, Callable[[], RawTable]]:
    """How each dataset is loaded: the tables, if there are any, and else the design's."""
    datasets: Mapping[str, Dataset | RawTable] = {table.name: table for table in tables} or design.datasets
    return {name: partial(_loaded, dataset, data) for name, dataset in datasets.items()}


def _loaded(dataset: Dataset | RawTable, data: Folder | None) -> RawTable:
    return dataset if isinstance(dataset, RawTable) else load_entry(dataset, folder=data)


def sources(
    design: Design,
    loaders: Mapping[str, Callable[[], RawTable]],
    chosen: Sequence[str] | None,
    splits: int,
    done: Collection[Cell],
) -> dict[str, Source]:
    """The chosen datasets, or all, that have cells without a line."""
    names = tuple(loaders) if chosen is None else tuple(dict.fromkeys(chosen))
    for name in names:
        if name not in loaders:
            raise DatasetError(f"there is no dataset {name!r}; the study has {', '.join(loaders)}")
    found = {}
    for name in names:
        cells = ((i, [cell for cell in design.cells(name, i) if cell not in done]) for i in range(splits))
        wanted = {i: missing for i, missing in cells if missing}
        if wanted:
            found[name] = Source(loaders[name], wanted)
    return found
