"""One style for all pictures: legible at 80 mm, and safe for colour-blind readers and grey print."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, NamedTuple

import matplotlib

BEFORE = "#d55e00"
"""Vermilion: the forecast before calibration."""
AFTER = "#0072b2"
"""Blue: the calibrated forecast."""
COLOURS = (BEFORE, AFTER, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""The colours of Okabe and Ito, without their yellow, which is lost on white."""

SIZE = 7
"""Points of the text of our own figures."""

Style = dict[str, Any]
"""Keywords of a matplotlib artist."""

MILLIMETRE = 1 / 25.4
_DASHES: tuple[Any, ...] = ("--", "-", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("s", "o", "^", "D", "v", "P", "X")


def settings(ink: str, paper: str, size: float) -> dict[Any, Any]:
    """matplotlib's settings for text of `size` points: ink on paper, no grid, no frame."""
    unit = size / SIZE
    ticks = {"labelsize": 6.5, "major.width": 0.5, "major.size": 2.5, "major.pad": 2}
    return {
        **dict.fromkeys(("figure.facecolor", "axes.facecolor", "legend.facecolor"), paper),
        **dict.fromkeys(("text.color", "axes.edgecolor", "axes.labelcolor", "xtick.color", "ytick.color"), ink),
        "axes.grid": False,
        **dict.fromkeys(("font.size", "axes.labelsize", "axes.titlesize", "figure.titlesize"), size),
        "axes.labelpad": 2 * unit,
        "axes.titlepad": 3 * unit,
        "axes.linewidth": 0.5 * unit,
        "axes.spines.top": False,
        "axes.spines.right": False,
        "legend.fontsize": 6 * unit,
        "legend.frameon": False,
        "legend.handlelength": 2.2,
        "legend.labelspacing": 0.3,
        "lines.linewidth": unit,
        "lines.markersize": 3 * unit,
        **{f"{axis}tick.{name}": value * unit for axis in "xy" for name, value in ticks.items()},
    }


# black on white, whatever the user's own style is: a figure of our own is for print
RC: dict[Any, Any] = {**settings("black", "white", SIZE), "figure.dpi": 200}


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


def plain(name: Any, *, most: int = 32) -> str:
    """A name as text that matplotlib prints as it is: no mathematics, one line, not too long.

    A label that starts with an underscore would be left out of a legend, hence the space before it.
    """
    text = " ".join(str(name).split())
    if len(text) > most:
        text = text[: most - 1] + "…"
    return (" " if text.startswith("_") else "") + text.replace("$", r"\$")


def percent(share: float) -> str:
    """0.9 as "90%", 0.975 as "97.5%"."""
    return f"{100 * share:.4g}%"
