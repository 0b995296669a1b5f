"""What the networks of a dataset said, kept beside the results so that no run trains them twice.

A file holds, for each split, the outputs for its calibration and its test rows. Its name tells the dataset, and a key
inside tells the recipe, the seed and the data; a file with another key is trained anew.
"""

from __future__ import annotations

import hashlib
import io
import json
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from functools import cached_property
from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np
import torch

from calibrant.persistence import atomic
from calibrant.study.datasets import Table
from calibrant.study.learners import Fitted, Recipe, Split, train
from calibrant.study.learners.heads import HEADS, OUTPUTS

FORMAT = 1
"""Changes whenever the outputs of the same recipe mean something else."""

_PARTS = ("calibration", "test")


@dataclass(frozen=True, eq=False)
class Trained:
    """The networks of one dataset: `train` makes what `count` lacks, `predictions` reads what they said."""

    table: Table
    folder: Path
    recipe: Recipe
    seed: int

    @property
    def count(self) -> int:
        """How many splits are kept, counted from the first."""
        try:
            with self._opened() as file:
                kept = str(file["key"]) == self._key
                return sum(name.endswith("/test") for name in file.files) if kept else 0
        except (FileNotFoundError, BadZipFile, KeyError, ValueError, EOFError):
            return 0

    def train(self, splits: Sequence[Split], device: str, progress: Callable[[int, int], None]) -> None:
        """Train the splits that are not kept, and keep them."""
        first = self.count
        fitted = train(
            self.table.X,
            self.table.y,
            splits[first:],
            recipe=self.recipe,
            device=device,
            seed=self.seed,
            progress=progress,
        )
        arrays: dict[str, Any] = {"key": np.asarray(self._key)}
        if first:
            with self._opened() as file:
                arrays |= {name: file[name] for name in file.files}
        for i, outputs in enumerate(fitted.outputs, start=first):
            for part, values in zip(_PARTS, outputs, strict=True):
                arrays[f"{i}/{part}"] = _packed(values)
        content = io.BytesIO()
        np.savez(content, allow_pickle=False, **arrays)
        self.folder.mkdir(parents=True, exist_ok=True)
        atomic.write(self._path, content.getvalue())

    def predictions(self, split: int) -> dict[str, tuple[Any, Any]]:
        """The calibration and the test prediction of each base."""
        with self._opened() as file:
            calibration, test = (_unpacked(file[f"{split}/{part}"]) for part in _PARTS)
        return Fitted([(calibration, test)], np.empty(0), np.empty(0)).predictions(0)

    @property
    def _path(self) -> Path:
        return self.folder / f"{self.table.name}.npz"

    @contextmanager
    def _opened(self) -> Iterator[Any]:
        with self._path.open("rb") as stream, np.load(stream, allow_pickle=False) as file:
            yield file

    @cached_property
    def _key(self) -> str:
        data = hashlib.sha256()
        for array in (self.table.X, self.table.y):
            data.update(np.ascontiguousarray(array).data)
        return json.dumps([FORMAT, asdict(self.recipe), self.seed, *self.table.X.shape, data.hexdigest()])


def _packed(outputs: torch.Tensor) -> Any:
    """(networks, rows, outputs) as (rows, columns), with the columns that the heads read."""
    return np.concatenate([own[:, : head.outputs].numpy() for head, own in zip(HEADS, outputs, strict=True)], axis=1)


def _unpacked(columns: Any) -> torch.Tensor:
    outputs = np.zeros((len(HEADS), len(columns), OUTPUTS), dtype=columns.dtype)
    first = 0
    for own, head in zip(outputs, HEADS, strict=True):
        own[:, : head.outputs] = columns[:, first : first + head.outputs]
        first += head.outputs
    return torch.from_numpy(outputs)
