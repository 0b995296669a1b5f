"""`calibrant inspect`."""

from __future__ import annotations

from typing import Any

from calibrant.cli.console import show
from calibrant.cli.judging import strict
from calibrant.cli.model import Model
from calibrant.cli.several import targets_of


def description(model: Model) -> dict[str, Any]:
    """All there is to say about a model file, as JSON values."""
    guarantee = model.stored.calibrated.guarantee
    return {
        "file": str(model.path),
        "bytes": model.path.stat().st_size,
        **model.stored.about,
        "epsilon": strict(guarantee.epsilon),
        **({"in short": guarantee.in_short()} if hasattr(guarantee, "in_short") else {}),
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
    return {"columns": model.notes.columns.to_notes(), "target": model.notes.target}


def show_description(model: Model) -> None:
    """Print it as lines of names and values."""
    from rich.table import Table

    table = Table.grid("name", "value", padding=(0, 2))
    for name, value in description(model).items():
        table.add_row(name, _said(value))
    show(table)


def _said(value: Any) -> str:
    if value is None:
        return "–"
    if isinstance(value, dict):
        return ", ".join(f"{name} {_said(item)}" for name, item in value.items())
    if isinstance(value, list):
        return " ".join(":".join(map(str, item)) if isinstance(item, list) else str(item) for item in value)
    if isinstance(value, float):
        return f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)
