"""What is known of the rows of a file beside the prediction, by flags."""

from __future__ import annotations

import typer

from calibrant.batches.extra_columns import Beside
from calibrant.labels import Labels


def beside_of(weights: str | None, event: str | None, labels: Labels | None, by: tuple[str, ...]) -> Beside:
    """The columns that the flags name."""
    if weights is not None and event is not None:
        raise typer.BadParameter("censored labels take no --weights", param_hint="--event")
    if by and (weights or event):
        raise typer.BadParameter("groups go with neither --weights nor --event", param_hint="--by")
    return Beside(weights, event, labels, by)
