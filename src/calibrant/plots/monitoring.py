"""The alarm as a picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibrant.monitoring import Monitor
from calibrant.plots.axis_labels import set_labels
from calibrant.plots.canvas import drawing
from calibrant.plots.inputs import evenly
from calibrant.plots.legend import add_legend
from calibrant.plots.theme import Style

MOST = 5000
"""Points that are drawn."""


def monitor(found: Monitor, *, ax: Axes | None = None) -> Axes:
    """The capital after each row, on a logarithmic scale; the threshold, the alarm, and since when.

    `found` is a `calibrant.monitoring.Monitor`. What lies above the square of the threshold is cut off,
    and a triangle at the top says so.

    Args:
        found: What `calibrant.monitor` returned.
        ax: The matplotlib axes to draw on; those of a new figure by default.

    >>> import calibrant
    >>> rng = np.random.default_rng(0)
    >>> calibrated = calibrant.Calibrator().fit(np.zeros(200), rng.normal(size=200))
    >>> found = calibrant.monitor(calibrated, np.zeros(100), 2 + rng.normal(size=100), rng=rng)
    >>> monitor(found).get_yscale()
    'log'
    """
    if not isinstance(found, Monitor):
        raise TypeError(f"found must be a calibrant.monitoring.Monitor, got {type(found).__name__}")
    if not len(found):
        raise ValueError("the monitor has seen no row yet")
    rows = evenly(len(found), MOST)
    rows = rows if found.alarm is None else np.union1d(rows, [found.alarm.since, found.alarm.row])
    capital = np.exp(np.minimum(found.log_capital[rows], math.log(1e300)))
    with drawing(ax) as (ax, palette):
        line = ax.axhline(found.threshold, color=palette.shade, linestyle="--", zorder=1, label="threshold")
        drawn: list[Any] = [*ax.plot(rows, capital, color=palette.after, zorder=2, label="capital"), line]
        if found.alarm is not None:
            row, start = found.alarm.row, found.alarm.since
            at = math.exp(min(float(found.log_capital[row]), math.log(1e300)))
            dot: Style = {"color": palette.before, "marker": "o", "linestyle": "none", "zorder": 3}
            drawn += ax.plot([row], [at], **dot, label=f"alarm at row {row:,}")
            span: Style = {"color": palette.tinted(palette.before, 0.15), "linewidth": 0, "zorder": 0}
            drawn.append(ax.axvspan(start, row, **span, label=f"since row {start:,}"))
        ax.set_yscale("log")
        top = max(found.threshold**2, 10 * found.threshold)
        if capital.max() > top:
            ax.set_ylim(capital.min() / 3, top)
            first = rows[int(np.argmax(capital > top))]
            mark: Style = {
                "color": palette.after,
                "marker": "^",
                "s": (4 * palette.unit) ** 2,
                "clip_on": False,
                "zorder": 4,
            }
            drawn.append(ax.scatter([first], [top], **mark, label="cut off from here on"))
        set_labels(ax, x="row", y="capital")
        add_legend(ax, drawn, palette)
    return ax
