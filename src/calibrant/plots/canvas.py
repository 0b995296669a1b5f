"""Where a picture is drawn: on axes that are given, or in a new figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes

from calibrant.plots.palette import Palette
from calibrant.plots.theme import MILLIMETRE, theme

_WIDTH, _HEIGHT = 80, 56


@contextmanager
def drawing(ax: Axes | None, *, height: float = _HEIGHT) -> Iterator[tuple[Axes, Palette]]:
    """The axes to draw on and the pen: axes that are given, in their own style, or those of a new figure in the theme.

    The new figure is 80 mm wide and `height` mm high, and pyplot knows it, so that a notebook shows it. It is closed
    again if drawing fails.
    """
    if ax is not None:
        if not isinstance(ax, Axes):
            raise TypeError(f"ax must be matplotlib axes, got {type(ax).__name__}")
        palette = Palette.of(ax)
        own: dict[Any, Any] = {"font.size": palette.size, "text.color": palette.ink}
        with matplotlib.rc_context({**own, "lines.linewidth": palette.unit, "lines.markersize": 3 * palette.unit}):
            yield ax, palette
        return
    from matplotlib import pyplot

    with theme():
        size = (_WIDTH * MILLIMETRE, height * MILLIMETRE)
        figure, ax = pyplot.subplots(figsize=size, layout="constrained")
        ax.locator_params(nbins=6)  # more would run into each other
        try:
            yield ax, Palette.of(ax)
        except BaseException:
            pyplot.close(figure)
            raise


def span_y(ax: Axes, low: float, high: float) -> None:
    """Set the limits of y; of axes that share y with others, no narrower than what these show already."""
    others = [each for each in ax.get_shared_y_axes().get_siblings(ax) if each is not ax]
    if any(each.has_data() for each in others):
        bottom, top = ax.get_ylim()
        low, high = min(low, bottom), max(high, top)
    ax.set_ylim(low, high)
