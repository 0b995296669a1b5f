"""The options of commands that also judge predictions as they are, without --model."""

from __future__ import annotations

from typing import Any

import typer

from calibrant.cli.lazy import module_of
from calibrant.cli.parsing import flags_of


def raw_columns(target: str | None, *flags: str | None) -> tuple[Any, str]:
    """The columns of predictions that are evaluated without a model, and that of the labels."""
    if not any(flags):
        raise typer.BadParameter(
            "name the model file that fit wrote; or, to evaluate predictions as they are, their columns, by --rate,"
            " --point and so on",
            param_hint="--model",
        )
    columns = module_of("columns").of_flags(flags_of(*flags))
    if target is None:
        raise typer.BadParameter("without --model the column of the labels must be named", param_hint="--target")
    return columns, target


def needs_model(given: dict[str, Any]) -> None:
    """Refuse options that only a model can use."""
    for flag, value in given.items():
        if value is not None and value != []:
            raise typer.BadParameter("it goes with --model only", param_hint=flag)


def not_with_model(labels: str | None) -> None:
    """Refuse --labels where a model says what they are."""
    if labels is not None:
        raise typer.BadParameter("the model knows what the labels are: leave it out", param_hint="--labels")
