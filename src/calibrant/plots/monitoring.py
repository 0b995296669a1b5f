"""The alarm as a picture."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from matplotlib.axes import Axes

from calibrant.monitoring import Monitor
from calibrant.plots.inputs import evenly
from calibrant.plots.theme import AFTER, BEFORE, SHADE, drawing

MOST = 5000
"""Points that are drawn."""


def monitor(found: Any, *, ax: Axes | None = None) -> Axes:
    """The capital after each row, on a logarithmic scale; the threshold, the alarm, and since when.

    `found` is a `calibrant.Monitor`. What lies above the square of the threshold is cut off.

    >>> import calibrant
    >>> rng = np.random.default_rng(0)
    >>> calibrated = calibrant.Calibrator().fit(np.zeros(200), rng.normal(size=200))
    >>> found = calibrant.monitor(calibrated, np.zeros(100), 2 + rng.normal(size=100), rng=rng)
    >>> monitor(found).get_yscale()
    'log'
    """
    if not isinstance(found, Monitor):
        raise TypeError(f"found must be a calibrant.Monitor, got {type(found).__name__}")
    if not len(found):
        raise ValueError("the monitor has seen no row yet")
    rows = evenly(len(found), MOST)
    rows = rows if found.alarm is None else np.union1d(rows, [found.alarm.since, found.alarm.row])
    capital = np.exp(np.minimum(found.log_capital[rows], math.log(1e300)))
    with drawing(ax) as ax:
        ax.axhline(found.threshold, color=SHADE, linewidth=0.8, linestyle="--", zorder=1, label="threshold")
        ax.plot(rows, capital, color=AFTER, zorder=2, label="capital")
        if found.alarm is not None:
            row, start = found.alarm.row, found.alarm.since
            ax.axvspan(start, row, color=BEFORE, alpha=0.15, linewidth=0, zorder=0, label=f"since row {start:,}")
            at = math.exp(min(float(found.log_capital[row]), math.log(1e300)))
            ax.plot([row], [at], color=BEFORE, marker="o", linestyle="none", label=f"alarm at row {row:,}", zorder=3)
        ax.set_yscale("log")
        top = max(found.threshold**2, 10 * found.threshold)
        if capital.max() > top:
            ax.set_ylim(capital.min() / 3, top)
        ax.set_xlabel("row")
        ax.set_ylabel("capital")
        ax.legend(loc="lower right", bbox_to_anchor=(1, 1), ncols=2, borderaxespad=0)
    return ax
