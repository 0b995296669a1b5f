"""The networks of a split in order: which outputs belong to which head, and which heads to which base predictor."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import groupby
from typing import Any

import numpy as np
import torch
from torch import Tensor

from calibrant.predictions import Ensemble
from studies.learners.heads import Head


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the networks of some base predictors stand in the arrays of a training."""

    bases: Mapping[str, tuple[Head, ...]]
    """The heads of each base predictor's networks; one with several networks is an ensemble."""

    @cached_property
    def heads(self) -> tuple[Head, ...]:
        """The head of every network."""
        return tuple(head for heads in self.bases.values() for head in heads)

    @cached_property
    def outputs(self) -> int:
        """The outputs that each network has, whether its head reads them all or not."""
        return max(head.outputs for head in self.heads)

    @cached_property
    def columns(self) -> int:
        """The outputs that are read, of all networks together."""
        return sum(head.outputs for head in self.heads)

    def by_head(self, raw: Tensor) -> list[tuple[Head, Tensor]]:
        """Outputs (splits, networks, rows, outputs), divided among neighbours that share a head."""
        found, first = [], 0
        for head, run in groupby(self.heads):
            count = len(list(run))
            found.append((head, raw[:, first : first + count, :, : head.outputs]))
            first += count
        return found

    def predictions(self, outputs: Tensor) -> dict[str, Any]:
        """What outputs (networks, rows, outputs) predict, by base predictor."""
        found: dict[str, Any] = {}
        raw = iter(outputs.double())
        for base, heads in self.bases.items():
            members = [head.prediction(next(raw)[:, : head.outputs]) for head in heads]
            found[base] = members[0] if len(members) == 1 else Ensemble(members)
        return found

    def packed(self, outputs: Tensor) -> Any:
        """(networks, rows, outputs) as (rows, columns), with the columns that the heads read."""
        networks = zip(self.heads, outputs, strict=True)
        return np.concatenate([own[:, : head.outputs].numpy() for head, own in networks], axis=1)

    def unpacked(self, columns: Any) -> Tensor:
        """What was packed; the outputs that no head reads are 0."""
        outputs = np.zeros((len(self.heads), len(columns), self.outputs), dtype=columns.dtype)
        first = 0
        for own, head in zip(outputs, self.heads, strict=True):
            own[:, : head.outputs] = columns[:, first : first + head.outputs]
            first += head.outputs
        return torch.from_numpy(outputs)
