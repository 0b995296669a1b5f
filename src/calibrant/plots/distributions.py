"""The predictive distributions themselves: densities, CDFs, ridges of densities."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, cast

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from calibrant._arguments import same_length
from calibrant._types import ArrayLike, SupportsArray
from calibrant.distributions.base import Distribution
from calibrant.forecast import PredictionLike
from calibrant.metrics.forecasts import forecast
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing, span_y
from calibrant.plots.curves import Shape, cdf_curve, quantiles, reach, shape
from calibrant.plots.inputs import chosen_rows, labels_of, numbers, parts_of, row_of
from calibrant.plots.legend import add_legend
from calibrant.plots.marks import has_levels, marks
from calibrant.plots.palette import Palette, figure_of, length, points
from calibrant.plots.theme import LOOK_AFTER, LOOK_BEFORE, Look, Style, plain

_POINTS = 400
_MOST_ROWS = 8
_MOST_RIDGES = 40
_FEW_ATOMS = 4
_HIGHEST = 2.6


def density(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """(H(b) - H(a)) / (b - a) over small cells (a, b], of each of some rows: the mean density.

    Not the density itself: that of a linear interpolation is a spike for every score. There are 200 cells where H is
    smooth, down to 25 where it is rough, from the quantile 0.001 to 0.999 but not into far tails. An atom, as `clip`
    makes one, is a stem whose height is its probability; a distribution of atoms alone has no density and raises.
    `base` is the forecast before calibration: a distribution is drawn dashed; points, bounds, quantiles and samples are
    ticks at the bottom. `y` are the labels of all rows, drawn as a dot on the curve (one far off as an arrow). `rows`
    is left out for a single distribution.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots.
        rows: The numbers of the rows to draw; not needed for a single distribution.
        base: The forecasts before calibration, to draw with H.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator, Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> base = Normal(f, 0.5)
    >>> H = Calibrator().fit(base, f + noise)(base)
    >>> ax = density(H, rows=[0, 1], base=base, y=f + noise)
    >>> ax.get_ylabel()
    'density'
    """
    H = cast(Distribution, forecast(H).as_distribution())
    chosen, labels, parts = chosen_rows(H, rows, most=_MOST_ROWS), labels_of(H, y), parts_of(base, H)
    distributions = [part for part in parts if isinstance(part, Distribution)]
    before = [[_shape(part, "base", row) for part in distributions] for row in chosen]
    after = [_shape(H, "H", row) for row in chosen]
    limits = _limits_around((drawn.x[0], drawn.x[-1]) for several in (after, *before) for drawn in several)
    with drawing(ax) as (ax, palette):
        for drawn in (each for several in before for each in several):
            _line(ax, palette, drawn, LOOK_BEFORE)
        for row, drawn in zip(chosen, after, strict=True):
            _line(ax, palette, drawn, LOOK_AFTER)
            _marks(ax, parts, row, palette, transform=ax.get_xaxis_transform(), floor=0.0, height=0.06)
            if labels is not None:
                _stem(ax, palette, labels[row], 0.0, drawn.at(labels[row]), limits)
        span_y(ax, 0, 1.15 * max(drawn.density.max() for several in (after, *before) for drawn in several))
        if len(chosen) > 1:
            _name_peaks(ax, palette, chosen, after)
        set_labels(ax, x="y", y="probability" if H.lattice is not None and H.lattice[1] == 1 else "density")
        _add_legend(ax, palette, parts, seen=_some(labels, chosen), limits=limits)
    return ax


def cdf(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    ax: Axes | None = None,
) -> Axes:
    """H[x](y) of each of some rows against y, upright where it jumps.

    `base` is the forecast before calibration: distributions are dashed, Quantiles and Samples dots at their levels,
    points and bounds as ticks at the bottom. A dot on the curve is (y, H(y)), the label and its PIT. Mass at -inf or
    +inf shows as a curve that starts above 0 or ends below 1.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots.
        rows: The numbers of the rows to draw; not needed for a single distribution.
        base: The forecasts before calibration, to draw with H.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator
    >>> from calibrant.interpolators import Naive
    >>> H = Calibrator(interpolator=Naive()).fit([0.0, 0.0, 0.0], [1.0, 2.0, 4.0])([0.0])
    >>> ax = cdf(H, rows=0, base=[0.0], y=[3.0])
    >>> ax.get_ylabel()
    'H(y)'
    """
    H = cast(Distribution, forecast(H).as_distribution())
    chosen, labels, parts = chosen_rows(H, rows, most=_MOST_ROWS), labels_of(H, y), parts_of(base, H)
    several = [
        [(row_of(part, row), LOOK_BEFORE) for part in parts if isinstance(part, Distribution)]
        + [(row_of(H, row), LOOK_AFTER)]
        for row in chosen
    ]
    known = [[quantiles(each) for each, _ in distributions] for distributions in several]
    limits = _limits_around(reach(q) for each in known for q in each)
    with drawing(ax) as (ax, palette):
        for distributions, qs in zip(several, known, strict=True):
            ends = np.array([reach(q) for q in qs])
            grid = np.linspace(ends.min(), ends.max(), _POINTS)
            for (each, look), q in zip(distributions, qs, strict=True):
                _curve(ax, palette, *cdf_curve(each, q, grid), look)
        if len(chosen) > 1:
            _staircase_of_names(ax, palette, H, chosen)
        ax.set_ylim(0, 1.03)
        set_labels(ax, x="y", y="H(y)")
        for row in chosen:
            _marks(ax, parts, row, palette, transform=ax.get_xaxis_transform(), floor=0.0, height=0.06, at_levels=True)
            if labels is not None:
                _stem(ax, palette, labels[row], 0.0, float(numbers(row_of(H, row).cdf(labels[row]))), limits)
        mark = "s" if any(map(has_levels, parts)) else "|"
        _add_legend(ax, palette, parts, seen=_some(labels, chosen), limits=limits, mark=mark)
    return ax


def ridgeline(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    rows: int | Sequence[int] | SupportsArray | None = None,
    base: PredictionLike | None = None,
    labels: Sequence[object] | None = None,
    ax: Axes | None = None,
) -> Axes:
    """The densities of several rows, one above the other, drawn as by `density`: all on one scale.

    A base that is more than twice as high as the highest of them is cut off. Without `rows`, seven of them, evenly
    spaced in the order of the medians. `base` and `y` as in `density`; `labels` are the names of the rows that are
    drawn, their numbers by default.

    Args:
        H: The forecasts: one distribution per row.
        y: The labels of all rows, drawn as dots.
        rows: The numbers of the rows to draw; by default seven, evenly spaced in the order of the medians.
        base: The forecasts before calibration, to draw with H.
        labels: The names of the rows drawn; their numbers by default.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Calibrator, Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> base = Normal(f, 0.5)
    >>> H = Calibrator().fit(base, f + noise)(base)
    >>> ax = ridgeline(H, rows=[3, 1, 4], base=base, y=f + noise)
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['row 3', 'row 1', 'row 4']
    """
    H = cast(Distribution, forecast(H).as_distribution())
    if H.shape and len(H) == 0:
        raise ValueError(f"a ridgeline needs a forecast of at least one row, got {H!r}")
    if rows is None and H.shape:
        rows = _typical(H, 7)
    chosen, y, parts = chosen_rows(H, rows, most=_MOST_RIDGES), labels_of(H, y), parts_of(base, H)
    names = [f"row {row}" for row in chosen] if labels is None else [plain(name, most=20) for name in labels]
    same_length("the rows that are drawn", len(chosen), "labels", len(names))
    distributions = [part for part in parts if isinstance(part, Distribution)]
    before = [[_shape(part, "base", row) for part in distributions] for row in chosen]
    after = [_shape(H, "H", row) for row in chosen]
    limits = _limits_around((drawn.x[0], drawn.x[-1]) for several in (after, *before) for drawn in several)
    scale = 1.3 / max(drawn.density.max() for drawn in after)
    with drawing(ax, height=26 + 6.5 * len(chosen)) as (ax, palette):
        for k, row in enumerate(chosen):
            floor, order = len(chosen) - 1 - k, 3 * k + 2
            _ridge(ax, palette, after[k], floor, scale, order)
            for drawn in before[k]:
                heights = floor + np.minimum(scale * drawn.density, _HIGHEST)
                ax.plot(drawn.x, heights, color=palette.before, linestyle="--", zorder=order)
            _marks(ax, parts, row, palette, transform=ax.transData, floor=floor, height=0.3, zorder=order + 1)
            if y is not None:
                _stem(ax, palette, y[row], floor, scale * after[k].at(y[row]), limits, order=order + 1)
        ax.set_ylim(-0.15, ax.get_ylim()[1])
        ax.tick_params(axis="y", length=0)
        set_labels(ax, x="y", rows=names, at=range(len(chosen))[::-1])
        cut = any(scale * drawn.density.max() > _HIGHEST for several in before for drawn in several)
        _add_legend(ax, palette, parts, seen=_some(y, chosen), limits=limits, cut=cut)
    return ax


def _name_peaks(ax: Axes, palette: Palette, chosen: Sequence[int], after: Sequence[Shape]) -> None:
    """The row above the peak of each curve; where two would hide each other, one above the other."""
    peaks = [int(np.argmax(drawn.density)) for drawn in after]
    tops = [(drawn.x[peak], drawn.density[peak]) for drawn, peak in zip(after, peaks, strict=True)]
    dots = 72 / figure_of(ax).dpi * ax.transData.transform(tops)
    line = 1.4 * palette.note
    taken: list[tuple[float, float]] = []
    for k in np.argsort(dots[:, 1], kind="stable"):
        x, start = dots[k]
        up = start + 3
        while any(abs(x - a) < length(f"row {max(chosen)}", palette.note) and abs(up - b) < line for a, b in taken):
            up += line / 4
        taken.append((x, up))
        _name(ax, palette, chosen[k], tops[k], (0, up - start), ha="center", va="bottom")
    room = max(up for _, up in taken) + line - 72 / figure_of(ax).dpi * ax.get_window_extent().y1
    if room > 0:
        ax.set_ylim(0, ax.get_ylim()[1] * (1 + room / points(ax)[1]))


def _staircase_of_names(ax: Axes, palette: Palette, H: Distribution, chosen: Sequence[int]) -> None:
    """The row of each curve, high on the left ones and low on the right ones, where there is room beside them."""
    order = sorted(chosen, key=lambda row: float(numbers(row_of(H, row).ppf(0.5))))
    for row, level in zip(order, np.linspace(0.9, 0.1, len(order)), strict=True):
        at = float(numbers(row_of(H, row).ppf(level)))
        if np.isfinite(at):
            left = level > 0.5
            _name(ax, palette, row, (at, level), (-4 if left else 4, 0), ha="right" if left else "left", va="center")


def _typical(H: Distribution, count: int) -> list[int]:
    """Rows evenly spaced in the order of the medians, the highest first."""
    order = np.argsort(numbers(H.ppf(0.5)), kind="stable")
    places = np.unique(np.linspace(0.03 * (len(order) - 1), 0.97 * (len(order) - 1), count).round().astype(int))
    return [int(row) for row in order[places][::-1]]


def _shape(H: Distribution, what: str, row: int) -> Shape:
    return shape(row_of(H, row), f"row {row} of {what}" if H.shape else what)


def _curve(ax: Axes, palette: Palette, x: Any, height: Any, look: Look) -> None:
    ax.plot(x, height, color=palette.legible(look.colour), linestyle=look.line, linewidth=1.2 * palette.unit)


def _line(ax: Axes, palette: Palette, drawn: Shape, look: Look) -> None:
    """The density as a line; the atoms as stems, on a scale of their own: the whole axis is probability 1."""
    _curve(ax, palette, drawn.x, drawn.density, look)
    at, mass = drawn.atoms
    upright, look = ax.get_xaxis_transform(), palette.look(look)
    if len(at):
        ax.vlines(at, 0, mass, transform=upright, color=look.colour, linestyle=look.line, linewidth=1.6 * palette.unit)
        tip: Style = {"marker": look.marker, "markersize": 4 * palette.unit, "linestyle": "none", "color": look.colour}
        ax.plot(at, mass, transform=upright, **tip)
    if len(at) <= _FEW_ATOMS:
        text: Style = {"textcoords": "offset points", "va": "center", "fontsize": palette.note, "color": look.colour}
        for point, share in zip(at, mass, strict=True):
            ax.annotate(f"{100 * share:.2g}%", (point, share), (5 * palette.unit, 0), xycoords=upright, **text)


def _ridge(ax: Axes, palette: Palette, drawn: Shape, floor: float, scale: float, order: int) -> None:
    heights = floor + scale * drawn.density
    ax.fill_between(drawn.x, floor, heights, color=palette.tint, linewidth=0, zorder=order)
    ax.plot(drawn.x, heights, color=palette.after, zorder=order)
    ax.plot(drawn.x[[0, -1]], [floor, floor], color=palette.after, linewidth=0.4 * palette.unit, zorder=order)
    ax.vlines(
        drawn.atoms.at, floor, floor + drawn.atoms.mass, color=palette.after, linewidth=2 * palette.unit, zorder=order
    )


def _stem(
    ax: Axes, palette: Palette, y: float, floor: float, height: float, limits: tuple[float, float], *, order: float = 3
) -> None:
    """A label: a dot on the curve, and a line down to the axis; beyond the limits an arrow there instead."""
    low, high = limits
    if low <= y <= high:
        ax.vlines(
            y, floor, floor + height, color=palette.ink, linewidth=0.9 * palette.unit, linestyle=":", zorder=order
        )
        ax.plot(y, floor + height, color=palette.ink, marker="o", clip_on=False, zorder=order)
    else:
        near = 0.32 * (high - low)  # just outside the curves, which take the third in the middle
        end, arrow = (low + near, "<") if y < low else (high - near, ">")
        style: Style = {"color": palette.ink, "marker": arrow, "markersize": 4 * palette.unit}
        ax.plot(end, floor + height, **style, clip_on=False, zorder=order)


def _limits_around(ends: Iterable[tuple[float, float]]) -> tuple[float, float]:
    """As far as labels are drawn where they lie: once more the width of all curves to either side."""
    lows, highs = zip(*ends, strict=True)
    width = max(highs) - min(lows)
    return min(lows) - width, max(highs) + width


def _name(
    ax: Axes, palette: Palette, row: int, at: tuple[float, float], off: tuple[float, float], **where: Any
) -> None:
    """The number of a row next to its curve, some points off, legible over other curves."""
    paper: Style = {"boxstyle": "square,pad=0.1", "facecolor": palette.paper, "edgecolor": "none", "alpha": 0.75}
    text: Style = {"fontsize": palette.note, "bbox": paper, "zorder": 5, **where}
    ax.annotate(f"row {row}", at, off, textcoords="offset points", **text)


def _marks(ax: Axes, parts: Sequence[Any], row: int, palette: Palette, **how: Any) -> None:
    for part in parts:
        if not isinstance(part, Distribution):
            marks(ax, part, row, palette, **how)


def _some(labels: Any, chosen: Sequence[int]) -> Any:
    """The labels of the rows that are drawn."""
    return None if labels is None else labels[chosen]


def _add_legend(
    ax: Axes,
    palette: Palette,
    parts: Sequence[Any],
    *,
    seen: Any,
    limits: tuple[float, float],
    mark: str = "|",
    cut: bool = False,
) -> None:
    """What the colours and marks mean; nothing where there is only one."""
    lines = [Line2D([], [], color=palette.after, label="after" if parts else "forecast")]
    if any(isinstance(part, Distribution) for part in parts):
        label = "before, cut off where it is too high" if cut else "before"
        lines.insert(0, Line2D([], [], color=palette.before, linestyle="--", label=label))
    elif parts:
        ticks: Style = {"marker": mark, "markersize": 4 * palette.unit, "linestyle": "none"}
        lines.insert(0, Line2D([], [], color=palette.before, **ticks, label="before"))
    if seen is not None:
        dots: Style = {"color": palette.ink, "linestyle": "none"}
        low, high = limits
        if ((seen >= low) & (seen <= high)).any():
            lines.append(Line2D([], [], marker="o", **dots, label="label y"))
        beyond = int(((seen < low) | (seen > high)).sum())
        if beyond:
            arrow = ">" if (seen > high).any() else "<"
            lines.append(Line2D([], [], marker=arrow, **dots, label=f"beyond the axes: {beyond}"))
    if len(lines) > 1:
        add_legend(ax, lines, palette)
