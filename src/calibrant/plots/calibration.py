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
from calibrant.metrics.calibration import drawn_pit, pit
from calibrant.metrics.forecasts import paired
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing, span_y
from calibrant.plots.inputs import Numbers, named, numbers
from calibrant.plots.legend import add_legend
from calibrant.plots.theme import Style, percent

_LEVELS = np.arange(1, 200) / 200


def pit_histogram(
    H: Forecasts,
    y: ArrayLike,
    *,
    bins: int = 20,
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
        bins: The number of bins, all of the same width.
        n: The number of rows that calibrated H: the band then allows for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the whole band.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ax = pit_histogram(Normal(np.zeros(500), 1.0), y, bins=10)
    >>> int(sum(bar.get_height() for bar in ax.containers[0]))
    500
    """
    forecasts = named(H, y)
    pits = [_pits(forecast, y, name) for name, forecast, _ in forecasts]
    m = len(pits[0])
    low, high = pit_band(m, bins, confidence, n=n)
    edges = np.linspace(0, 1, bins + 1)
    counted = [np.histogram(p, edges)[0] for p in pits]
    drawn: list[Any] = []
    with drawing(ax) as (ax, palette):
        for (name, _, plain), counts in zip(forecasts, counted, strict=True):
            look = palette.look(plain)
            if name:
                line: Style = {"color": look.colour, "linestyle": look.line, "linewidth": 1.2 * palette.unit}
                drawn.append(ax.stairs(counts, edges, baseline=None, **line, label=name, zorder=3))
            else:
                style: Style = {"facecolor": palette.tint, "edgecolor": look.colour, "linewidth": 0.6 * palette.unit}
                ax.bar(edges[:-1], counts, 1 / bins, align="edge", **style)
        shade: Style = {"facecolor": palette.shade, "alpha": 0.45, "edgecolor": "none", "zorder": 2}
        drawn.append(ax.axhspan(low, high, **shade, label=f"{percent(confidence)} band if calibrated"))
        ax.axhline(m / bins, color=palette.ink, linewidth=0.8 * palette.unit, linestyle=":", zorder=4)
        ax.set_xlim(0, 1)
        span_y(ax, 0, 1.05 * max(high, *map(np.max, counted)))
        ax.yaxis.set_major_locator(MaxNLocator(6, integer=True))
        set_labels(ax, x="PIT, H(y)", y="rows")
        add_legend(ax, drawn, palette)
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
    ['before', 'after', '95% band if calibrated']
    """
    forecasts = named(H, y)
    curves = [_shares(forecast, y, name) for name, forecast, _ in forecasts]
    m = curves[0][2]
    low, high = reliability_band(m, _LEVELS, confidence, n=n)
    ends = np.array([0, *_LEVELS, 1])

    def height(levels: Numbers, shares: Any) -> Numbers:
        return 100 * (np.asarray(shares) - levels) if difference else np.asarray(shares)

    drawn: list[Any] = []
    with drawing(ax, height=56 if difference else 70) as (ax, palette):
        edges = height(ends, [0, *low, 1]), height(ends, [0, *high, 1])
        shade: Style = {"color": palette.shade, "alpha": 0.45, "linewidth": 0, "zorder": 1}
        band = ax.fill_between(ends, *edges, **shade, label=f"{percent(confidence)} band if calibrated")
        ax.plot(
            [0, 1],
            height(ends[[0, -1]], [0, 1]),
            color=palette.ink,
            linewidth=0.6 * palette.unit,
            linestyle=":",
            zorder=1,
        )
        for (name, _, plain), (levels, shares, _) in zip(forecasts, curves, strict=True):
            look, few = palette.look(plain), len(levels) < len(_LEVELS)
            line: Style = (
                {"marker": look.marker, "linewidth": 0.6 * palette.unit} if few else {"linewidth": 1.2 * palette.unit}
            )
            line |= {"color": look.colour, "linestyle": look.line, "label": name or "forecast"}
            drawn += ax.plot(levels, height(levels, shares), **line)
        ax.set_xlim(0, 1)
        if difference:
            set_labels(ax, x="level c", y="observed − nominal share, points")
        else:
            ax.set(aspect="equal", ylim=(0, 1))
            set_labels(ax, x="level c", y="share with H(y) ≤ c")
        add_legend(ax, [*drawn, band], palette)
    return ax


def _pits(forecast: Any, y: Any, name: str) -> Numbers:
    """H_i(y_i), drawn uniformly over the jump where H_i has an atom at y_i: F(y) itself is not uniform there."""
    forecast, y = paired(forecast, y, f"the forecast {name!r}" if name else "the forecast")
    try:
        return drawn_pit(forecast.as_distribution(), y) if forecast.has_distribution else numbers(pit(forecast, y))
    except NotAvailable as error:
        raise NotAvailable(
            f"{error}: calibrate it, with Calibrator().fit on other rows, to have a distribution"
        ) from None


def _shares(forecast: Any, y: Any, name: str) -> tuple[Numbers, Numbers, int]:
    """Levels, the share of labels at or below the quantile of each, and the number of rows."""
    forecast, y = paired(forecast, y, f"the forecast {name!r}" if name else "the forecast")
    m = y.shape[0]
    if not forecast.has_distribution:
        with suppress(NotAvailable):
            levels = forecast.quantile_levels()
            below = [np.mean(numbers(y) <= numbers(forecast.quantile(level))) for level in levels]
            return np.array(levels), np.array(below), m
    p = np.sort(_pits(forecast, y, name))
    grid = np.concatenate([[0.0], _LEVELS, [1.0]])
    return grid, np.asarray(np.searchsorted(p, grid, side="right") / m), m
