"""Colours and sizes that fit the axes, whatever their style."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from matplotlib.axes import Axes
from matplotlib.colors import to_hex, to_rgb, to_rgba
from matplotlib.font_manager import FontProperties
from matplotlib.textpath import TextPath

from calibrant.plots.theme import AFTER, BEFORE, SIZE, Look, settings

SMALLEST = 5.0
"""Points of the smallest text."""
_LEGIBLE = 4.5
"""The contrast that text needs, after the accessibility guidelines of the W3C."""


@dataclass(frozen=True)
class Palette:
    """Ink on paper, both as the axes have them, and text of `size` points."""

    ink: str
    """Of text, labels y and lines of reference."""
    paper: str
    size: float
    unit: float
    """How much larger marks and lines are than in a figure of 80 mm: as the text is, but no more than fits the axes."""

    @classmethod
    def of(cls, ax: Axes) -> Palette:
        """The ink of the axis labels, or black or white where these would be lost on the inside of the axes."""
        paper = _opaque(ax.get_facecolor(), _opaque(figure_of(ax).get_facecolor(), "white"))
        ink = to_hex(ax.xaxis.label.get_color())
        if contrast(ink, paper) < _LEGIBLE:
            ink = max(("#000000", "#ffffff"), key=lambda each: contrast(each, paper))
        size, (width, height) = float(ax.xaxis.label.get_fontsize()), points(ax)
        return cls(ink, paper, size, min(size / SIZE, max(0.7, min(width / 130, height / 85))))

    @property
    def small(self) -> float:
        """Points of a legend."""
        return max(SMALLEST, 6 / 7 * self.size)

    @property
    def note(self) -> float:
        """Points of a name next to a curve."""
        return max(SMALLEST, min(self.small, 6.5 * self.unit))

    @property
    def shade(self) -> str:
        """Bands and lines of reference."""
        return mixed(self.ink, self.paper, 0.4 if self.light else 0.6)

    @property
    def light(self) -> bool:
        """Whether the paper is lighter than the ink."""
        return luminance(self.paper) > luminance(self.ink)

    @property
    def before(self) -> str:
        """The forecast before calibration."""
        return self.legible(BEFORE)

    @property
    def after(self) -> str:
        """The calibrated forecast."""
        return self.legible(AFTER)

    @property
    def tint(self) -> str:
        """The inside of what `after` outlines: pale, but dark enough for grey print."""
        return self.tinted(self.after, 0.3)

    def tinted(self, colour: str, strength: float) -> str:
        """The colour thinned with paper: opaque, so that one shade hides another."""
        return mixed(colour, self.paper, strength if self.light else strength**0.7)

    def legible(self, colour: str) -> str:
        """The colour itself on light paper, for which ours were chosen; on dark paper as light as text must be."""
        strength = 1.0
        while not self.light and strength > 0 and contrast(mixed(colour, self.ink, strength), self.paper) < _LEGIBLE:
            strength -= 0.05
        return mixed(colour, self.ink, strength)

    def settings(self) -> dict[Any, Any]:
        """matplotlib's settings for axes inside these axes."""
        return settings(self.ink, self.paper, self.size)

    def look(self, look: Look) -> Look:
        """A look in colours that this paper bears."""
        return Look(self.legible(look.colour), look.line, look.marker)


def figure_of(ax: Axes) -> Any:
    """The figure that axes are in; they always are in one."""
    return ax.get_figure(root=True)


def points(ax: Axes) -> tuple[float, float]:
    """The width and height of axes in points, as they are now: a layout may change them later."""
    box, dot = ax.get_window_extent(), 72 / figure_of(ax).dpi
    return box.width * dot, box.height * dot


def length(text: str, size: float) -> float:
    """How long a line of text is, in points."""
    return float(TextPath((0, 0), text, size=size, prop=FontProperties()).get_extents().width) if text.strip() else 0.0


def mixed(colour: Any, other: Any, strength: float) -> str:
    """strength * colour + (1 - strength) * other."""
    red, green, blue = (strength * a + (1 - strength) * b for a, b in zip(to_rgb(colour), to_rgb(other), strict=True))
    return to_hex((red, green, blue))


def contrast(colour: Any, other: Any) -> float:
    """(L + 0.05) / (L' + 0.05) of the lighter and the darker: 1 of equal colours, 21 of black and white."""
    dark, light = sorted([luminance(colour), luminance(other)])
    return (light + 0.05) / (dark + 0.05)


def luminance(colour: Any) -> float:
    """How light a colour is, from 0 to 1, as sRGB defines it."""
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in to_rgb(colour)]
    return 0.2126 * linear[0] + 0.7152 * linear[1] + 0.0722 * linear[2]


def _opaque(colour: Any, behind: Any) -> str:
    """The colour as it looks over what is behind it."""
    *_, alpha = to_rgba(colour)
    return mixed(colour, behind, alpha)
