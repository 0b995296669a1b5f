"""One look for all pictures: legible at 80 mm, told apart by colour-blind readers and in grey print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple

import matplotlib
from matplotlib.axes import Axes
from matplotlib.colors import to_rgb

BEFORE = "#d55e00"
"""Vermilion: the forecast before calibration."""
AFTER = "#0072b2"
"""Blue: the calibrated forecast."""
COLOURS = (BEFORE, AFTER, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""The colours of Okabe and Ito, without their yellow, which is lost on white."""

LABEL = "#000000"
"""The labels y."""
SHADE = "#999999"
"""Bands and lines of reference."""
TINT = "#b3d5e8"
"""The inside of what the colour of `AFTER` outlines: pale, but dark enough for grey print."""

Style = dict[str, Any]
"""Keywords of a matplotlib artist."""

MILLIMETRE = 1 / 25.4
_WIDTH, _HEIGHT = 80, 56
_DASHES: tuple[Any, ...] = ("--", "-", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("s", "o", "^", "D", "v", "P", "X")

RC: dict[Any, Any] = {
    # dark on white and no grid, whatever the user's own style is: the colours above are made for it
    **dict.fromkeys(("figure.facecolor", "axes.facecolor", "legend.facecolor"), "white"),
    **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), "black"),
    "axes.grid": False,
    "font.size": 7,
    "axes.labelsize": 7,
    "axes.titlesize": 7,
    "axes.labelpad": 2,
    "axes.titlepad": 3,
    "axes.linewidth": 0.5,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.dpi": 200,
    "figure.titlesize": 7,
    "legend.fontsize": 6,
    "legend.frameon": False,
    "legend.handlelength": 2.2,
    "legend.labelspacing": 0.3,
    "lines.linewidth": 1,
    "lines.markersize": 3,
    "xtick.labelsize": 6.5,
    "ytick.labelsize": 6.5,
    "xtick.major.width": 0.5,
    "ytick.major.width": 0.5,
    "xtick.major.size": 2.5,
    "ytick.major.size": 2.5,
    "xtick.major.pad": 2,
    "ytick.major.pad": 2,
}


def theme() -> AbstractContextManager[None]:
    """The settings of calibrant's own figures, for figures of yours: 7 pt text and thin lines, made for 80 mm.

    Nothing outside the `with` changes.

    >>> import matplotlib.pyplot as plt
    >>> with theme():
    ...     figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.2), layout="constrained")
    >>> axes[0].xaxis.label.get_size()
    7.0
    """
    return matplotlib.rc_context(RC)


class Look(NamedTuple):
    """How one forecast among several is drawn: no two of 35 agree in both colour and line."""

    colour: str
    line: Any
    marker: str


LOOK_BEFORE, LOOK_AFTER = Look(BEFORE, "--", "s"), Look(AFTER, "-", "o")


def looks(count: int) -> list[Look]:
    """A look for each of `count` forecasts; a single one is calibrated, of several the first is the one before."""
    if count == 1:
        return [LOOK_AFTER]
    colours, dashes, markers = ([kind[i % len(kind)] for i in range(count)] for kind in (COLOURS, _DASHES, _MARKERS))
    return [Look(*each) for each in zip(colours, dashes, markers, strict=True)]


@contextmanager
def drawing(ax: Axes | None, *, height: float = _HEIGHT) -> Iterator[Axes]:
    """The axes to draw on: those given, with nothing of theirs changed, or those of a new figure in the theme.

    The new figure is 80 mm wide and `height` mm high, and pyplot knows it, so that a notebook shows it. It is closed
    again if drawing fails.
    """
    if ax is not None:
        if not isinstance(ax, Axes):
            raise TypeError(f"ax must be matplotlib axes, got {type(ax).__name__}")
        yield ax
        return
    from matplotlib import pyplot

    with theme():
        size = (_WIDTH * MILLIMETRE, height * MILLIMETRE)
        figure, ax = pyplot.subplots(figsize=size, layout="constrained")
        ax.locator_params(nbins=6)  # more would run into each other
        try:
            yield ax
        except BaseException:
            pyplot.close(figure)
            raise


def plain(name: Any, *, most: int = 32) -> str:
    """A name as text that matplotlib prints as it is: no mathematics, one line, not too long.

    A label that starts with an underscore would be left out of a legend, hence the space before it.
    """
    text = " ".join(str(name).split())
    if len(text) > most:
        text = text[: most - 1] + "…"
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def columns(names: Iterable[str]) -> int:
    """In how many columns a legend of these names fits into 80 mm."""
    return max(1, min(3, 40 // (4 + max(map(len, names)))))


def tinted(colour: str, strength: float) -> tuple[float, float, float]:
    """The colour thinned with white: opaque, so that one shade hides another."""
    red, green, blue = (1 - strength * (1 - part) for part in to_rgb(colour))
    return red, green, blue


def percent(share: float) -> str:
    """0.9 as "90%", 0.975 as "97.5%"."""
    return f"{100 * share:.4g}%"
