"""The words beside the axes, in letters that fit: the labels of both axes, and a name for each row."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.artist import Artist
from matplotlib.axes import Axes

from calibrant.plots.pen import SMALLEST, length, points


def words(ax: Axes, *, x: str, y: str = "", rows: Sequence[str] = (), at: Sequence[int] = ()) -> None:
    """Label both axes, and name the rows at these places; what is too long for the axes is set smaller.

    A label that is still too long goes in two lines. Where rows are too narrow for names of 5 points, every second one
    is named, or every third ...
    """
    for old in [each for each in ax.artists if isinstance(each, _Words)]:
        old.remove()
    ax.add_artist(_Words(ax, x, y, rows, at)).set_clip_on(False)


class _Words(Artist):
    """Fits the words when they are written, and again whenever a layout measures the axes, which changes their size."""

    def __init__(self, ax: Axes, x: str, y: str, rows: Sequence[str], at: Sequence[int]) -> None:
        super().__init__()
        self._texts, self._rows, self._at = (x, y), list(rows), list(at)
        self._sizes = ax.xaxis.label.get_fontsize(), ax.yaxis.label.get_fontsize()
        self._fit(ax)

    def get_tightbbox(self, renderer: Any = None) -> None:
        """Nothing: the words have boxes of their own."""
        self._fit(self.axes)

    def draw(self, renderer: Any) -> None:
        """Nothing: the axes draw their words themselves."""

    def _fit(self, ax: Any) -> None:
        written = zip((ax.xaxis, ax.yaxis), self._texts, self._sizes, points(ax), strict=True)
        for axis, text, size, room in written:
            if text and axis.label.get_text() in ("", text, _broken(text)):  # else it is the user's own
                _fit_label(axis, text, float(size), room)
        if self._rows:
            self._name(ax)

    def _name(self, ax: Any) -> None:
        width, height = points(ax)
        row = height / (len(self._rows) + 1)
        every = max(1, int(-(-SMALLEST // row)))
        ax.set_yticks(self._at[::every], self._rows[::every])
        size = ax.xaxis.get_ticklabels()[0].get_fontsize()
        longest = max(length(name, size) for name in self._rows)
        ax.tick_params(
            axis="y", labelsize=max(SMALLEST, size * min(1, 0.9 * row * every / size, 0.8 * width / longest))
        )


def row_height(ax: Axes, count: int) -> float:
    """The height of each of so many rows in points, by which marks can be kept apart."""
    return points(ax)[1] / (count + 1)


def _fit_label(axis: Any, text: str, size: float, room: float) -> None:
    least = max(SMALLEST, 0.75 * size)
    if length(text, least) > room:
        text = _broken(text)
    longest = max(length(line, size) for line in text.split("\n"))
    axis.set_label_text(text)
    axis.label.set_fontsize(size if longest <= room else max(SMALLEST, size * room / longest))


def _broken(text: str) -> str:
    """In two lines, at the space nearest to the middle."""
    spaces = [k for k, letter in enumerate(text) if letter == " "]
    if not spaces:
        return text
    at = min(spaces, key=lambda k: abs(k - len(text) / 2))
    return f"{text[:at]}\n{text[at + 1 :]}"
