"""`calibrant inspect`."""

from __future__ import annotations

from typing import Any

from calibrant.cli.console import show
from calibrant.cli.model import Model
from calibrant.cli.results import json_number
from calibrant.cli.several import targets_of

OPTIONAL = ("by", "weights", "event")
"""Columns that most models have none of."""


def description(model: Model) -> dict[str, Any]:
    """All there is to say about a model file, as JSON values."""
    guarantee = model.stored.calibrated.guarantee
    return {
        "file": str(model.path),
        "bytes": model.path.stat().st_size,
        **model.stored.about,
        "epsilon": json_number(guarantee.epsilon),
        "in short": guarantee.in_short(),
        "guarantee": str(guarantee),
        **_fitted_on(model),
    }


def _fitted_on(model: Model) -> dict[str, Any]:
    """The columns of the prediction and of the labels; of several labels by name."""
    several = targets_of(model) if model.stored.notes else None
    if several is not None:
        columns = {each.target: each.columns.to_notes() for each in several}
        return {"columns": columns, "target": [each.target for each in several]}
    if model.notes is None:
        return {"columns": None, "target": None}
    notes = model.notes
    extra = {"by": list(notes.by) or None, "weights": notes.weights, "event": notes.event}
    return {"columns": notes.columns.to_notes(), "target": notes.target, **extra}


def _prediction(model: Model) -> str:
    """What predictions it takes, and in which columns if it knows them."""
    if several := targets_of(model) if model.stored.notes else None:
        return "; ".join(f"{each.target}: {each.columns.described()}" for each in several)
    if model.notes is not None:
        return model.notes.columns.described()
    form = getattr(model.stored.calibrated, "form", None)
    return "–" if form is None else str(form)


def show_description(model: Model) -> None:
    """Print it as lines of names and values."""
    from rich.table import Table

    table = Table.grid("name", "value", padding=(0, 2))
    for name, value in description(model).items():
        if name == "columns":
            table.add_row("prediction", _prediction(model))
        elif value is not None or name not in OPTIONAL:
            table.add_row(name, _cell_text(value))
    show(table)


def _cell_text(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
