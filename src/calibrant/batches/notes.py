"""The columns that a model was calibrated on, as notes in its file."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calibrant.batches.columns import Columns, of_notes


@dataclass(frozen=True)
class Notes:
    """The columns of a table that something was calibrated on."""

    columns: Columns
    target: str
    weights: str | None = None
    """The column of likelihood ratios, if the rows were weighted."""
    event: str | None = None
    """The column that says which labels were seen, if some were not."""
    by: tuple[str, ...] = ()
    """The columns that name the group of a row, if it was calibrated by group."""

    def to_json(self) -> dict[str, Any]:
        """As JSON values."""
        extra = {"weights": self.weights, "event": self.event, "by": list(self.by) or None}
        known = {name: column for name, column in extra.items() if column is not None}
        return {"columns": self.columns.to_notes(), "target": self.target, **known}

    @classmethod
    def of_json(cls, notes: Mapping[str, Any]) -> Notes:
        """From JSON values; raises if they are not of this making."""
        target, weights, event = notes["target"], notes.get("weights"), notes.get("event")
        if not isinstance(target, str) or not all(each is None or isinstance(each, str) for each in (weights, event)):
            raise TypeError("expected the name of a column")
        by = notes.get("by", [])
        if not isinstance(by, list) or not all(isinstance(column, str) for column in by):
            raise TypeError("expected the names of columns")
        return cls(of_notes(notes["columns"]), target, weights, event, tuple(by))
