"""The one figure of a paper: four panels that show what a forecast is worth."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from calibrant._types import ArrayLike
from calibrant.forecast import Forecasts
from calibrant.judging.part import SMALLEST
from calibrant.plots.calibration import pit_histogram, reliability
from calibrant.plots.coverage import coverage_by
from calibrant.plots.distributions import typical_rows
from calibrant.plots.inputs import Given, Spans, named
from calibrant.plots.intervals import cut, intervals, limits_around
from calibrant.plots.sharpness import sharpness
from calibrant.plots.style import MILLIMETRE, drawing, name_rows, theme
from calibrant.predictions import Samples

_ROWS = 8


def summary(H: Forecasts, y: ArrayLike, *, coverage: float = 0.9, n: int | None = None) -> Figure:
    """Four panels, 160 mm wide: a few forecasts, whether they are calibrated, at every level of y, and how sharp.

    Eight rows with their labels, evenly spaced in the order of the predicted value; the PIT histogram with its band;
    the coverage along the predicted value; the intervals in the order of their width. H is a forecast or a mapping of
    names to forecasts: several are compared in each panel, and the last one is then their mean width against their
    coverage. Quantiles have a reliability diagram in place of PITs, and fewer than 20 rows in place of the coverage.

    Args:
        H: The forecasts, one per row: distributions, `Quantiles` or `Samples`; or a mapping of names to such forecasts.
        y: The labels: one number per row.
        coverage: The probability of the centred interval, between 0 and 1.
        n: The number of rows that calibrated H: the bands then allow for the error that they leave.

    >>> from calibrant import Normal
    >>> f, noise = np.random.default_rng(0).normal(size=(2, 500))
    >>> figure = summary({"narrow": Normal(f, 0.5), "right": Normal(f, 1.0)}, f + noise)
    >>> [ax.get_xlabel() for ax in figure.axes]
    ['y', 'PIT, H(y)', 'predicted value', 'in 90% intervals, %']
    """
    from matplotlib import pyplot

    given = named(H, y)
    several = len(given) > 1
    forecasts: Any = H if several else given[0].H
    pits = all(each.H.has_distribution or isinstance(each.H, Samples) for each in given)
    panels = [
        partial(_examples, given, coverage),
        partial(pit_histogram if pits else reliability, forecasts, y, n=n),
        partial(coverage_by, forecasts, y, coverage=coverage, n=n)
        if len(given[0].labels) >= SMALLEST
        else partial(reliability, forecasts, y, n=n),
        partial(sharpness, forecasts, y, coverage=coverage, n=n)
        if several
        else partial(intervals, forecasts, y, coverage=coverage),
    ]
    with theme():
        figure, axes = pyplot.subplots(2, 2, figsize=(160 * MILLIMETRE, 120 * MILLIMETRE))
        try:
            for letter, panel, ax in zip("abcd", panels, axes.flat, strict=True):
                ax.locator_params(nbins=6)
                panel(ax=ax).set_title(letter, loc="left", fontweight="bold")
        except BaseException:
            pyplot.close(figure)
            raise
    return figure


def _examples(given: Sequence[Given], coverage: float, *, ax: Axes) -> Axes:
    """A few rows one below the other: the interval of each forecast with its centre, and the label."""
    every = [Spans.of(each, coverage) for each in given]
    rows = typical_rows(every[-1].predicted, _ROWS)
    bounds = np.concatenate([end[rows] for each in every for end in (each.lower, each.upper)])
    limits = limits_around(bounds, every[0].y[rows], np.concatenate([each.predicted[rows] for each in every]))
    with drawing(ax) as (ax, palette):
        for k, (each, spans, look) in enumerate(zip(given, every, palette.looks(len(given)), strict=True)):
            at = np.arange(len(rows)) + 0.6 * ((k + 0.5) / len(given) - 0.5)
            ends, colour = cut((spans.lower[rows], spans.upper[rows]), limits), look["color"]
            ax.hlines(at, *ends, color=colour, linewidth=1.5 * palette.unit, label=each.name or spans.words)
            ax.plot(spans.centre[rows], at, "|", color=colour, markersize=5 * palette.unit)
        ax.plot(every[0].y[rows], np.arange(len(rows)), "o", color=palette.ink, label="label y")
        ax.set(xlim=limits, xlabel="y", ylim=(len(rows) - 0.4, -0.6))
        name_rows(ax, range(len(rows)), [f"row {row}" for row in rows])
    return ax
