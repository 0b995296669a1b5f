"""Spread against errors: whether the forecast is less certain where its errors are larger."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from matplotlib.axes import Axes

from calibrant._arrays import refuse
from calibrant._types import ArrayLike
from calibrant.forecast import Forecasts
from calibrant.metrics.forecasts import paired
from calibrant.metrics.slices import slices_of
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing
from calibrant.plots.inputs import Numbers, bins_of, named, numbers
from calibrant.plots.legend import add_legend
from calibrant.plots.theme import Style


def spread_skill(H: Forecasts, y: ArrayLike, *, bins: int = 10, ax: Axes | None = None) -> Axes:
    """sqrt(mean (y - E[Y])^2) against sqrt(mean Var[Y]), in bins of rows with about equal spread.

    A forecast whose spread is right lies on the dotted line; above it errors are larger than forecast. A flat row of
    dots says that the spread does not predict where the errors are large. Bins are of about equal size, and up to 12
    different spreads are a bin each; the bars are one standard error each way. H is a distribution, Samples, or a
    mapping of names to these.

    Args:
        H: The forecasts, one distribution per row; or a mapping of names to such forecasts.
        y: The labels: one number per row.
        bins: The number of bins, each of about as many rows.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> from calibrant import Normal
    >>> sigma = np.linspace(1, 3, 1000)
    >>> y = sigma * np.random.default_rng(0).normal(size=1000)
    >>> ax = spread_skill({"half": Normal(np.zeros(1000), sigma / 2), "right": Normal(np.zeros(1000), sigma)}, y)
    >>> [text.get_text() for text in ax.get_legend().get_texts()]
    ['half', 'right']
    """
    bins = bins_of(bins)
    forecasts = named(H, y)
    found = [_bins(each, y, bins, name) for name, each, _ in forecasts]
    drawn: list[Any] = []
    with drawing(ax, height=70) as (ax, palette):
        for (name, _, plain), at in zip(forecasts, found, strict=True):
            look = palette.look(plain)
            style: Style = {"color": look.colour, "marker": look.marker, "linestyle": look.line}
            style |= {"linewidth": 0.6 * palette.unit, "elinewidth": 0.8 * palette.unit, "markersize": 4 * palette.unit}
            drawn.append(ax.errorbar(at.spread, at.error, at.bar, **style, label=name or "forecast"))
        top = 1.08 * max(float(np.max([at.spread, at.error + at.bar])) for at in found)
        ax.plot([0, top], [0, top], color=palette.ink, linewidth=0.8 * palette.unit, linestyle=":", zorder=1)
        ax.set(aspect="equal", xlim=(0, top), ylim=(0, top))
        set_labels(ax, x="predicted spread: standard deviation", y="error: root mean square")
        if len(drawn) > 1:
            add_legend(ax, drawn, palette)
    return ax


class _Bins(NamedTuple):
    spread: Numbers
    error: Numbers
    bar: Numbers


def _bins(forecast: Any, y: Any, bins: int, name: str) -> _Bins:
    what = f"the forecast {name!r}" if name else "the forecast"
    forecast, y = paired(forecast, y, what)
    y = numbers(y)
    std, mean = (np.broadcast_to(numbers(each), y.shape) for each in (forecast.std_rows(), forecast.centre_rows()))
    refuse(f"the standard deviation of {what}", ~np.isfinite(std), "is not finite")
    index = slices_of("spread", std, len(y), parts=bins).index
    count = np.bincount(index)
    square = (y - mean) ** 2
    mse = np.bincount(index, square) / count
    error = np.sqrt(mse)
    # of the root, from that of the mean square: d sqrt(v) = dv / (2 sqrt(v))
    wide = np.sqrt(np.bincount(index, (square - mse[index]) ** 2)) / count
    bar = np.divide(wide, 2 * error, out=np.zeros_like(error), where=error > 0)
    return _Bins(np.sqrt(np.bincount(index, std**2) / count), error, bar)
