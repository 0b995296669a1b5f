"""The columns of a prediction, by flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from calibrant.batches.columns import Columns, columns_of
from calibrant.batches.extra_columns import ExtraColumns
from calibrant.labels import Labels


def of_flags(
    flags: Mapping[str, str | None], usual: Columns | None = None, *, quantiles: str = "--quantiles"
) -> Columns:
    """The columns that the flags name, or else the `usual` ones; `quantiles` is what the command calls that flag."""

    def format_names(names: Sequence[str]) -> str:
        return " and ".join(quantiles if name == "quantiles" else f"--{name}" for name in names)

    try:
        return columns_of(flags, usual, format_names=format_names)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None


def extra_columns_of(
    weights: str | None, event: str | None, labels: Labels | None, by: tuple[str, ...]
) -> ExtraColumns:
    """The columns that the flags name."""
    if weights is not None and event is not None:
        raise typer.BadParameter("censored labels take no --weights", param_hint="--event")
    if by and (weights or event):
        raise typer.BadParameter("groups go with neither --weights nor --event", param_hint="--by")
    return ExtraColumns(weights, event, labels, by)
