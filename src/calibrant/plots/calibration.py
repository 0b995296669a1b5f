"""Is the forecast calibrated: its PITs against chance, and the coverage of its intervals by slice."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibrant._arrays import unit
from calibrant.forecast import Unsaid
from calibrant.metrics.bands import pit_band, reliability_band, share_interval
from calibrant.metrics.calibration import drawn_pit
from calibrant.metrics.forecasts import paired
from calibrant.metrics.slices import all_rows, columns_of, slices_of
from calibrant.plots.inputs import Numbers, named, numbers
from calibrant.plots.theme import SHADE, TINT, Look, Style, columns, drawing, percent, plain

_LEVELS = np.arange(1, 200) / 200


def pit_histogram(
    H: Any, y: Any, *, bins: int = 20, n: int | None = None, confidence: float = 0.95, ax: Axes | None = None
) -> Axes:
    """#{PIT_i in bin}, with the band that holds all bins at once if H is calibrated.

    A hump says that H is too wide, a bowl that it is too narrow, a slope that it is too low or too high. H is a
    forecast or a mapping of names to forecasts: one is drawn as bars, several as outlines. With `n`, the number of
    rows that calibrated H, the band allows for what so few rows cannot teach (`calibrant.metrics.pit_band`).

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ax = pit_histogram(Normal(np.zeros(500), 1.0), y, bins=10)
    >>> int(sum(bar.get_height() for bar in ax.containers[0]))
    500
    """
    forecasts = named(H)
    pits = [_pits(forecast, y, name) for name, forecast, _ in forecasts]
    m = len(pits[0])
    low, high = pit_band(m, bins, confidence, n=n)
    edges = np.linspace(0, 1, bins + 1)
    with drawing(ax) as ax:
        for (name, _, look), p in zip(forecasts, pits, strict=True):
            counts, _ = np.histogram(p, edges)
            if name:
                ax.stairs(
                    counts,
                    edges,
                    baseline=None,
                    color=look.colour,
                    linestyle=look.line,
                    linewidth=1.2,
                    label=name,
                    zorder=3,
                )
            else:
                style: Style = {"facecolor": TINT, "edgecolor": look.colour, "linewidth": 0.6}
                ax.bar(edges[:-1], counts, 1 / bins, align="edge", **style)
        band = f"{percent(confidence)} band if calibrated"
        ax.axhspan(low, high, facecolor=SHADE, alpha=0.45, edgecolor="none", label=band, zorder=2)
        ax.axhline(m / bins, color="black", linewidth=0.8, linestyle=":", zorder=4)
        ax.set(xlabel="PIT, H(y)", ylabel="rows", xlim=(0, 1))
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        names = [name for name, *_ in forecasts]
        ax.set_ylim(0, 1.25 * max(ax.get_ylim()[1] / 1.05, high))  # room for the legend
        ax.legend(loc="upper center", ncols=2 if len(forecasts) > 1 and columns(names) > 1 else 1)
    return ax


def reliability(H: Any, y: Any, *, n: int | None = None, confidence: float = 0.95, ax: Axes | None = None) -> Axes:
    """#{i: PIT_i <= c} / m against c, with the band that holds the whole line if H is calibrated.

    H is a forecast or a mapping of names to forecasts. Of a prediction that has levels but no law, as Quantiles and
    Samples do, it is the share of labels at or below the quantile, a dot for each level. Above the diagonal labels are
    lower than forecast, below it higher; a curve that is too flat in the middle comes from intervals that are too
    narrow. `n` as in `pit_histogram`.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> before, after = Normal(np.zeros(500), 0.5), Normal(np.zeros(500), 1.0)
    >>> ax = reliability({"before": before, "after": after}, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['before', 'after', '95% band if calibrated']
    """
    forecasts = named(H)
    curves = [_shares(forecast, y, name) for name, forecast, _ in forecasts]
    m = curves[0][2]
    low, high = reliability_band(m, _LEVELS, confidence, n=n)
    with drawing(ax, height=66) as ax:
        ends = [0, *_LEVELS, 1]
        label = f"{percent(confidence)} band if calibrated"
        band = ax.fill_between(ends, [0, *low, 1], [0, *high, 1], color=SHADE, alpha=0.45, linewidth=0, zorder=1)
        ax.plot([0, 1], [0, 1], color="black", linewidth=0.6, linestyle=":", zorder=1)
        for (name, _, look), (levels, shares, _) in zip(forecasts, curves, strict=True):
            few = len(levels) < len(_LEVELS)
            style: Style = {"marker": look.marker, "linewidth": 0.6, "markersize": 3} if few else {"linewidth": 1.2}
            ax.plot(levels, shares, color=look.colour, linestyle=look.line, label=name or "forecast", **style)
        band.set_label(label)
        ax.set(xlabel="level c", ylabel="share of rows with H(y) ≤ c", aspect="equal", xlim=(0, 1), ylim=(0, 1))
        handles, labels = ax.get_legend_handles_labels()
        last = sorted(range(len(labels)), key=lambda i: labels[i] == label)  # the band comes last
        ax.legend([handles[i] for i in last], [labels[i] for i in last], loc="upper left")
    return ax


def _pits(forecast: Any, y: Any, name: str) -> Numbers:
    """H_i(y_i), drawn uniformly over the jump where H_i has an atom at y_i: F(y) itself is not uniform there."""
    forecast, y = paired(forecast, y, f"the forecast {name!r}" if name else "the forecast")
    return drawn_pit(forecast.as_law(), y)


def _shares(forecast: Any, y: Any, name: str) -> tuple[Numbers, Numbers, int]:
    """Levels, the share of labels at or below the quantile of each, and the number of rows."""
    forecast, y = paired(forecast, y, f"the forecast {name!r}" if name else "the forecast")
    m = y.shape[0]
    if not forecast.has_law:
        with suppress(Unsaid):
            levels = forecast.quantile_levels()
            below = [np.mean(numbers(y) <= numbers(forecast.quantile(level))) for level in levels]
            return np.array(levels), np.array(below), m
    p = np.sort(_pits(forecast, y, name))
    grid = np.concatenate([[0.0], _LEVELS, [1.0]])
    return grid, np.asarray(np.searchsorted(p, grid, side="right") / m), m


def coverage_by_slice(
    H: Any, y: Any, by: Any, *, coverage: float = 0.9, confidence: float = 0.95, ax: Axes | None = None
) -> Axes:
    """#{i in slice: l_i <= y_i <= u_i} / #slice, a dot a slice, against the coverage that was asked for.

    `by` holds a value for each row, or is a mapping of names to such columns, or a frame. Text and few different
    numbers are a slice a value, many numbers are cut into quarters. The bars are exact binomial intervals (Clopper and
    Pearson), widened after Bonferroni so that all of them hold at once with `confidence`; a hollow dot is one whose bar
    misses the target. The number of rows stands beside the slice. H is a forecast or a mapping of names to forecasts.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=400)
    >>> ax = coverage_by_slice(Normal(np.zeros(400), 1.0), y, {"region": ["north", "south"] * 200})
    >>> [label.get_text() for label in ax.get_yticklabels()]
    ['all rows (400)', 'region: north (200)', 'region: south (200)']
    """
    coverage, confidence = unit("coverage", coverage), unit("confidence", confidence)
    forecasts = named(H)
    inside = [_inside(forecast, y, coverage, name) for name, forecast, _ in forecasts]
    m = len(inside[0])
    slices = [all_rows(m), *(slices_of(name, values, m) for name, values in columns_of(by, ""))]
    total = np.concatenate([column.counts for column in slices])
    places = np.arange(len(total))
    with drawing(ax, height=24 + 4.5 * len(total) * (1 + 0.3 * (len(forecasts) - 1))) as ax:
        ax.axvline(100 * coverage, color="black", linewidth=0.8, linestyle=":", zorder=1)
        ax.axhline(0.5, color=SHADE, linewidth=0.4)
        for k, ((name, _, look), covered) in enumerate(zip(forecasts, inside, strict=True)):
            hits = np.concatenate([np.bincount(c.index, covered, len(c.labels)) for c in slices])
            shift = 0.5 * ((k + 0.5) / len(forecasts) - 0.5)
            _dots(
                ax,
                places + shift,
                hits,
                total,
                coverage,
                1 - (1 - confidence) / (len(total) * len(forecasts)),
                look,
                name,
            )
        labels = [_label(column.name, text) for column in slices for text in column.labels]
        counted = [f"{label} ({count:,})" for label, count in zip(labels, total, strict=True)]
        ax.set_yticks(places, counted)
        ax.set_ylim(len(total) - 0.4, -0.6)
        ax.set_xlabel(f"inside {percent(coverage)} intervals, %")
        names = [name for name, *_ in forecasts]
        if any(names):
            ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=columns(names), borderaxespad=0)
    return ax


def _inside(forecast: Any, y: Any, coverage: float, name: str) -> Numbers:
    """1 for each row whose label lies in its interval, else 0."""
    forecast, y = paired(forecast, y, f"the forecast {name!r}" if name else "the forecast")
    lower, upper = (numbers(bound) for bound in forecast.bounds(coverage))
    label = numbers(y)
    return ((lower <= label) & (label <= upper)).astype(np.float64)


def _label(column: str, text: str) -> str:
    return f"{plain(column, most=12)}: {plain(text, most=24)}" if column else plain(text, most=28)


def _dots(
    ax: Axes, at: Any, hits: Numbers, total: Any, target: float, confidence: float, look: Look, name: str
) -> None:
    low, high = share_interval(hits, total, confidence)
    share = hits / total
    missed = (low > target) | (high < target)
    ax.hlines(at, 100 * low, 100 * high, color=look.colour, linewidth=0.9, zorder=2)
    style: Style = {"color": look.colour, "marker": look.marker, "linestyle": "none", "markersize": 4}
    for hollow, chosen in ((False, ~missed), (True, missed)):
        fill: Style = {"markerfacecolor": "white"} if hollow else {}
        ax.plot(100 * share[chosen], at[chosen], **style, **fill, zorder=3)
    if name:
        ax.plot([], [], **style, label=name)
