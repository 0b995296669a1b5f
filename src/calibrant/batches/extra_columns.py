"""The columns of a table that calibration reads besides the prediction: weights, events, bounds, groups."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibrant.batches.rows import Batch
from calibrant.labels import Labels


@dataclass(frozen=True)
class ExtraColumns:
    """Likelihood ratios, which labels were seen, what bounds the labels, and the group of each row."""

    weights: str | None = None
    event: str | None = None
    labels: Labels | None = None
    by: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.weights is not None and self.event is not None:
            raise ValueError("censored labels take no weights")
        if self.by and (self.weights or self.event):
            raise ValueError("groups go with neither weights nor censored labels")

    @property
    def names(self) -> list[str]:
        """The columns of numbers, each once."""
        bounds = () if self.labels is None else self.labels.columns
        return list(dict.fromkeys(name for name in (self.weights, self.event, *bounds) if name is not None))

    def known(self, rows: Batch) -> dict[str, Any]:
        """What `fit` and the call take besides the prediction."""
        known: dict[str, Any] = {}
        if self.weights is not None:
            known["weights"] = rows.not_negative(self.weights)
        if self.labels is not None and self.labels.columns:
            known["bound"] = {name: rows.numbers(name) for name in self.labels.columns}
        return known

    def group(self, columns: Mapping[str, list[Any]]) -> dict[str, Any]:
        """The group of each row, for `fit` and the call: a value, or one of each of several columns."""
        values = [columns[name] for name in self.by]
        return {"by": values[0] if len(values) == 1 else list(zip(*values, strict=True))} if values else {}

    def all_known(self, rows: Batch) -> dict[str, Any]:
        """Both, of some rows."""
        return self.known(rows) | self.group({name: rows.values(name).to_pylist() for name in self.by})
