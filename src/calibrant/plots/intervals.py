"""Intervals: along x, in the order of their width, and around what was predicted."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from matplotlib import dates
from matplotlib.axes import Axes

from calibrant._arguments import same_length, unit
from calibrant._arrays import refuse
from calibrant._types import ArrayLike, Values
from calibrant._words import count
from calibrant.forecast import PredictionLike
from calibrant.metrics.forecasts import forecast
from calibrant.metrics.slices import column_values, typed
from calibrant.plots.curves import reach
from calibrant.plots.inputs import Numbers, Spans, evenly, labels_of, numbers, one
from calibrant.plots.style import AFTER, Palette, Style, drawing, percent, span_y

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
    ['90%', '50%', 'median']
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
    limits = limits_around(np.ravel([*bands, [middle, middle]]), seen, middle[np.isfinite(middle)])
    with drawing(ax) as (ax, palette):
        edge = 4 * palette.unit if len(at) == 1 else 0  # a band of one row is its edge
        for band, shade, c in zip(bands, np.linspace(0.2, 0.62, len(wanted)), wanted, strict=True):
            style: Style = {"color": palette.tint(AFTER, shade), "label": percent(c), "linewidth": edge}
            ax.fill_between(at, *cut(band, limits), **style)
        ax.plot(at, middle, color=palette.colour(AFTER), marker="o" if len(at) == 1 else None, label="median")
        if seen is not None:
            size = float(np.clip(25 / np.sqrt(len(at)), 1, 2.5)) * palette.unit
            _labels(ax, palette, at, seen, limits, marker="o", markersize=size, markeredgewidth=0, label="label y")
        span_y(ax, *limits)
        ax.set(xlabel="row" if x is None else "x", ylabel="y")
        if at.dtype.kind == "M":
            locator = dates.AutoDateLocator(minticks=3, maxticks=7)  # type: ignore[no-untyped-call]
            ax.xaxis.set_major_locator(locator)
            ax.xaxis.set_major_formatter(dates.ConciseDateFormatter(locator))  # type: ignore[no-untyped-call]
    return ax


def _positions(x: Any, m: int) -> Any:
    """A number or a date for each of m rows."""
    at = typed(column_values("x", range(m) if x is None else x))
    if at.dtype.kind not in "iufM":
        raise TypeError(f"x must hold numbers or dates, got dtype {at.dtype}")
    same_length("the forecast", m, "x", len(at))
    refuse("x", ~np.isfinite(at), "is missing or infinite")
    return at


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
    ['90% intervals of 100 rows', 'inside: 90.7% of 300 rows', 'outside']
    """
    rows = Spans.of(one(H, y), coverage)
    drawn = rows.some(np.argsort(rows.width, kind="stable"), most)
    place, centre = np.arange(len(drawn.y)), drawn.predicted
    drawn = drawn._replace(lower=drawn.lower - centre, upper=drawn.upper - centre, y=drawn.y - centre)
    limits = limits_around(np.concatenate([drawn.lower, drawn.upper]), drawn.y, np.zeros(1))
    with drawing(ax) as (ax, palette):
        ax.axhline(0, **palette.target)
        _spans(ax, palette, place, drawn, limits, rows)
        ax.set_xlim(-0.02 * len(place) - 0.5, 1.02 * len(place) - 0.5)
        span_y(ax, *limits)
        ax.set(xlabel="rows, by width", ylabel="y − centre")
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
    ['90% intervals of 100 rows', 'inside: 92.3% of 300 rows', 'outside']
    """
    rows = Spans.of(one(H, y), coverage)
    drawn = rows.some(np.argsort(rows.predicted, kind="stable"), most)
    limits = limits_around(np.concatenate([drawn.lower, drawn.upper]), drawn.y, drawn.centre)
    with drawing(ax, height=70) as (ax, palette):
        ax.plot(limits, limits, **palette.target)
        _spans(ax, palette, drawn.centre, drawn, limits, rows)
        ax.set(aspect="equal", xlim=limits, ylim=limits, xlabel="predicted centre", ylabel="y")
    return ax


def _spans(ax: Axes, palette: Palette, at: Any, drawn: Spans, limits: tuple[float, float], rows: Spans) -> None:
    """A line for each interval, labels inside as dots, labels outside as crosses; the legend is about all rows."""
    m, colour, share = len(rows.y), palette.tint(AFTER, 0.45), percent(round(float(rows.inside.mean()), 3))
    some = "" if len(at) == m else f" of {count(len(at), 'row')}"
    width = float(np.clip(60 / len(at), 0.3, 4)) * palette.unit
    ax.vlines(at, *cut((drawn.lower, drawn.upper), limits), color=colour, linewidth=width)
    ax.plot([], [], color=colour, linewidth=2 * palette.unit, label=drawn.words + some)  # seen, however thin they are
    size, inside = float(np.clip(25 / np.sqrt(len(at)), 1.8, 3)) * palette.unit, drawn.inside
    dot: Style = {"marker": "o", "markersize": size, "markeredgewidth": 0}
    cross: Style = {"marker": "x", "markersize": 3.2 * palette.unit}
    words = f"inside: {share} of {count(m, 'row')}"
    _labels(ax, palette, at[inside], drawn.y[inside], limits, **dot, label=words)
    _labels(ax, palette, at[~inside], drawn.y[~inside], limits, **cross, label="outside")


def _labels(ax: Axes, palette: Palette, at: Any, y: Numbers, limits: tuple[float, float], **style: Any) -> None:
    """Labels as marks; those beyond the limits as triangles at the edge."""
    low, high = limits
    within = (y >= low) & (y <= high)
    ax.plot(at[within], y[within], linestyle="none", color=palette.ink, **style)
    for beyond, edge, marker in ((y > high, high, "^"), (y < low, low, "v")):
        if beyond.any():  # a line that is not clipped takes room in the layout, even an empty one
            edges = np.full(int(beyond.sum()), edge)
            ax.plot(at[beyond], edges, marker, color=palette.ink, clip_on=False, label="label beyond")


def cut(ends: Sequence[Numbers], limits: tuple[float, float]) -> tuple[Numbers, Numbers]:
    """Bounds that are finite: what is infinite ends one height beyond the limits."""
    low, high = limits
    return np.clip(ends[0], low - (high - low), None), np.clip(ends[1], None, high + (high - low))


def limits_around(bounds: Numbers, labels: Numbers | None, kept: Numbers) -> tuple[float, float]:
    """From the least to the largest bound within `reach`, and label within one more height; all that is kept."""
    finite = bounds[np.isfinite(bounds)]
    low, high = reach(finite if len(finite) or labels is None else labels)
    low, high = min(low, *kept), max(high, *kept)
    if labels is not None:
        near = labels[np.abs(labels - (low + high) / 2) <= 1.5 * (high - low)]
        low, high = min([low, *near]), max([high, *near])
    room = 0.04 * (high - low)
    return low - room, high + room
