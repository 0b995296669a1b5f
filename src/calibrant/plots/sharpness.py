"""How wide forecasts are: against their coverage, and against their errors."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibrant._arguments import unit
from calibrant._arrays import refuse
from calibrant._types import ArrayLike
from calibrant.forecast import Forecasts, PredictionLike
from calibrant.metrics.slices import all_rows, slices_of
from calibrant.plots.coverage import shares_of
from calibrant.plots.inputs import Given, Numbers, Spans, inside_in_words, named, numbers, whole
from calibrant.plots.style import drawing, span_y


def sharpness(
    forecasts: Mapping[str, PredictionLike],
    y: ArrayLike,
    *,
    coverage: float = 0.9,
    n: int | None = None,
    confidence: float = 0.95,
    ax: Axes | None = None,
) -> Axes:
    """Mean width of the intervals against the share of labels inside: of {name: forecast}, a point each.

    On the dotted line the intervals hold what they promise; of the forecasts there, the lowest is the sharpest. Left of
    the line too few labels are inside, right of it too many. The grey band is what chance allows, given `n` calibration
    rows; a point outside it is hollow. Where labels lie on atoms, as counts do, those at an end of their interval are
    split: the share is that of drawn PITs. The bars are one standard error of the width each way. A forecast of
    infinite mean width has no point; the legend says so.

    Args:
        forecasts: A mapping of names to forecasts.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.
        n: The number of rows that calibrated them: the band then allows for the error that they leave.
        confidence: The probability that a calibrated forecast lies inside the band.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> y = np.random.default_rng(0).normal(size=500)
    >>> ax = sharpness({"narrow": Normal(np.zeros(500), 0.5), "right": Normal(np.zeros(500), 1.0)}, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['chance allows', 'narrow (off)', 'right']
    """
    coverage, confidence = unit("coverage", coverage), unit("confidence", confidence)
    if not isinstance(forecasts, Mapping):
        raise TypeError(f"forecasts must be a mapping of names to forecasts, got {type(forecasts).__name__}")
    given = named(forecasts, y)
    m = len(given[0].labels)
    found = [Spans.of(each, coverage) for each in given]
    shares = [shares_of([all_rows(m)], spans, coverage, confidence, n, least=1)[0] for spans in found]
    with drawing(ax) as (ax, palette):
        ax.axvline(100 * coverage, **palette.target)
        ax.axvspan(100 * shares[0].low, 100 * shares[0].high, **palette.band, label="chance allows")
        top = 0.0
        for each, spans, share, look in zip(given, found, shares, palette.looks(max(2, len(given))), strict=False):
            look |= {"linestyle": "none", "markersize": 5 * palette.unit}
            if not np.isfinite(spans.width).all():
                ax.plot([], [], **look, label=f"{each.name}: infinite width")
                continue
            width, error = spans.width.mean(), spans.width.std() / np.sqrt(m)
            top = max(top, width + error)
            look |= (
                {"label": f"{each.name} (off)", "markerfacecolor": palette.paper} if share.off else {"label": each.name}
            )
            ax.errorbar(100 * share.tested, width, error, **look, elinewidth=0.8 * palette.unit)
        span_y(ax, 0, 1.1 * top or 1.0)
        ax.set(xlabel=inside_in_words(coverage, found), ylabel="mean width")
    return ax


def spread_skill(H: Forecasts, y: ArrayLike, *, bins: int | None = None, ax: Axes | None = None) -> Axes:
    """sqrt(mean (y - E[Y])^2) against sqrt(mean Var[Y]), in bins of rows with about equal spread.

    A forecast whose spread is right lies on the dotted line; above it errors are larger than forecast. A flat row of
    dots says that the spread does not predict where the errors are large. Bins are of about equal size, and up to 12
    different spreads are a bin each; the bars are one standard error each way. H is a distribution, Samples, or a
    mapping of names to these.

    Args:
        H: The forecasts, one distribution per row; or a mapping of names to such forecasts.
        y: The labels: one number per row.
        bins: The number of bins, each of about as many rows; by default one for each 20 rows, at most 10.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> sigma = np.linspace(1, 3, 1000)
    >>> y = sigma * np.random.default_rng(0).normal(size=1000)
    >>> ax = spread_skill({"half": Normal(np.zeros(1000), sigma / 2), "right": Normal(np.zeros(1000), sigma)}, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['half', 'right']
    """
    given = named(H, y)
    bins = max(1, min(10, len(given[0].labels) // 20)) if bins is None else whole("bins", bins, least=2)
    found = [_bins(each, bins) for each in given]
    with drawing(ax, height=70) as (ax, palette):
        for each, (spread, error, bar), look in zip(given, found, palette.looks(len(given)), strict=True):
            style: dict[str, Any] = {"linewidth": 0.6 * palette.unit, "elinewidth": 0.8 * palette.unit}
            ax.errorbar(spread, error, bar, **look, **style, markersize=4 * palette.unit, label=each.name)
        top = 1.08 * max(float(np.max([spread, error + bar])) for spread, error, bar in found)
        ax.plot([0, top], [0, top], **palette.target)
        ax.set(aspect="equal", xlim=(0, top), ylim=(0, top), xlabel="predicted spread (std)", ylabel="error (RMS)")
    return ax


def _bins(given: Given, bins: int) -> tuple[Numbers, Numbers, Numbers]:
    """Of each bin the spread, the error, and the standard error of that."""
    y = given.labels
    std, mean = (np.broadcast_to(numbers(each), y.shape) for each in (given.H.std_rows(), given.H.centre_rows()))
    refuse("the standard deviation of the forecast", ~np.isfinite(std), "is not finite")
    index = slices_of("spread", std, len(y), parts=bins).index
    count = np.bincount(index)
    square = (y - mean) ** 2
    mse = np.bincount(index, square) / count
    error = np.sqrt(mse)
    # of the root, from that of the mean square: d sqrt(v) = dv / (2 sqrt(v))
    wide = np.sqrt(np.bincount(index, (square - mse[index]) ** 2)) / count
    bar = np.divide(wide, 2 * error, out=np.zeros_like(error), where=error > 0)
    return np.sqrt(np.bincount(index, std**2) / count), error, bar
