"""The look of the pictures: the axes they are drawn on, colours that fit these, the legend above them."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from dataclasses import dataclass
from itertools import product
from typing import Any

import matplotlib
import numpy as np
from matplotlib import style
from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.transforms import ScaledTranslation

BEFORE = "#d55e00"
"""Vermilion: the forecast before calibration."""
AFTER = "#0072b2"
"""Blue: the calibrated forecast."""
COLOURS = (BEFORE, AFTER, "#009e73", "#cc79a7", "#e69f00", "#56b4e9", "#000000")
"""The colours of Okabe and Ito, without their yellow, which is lost on white."""

MILLIMETRE = 1 / 25.4
Style = dict[str, Any]
"""Keywords of a matplotlib artist."""
_SIZE = 7
"""Points of the text of the style file."""
_SMALLEST = 5.0
"""Points of the smallest text."""
_DASHES: tuple[Any, ...] = ("--", "-", "-.", ":", (0, (5, 1, 1, 1, 1, 1)))
_MARKERS = ("s", "o", "^", "D", "v", "P", "X")


def theme() -> AbstractContextManager[None]:
    """The sizes of calibrant's own figures, for figures of yours: 7 pt text and thin lines, made for 80 mm.

    Nothing outside the `with` changes, and colours stay as they are: those of a dark style too. It is the style file
    `calibrant.plots.paper`, which `matplotlib.style.use` takes as well.

    >>> import matplotlib.pyplot as plt
    >>> with theme():
    ...     figure, axes = plt.subplots(1, 2, figsize=(6.3, 2.2))
    >>> axes[0].xaxis.label.get_size()
    7.0
    """
    return style.context("calibrant.plots.paper")


@dataclass(frozen=True)
class Palette:
    """Ink on paper, both as the axes have them, and text of `size` points."""

    ink: str
    """Of text, labels y and lines of reference."""
    paper: str
    size: float

    @classmethod
    def of(cls, ax: Axes) -> Palette:
        """The ink of the axis labels, or black or white where that would be lost on the inside of the axes."""
        behind = (ax.get_facecolor(), figure_of(ax).get_facecolor(), "white")
        paper = next(colour for colour in behind if to_rgba(colour)[3] > 0.5)
        ink = ax.xaxis.label.get_color()
        if _is_dark(ink) == _is_dark(paper):
            ink = "white" if _is_dark(paper) else "black"
        return cls(to_hex(ink), to_hex(paper), float(ax.xaxis.label.get_fontsize()))

    @property
    def unit(self) -> float:
        """How much larger text, marks and lines are than in the style file."""
        return self.size / _SIZE

    @property
    def settings(self) -> dict[Any, Any]:
        """matplotlib's settings for what is drawn on the axes."""
        return {
            "font.size": self.size,
            "legend.fontsize": 6 * self.unit,
            "text.color": self.ink,
            "lines.linewidth": 1.2 * self.unit,
            "lines.markersize": 3 * self.unit,
        }

    @property
    def band(self) -> dict[str, Any]:
        """What chance allows: grey that marks and lines behind it show through."""
        return {"color": self.ink, "alpha": 0.18, "linewidth": 0}

    @property
    def target(self) -> dict[str, Any]:
        """A line of reference: what a right forecast has."""
        return {"color": self.ink, "linewidth": 0.8 * self.unit, "linestyle": ":"}

    def colour(self, colour: str) -> str:
        """The colour itself on light paper, for which ours were chosen; lighter on dark paper; ink for black."""
        if colour == "#000000":
            return self.ink
        return _mixed(colour, "white", 0.75) if _is_dark(self.paper) else colour

    def tint(self, colour: str, strength: float) -> str:
        """The colour thinned with paper: opaque, so that one shade hides another."""
        return _mixed(self.colour(colour), self.paper, strength)

    def looks(self, count: int) -> list[dict[str, Any]]:
        """Colour, line and marker of each of `count` forecasts; no two of 35 agree in both colour and line.

        A single one is calibrated, of several the first is the one before.
        """
        kinds = {"color": COLOURS, "linestyle": _DASHES, "marker": _MARKERS}
        places = range(count) if count > 1 else [1]
        looks = [{name: kind[k % len(kind)] for name, kind in kinds.items()} for k in places]
        return [look | {"color": self.colour(look["color"])} for look in looks]


@contextmanager
def drawing(
    ax: Axes | None, *, width: float = 80, height: float = 56, side: str = "left"
) -> Iterator[tuple[Axes, Palette]]:
    """The axes to draw on, and colours and sizes that fit them; what has a label is in a legend in the end.

    Without axes those of a new figure in the theme, in millimetres, which pyplot knows, so that a notebook shows it. It
    is closed again if drawing fails. `side` is where the legend is: on the right where long names are left of the axes.
    """
    from matplotlib import pyplot

    if ax is not None and not isinstance(ax, Axes):
        raise TypeError(f"ax must be matplotlib axes, got {type(ax).__name__}")
    figure = None
    if ax is None:
        with theme():
            figure, ax = pyplot.subplots(figsize=(width * MILLIMETRE, height * MILLIMETRE))
            ax.locator_params(nbins=6)  # more would run into each other
    palette = Palette.of(ax)
    with matplotlib.rc_context(palette.settings):
        try:
            yield ax, palette
            _fit(ax, palette, side)
        except BaseException:
            if figure is not None:
                pyplot.close(figure)
            raise


def _fit(ax: Axes, palette: Palette, side: str) -> None:
    """A legend above the axes, where it hides nothing; a title goes above it.

    The legend has as many columns as fit, and smaller letters where it would have more than two lines.
    """
    named = {str(label): handle for handle, label in zip(*ax.get_legend_handles_labels(), strict=True)}
    if not named:
        return
    ax.apply_aspect()
    style: Style = {"loc": f"lower {side}", "bbox_to_anchor": (int(side == "right"), 1), "borderaxespad": 0.5}
    style |= {"frameon": False, "borderpad": 0, "columnspacing": 1.2, "handlelength": 1.8, "labelspacing": 0.3}
    for size, columns in product((6, 5, 4), range(len(named), 0, -1)):
        style |= {"fontsize": max(_SMALLEST, size * palette.unit), "ncols": columns}
        box = ax.legend(named.values(), named, **style).get_window_extent()
        if box.width <= ax.get_window_extent().width and (size == 4 or columns >= len(named) / 2):
            break
    # matplotlib puts a title above all axes inside these: here an invisible line at the height of the legend
    figure = figure_of(ax)
    above = ScaledTranslation(0, box.height / figure.dpi + 0.06 * palette.unit, figure.dpi_scale_trans)
    ax.inset_axes((0, 1, 1, 0.001), transform=ax.transAxes + above).set_visible(False)


def name_rows(ax: Axes, at: Sequence[float], names: Sequence[str]) -> None:
    """A name at each place along y, in letters that fit."""
    width, height = points(ax)
    ax.set_yticks(at, names)
    longest = 0.55 * max(map(len, names))  # of 0.55 em a letter
    size = min(ax.yaxis.get_ticklabels()[0].get_fontsize(), 0.8 * height / (len(names) + 1), 0.6 * width / longest)
    ax.tick_params(axis="y", length=0, labelsize=max(_SMALLEST, size))


def points(ax: Axes) -> tuple[float, float]:
    """The width and height of axes in points, as they are now: a layout may change them later."""
    box, dot = ax.get_window_extent(), 72 / figure_of(ax).dpi
    return box.width * dot, box.height * dot


def span_y(ax: Axes, low: float, high: float) -> None:
    """Set the limits of y; of axes that share y with others, no narrower than what these show already."""
    others = [each for each in ax.get_shared_y_axes().get_siblings(ax) if each is not ax]
    if any(each.has_data() for each in others):
        bottom, top = ax.get_ylim()
        low, high = min(low, bottom), max(high, top)
    ax.set_ylim(low, high)


def figure_of(ax: Axes) -> Any:
    """The figure that axes are in; they always are in one."""
    return ax.get_figure(root=True)


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


def _is_dark(colour: Any) -> bool:
    return float(np.dot(to_rgb(colour), (0.3, 0.6, 0.1))) < 0.5


def _mixed(colour: Any, other: Any, strength: float) -> str:
    """strength * colour + (1 - strength) * other."""
    red, green, blue = strength * np.array(to_rgb(colour)) + (1 - strength) * np.array(to_rgb(other))
    return to_hex((red, green, blue))
