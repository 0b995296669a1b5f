"""What is drawn of a prediction that is no distribution: its numbers, as ticks."""

from __future__ import annotations

from typing import Any

from matplotlib.axes import Axes

from calibrant.plots.inputs import numbers
from calibrant.plots.axes_style import Pen


def has_levels(prediction: Any) -> bool:
    """Whether the numbers of a prediction that is no distribution are quantiles."""
    return not prediction.has_distribution and all(mark.level is not None for mark in prediction.marks())


def marks(
    ax: Axes,
    prediction: Any,
    row: int,
    pen: Pen,
    *,
    transform: Any,
    floor: float,
    height: float,
    at_levels: bool = False,
    zorder: float = 2.5,
) -> None:
    """Ticks from `floor` up; with `at_levels`, dots at the levels instead where the prediction has levels."""
    said = prediction.marks()
    at = [numbers(mark.values[row : row + 1])[0] for mark in said]
    if at_levels and has_levels(prediction):
        levels = [mark.level for mark in said]
        ax.plot(at, levels, color=pen.before, marker="s", linestyle="none", zorder=zorder)
    else:
        ax.vlines(
            at, floor, floor + height, transform=transform, color=pen.before, linewidth=1.4 * pen.unit, zorder=zorder
        )
