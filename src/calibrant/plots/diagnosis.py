"""The result of `diagnose` as a picture."""

from __future__ import annotations

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibrant.diagnosis.result import Diagnosis
from calibrant.metrics.by_slice import SliceResult
from calibrant.plots.axis_labels import row_height, set_labels
from calibrant.plots.canvas import drawing
from calibrant.plots.legend import add_legend
from calibrant.plots.marks import ties_split_ticks
from calibrant.plots.theme import Style, percent, plain


def diagnosis(found: Diagnosis, *, coverage: float | None = None, most: int = 30, ax: Axes | None = None) -> Axes:
    """The share of labels inside the intervals of each slice, on a bar of what chance allows in all slices at once.

    `found` is what `calibrant.diagnose` returned. A filled dot is inside its bar; a hollow vermilion one is off. Where
    labels lie on atoms, as counts do, the bars are for the grey ticks, which split ties. The
    coverage is the first that was asked for, if not given. Of more than `most` slices those farthest out are drawn, all
    rows first. The number of rows is next to the name of the slice.

    Args:
        found: What `calibrant.diagnose` returned.
        coverage: One of the coverages that were diagnosed; the first by default.
        most: How many slices to draw at most.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> import calibrant
    >>> rng = np.random.default_rng(0)
    >>> found = calibrant.diagnose(calibrant.Normal(np.zeros(400), 1.0), rng.normal(size=400), rng.integers(0, 2, 400))
    >>> [label.get_text() for label in diagnosis(found).get_yticklabels()]
    ['all rows (400)', 'x0 = 0 (193)', 'x0 = 1 (207)']
    """
    if not isinstance(found, Diagnosis):
        raise TypeError(f"found must be what calibrant.diagnose returns, got {type(found).__name__}")
    if not isinstance(most, (int, np.integer)) or most < 1:
        raise ValueError(f"most must be a count of slices, at least 1, got {most!r}")
    asked = [interval.coverage for interval in found.slices[0].intervals]
    if coverage is not None and coverage not in asked:
        raise ValueError(f"coverage must be one of those diagnosed, {', '.join(map(str, asked))}, got {coverage!r}")
    k = 0 if coverage is None else asked.index(coverage)
    shown = _chosen(found.slices, k, most)
    intervals = [each.intervals[k] for each in shown]
    places = np.arange(len(shown))
    share = 100 * np.array([each.share for each in intervals])
    off = np.array([each.off for each in intervals])
    with drawing(ax, height=24 + 4.5 * len(shown)) as (ax, palette):
        ax.axvline(100 * asked[k], color=palette.ink, linewidth=0.8 * palette.unit, linestyle=":", zorder=1)
        left, width = (100 * np.array(ends) for ends in zip(*((h.low, h.high - h.low) for h in intervals), strict=True))
        shade: Style = {"color": palette.shade, "alpha": 0.45, "linewidth": 0, "label": "chance allows"}
        bar = ax.barh(places, width, left=left, height=0.62, **shade, zorder=2)
        size = min(4 * palette.unit, 0.7 * row_height(ax, len(shown)))
        look: Style = {"marker": "o", "linestyle": "none", "markersize": size, "zorder": 3}
        (inside,) = ax.plot(share[~off], places[~off], color=palette.after, label="inside", **look)
        (outside,) = ax.plot(
            share[off], places[off], color=palette.before, markerfacecolor=palette.paper, label="off", **look
        )
        ticks = ties_split_ticks(ax, intervals, places, palette, along="x")
        ax.set_ylim(len(shown) - 0.4, -0.6)
        for patch in bar:
            patch.sticky_edges.x.clear()  # room beside the bars, also where axes share x
        ax.autoscale_view()
        ax.xaxis.set_major_locator(MaxNLocator(4, steps=[1, 2, 5, 10]))  # names take much of 80 mm
        rows = [f"{plain(each.name, most=40)} ({each.m:,})" for each in shown]
        set_labels(ax, x=f"inside {percent(asked[k])} intervals, %", rows=rows, at=places.tolist())
        add_legend(ax, [bar, *ticks, *(dots for dots, some in ((inside, ~off), (outside, off)) if some.any())], palette)
    return ax


def _chosen(slices: tuple[SliceResult, ...], k: int, most: int) -> list[SliceResult]:
    """All rows and the slices farthest out, measured in the width of their bars, in the order they came in."""
    if len(slices) <= most:
        return list(slices)
    out = [
        abs(each.intervals[k].tested - each.intervals[k].coverage) / (each.intervals[k].high - each.intervals[k].low)
        for each in slices
    ]
    chosen = {0, *(np.argsort(-np.array(out[1:]), kind="stable")[: most - 1] + 1).tolist()}
    return [each for place, each in enumerate(slices) if place in chosen]
