"""The coverage of intervals, slice by slice and along the predicted value."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.lines import Line2D

from calibrant._arguments import same_length, unit
from calibrant._arrays import floats, refuse
from calibrant._types import ArrayLike, Groups, Values
from calibrant._words import count
from calibrant.diagnosis.row_events import row_events_of
from calibrant.forecast import Forecasts, PredictionLike
from calibrant.metrics.bands import share_interval
from calibrant.metrics.by_slice import SMALLEST, slice_results
from calibrant.metrics.forecasts import paired
from calibrant.metrics.slices import Slices, all_rows, columns_of, slices_of
from calibrant.plots.axis_labels import row_height, set_labels
from calibrant.plots.canvas import drawing
from calibrant.plots.curves import reach
from calibrant.plots.inputs import Numbers, bins_of, named, numbers
from calibrant.plots.legend import add_legend
from calibrant.plots.marks import ties_split_ticks
from calibrant.plots.palette import Palette
from calibrant.plots.theme import Look, Style, percent, plain


def coverage_by_slice(
    H: Forecasts,
    y: ArrayLike,
    by: Groups,
    *,
    coverage: float = 0.9,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """#{i in slice: l_i <= y_i <= u_i} / #slice, one dot per slice, against the coverage that was asked for.

    `by` holds a value for each row, or is a mapping of names to such columns, or a frame. Text and few different
    numbers are one slice per value, many numbers are cut into quarters. The bars are exact binomial intervals (Clopper
    and Pearson), widened after Bonferroni so that all of them hold at once with `confidence`; a hollow dot is one whose
    bar misses the target. The number of rows is next to the name of the slice. H is a forecast or a mapping of names to
    forecasts.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals; or a mapping of names to such
            forecasts.
        y: The labels: one number per row.
        by: A value for each row, a mapping of names to such columns, or a frame.
        coverage: The probability of the centred interval, between 0 and 1.
        confidence: The probability that the bars of all slices hold the true coverages.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=400)
    >>> ax = coverage_by_slice(Normal(np.zeros(400), 1.0), y, {"region": ["north", "south"] * 200})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['all rows (400)', 'region: north (200)', 'region: south (200)']
    """
    coverage, confidence = unit("coverage", coverage), unit("confidence", confidence)
    forecasts = named(H, y)
    inside = [_inside(forecast, y, coverage, name) for name, forecast, _ in forecasts]
    m = len(inside[0])
    slices = [all_rows(m), *(slices_of(name, values, m) for name, values in columns_of(by, ""))]
    total = np.concatenate([column.counts for column in slices])
    places = np.arange(len(total))
    local = 1 - (1 - confidence) / (len(total) * len(forecasts))  # after Bonferroni
    labels = [_label(column.name, text) for column in slices for text in column.labels]
    drawn: list[Any] = []
    with drawing(ax, height=24 + 4.5 * len(total) * (1 + 0.3 * (len(forecasts) - 1))) as (ax, palette):
        ax.axvline(100 * coverage, color=palette.ink, linewidth=0.8 * palette.unit, linestyle=":", zorder=1)
        ax.axhline(0.5, color=palette.shade, linewidth=0.4 * palette.unit)
        size = min(4 * palette.unit, 0.7 * row_height(ax, len(total)) / len(forecasts))
        off = False
        for k, ((name, _, look), covered) in enumerate(zip(forecasts, inside, strict=True)):
            hits = np.concatenate([np.bincount(c.index, covered, len(c.labels)) for c in slices])
            shift = 0.5 * ((k + 0.5) / len(forecasts) - 0.5)
            bars = hits / total, *share_interval(hits, total, local)
            off |= _dots(ax, places + shift, bars, coverage, palette.look(look), palette, size)
            if name:
                drawn.append(Line2D([], [], **_dot(palette.look(look), size), label=name))
        if off:
            hollow: Style = _dot(forecasts[0][2], size) | {"color": palette.ink, "markerfacecolor": palette.paper}
            drawn.append(Line2D([], [], **hollow, label=f"off: the bar misses {percent(coverage)}"))
        ax.set_ylim(len(total) - 0.4, -0.6)
        rows = [f"{label} ({number:,})" for label, number in zip(labels, total, strict=True)]
        set_labels(ax, x=f"inside {percent(coverage)} intervals, %", rows=rows, at=places.tolist())
        if drawn:
            add_legend(ax, drawn, palette)
    return ax


def coverage_by(
    H: PredictionLike,
    y: ArrayLike,
    by: Values | None = None,
    *,
    coverage: float = 0.9,
    bins: int = 10,
    n: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """#{i in bin: l_i <= y_i <= u_i} / #bin along the predicted value: do high forecasts hold as much as low ones?

    `by` holds a number for each row in its place, such as a feature. Bins are of about equal size; up to 12 different
    numbers are a bin each, and bins of fewer than 20 rows are left out. The grey bars are what chance allows in all
    bins at once if H is calibrated, given `n` calibration rows; a hollow vermilion dot is off. Where labels lie on
    atoms, as counts do, the bars are for the grey ticks, which split ties.

    Args:
        H: The forecasts, one per row: distributions, or a prediction that has intervals.
        y: The labels: one number per row.
        by: A number for each row, such as a feature; the predicted value by default.
        coverage: The probability of the centred interval, between 0 and 1.
        bins: The number of bins, each of about as many rows.
        n: The number of rows that calibrated H: the band then allows for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the bars of all bins.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 1000))
    >>> ax = coverage_by(Normal(f, 1.0), f + noise * (1 + (f > 1)))  # twice the noise in the highest sixth
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['chance allows', 'inside', 'off']
    """
    coverage, confidence, bins = unit("coverage", coverage), unit("confidence", confidence), bins_of(bins)
    H, y = paired(H, y)
    events = row_events_of(H, y, [coverage])
    m = int(y.shape[0])
    along = events.centre if by is None else numbers(floats("by", by, ndim=1))
    same_length("the forecast", m, "by", len(along))
    refuse("the predicted value", ~np.isfinite(along), "is not finite")
    column = slices_of("", along, m, parts=bins)
    results = {
        each.value: each.intervals[0]
        for each in slice_results([column], events.inside, None, confidence=confidence, n=n)
    }
    if not results:
        raise ValueError(
            f"coverage_by needs a bin of at least {SMALLEST} rows, got {count(m, 'row')} in"
            f" {count(len(column.labels), 'bin')}"
        )
    chosen = [k for k, label in enumerate(column.labels) if label in results]
    intervals = [results[column.labels[k]] for k in chosen]
    edges, middle = _edges(along, column)
    share, low, high = (
        100 * np.array(each) for each in zip(*((h.share, h.low, h.high) for h in intervals), strict=True)
    )
    off, at = np.array([each.off for each in intervals]), middle[chosen]
    left_out = m - int(column.counts[chosen].sum())
    with drawing(ax) as (ax, palette):
        ax.axhline(100 * coverage, color=palette.ink, linewidth=0.8 * palette.unit, linestyle=":", zorder=1)
        shade: Style = {
            "color": palette.shade,
            "alpha": 0.45,
            "edgecolor": palette.paper,
            "linewidth": palette.unit,
            "zorder": 2,
        }
        width = np.diff(edges)[chosen]
        bar = ax.bar(edges[chosen], high - low, width, low, align="edge", **shade, label="chance allows")
        dot: Style = {"marker": "o", "linestyle": "none", "markersize": 4 * palette.unit, "zorder": 3}
        (inside,) = ax.plot(at[~off], share[~off], color=palette.after, label="inside", **dot)
        (outside,) = ax.plot(
            at[off], share[off], color=palette.before, markerfacecolor=palette.paper, label="off", **dot
        )
        ticks = ties_split_ticks(ax, intervals, at, palette, along="y")
        ends = reach(along)
        left, right = max(edges[0], min(ends[0], at[0])), min(edges[-1], max(ends[1], at[-1]))
        room = 0.02 * (right - left)  # for a dot at the end
        ax.set_xlim(left - room, right + room)
        for patch in bar:
            patch.sticky_edges.y.clear()  # room above and below the bars
        ax.autoscale_view(scalex=False)
        name = "predicted value" if by is None else plain(getattr(by, "name", None) or "x")
        more = f" ({count(left_out, 'row')} in bins of fewer than {SMALLEST} left out)" if left_out else ""
        set_labels(ax, x=f"{name}{more}", y=f"inside {percent(coverage)} intervals, %")
        add_legend(ax, [bar, *ticks, *(dots for dots, some in ((inside, ~off), (outside, off)) if some.any())], palette)
    return ax


def _edges(along: Numbers, column: Slices) -> tuple[Numbers, Numbers]:
    """The edges of the bins, halfway between neighbours, and their medians."""
    parts = [np.sort(along[column.index == k]) for k in range(len(column.labels))]
    inner = [(a[-1] + b[0]) / 2 for a, b in pairwise(parts)]
    first, last = parts[0][0], parts[-1][-1]
    # a bin of one value at an end is as wide outwards as inwards
    left = first - (inner[0] - first if inner else 0.5) * (parts[0][-1] == first)
    right = last + (last - inner[-1] if inner else 0.5) * (parts[-1][0] == last)
    return np.array([left, *inner, right]), np.array([part[len(part) // 2] for part in parts])


def _inside(forecast: Any, y: Any, coverage: float, name: str) -> Numbers:
    """1 for each row whose label lies in its interval, else 0."""
    forecast, y = paired(forecast, y, f"the forecast {name!r}" if name else "the forecast")
    lower, upper = (numbers(bound) for bound in forecast.bounds(coverage))
    label = numbers(y)
    return ((lower <= label) & (label <= upper)).astype(np.float64)


def _label(column: str, text: str) -> str:
    return f"{plain(column, most=12)}: {plain(text, most=24)}" if column else plain(text, most=28)


def _dot(look: Look, size: float) -> Style:
    return {"color": look.colour, "marker": look.marker, "linestyle": "none", "markersize": size}


def _dots(
    ax: Axes, at: Any, bars: tuple[Numbers, Numbers, Numbers], target: float, look: Look, palette: Palette, size: float
) -> bool:
    """A dot and a bar at each place, hollow where the bar misses the target; whether one does."""
    share, low, high = bars
    missed = (low > target) | (high < target)
    ax.hlines(at, 100 * low, 100 * high, color=look.colour, linewidth=0.9 * palette.unit, zorder=2)
    ax.plot(100 * share[~missed], at[~missed], **_dot(look, size), zorder=3)
    ax.plot(100 * share[missed], at[missed], **_dot(look, size), markerfacecolor=palette.paper, zorder=3)
    return bool(missed.any())
