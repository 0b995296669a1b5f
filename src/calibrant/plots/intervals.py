"""Intervals: along x, in the order of their width, and around what was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from calibrant._arguments import same_length, unit
from calibrant._arrays import refuse, to_numpy
from calibrant._types import ArrayLike, Values
from calibrant._words import count, in_all
from calibrant.forecast import PredictionLike
from calibrant.metrics.forecasts import forecast, paired
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing, span_y
from calibrant.plots.curves import reach
from calibrant.plots.inputs import Numbers, evenly, labels_of, numbers
from calibrant.plots.legend import add_legend
from calibrant.plots.palette import Palette, points
from calibrant.plots.theme import Style, percent

_MOST_POSITIONS = 2000


def fan(
    H: PredictionLike,
    y: ArrayLike | None = None,
    *,
    x: Values | None = None,
    coverages: Sequence[float] = (0.5, 0.8, 0.95),
    ax: Axes | None = None,
) -> Axes:
    """[H.ppf((1 - c) / 2), H.ppf((1 + c) / 2)] for each coverage c, along x: bands, darker for smaller coverages.

    x holds a number or a date a row, the row's place by default; rows are drawn in the order of x. Of more than 2,000
    rows 2,000 are drawn, evenly spaced in that order, and so are their labels y. What lies far beyond the rest leaves
    the picture, as an infinite bound does; a label there is a triangle at the edge.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals.
        y: The labels, one number per row; none are drawn by default.
        x: Where each row is drawn: numbers or dates; the number of the row by default.
        coverages: The probabilities of the centred intervals, each between 0 and 1.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> t = np.arange(50)
    >>> ax = fan(Normal(np.sin(t / 8), 0.1 + t / 100), x=t, coverages=(0.5, 0.9))
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['50%', '90%', 'median']
    """
    H = forecast(H)
    if not H.shape or len(H) == 0:
        raise ValueError(f"a fan needs a forecast of at least one row, got {H!r}")
    wanted = sorted({unit("coverages", c) for c in coverages}, reverse=True)
    if not wanted:
        raise ValueError("coverages must hold at least one number inside (0, 1), got none")
    labels, at = labels_of(H, y), _positions(x, len(H))
    order = np.argsort(at, kind="stable")
    order = order[evenly(len(order), _MOST_POSITIONS)]
    H, at = H[order], at[order]
    bands = [[numbers(H.quantile((1 + side * c) / 2)) for side in (-1, 1)] for c in wanted]
    middle = numbers(H.quantile(0.5))
    if not np.isfinite(middle).any():
        raise ValueError("the forecast has no finite median to draw")
    seen = None if labels is None else labels[order]
    low, high = _limits(np.ravel([*bands, [middle, middle]]), seen, middle[np.isfinite(middle)])
    shades = np.linspace(0.2, 0.62, len(wanted)) if len(wanted) > 1 else [0.4]
    marker = "o" if len(at) == 1 else None
    drawn: list[Any] = []
    with drawing(ax) as (ax, palette):
        for k, ((lower, upper), shade, c) in enumerate(zip(bands, shades, wanted, strict=True)):
            edges = np.clip(lower, low - (high - low), None), np.clip(upper, None, high + (high - low))
            colour = palette.tinted(palette.after, shade)
            if len(at) == 1:
                band: Any = ax.vlines(at, *edges, color=colour, linewidth=(2 + 2 * k) * palette.unit, label=percent(c))
            else:
                band = ax.fill_between(at, *edges, color=colour, linewidth=0, label=percent(c))
            drawn.insert(0, band)  # narrow to wide, as the eye goes out from the median
        drawn += ax.plot(at, middle, color=palette.after, marker=marker, label="median")
        if seen is not None:
            size = float(np.clip(25 / np.sqrt(len(at)), 1, 2.5)) * palette.unit
            dots: Style = {"marker": "o", "markersize": size, "markeredgewidth": 0}
            drawn += _dots(ax, palette, at, seen, (low, high), **dots, label="label y")
            drawn += _beyond(ax, palette, at, seen, (low, high))
        span_y(ax, low, high)
        set_labels(ax, x="row" if x is None else "x", y="y")
        if at.dtype.kind == "M":
            _dates(ax)
        add_legend(ax, drawn, palette)
    return ax


def _dates(ax: Axes) -> None:
    """Ticks that fit into 80 mm."""
    locator = dates.AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
    ax.xaxis.set_major_locator(locator)
    ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]


def _positions(x: Any, m: int) -> Any:
    """A number or a date for each of m rows."""
    if x is None:
        return np.arange(m)
    at = to_numpy(x) if not isinstance(x, (list, tuple)) else np.asarray(x)
    if at.dtype.kind == "O":
        try:
            at = at.astype("datetime64[us]")
        except (TypeError, ValueError):
            raise TypeError(f"x must hold numbers or dates, got {type(at.flat[0]).__name__}") from None
    if at.dtype.kind not in "iufM":
        raise TypeError(f"x must hold numbers or dates, got dtype {at.dtype}")
    if at.ndim != 1:
        raise ValueError(f"x must be 1-d, got shape {at.shape}")
    same_length("the forecast", m, "x", len(at))
    missing = np.isnat(at) if at.dtype.kind == "M" else ~np.isfinite(at)
    if missing.any():
        raise ValueError(f"x is missing or infinite in row {int(np.argmax(missing))} ({in_all(int(missing.sum()))})")
    return at


def _limits(bounds: Numbers, labels: Numbers | None, whole: Numbers) -> tuple[float, float]:
    """From the least to the largest bound within `reach`, and label within one more height; all of `whole`."""
    finite = bounds[np.isfinite(bounds)]
    low, high = reach(finite if len(finite) or labels is None else labels)
    low, high = min(low, *whole), max(high, *whole)
    if labels is not None:
        near = labels[np.abs(labels - (low + high) / 2) <= 1.5 * (high - low)]
        low, high = min([low, *near]), max([high, *near])
    room = 0.04 * (high - low)
    return low - room, high + room


def _dots(ax: Axes, palette: Palette, at: Any, labels: Numbers, limits: tuple[float, float], **style: Any) -> list[Any]:
    """Labels as dots, as far as they are within the limits: the handles for a legend."""
    inside = (labels >= limits[0]) & (labels <= limits[1])
    return ax.plot(at[inside], labels[inside], linestyle="none", color=palette.ink, **style)


def _beyond(ax: Axes, palette: Palette, at: Any, labels: Numbers, limits: tuple[float, float]) -> list[Any]:
    """Labels beyond the limits as triangles at the edge, for a legend; nothing where there are none."""
    drawn: list[Any] = []
    count = int(np.sum((labels < limits[0]) | (labels > limits[1])))
    for beyond, edge, marker in ((labels > limits[1], limits[1], "^"), (labels < limits[0], limits[0], "v")):
        if not beyond.any():
            continue  # a line that is not clipped takes room in the layout, even an empty one
        arrows: Style = {"marker": marker, "linestyle": "none", "color": palette.ink, "clip_on": False}
        drawn += ax.plot(at[beyond], np.full(int(beyond.sum()), edge), **arrows, label=f"beyond the axes: {count:,}")
    return drawn[:1]


def intervals(
    H: PredictionLike, y: ArrayLike, *, coverage: float = 0.9, most: int = 200, ax: Axes | None = None
) -> Axes:
    """[l_i, u_i] less its centre, in the order of the widths u_i - l_i, with the labels.

    The centre is the median; of predictions that are no distribution, the middle of the interval. Of more than `most`
    rows so many are drawn, evenly spaced in that order; the share inside, in the legend, is that of all rows. Labels
    outside are crosses. What lies far beyond the rest leaves the picture, as an infinite bound does; a label there is a
    triangle at the edge.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.
        most: How many rows to draw at most.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=300)
    >>> ax = intervals(Normal(np.zeros(300), np.linspace(0.5, 2, 300)), y, most=100)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['90% intervals', 'inside: 90.7% of 300 rows', 'outside']
    """
    coverage, most = unit("coverage", coverage), _most(most)
    H, y = paired(H, y)
    rows = _Spans.of(H, numbers(y), coverage)
    chosen = rows.some(np.argsort(rows.upper - rows.lower, kind="stable"), most)
    place = np.arange(len(chosen.y))
    chosen = _Spans(*(each - chosen.centre for each in chosen))
    limits = _limits(np.concatenate([chosen.lower, chosen.upper]), chosen.y, np.zeros(1))
    with drawing(ax) as (ax, palette):
        drawn = _bars(ax, palette, place, chosen, limits, _interval_name(H, coverage))
        drawn += _labels(ax, palette, place, chosen, limits, rows)
        ax.axhline(0, color=palette.shade, linewidth=0.5 * palette.unit, zorder=1)
        ax.set_xlim(-0.02 * len(place) - 0.5, 1.02 * len(place) - 0.5)
        span_y(ax, *limits)
        set_labels(ax, x=f"rows, in the order of the width{_of(place, rows)}", y="y less the interval's centre")
        add_legend(ax, drawn, palette)
    return ax


def parity(H: PredictionLike, y: ArrayLike, *, coverage: float = 0.9, most: int = 200, ax: Axes | None = None) -> Axes:
    """y_i against the predicted centre, with the interval [l_i, u_i]: does the forecast follow the labels?

    On the dotted line labels are as predicted. The centre is the median; of predictions that are no distribution, the
    middle of the interval. Of more than `most` rows so many are drawn, evenly spaced in the order of the centre; the
    share inside, in the legend, is that of all rows. Labels outside are crosses; one far beyond the rest is a triangle
    at the edge.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.
        most: How many rows to draw at most.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 300))
    >>> ax = parity(Normal(f, 1.0), f + noise, most=100)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['90% intervals', 'inside: 92.3% of 300 rows', 'outside']
    """
    coverage, most = unit("coverage", coverage), _most(most)
    H, y = paired(H, y)
    rows = _Spans.of(H, numbers(y), coverage)
    chosen = rows.some(np.argsort(rows.centre, kind="stable"), most)
    limits = _limits(np.concatenate([chosen.lower, chosen.upper]), chosen.y, chosen.centre)
    with drawing(ax, height=70) as (ax, palette):
        drawn = _bars(ax, palette, chosen.centre, chosen, limits, _interval_name(H, coverage))
        drawn += _labels(ax, palette, chosen.centre, chosen, limits, rows)
        ax.plot(limits, limits, color=palette.ink, linewidth=0.8 * palette.unit, linestyle=":", zorder=1)
        ax.set(aspect="equal", xlim=limits, ylim=limits)
        set_labels(ax, x=f"predicted centre{_of(chosen.y, rows)}", y="y")
        add_legend(ax, drawn, palette)
    return ax


class _Spans(NamedTuple):
    """Labels and intervals, one number per row each."""

    lower: Numbers
    centre: Numbers
    upper: Numbers
    y: Numbers

    @classmethod
    def of(cls, H: Any, y: Numbers, coverage: float) -> _Spans:
        lower, upper = (np.broadcast_to(numbers(bound), y.shape) for bound in H.bounds(coverage))
        centre = np.broadcast_to(numbers(H.quantile(0.5)), y.shape) if H.has_distribution else (lower + upper) / 2
        refuse("the centre of the forecast", ~np.isfinite(centre), "is not finite")
        return cls(lower, centre, upper, y)

    @property
    def inside(self) -> Any:
        return (self.lower <= self.y) & (self.y <= self.upper)

    def some(self, order: Any, most: int) -> _Spans:
        """At most so many rows, evenly spaced in the order given."""
        chosen = order[evenly(len(order), most)]
        return _Spans(*(each[chosen] for each in self))


def _most(most: Any) -> int:
    if not isinstance(most, (int, np.integer)) or most < 1:
        raise ValueError(f"most must be a count of rows, at least 1, got {most!r}")
    return int(most)


def _interval_name(H: Any, coverage: float) -> str:
    return "its own intervals" if H.own_bounds else f"{percent(coverage)} intervals"


def _of(drawn: Any, rows: _Spans) -> str:
    """How many rows are drawn, if not all."""
    return "" if len(drawn) == len(rows.y) else f" ({len(drawn)} of {len(rows.y):,})"


def _bars(ax: Axes, palette: Palette, at: Any, rows: _Spans, limits: tuple[float, float], label: str) -> list[Any]:
    """A line for each interval, thin enough for its neighbours; what is infinite ends beyond the limits."""
    low, high = limits
    ends = np.clip(rows.lower, low - (high - low), None), np.clip(rows.upper, None, high + (high - low))
    width = float(np.clip(0.5 * points(ax)[0] / len(at), 0.2, 4 * palette.unit))
    colour = palette.tinted(palette.after, 0.45)
    ax.vlines(at, *ends, color=colour, linewidth=width)
    return [
        Line2D([], [], color=colour, linewidth=2 * palette.unit, label=label)
    ]  # visible in a legend, however thin they are


def _labels(
    ax: Axes, palette: Palette, at: Any, rows: _Spans, limits: tuple[float, float], all_rows: _Spans
) -> list[Any]:
    """Labels as dots inside their intervals and as crosses outside; the legend says how many of all rows are inside."""
    inside = rows.inside
    label = f"inside: {percent(round(float(all_rows.inside.mean()), 3))} of {count(len(all_rows.y), 'row')}"
    drawn = _dots(ax, palette, at[inside], rows.y[inside], limits, **_inner(palette), label=label)
    drawn += _dots(ax, palette, at[~inside], rows.y[~inside], limits, **_outer(palette), label="outside")
    return [*drawn, *_beyond(ax, palette, at, rows.y, limits)]


def _inner(palette: Palette) -> Style:
    """A label inside its interval."""
    return {"marker": "o", "markersize": 1.8 * palette.unit, "markeredgewidth": 0}


def _outer(palette: Palette) -> Style:
    """A label outside."""
    return {"marker": "x", "markersize": 3.2 * palette.unit, "markeredgewidth": 0.9 * palette.unit}
