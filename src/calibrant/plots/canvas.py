"""Where a picture is drawn: on axes that are given, or in a new figure."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import matplotlib
from matplotlib.axes import Axes

from calibrant.plots.pen import Pen
from calibrant.plots.theme import MILLIMETRE, theme

_WIDTH, _HEIGHT = 80, 56


@contextmanager
def drawing(ax: Axes | None, *, height: float = _HEIGHT) -> Iterator[tuple[Axes, Pen]]:
    """The axes to draw on and the pen: axes that are given, in their own style, or those of a new figure in the theme.

    The new figure is 80 mm wide and `height` mm high, and pyplot knows it, so that a notebook shows it. It is closed
    again if drawing fails.
    """
    if ax is not None:
        if not isinstance(ax, Axes):
            raise TypeError(f"ax must be matplotlib axes, got {type(ax).__name__}")
        pen = Pen.of(ax)
        own: dict[Any, Any] = {"font.size": pen.size, "text.color": pen.ink}
        with matplotlib.rc_context({**own, "lines.linewidth": pen.unit, "lines.markersize": 3 * pen.unit}):
            yield ax, pen
        return
    from matplotlib import pyplot

    with theme():
        size = (_WIDTH * MILLIMETRE, height * MILLIMETRE)
        figure, ax = pyplot.subplots(figsize=size, layout="constrained")
        ax.locator_params(nbins=6)  # more would run into each other
        try:
            yield ax, Pen.of(ax)
        except BaseException:
            pyplot.close(figure)
            raise
