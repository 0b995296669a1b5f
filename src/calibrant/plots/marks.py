"""What is drawn of a prediction that is no distribution: its numbers, as ticks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from calibrant.metrics.interval_coverage import IntervalResult
from calibrant.plots.inputs import numbers
from calibrant.plots.palette import Palette


def has_levels(prediction: Any) -> bool:
    """Whether the numbers of a prediction that is no distribution are quantiles."""
    return not prediction.has_distribution and all(mark.level is not None for mark in prediction.marks())


def marks(
    ax: Axes,
    prediction: Any,
    row: int,
    palette: Palette,
    *,
    transform: Any,
    floor: float,
    height: float,
    at_levels: bool = False,
    zorder: float = 2.5,
) -> None:
    """Ticks from `floor` up; with `at_levels`, dots at the levels instead where the prediction has levels."""
    drawn = prediction.marks()
    at = [numbers(mark.values[row : row + 1])[0] for mark in drawn]
    if at_levels and has_levels(prediction):
        levels = [mark.level for mark in drawn]
        ax.plot(at, levels, color=palette.before, marker="s", linestyle="none", zorder=zorder)
    else:
        ax.vlines(
            at,
            floor,
            floor + height,
            transform=transform,
            color=palette.before,
            linewidth=1.4 * palette.unit,
            zorder=zorder,
        )


def ties_split_ticks(
    ax: Axes, intervals: Sequence[IntervalResult], at: Any, palette: Palette, *, along: Literal["x", "y"]
) -> list[Line2D]:
    """A tick at each tested share, where ties are split; `along` is the axis of the shares."""
    if not any(each.split_share is not None for each in intervals):
        return []
    share = 100 * np.array([each.tested for each in intervals])
    x, y = (share, at) if along == "x" else (at, share)
    mark = "|" if along == "x" else "_"
    return ax.plot(
        x,
        y,
        marker=mark,
        linestyle="none",
        color=palette.ink,
        markersize=6 * palette.unit,
        zorder=2.5,
        label="ties split",
    )
