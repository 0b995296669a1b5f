"""The study's design: which base predictors, scores and interpolators meet in a cell, and in what form.

The linear and the random law end one mean gap beyond the extreme scores, as the authors' do, so that like is compared
with like: with other tails the widths and the CRPS would differ for a reason that is not the method's. The price is an
exact NLL that is infinite as soon as one test label lies beyond an end. The cdf score has ends of its own, 0 and 1.
"""

from __future__ import annotations

import zlib
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np

from calibrant.interpolators import NAF, BoundedTails, Interpolator, Linear, Random
from calibrant.scores import CDFScore, EnsembleScore, IntervalScore, QuantileScore, ResidualScore, ZScore
from calibrant.scores.base import ChartScore

SPLITS = 16
COVERAGE = 0.9
"""Of the conformal and the credible interval that are laid side by side."""

SCORES: dict[str, ChartScore] = {
    "residual": ResidualScore(),
    "interval": IntervalScore(),
    "quantile": QuantileScore(outer_slope=1),
    "ensemble": EnsembleScore(),
    "zscore": ZScore(),
    "cdf": CDFScore(),
}

PAIRS = (
    ("point", "residual"),
    ("interval", "interval"),
    ("quantile-2", "quantile"),
    ("quantile-4", "quantile"),
    ("quantile-7", "quantile"),
    ("quantile-10", "quantile"),
    ("ensemble", "ensemble"),
    ("distribution", "zscore"),
    ("distribution", "cdf"),
)
"""The base predictors with their scores; a distribution has two."""

INTERPOLATORS: dict[str, Interpolator] = {
    "linear": Linear(BoundedTails()),
    "random": Random(BoundedTails()),
    "naf": NAF(),
}


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

    def names(self) -> dict[str, Any]:
        """The start of its line."""
        return asdict(self)

    def rng(self, seed: int) -> np.random.Generator:
        """Its own stream of uniforms, whatever was run before it and beside it."""
        return np.random.default_rng([seed, zlib.crc32(repr(astuple(self)).encode())])


def cells(dataset: str, split: int) -> list[Cell]:
    """The 27 cells of a split.

    >>> len(cells("wine", 0)), cells("wine", 0)[0].base
    (27, 'point')
    """
    return [Cell(dataset, split, base, score, name) for base, score in PAIRS for name in INTERPOLATORS]
