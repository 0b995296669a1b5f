"""A density that is rough, smoothed for drawing."""

from __future__ import annotations

import numpy as np

from calibrant.reports.scored_forecast import Floats

WINDOW = 0.5
"""Cells are averaged over so many standard deviations (of a normal with the same quartiles), twice: a normal
density loses 2% of its height by it."""
PEAKS = 3
"""A density with more peaks than this is rough."""


def smoothed(density: Floats, window: int) -> Floats | None:
    """The density over equal cells, averaged over as many of them, twice; None where it is smooth as it is.

    What it integrates to stays, and what is zero beyond its ends stays zero.

    >>> comb = np.tile([0.0, 2.0], 50)
    >>> float(np.ptp(smoothed(comb, 9)[10:-10])) < 0.1, smoothed(np.exp(-(np.linspace(-3, 3, 100) ** 2)), 9)
    (True, None)
    """
    some = np.flatnonzero(density > 0)
    if window < 2 or not some.size or not np.isfinite(density).all() or _peaks(density) <= PEAKS:
        return None
    inside = slice(some[0], some[-1] + 1)
    kernel = np.convolve(np.ones(window), np.ones(window))
    part = density[inside]
    middle = slice((len(kernel) - 1) // 2, (len(kernel) - 1) // 2 + len(part))
    part, room = (np.convolve(each, kernel)[middle] for each in (part, np.ones_like(part)))
    found = np.zeros_like(density)
    found[inside] = part / room
    found *= density.sum() / found.sum()
    return found


def window_of(quartiles: tuple[float, float], cell: float) -> int:
    """How many cells are averaged, a tenth of all at most."""
    low, high = quartiles
    wide = WINDOW * (high - low) / 1.349 / cell if cell > 0 else 0.0
    return min(10, round(wide)) if np.isfinite(wide) else 0


def _peaks(density: Floats) -> int:
    """How many cells are higher than their neighbours by what the eye sees, a fiftieth of the whole height."""
    seen = np.round(50 * density / density.max())
    steps = np.sign(np.diff(seen[np.flatnonzero(np.diff(seen, prepend=-1.0))]))
    return int(np.sum((steps[:-1] > 0) & (steps[1:] < 0)))
