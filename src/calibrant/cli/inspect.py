"""`calibrant inspect`."""

from __future__ import annotations

from typing import Any

from calibrant.cli.commands import command
from calibrant.cli.console import put_json, show
from calibrant.cli.model import Model
from calibrant.cli.options import Json, ModelArgument
from calibrant.tables import Columns
from calibrant.tables.columns import KINDS

ALL = {name for names in KINDS.values() for name in names}
OPTIONAL = ("by", "weights", "event")
"""Columns that most models have none of."""


@command("calibrant inspect m.safetensors", "calibrant inspect m.safetensors --json")
def inspect(model: ModelArgument, *, as_json: Json = False) -> None:
    """Show what a model file holds, and what it guarantees."""
    found = Model.read(model)
    facts = _facts(found)
    if as_json:
        put_json(facts)
        return
    from rich.table import Table

    table = Table.grid("name", "value", padding=(0, 2))
    for name, value in facts.items():
        if name == "columns":
            table.add_row("prediction", _prediction(found))
        elif value is not None or name not in OPTIONAL:
            table.add_row(name, _cell(value))
    show(table)


def _facts(model: Model) -> dict[str, Any]:
    """All there is to say about a model file, as JSON values."""
    guarantee = model.stored.calibrated.guarantee
    return {
        "file": str(model.path),
        "bytes": model.path.stat().st_size,
        **model.stored.about,
        "epsilon": guarantee.epsilon,
        "in short": guarantee.in_short(),
        "guarantee": str(guarantee),
        **_fitted_on(model),
    }


def _fitted_on(model: Model) -> dict[str, Any]:
    """The columns of the prediction and of the labels; of several labels by name."""
    if model.stored.notes and model.several:
        columns: Any = {each.target: _named(each) for each in model.several}
        return {"columns": columns, "target": list(columns)}
    if (own := model.columns) is None:
        return {"columns": None, "target": None}
    extra = {"by": list(own.by) or None, "weights": own.weights, "event": own.event}
    return {"columns": _named(own), "target": own.target, **extra}


def _named(columns: Columns) -> dict[str, Any]:
    """The columns of the prediction, and what kind of prediction it is."""
    return {"kind": columns.kind} | {name: value for name, value in columns.to_json().items() if name in ALL}


def _prediction(model: Model) -> str:
    """What predictions it takes, and in which columns if it knows them."""
    if model.stored.notes and model.several:
        return "; ".join(f"{each.target}: {each.described()}" for each in model.several)
    if model.columns is not None:
        return model.columns.described()
    return _cell(getattr(model.stored.calibrated, "form", None))


def _cell(value: Any) -> str:
    if isinstance(value, list):
        return ", ".join(map(str, value))
    if isinstance(value, float):
        return f"{value:.4g}"
    return "–" if value is None else f"{value:,}" if isinstance(value, int) else str(value)
