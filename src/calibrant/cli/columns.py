"""The columns of a prediction, by flags."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import typer

from calibrant.batches.columns import Columns, columns_of


def of_flags(
    flags: Mapping[str, str | None], usual: Columns | None = None, *, quantiles: str = "--quantiles"
) -> Columns:
    """The columns that the flags name, or else the `usual` ones; `quantiles` is what the command calls that flag."""

    def spelt(names: Sequence[str]) -> str:
        return " and ".join(quantiles if name == "quantiles" else f"--{name}" for name in names)

    try:
        return columns_of(flags, usual, spelt=spelt)
    except ValueError as error:
        raise typer.BadParameter(str(error)) from None
