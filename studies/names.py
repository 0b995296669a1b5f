"""What is measured, by name: a method, and a method on one split of one dataset."""

from __future__ import annotations

import zlib
from dataclasses import asdict, astuple, dataclass
from typing import Any, NamedTuple

import numpy as np


class Method(NamedTuple):
    """One way to a calibrated distribution: what the model predicts, its score, the interpolator."""

    base: str
    score: str
    interpolator: str

    @property
    def name(self) -> str:
        """As in the paper's tables: zscore-naf."""
        return f"{self.score}-{self.interpolator}"


@dataclass(frozen=True, order=True)
class Cell:
    """One calibrated predictor: on a split of a dataset, a base predictor with a score and an interpolator."""

    dataset: str
    split: int
    base: str
    score: str
    interpolator: str

    @classmethod
    def of(cls, record: dict[str, Any]) -> Cell:
        """The cell that a line of results is about."""
        return cls(**{name: record[name] for name in cls.__dataclass_fields__})

    @property
    def method(self) -> Method:
        """What is measured here, as on every other split and dataset."""
        return Method(self.base, self.score, self.interpolator)

    def names(self) -> dict[str, Any]:
        """The start of its line."""
        return asdict(self)

    def rng(self, seed: int) -> np.random.Generator:
        """Its own stream of uniforms, whatever was run before it and beside it."""
        return np.random.default_rng([seed, zlib.crc32(repr(astuple(self)).encode())])
