"""Is the forecast calibrated: its PITs against chance."""

from __future__ import annotations

from contextlib import suppress
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.ticker import MaxNLocator

from calibrant._types import ArrayLike
from calibrant.forecast import Forecasts, NotAvailable
from calibrant.metrics.bands import pit_band, reliability_band
from calibrant.metrics.calibration import drawn_pits, pit
from calibrant.plots.inputs import Given, Numbers, named, numbers, whole
from calibrant.plots.style import Style, drawing, percent, span_y

_LEVELS = np.arange(1, 200) / 200


def pit_histogram(
    H: Forecasts,
    y: ArrayLike,
    *,
    bins: int | None = None,
    n: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """#{PIT_i in bin}, with the band that holds all bins at once if H is calibrated.

    A hump says that H is too wide, a bowl that it is too narrow, a slope that it is too low or too high. H is a
    forecast or a mapping of names to forecasts: one is drawn as bars, several as outlines. Of Samples it is the rank
    histogram. With `n`, the number of rows that calibrated H, the band also allows for the error of so few rows
    (`calibrant.metrics.pit_band`).

    Args:
        H: The forecasts, one distribution per row; or a mapping of names to such forecasts.
        y: The labels: one number per row.
        bins: The number of bins, all of the same width; by default 2 m^(1/3) of m rows, at most 20.
        n: The number of rows that calibrated H: the band then allows for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the whole band.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ax = pit_histogram(Normal(np.zeros(500), 1.0), y, bins=10)
    >>> int(sum(bar.get_height() for bar in ax.containers[0]))
    500
    """
    given = named(H, y)
    m = len(given[0].labels)
    bins = max(2, min(20, round(2 * m ** (1 / 3)))) if bins is None else whole("bins", bins, least=2)
    low, high = pit_band(m, bins, confidence, n=n)
    edges = np.linspace(0, 1, bins + 1)
    counted = [np.histogram(_pits(each), edges)[0] for each in given]
    with drawing(ax) as (ax, palette):
        for each, counts, look in zip(given, counted, palette.looks(len(given)), strict=True):
            if each.name:
                line: Style = {"color": look["color"], "linestyle": look["linestyle"]}
                ax.stairs(counts, edges, baseline=None, **line, label=each.name)
            else:
                fill: Style = {"color": palette.tint(look["color"], 0.35), "edgecolor": look["color"]}
                ax.bar(edges[:-1], counts, 1 / bins, align="edge", **fill, linewidth=0.6 * palette.unit)
        ax.axhspan(low, high, **palette.band, label=f"{percent(confidence)} band if calibrated")
        ax.axhline(m / bins, **palette.target)
        ax.set(xlim=(0, 1), xlabel="PIT, H(y)", ylabel="rows")
        span_y(ax, 0, 1.05 * max(high, *map(np.max, counted)))
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
    return ax


def reliability(
    H: Forecasts,
    y: ArrayLike,
    *,
    difference: bool = False,
    n: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """#{i: PIT_i <= c} / m against c, with the band that holds the whole line if H is calibrated.

    H is a forecast or a mapping of names to forecasts. Of a prediction that has levels but no distribution, as
    Quantiles and Samples do, it is the share of labels at or below the quantile, a dot for each level. Above the
    diagonal labels are lower than forecast, below it higher; a curve that is too flat in the middle comes from
    intervals that are too narrow. With `difference` it is that share less c, in percentage points: small errors are
    seen better. `n` as in `pit_histogram`.

    Args:
        H: The forecasts, one per row: distributions, `Quantiles` or `Samples`; or a mapping of names to such forecasts.
        y: The labels: one number per row.
        difference: Draw the share less the level, in percentage points.
        n: The number of rows that calibrated H: the band then allows for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the whole band.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> before, after = Normal(np.zeros(500), 0.5), Normal(np.zeros(500), 1.0)
    >>> ax = reliability({"before": before, "after": after}, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['95% band if calibrated', 'before', 'after']
    """
    given = named(H, y)
    curves = [_shares(each) for each in given]
    low, high = reliability_band(len(given[0].labels), _LEVELS, confidence, n=n)
    ends = np.array([0, *_LEVELS, 1])

    def height(levels: Numbers, shares: Any) -> Numbers:
        return 100 * (np.asarray(shares) - levels) if difference else np.asarray(shares)

    with drawing(ax, height=56 if difference else 70) as (ax, palette):
        band = height(ends, [0, *low, 1]), height(ends, [0, *high, 1])
        ax.fill_between(ends, *band, **palette.band, label=f"{percent(confidence)} band if calibrated")
        ax.plot([0, 1], height(ends[[0, -1]], [0, 1]), **palette.target)
        for each, (levels, shares), look in zip(given, curves, palette.looks(len(given)), strict=True):
            few = len(levels) < len(_LEVELS)
            line = look | {"linewidth": 0.6 * palette.unit} if few else look | {"marker": ""}
            ax.plot(levels, height(levels, shares), **line, label=each.name or "forecast")
        ax.set(xlim=(0, 1), xlabel="level c")
        if difference:
            ax.set_ylabel("share − c, points")
        else:
            ax.set(aspect="equal", ylim=(0, 1), ylabel="share with H(y) ≤ c")
    return ax


def _pits(given: Given) -> Numbers:
    """H_i(y_i), drawn uniformly over the jump where H_i has an atom at y_i: F(y) itself is not uniform there."""
    H, y = given.H, given.y
    try:
        return drawn_pits(H.as_distribution(), y).values if H.has_distribution else numbers(pit(H, y))
    except NotAvailable as error:
        raise NotAvailable(
            f"{error}: calibrate it, with Calibrator().fit on other rows, to have a distribution"
        ) from None


def _shares(given: Given) -> tuple[Numbers, Numbers]:
    """Levels, and the share of labels at or below the quantile of each."""
    if not given.H.has_distribution:
        with suppress(NotAvailable):
            levels = given.H.quantile_levels()
            below = [np.mean(given.labels <= numbers(given.H.quantile(level))) for level in levels]
            return np.array(levels), np.array(below)
    p, grid = np.sort(_pits(given)), np.array([0.0, *_LEVELS, 1.0])
    return grid, np.asarray(np.searchsorted(p, grid, side="right") / len(p))
