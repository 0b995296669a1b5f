"""Calibration by horizon: each has a distribution of its own, which borrows from those of neighbouring horizons.

The place and the spread of the scores are smoothed along the horizons. The scores of horizon h have the place m_h and
the spread s_h. Its neighbours predict them by a local line in log h,

    (a, b) = argmin sum over h' of n_h' exp(-(h' - h)^2 / (2 w^2)) (log s_h' - a - b log(h' / h))^2,    log s(h) = a,

and the same for m. So a spread that grows as a power of h, as that of a random walk does, is met exactly, however wide
the kernel. The shape is that of all scores, each standardised by the neighbours without the score's own fold. The
width w is the largest that makes the scores held out as likely as any other does, up to one standard error.
"""

from __future__ import annotations

from collections.abc import Hashable
from dataclasses import dataclass
from functools import partial
from typing import ClassVar

import numpy as np

from calibrant.distributions.piecewise_linear import Numbers
from calibrant.guarantee import Basis
from calibrant.interpolators.borrowing import FOLDS, Component, Counts, Parts, held_out, loc_scale, standardised
from calibrant.interpolators.by_group import ByGroup

WIDTHS = (1.0, 2.0, 4.0, 8.0, np.inf)
"""Of the kernel, in steps."""


@dataclass(frozen=True)
class ByHorizon(ByGroup):
    """`ByGroup` for groups that are steps ahead, 1, 2, 3, ...: a horizon also borrows from its neighbours.

    One more distribution joins the mixture of `ByGroup`, that of the neighbours. The lambda guard clips the mixture to
    the horizon's own scores as there, so the guarantee is the same, (1 + lambda_h) / (n_h + 1).

    To find the weights, a fifth of the rows of each horizon is held out, one after the other. Forecasts made at
    one time miss together: if the rows are sorted by that time, they are held out together.

    >>> from calibrant import Calibrator
    >>> rng = np.random.default_rng(0)
    >>> h = np.tile(np.arange(1, 13), 40)  # 40 forecasts, of 12 steps each
    >>> y = np.sqrt(h) * rng.normal(size=h.size)
    >>> calibrated = Calibrator(interpolator=ByHorizon()).fit(np.zeros(h.size), y, by=h)
    >>> calibrated(np.zeros(3), by=[1, 4, 9]).std().round(1)
    array([1.2, 2.5, 2.8])
    >>> calibrated.guarantee[9].epsilon.__round__(3)
    0.102
    """

    basis: ClassVar[Basis] = "horizon"

    def _neighbours(self, labels: tuple[Hashable, ...], parts: Parts, rows: Counts) -> tuple[Counts, Component | None]:
        """The folds, and the distribution of each horizon by its neighbours; None where no horizon has a spread."""
        wrong = next((label for label in labels if type(label) is not int or label < 1), None)
        if wrong is not None:
            raise ValueError(f"by must hold horizons, whole numbers of steps from 1 on, got {wrong!r}")
        horizons = np.asarray(labels, np.float64)
        folds = parts.places(rows) * FOLDS // parts.counts[parts.group]  # a fifth of the rows, one after the other
        lines = [partial(smoothed, horizons, width=width) for width in WIDTHS]
        found = [held_out(parts, folds, line) for line in lines]
        if np.isnan(found[0]).any():  # without some fold no horizon has a spread
            return folds, None
        # Laplace's distribution, up to a constant: its best spread is the mean distance, which is what was smoothed
        likely = [-np.log(spread) - np.abs(parts.scores - place) / spread for place, spread in found]
        best = max(likely, key=np.sum)
        near = [np.sum(best - each) <= np.std(best - each) * np.sqrt(len(best)) for each in likely]
        widest = int(np.flatnonzero(near)[-1])
        shape, likelihood = standardised(parts.scores, *found[widest], self.pooled.units)
        return folds, Component(shape, *lines[widest](*loc_scale(parts), parts.counts), likelihood)


def smoothed(
    horizons: Numbers, place: Numbers, spread: Numbers, counts: Counts, width: float
) -> tuple[Numbers, Numbers]:
    """m(h) and s(h) by local lines in log h; horizons without a spread of their own do not count."""
    lines = _local_lines(horizons, np.where(spread > 0, counts, 0), width)
    log_spread = np.log(np.where(spread > 0, spread, 1.0))
    return lines @ place, np.exp(lines @ log_spread)


def _local_lines(horizons: Numbers, counts: Counts, width: float) -> Numbers:
    """The weight of each horizon in the local line at each."""
    steps = horizons - horizons[:, None]
    nearest = np.min(np.where(counts > 0, np.abs(steps), np.inf), axis=1, keepdims=True)
    # relative to the nearest horizon that counts: far from all of them the kernel must not vanish
    kernel = counts * np.exp(np.minimum(nearest**2 - steps**2, 0.0) / (2 * width**2))
    x = np.log(horizons / horizons[:, None])
    s0, s1, s2 = ((kernel * x**k).sum(axis=1, keepdims=True) for k in range(3))
    spread = s0 * s2 - s1**2
    line = spread > 1e-6 * s0**2  # else all weight lies on one horizon, which gives a place and no slope
    with np.errstate(invalid="ignore"):  # no horizon counts
        return np.asarray(np.where(line, kernel * (s2 - s1 * x) / np.where(line, spread, 1.0), kernel / s0))
