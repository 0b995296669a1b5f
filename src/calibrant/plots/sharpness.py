"""The width of intervals against their coverage."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from calibrant._arguments import unit
from calibrant._types import ArrayLike
from calibrant.forecast import PredictionLike
from calibrant.metrics.forecasts import paired
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing, span_y
from calibrant.plots.inputs import named, numbers
from calibrant.plots.legend import add_legend
from calibrant.plots.palette import Palette, length, points
from calibrant.plots.theme import Style, percent

_MARKS = {-1: ("v", "too few inside"), 1: ("^", "too many inside"), 0: ("o", "as many as asked for")}


def sharpness(
    forecasts: Mapping[str, PredictionLike], y: ArrayLike, *, coverage: float = 0.9, ax: Axes | None = None
) -> Axes:
    """Mean width of the intervals against |share of labels inside - coverage|: of {name: forecast}, a point each.

    The lower left corner is where one wants to be: as sharp as can be, among those that hold what they promise. A
    triangle that points down holds too few labels, one that points up too many. The bars are one standard error each
    way. A forecast of infinite mean width has no point, and is named at the top.

    Args:
        forecasts: A mapping of names to forecasts.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ax = sharpness({"narrow": Normal(np.zeros(500), 0.5), "right": Normal(np.zeros(500), 1.0)}, y)
    >>> [text.get_text() for text in ax.texts]
    ['narrow', 'right', 'better']
    """
    coverage = unit("coverage", coverage)
    if not isinstance(forecasts, Mapping):
        raise TypeError(f"forecasts must be a mapping of names to forecasts, got {type(forecasts).__name__}")
    found = [(name, look, _point(each, y, coverage)) for name, each, look in named(forecasts, y)]
    finite = [(name, look, point) for name, look, point in found if np.isfinite(point.width)]
    with drawing(ax) as (ax, palette):
        for _, look, at in finite:
            bars: Style = {"xerr": 100 * at.error_se, "yerr": at.width_se, "elinewidth": 0.8 * palette.unit}
            mark: Style = {
                "marker": _MARKS[at.side][0],
                "markersize": 5 * palette.unit,
                "color": palette.look(look).colour,
            }
            ax.errorbar(100 * abs(at.error), at.width, **bars, **mark)
        reach = max([100 * (abs(at.error) + at.error_se) for *_, at in finite], default=1.0)
        top = max([at.width + at.width_se for *_, at in finite], default=1.0)
        ax.set_xlim(0, 1.15 * reach or 1.0)
        span_y(ax, 0, 1.3 * top or 1.0)
        set_labels(
            ax,
            x=f"| labels inside − {percent(coverage)} |, points",
            y=f"mean width of {percent(coverage)} intervals",
        )
        _names(
            ax, palette, [(name, 100 * abs(at.error), at.width, palette.look(look).colour) for name, look, at in finite]
        )
        arrow = {"arrowstyle": "->", "color": palette.shade, "linewidth": palette.unit}
        better: Style = {"color": palette.tinted(palette.ink, 0.6), "fontsize": palette.note}
        ax.annotate("better", (0.02, 0.02), (0.14, 0.14), "axes fraction", arrowprops=arrow, **better)
        without = [name for name, _, point in found if not np.isfinite(point.width)]
        if without:
            text = f"infinite width: {', '.join(without)}"
            ax.text(0.99, 0.99, text, transform=ax.transAxes, ha="right", va="top", fontsize=palette.note)
        seen = [_MARKS[side] for side in (-1, 1, 0) if any(at.side == side for *_, at in finite)]
        empty: Style = {"linestyle": "none", "color": palette.ink}
        if seen:
            add_legend(ax, [Line2D([], [], marker=marker, **empty, label=label) for marker, label in seen], palette)
    return ax


class _Point(NamedTuple):
    error: float
    """The share of labels inside, less the coverage."""
    error_se: float
    width: float
    width_se: float

    @property
    def side(self) -> int:
        """Whether it holds too few labels, -1, or too many, 1."""
        return int(np.sign(self.error))


def _point(H: Any, y: Any, coverage: float) -> _Point:
    H, y = paired(H, y)
    y = numbers(y)
    lower, upper = (np.broadcast_to(numbers(bound), y.shape) for bound in H.bounds(coverage))
    inside = np.mean((lower <= y) & (y <= upper))
    width = upper - lower
    spread = float(np.std(width)) if np.isfinite(width).all() else 0.0
    root = np.sqrt(len(y))
    return _Point(
        float(inside - coverage), float(np.sqrt(inside * (1 - inside)) / root), float(np.mean(width)), spread / root
    )


def _names(ax: Axes, palette: Palette, found: Sequence[tuple[str, float, float, str]]) -> None:
    """A name next to each point, moved up or down where it would hide another."""
    width, height = points(ax)
    line = 1.25 * palette.note / height
    reach = 0.16 + length("better", palette.note) / width
    taken = [(0.0, reach, 0.04 + k * line) for k in range(int(0.16 / line) + 1)]  # by the arrow to what is better
    (left, right), (bottom, top) = ax.get_xlim(), ax.get_ylim()

    def free(start: float, long: float, up: float) -> bool:
        return not any(abs(up - v) < line and start < b and a < start + long for a, b, v in taken)

    for name, x, y, colour in found:
        across, up = (x - left) / (right - left), (y - bottom) / (top - bottom) + 0.03
        side = "left" if across < 0.6 else "right"
        long = 0.03 + length(name, palette.note) / width
        start = across if side == "left" else across - long
        tries = (up + line * step * sign for step in range(16) for sign in (1, -1))
        up = next((place for place in tries if 0 < place < 1 - line and free(start, long, place)), up)
        taken.append((start, start + long, up))
        shift = 0.02 if side == "left" else -0.02
        ax.text(across + shift, up, name, transform=ax.transAxes, ha=side, color=colour, fontsize=palette.note)
