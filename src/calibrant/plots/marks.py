"""What is drawn of a prediction that is no law: its numbers, as ticks."""

from __future__ import annotations

from functools import singledispatch
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from calibrant.plots.inputs import Numbers, evenly, numbers
from calibrant.plots.theme import BEFORE
from calibrant.predictions import Interval, Point, Quantiles, Samples

_MOST = 50


class Places(NamedTuple):
    """The numbers that a prediction names for one row, and their levels where they have any."""

    at: Numbers
    levels: Numbers | None = None


@singledispatch
def places(prediction: Any, row: int) -> Places:
    """Where to put the ticks of a row."""
    raise TypeError(f"{prediction!r} has no numbers to mark")


places.register(Point, lambda prediction, row: Places(numbers(prediction.values[row : row + 1])))
places.register(
    Interval,
    lambda prediction, row: Places(np.array([float(prediction.lower[row]), float(prediction.upper[row])])),
)
places.register(Quantiles, lambda prediction, row: Places(numbers(prediction.values[row]), numbers(prediction.levels)))


@places.register
def _(prediction: Samples, row: int) -> Places:
    """The draws, or 50 of them, evenly spaced in their order."""
    at = np.sort(numbers(prediction.values[row]))
    kept = evenly(len(at), _MOST)
    return Places(at[kept], (kept + 0.5) / len(at))


def has_levels(prediction: Any) -> bool:
    """Whether the numbers of a prediction are quantiles."""
    return isinstance(prediction, (Quantiles, Samples))


def marks(
    ax: Axes,
    prediction: Any,
    row: int,
    *,
    transform: Any,
    floor: float,
    height: float,
    at_levels: bool = False,
    zorder: float = 2.5,
) -> None:
    """Ticks from `floor` up; with `at_levels`, dots at the levels instead where the prediction has levels."""
    at, levels = places(prediction, row)
    if at_levels and levels is not None:
        ax.plot(at, levels, color=BEFORE, marker="s", linestyle="none", markersize=3, zorder=zorder)
    else:
        ax.vlines(at, floor, floor + height, transform=transform, color=BEFORE, linewidth=1.4, zorder=zorder)
