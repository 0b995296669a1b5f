"""What a run of a study has found: one mean for each dataset, method and metric."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from studies.design import Design
from studies.means import Mean, over_datasets, over_splits
from studies.names import Method

Values = Mapping[str, float | None]
"""Those of a cell, by metric; None where one is not finite."""


@dataclass(frozen=True, eq=False)
class Results:
    """The finished cells of a run, what it says of itself, and the seconds of its phases."""

    design: Design
    """Whose results they are."""
    about: Mapping[str, Any]
    resumed: tuple[Mapping[str, Any], ...]
    """What it says of itself each time that it was started again."""
    cells: Mapping[tuple[str, Method], Mapping[int, Values]]
    """(dataset, method) -> split -> metric -> value, None where it is not finite."""
    seconds: Mapping[str, float]

    @cached_property
    def datasets(self) -> tuple[str, ...]:
        """The datasets with at least one cell, in the order of the alphabet."""
        return tuple(sorted({dataset for dataset, _ in self.cells}))

    @cached_property
    def splits(self) -> frozenset[int]:
        """The splits with at least one cell."""
        return frozenset(split for cells in self.cells.values() for split in cells)

    @cached_property
    def missing(self) -> int:
        """How many cells are not there, of the datasets and splits that are."""
        methods = self.design.methods
        wanted = len(self.datasets) * len(self.splits) * len(methods)
        return wanted - sum(len(self.cells.get((dataset, m), ())) for dataset in self.datasets for m in methods)

    def of(self, dataset: str, method: Method, metric: str) -> Mean:
        """The mean over the splits of a dataset."""
        return over_splits(cell.get(metric) for cell in self.cells.get((dataset, method), {}).values())

    def average(self, method: Method, metric: str, among: Iterable[str] | None = None) -> Mean:
        """The mean over the datasets that have a value, among some or all."""
        return over_datasets(self.of(dataset, method, metric) for dataset in self._among(among))

    def paired(self, one: tuple[Method, str], other: tuple[Method, str], among: Iterable[str] | None = None) -> Mean:
        """The mean of one column minus another, taken split by split, so that what the splits share falls out."""
        return over_datasets(self._differences(dataset, one, other) for dataset in self._among(among))

    def _differences(self, dataset: str, one: tuple[Method, str], other: tuple[Method, str]) -> Mean:
        ours, theirs = (self.cells.get((dataset, method), {}) for method, _ in (one, other))
        shared = [(ours[split].get(one[1]), theirs[split].get(other[1])) for split in ours if split in theirs]
        return over_splits(None if a is None or b is None else a - b for a, b in shared)

    def _among(self, datasets: Iterable[str] | None) -> Iterable[str]:
        return self.datasets if datasets is None else datasets

    @property
    def extent(self) -> str:
        """How much of the study there is, in a sentence."""
        known = self.design.datasets
        said = [
            f"{len(self.datasets)} of the {self.design.name}'s {len(known)} datasets",
            f"{len(self.splits)} of its {self.design.splits} splits",
            "every cell" if not self.missing else f"{self.missing:,} cells missing",
        ]
        absent = [name for name in known if name not in self.datasets]
        return ", ".join(said) + (f"; without {', '.join(absent)}" if absent else "") + "."
