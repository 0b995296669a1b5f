"""The legend, above the axes, where it hides nothing."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from matplotlib.axes import Axes
from matplotlib.legend import Legend
from matplotlib.transforms import Bbox

from calibrant.plots.palette import SMALLEST, Palette, figure_of

_SIZES = (1.0, 0.85, 0.7)
_LINES = 2
"""A legend of more lines is set in smaller letters."""


def add_legend(ax: Axes, handles: Sequence[Any], palette: Palette) -> None:
    """A legend of these handles above the axes; a title of the axes goes above it."""
    ax.legend_ = FittedLegend(ax, handles, palette)
    if not any(isinstance(child.get_axes_locator(), _AboveAxes) for child in ax.child_axes):
        room = ax.inset_axes((0, 1, 1, 0.01))
        room.set_visible(False)
        room.set_axes_locator(_AboveAxes(ax))


class FittedLegend(Legend):
    """A legend that is arranged when it is drawn, and so fits the axes as a layout or a new window size leaves them.

    It has as many columns as fit and no frame. It starts at the left of the axes; one that is wider than the axes ends
    at their right and may reach over the names of the ticks, above the topmost.
    """

    def __init__(self, ax: Axes, handles: Sequence[Any], palette: Palette) -> None:
        self._handles, self._pen = list(handles), palette
        self._known: tuple[Any, Legend] | None = None
        super().__init__(ax, self._handles, [each.get_label() for each in handles], **self._style(palette.small))

    def remove(self) -> None:
        """Leave the axes."""
        self.axes.legend_ = None

    def draw(self, renderer: Any) -> None:
        """Draw what fits."""
        if self.get_visible():
            self._arranged(renderer).draw(renderer)
        self.stale = False

    def get_window_extent(self, renderer: Any = None) -> Bbox:
        """The box around what is drawn."""
        return self._arranged(renderer).get_window_extent(renderer)

    def get_tightbbox(self, renderer: Any = None) -> Bbox:
        """The box around what is drawn, for layouts."""
        return self.get_window_extent(renderer)

    def _style(self, size: float) -> dict[str, Any]:
        return {
            "loc": "lower left",
            "fontsize": size,
            "labelcolor": self._pen.ink,
            "frameon": False,
            "borderpad": 0,
            "borderaxespad": 0.4,
            "handlelength": 2,
            "handletextpad": 0.5,
            "labelspacing": 0.3,
            "columnspacing": 1.2,
        }

    def _arranged(self, renderer: Any) -> Legend:
        """A legend in the columns and of the size that the axes have room for."""
        ax, texts = self.axes, tuple(text.get_text() for text in self.get_texts())
        box, slot = ax.get_window_extent(), ax.get_position(original=True)
        right = max(box.x1, _frame(ax).transform(slot.max)[0])
        names, label = ax.yaxis.get_tightbbox(renderer), ax.yaxis.label
        left = min(box.x0, names.x0) if names is not None else box.x0
        if label.get_text():
            left = max(left, min(box.x0, label.get_window_extent(renderer).x1))  # the label may be as high as the axes
        ticks = (each.get_window_extent(renderer) for each in ax.get_yticklabels() if each.get_text())
        top = max((tick.y1 - box.y1 for tick in ticks if tick.y0 < box.y1 < tick.y1), default=0.0) / box.height
        state = (texts, *(round(each) for each in (box.x0, box.width, left, right)), top, figure_of(ax).dpi)
        if self._known is None or self._known[0] != state:
            self._known = (
                state,
                self._fitted(renderer, texts, right - box.x0, right - left, ((right - box.x0) / box.width, 1 + top)),
            )
        return self._known[1]

    def _fitted(
        self, renderer: Any, texts: Sequence[str], inside: float, widest: float, end: tuple[float, float]
    ) -> Legend:
        """The largest size at which two lines are enough; where none is, the lowest legend that fits."""
        fitting = [self._widest(renderer, texts, max(SMALLEST, part * self._pen.small), widest) for part in _SIZES]
        least = self._made(texts, max(SMALLEST, _SIZES[-1] * self._pen.small), 1)
        found = [each for each in fitting if each is not None] or [(len(texts), least)]
        low = [made for lines, made in found if lines <= _LINES]
        best = (
            low[0]
            if low
            else min((made for _, made in found), key=lambda made: made.get_window_extent(renderer).height)
        )
        wide = best.get_window_extent(renderer).width > inside
        best.set_loc("lower right" if wide else "lower left")
        best.set_bbox_to_anchor(end if wide else (0.0, 1.0), self.axes.transAxes)  # above the names of the ticks
        return best

    def _widest(self, renderer: Any, texts: Sequence[str], size: float, room: float) -> tuple[int, Legend] | None:
        """The fewest lines that fit, and a legend of so many, in as few columns as it takes."""
        for lines in range(1, len(texts) + 1):
            made = self._made(texts, size, -(-len(texts) // lines))
            if made.get_window_extent(renderer).width <= room:
                return lines, made
        return None

    def _made(self, texts: Sequence[str], size: float, columns: int) -> Legend:
        return Legend(self.axes, self._handles, texts, ncols=columns, **self._style(size))


class _AboveAxes:
    """The place of a legend, as that of an invisible child of the axes: matplotlib puts a title above all children."""

    def __init__(self, ax: Axes) -> None:
        self._ax = ax

    def __call__(self, _: Any, renderer: Any) -> Bbox:
        legend, box = self._ax.get_legend(), self._ax.get_window_extent()
        top = legend.get_window_extent(renderer).y1 if isinstance(legend, FittedLegend) else box.y1
        place = Bbox.from_extents(box.x0, box.y1 - 1, box.x1, max(top, box.y1))
        return place.transformed(_frame(self._ax).inverted())


def _frame(ax: Axes) -> Any:
    """From shares of the figure, or of a subfigure, to dots."""
    figure: Any = ax.get_figure(root=False)
    return figure.transSubfigure
