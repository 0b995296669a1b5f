"""The design of a study: which datasets, base predictors, scores and interpolators meet, how often, and what is shown.

Everything that runs a study or reads its results is given one. `studies.paper.design.PAPER` is the paper's;
another study is another `Design`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from calibrant.interpolators import Interpolator
from calibrant.scores import Score
from studies.columns import HEADINGS
from studies.datasets import Dataset, RawTable
from studies.learners.heads import Head
from studies.learners.recipe import Recipe
from studies.names import Cell, Method

_UNMARKED = "paper"
"""The design of results that do not say whose they are: the first were written when there was one study."""


@dataclass(frozen=True, eq=False, kw_only=True)
class Design:
    """A study, before it is run."""

    name: str
    """It is in the file of results, so that those of two studies are not mixed, and in sentences: "the paper's"."""
    datasets: Mapping[str, Dataset | RawTable]
    """By name: where each is found, or its rows."""
    bases: Mapping[str, tuple[Head, ...]]
    """The base predictors: the head of each of their networks, all of which are trained for every split."""
    scores: Mapping[str, Score]
    pairs: tuple[tuple[str, str], ...]
    """The names of the base predictors with those of their scores; a base predictor may have several."""
    interpolators: Mapping[str, Interpolator]
    reference: str
    """The interpolator whose credible intervals are laid beside conformal ones."""
    splits: int
    """Random splits of each dataset."""
    recipe: Recipe = field(default_factory=Recipe)
    """How the networks are trained."""
    coverage: float = 0.9
    """Of the conformal and the credible intervals that are laid side by side."""
    metrics: tuple[str, ...] = tuple(HEADINGS)
    """What the tables show, of what is measured in every cell."""

    def __post_init__(self) -> None:
        if not self.name:
            raise ValueError(f"Design.name must be a word, got {self.name!r}")
        if self.splits < 1:
            raise ValueError(f"Design.splits must be at least 1, got {self.splits}")
        if not 0 < self.coverage < 1:
            raise ValueError(f"Design.coverage must lie strictly inside (0, 1), got {self.coverage}")
        if self.reference not in self.interpolators:
            known = ", ".join(self.interpolators)
            raise ValueError(f"Design.reference must be one of its interpolators, {known}, got {self.reference!r}")
        for metric in self.metrics:
            if metric not in HEADINGS:
                raise ValueError(f"Design.metrics must be among {', '.join(HEADINGS)}, got {metric!r}")
        if not self.pairs:
            raise ValueError("Design.pairs must name at least one base predictor with a score, got none")
        for base, score in self.pairs:
            if base not in self.bases:
                raise ValueError(f"Design.pairs must name its bases, {', '.join(self.bases)}, got {base!r}")
            if score not in self.scores:
                raise ValueError(f"Design.pairs must name its scores, {', '.join(self.scores)}, got {score!r}")
        for name, dataset in self.datasets.items():
            if dataset.name != name:
                raise ValueError(f"Design.datasets must have each under its own name, got {dataset.name!r} as {name!r}")

    @cached_property
    def methods(self) -> tuple[Method, ...]:
        """Every base predictor with every score of its own and every interpolator."""
        return tuple(Method(base, score, name) for base, score in self.pairs for name in self.interpolators)

    @property
    def reference_methods(self) -> tuple[Method, ...]:
        """The methods of the reference interpolator: those that have intervals."""
        return tuple(method for method in self.methods if method.interpolator == self.reference)

    @property
    def headings(self) -> dict[str, str]:
        """The metrics of its tables, each with the heading of its column."""
        return {metric: HEADINGS[metric] for metric in self.metrics}

    @property
    def networks(self) -> int:
        """How many are trained for a split."""
        return sum(map(len, self.bases.values()))

    def cells(self, dataset: str, split: int) -> list[Cell]:
        """What is measured on a split: a cell for each method."""
        return [Cell(dataset, split, *method) for method in self.methods]

    def scores_of(self, base: str) -> list[str]:
        """The scores of a base predictor."""
        return [score for name, score in self.pairs if name == base]

    def mark(self) -> dict[str, str]:
        """What the first line of its results says of the design; the paper's says nothing."""
        return {} if self.name == _UNMARKED else {"design": self.name}


def design_of(about: Mapping[str, Any]) -> str:
    """The name of the design that results are of, by their first line.

    >>> design_of({"seed": 0}), design_of({"seed": 0, "design": "pilot"})
    ('paper', 'pilot')
    """
    return str(about.get("design", _UNMARKED))
