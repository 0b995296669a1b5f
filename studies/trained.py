"""What the networks of a dataset said, kept beside the results so that no run trains them twice.

A file holds the outputs for the calibration and the test rows of a split. Its name tells the dataset and the split, and
a key inside tells the recipe, the seed and the data; what has another key is trained anew.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from calibrant import atomic
from studies.datasets import RawTable
from studies.learners import Recipe, Split, train
from studies.learners.heads import Head
from studies.learners.layout import Layout

FORMAT = 1
"""Changes whenever the outputs of the same recipe mean something else."""

_PARTS = ("calibration", "test")
Packed = tuple[Any, Any]
"""(rows, columns) for the calibration and for the test rows."""


@dataclass(frozen=True, eq=False)
class Trained:
    """What the networks of one dataset said, a file for each split."""

    table: RawTable
    folder: Path
    bases: Mapping[str, tuple[Head, ...]]
    recipe: Recipe
    seed: int

    def has(self, split: int) -> bool:
        """Whether a split is kept, of these very data, recipe and seed, and of as many outputs."""
        columns = Layout(self.bases).columns
        try:
            with self._opened(split) as file:
                return str(file["key"]) == self._key and all(file[part].shape[1:] == (columns,) for part in _PARTS)
        except (FileNotFoundError, BadZipFile, KeyError, ValueError, EOFError):
            return False

    def keep(self, split: int, outputs: Packed) -> None:
        """Write what was said of a split, all of it or nothing."""
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, key=np.asarray(self._key), **dict(zip(_PARTS, outputs, strict=True)))
        self._path(split).parent.mkdir(parents=True, exist_ok=True)
        atomic.write(self._path(split), content.getvalue())

    def predictions(self, split: int) -> dict[str, tuple[Any, Any]]:
        """The calibration and the test prediction of each base."""
        layout = Layout(self.bases)
        with self._opened(split) as file:
            calibration, test = (layout.predictions(layout.unpacked(file[part])) for part in _PARTS)
        return {base: (calibration[base], test[base]) for base in self.bases}

    def _path(self, split: int) -> Path:
        return self.folder / self.table.name / f"{split:02}.npz"

    @contextmanager
    def _opened(self, split: int) -> Iterator[Any]:
        with self._path(split).open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            yield file

    @cached_property
    def _key(self) -> str:
        data = hashlib.sha256()
        for array in (self.table.X, self.table.y):
            data.update(np.ascontiguousarray(array).data)
        return json.dumps([FORMAT, asdict(self.recipe), self.seed, *self.table.X.shape, data.hexdigest()])


@dataclass(frozen=True, eq=False)
class Training:
    """Some splits of a dataset that are trained together, ready to be sent to another process or machine."""

    table: RawTable
    splits: dict[int, Split]
    bases: Mapping[str, tuple[Head, ...]]
    recipe: Recipe
    seed: int
    device: str

    def __call__(self, progress: Callable[[int, int], None] | None = None) -> tuple[str, dict[int, Packed]]:
        """The dataset, and the outputs for each split.

        One thread: workers share the cores already, and threads that wait for each other at every small product take
        several times as long as one, wherever something else runs too.
        """
        threads = torch.get_num_threads()
        torch.set_num_threads(1)
        try:
            fitted = train(
                self.table.X,
                self.table.y,
                list(self.splits.values()),
                bases=self.bases,
                recipe=self.recipe,
                device=self.device,
                seed=self.seed,
                progress=progress,
            )
        finally:
            torch.set_num_threads(threads)
        packed = (tuple(map(fitted.layout.packed, parts)) for parts in fitted.outputs)
        return self.table.name, dict(zip(self.splits, packed, strict=True))
