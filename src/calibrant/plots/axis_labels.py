"""Axis labels that fit: the labels of both axes, and a name for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from calibrant.plots.palette import SMALLEST, length, points

_LEAST = 0.65
"""A label is set no smaller than that before it goes in two lines."""
_SLACK = 0.9
"""How much of the axes a label may take: a layout makes them smaller."""


def set_labels(ax: Axes, *, x: str, y: str = "", rows: Sequence[str] = (), at: Sequence[int] = ()) -> None:
    """Label both axes, and name the rows at these places; what is too long for the axes is set smaller.

    A label that is far too long goes in two lines. Where rows are too narrow for names of 5 points, every second one
    is named, or every third ...
    """
    for old in [each for each in ax.artists if isinstance(each, _FittedLabels)]:
        old.remove_labels()
    ax.add_artist(_FittedLabels(ax, x, y, rows, at)).set_clip_on(False)


class _FittedLabels(Artist):
    """Fits the labels when they are set, and again whenever a layout measures the axes, which changes their size."""

    def __init__(self, ax: Axes, x: str, y: str, rows: Sequence[str], at: Sequence[int]) -> None:
        super().__init__()
        self._rows, self._at = list(rows), list(at)
        self._sizes = [float(axis.label.get_fontsize()) for axis in (ax.xaxis, ax.yaxis)]
        # lines are broken once: a layout that already took its measure would leave no room for a second one
        sides = zip((x, y), self._sizes, _room(ax), strict=True)
        self._texts = [text if length(text, _LEAST * size) <= room else _broken(text) for text, size, room in sides]
        for axis, text in zip((ax.xaxis, ax.yaxis), self._texts, strict=True):
            if text:
                axis.set_label_text(text)
        self._fit(ax)

    def remove_labels(self) -> None:
        """Leave the axes, with labels of the size that they had."""
        ax: Any = self.axes
        for axis, size in zip((ax.xaxis, ax.yaxis), self._sizes, strict=True):
            axis.label.set_fontsize(size)
        self.remove()

    def get_tightbbox(self, renderer: Any = None) -> None:
        """Nothing: the labels have boxes of their own."""
        self._fit(self.axes)

    def draw(self, renderer: Any) -> None:
        """Nothing: the axes draw their labels themselves."""

    def _fit(self, ax: Any) -> None:
        written = zip((ax.xaxis, ax.yaxis), self._texts, self._sizes, _room(ax), strict=True)
        for axis, text, size, room in written:
            if text and axis.label.get_text() == text:  # else it is the user's own
                longest = max(length(line, size) for line in text.split("\n"))
                # never larger again: a layout has measured the words before they are fitted
                axis.label.set_fontsize(min(axis.label.get_fontsize(), max(SMALLEST, size * room / longest)))
        if self._rows:
            self._name(ax)

    def _name(self, ax: Any) -> None:
        width, height = points(ax)
        row = height / (len(self._rows) + 1)
        every = max(1, int(-(-SMALLEST // row)))
        ax.set_yticks(self._at[::every], self._rows[::every])
        size = ax.yaxis.get_ticklabels()[0].get_fontsize()
        longest = max(length(name, size) for name in self._rows)
        ax.tick_params(
            axis="y", labelsize=max(SMALLEST, size * min(1, 0.9 * row * every / size, 0.8 * width / longest))
        )


def _room(ax: Axes) -> tuple[float, float]:
    """How long the labels of both axes may be, in points."""
    width, height = points(ax)
    if ax.get_aspect() != "auto":  # a square, once it is drawn
        width = height = min(width, height)
    return _SLACK * width, _SLACK * height


def row_height(ax: Axes, count: int) -> float:
    """The height of each of so many rows in points, by which marks can be kept apart."""
    return points(ax)[1] / (count + 1)


def _broken(text: str) -> str:
    """In two lines, at the space nearest to the middle."""
    spaces = [k for k, letter in enumerate(text) if letter == " "]
    if not spaces:
        return text
    at = min(spaces, key=lambda k: abs(k - len(text) / 2))
    return f"{text[:at]}\n{text[at + 1 :]}"
