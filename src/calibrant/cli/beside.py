"""The columns of a file that say more of its rows than the prediction does."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import typer

from calibrant.cli.tables import Batch
from calibrant.labels import Labels


@dataclass(frozen=True)
class Beside:
    """Likelihood ratios, which labels were seen, and what bounds the labels."""

    weights: str | None = None
    event: str | None = None
    labels: Labels | None = None

    def __post_init__(self) -> None:
        if self.weights is not None and self.event is not None:
            raise typer.BadParameter("censored labels take no --weights", param_hint="--event")

    @property
    def names(self) -> list[str]:
        """The columns, each once."""
        bounds = () if self.labels is None else self.labels.columns
        return list(dict.fromkeys(name for name in (self.weights, self.event, *bounds) if name is not None))

    def known(self, rows: Batch) -> dict[str, Any]:
        """What `fit` and the call take beside the prediction."""
        known: dict[str, Any] = {}
        if self.weights is not None:
            known["weights"] = rows.not_negative(self.weights)
        if self.labels is not None and self.labels.columns:
            known["bound"] = {name: rows.numbers(name) for name in self.labels.columns}
        return known
