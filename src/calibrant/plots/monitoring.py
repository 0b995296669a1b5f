"""The alarm as a picture."""

from __future__ import annotations

import math

import numpy as np
from matplotlib.axes import Axes

from calibrant.monitoring import Monitor
from calibrant.plots.inputs import evenly
from calibrant.plots.style import AFTER, BEFORE, Style, drawing

_MOST_ROWS = 5000


def monitor(found: Monitor, *, ax: Axes | None = None) -> Axes:
    """The evidence after each row, on a logarithmic scale; the threshold, the alarm, and since when.

    `found` is what `calibrant.monitor` returned. The evidence against "nothing has changed" is the capital of its bets.
    What lies above the square of the threshold is cut off, and a triangle at the top says so.

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
    rows = evenly(len(found), _MOST_ROWS)
    rows = rows if found.alarm is None else np.union1d(rows, [found.alarm.since, found.alarm.row])
    evidence = np.exp(np.minimum(found.log_capital[rows], math.log(1e250)))  # beyond, no axis can be scaled
    with drawing(ax) as (ax, palette):
        ax.plot(rows, evidence, color=palette.colour(AFTER), label="evidence")
        ax.axhline(found.threshold, **palette.target | {"linestyle": "--"}, label="threshold")
        if found.alarm is not None:
            row, since = found.alarm.row, found.alarm.since
            at = evidence[np.searchsorted(rows, row)]
            ax.axvspan(since, row, color=palette.tint(BEFORE, 0.2), zorder=0, label=f"since row {since:,}")
            dot: Style = {"color": palette.colour(BEFORE), "marker": "o", "linestyle": "none", "zorder": 3}
            ax.plot(row, at, **dot, label=f"alarm at row {row:,}")
        ax.set(yscale="log", xlabel="row", ylabel="evidence of a change")
        top = max(found.threshold**2, 10 * found.threshold)
        if evidence.max() > top:
            ax.set_ylim(evidence.min() / 3, top)
            cut: Style = {"color": palette.colour(AFTER), "marker": "^", "linestyle": "none", "clip_on": False}
            ax.plot(rows[np.argmax(evidence > top)], top, **cut, label="cut off from here on")
    return ax
