"""A single distribution in numbers to draw: where it lies, its density, its CDF."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from calibrant.distributions.base import Distribution
from calibrant.plots.inputs import Numbers, numbers

_LEVELS = np.concatenate([[0.001], np.arange(1, 400) / 400, [0.999]])
_CELLS = 200


class Outline(NamedTuple):
    """Points to join; and, of a density, the atoms, which are not part of it."""

    x: Numbers
    height: Numbers
    atoms: Numbers
    """Points with a probability of their own, of 1/200 or more."""
    masses: Numbers
    smoothed: bool = False

    def at(self, y: float) -> float:
        """The height of the drawn line at y; 0 beyond its ends."""
        return float(np.interp(y, self.x, self.height, left=0.0, right=0.0))


def reach(values: Numbers) -> tuple[float, float]:
    """From the least to the largest value, but at most 4 interquartile ranges off the quartiles; never empty."""
    low, first, third, high = np.quantile(values, [0, 0.25, 0.75, 1])
    far = 4 * (third - first)
    if far > 0:
        low, high = max(low, first - far), min(high, third + far)
    if low == high:
        far = 0.05 * abs(low) or 1.0
        low, high = low - far, high + far
    return float(low), float(high)


def _quantiles(distribution: Distribution) -> tuple[Numbers, Numbers]:
    """The finite quantiles at even levels, and these levels."""
    q = numbers(distribution.quantiles(_LEVELS))
    finite = np.isfinite(q)
    if not finite.any():
        raise ValueError(f"{distribution!r} has no finite quantile to draw")
    return q[finite], _LEVELS[finite]


def cdf_of(distribution: Distribution, what: str = "") -> Outline:
    """Quantiles with their levels, not far into the tails: upright where the CDF jumps, to 1/400."""
    q, levels = _quantiles(distribution)
    low, high = reach(q)
    near, none = (q >= low) & (q <= high), np.zeros(0)
    return Outline(q[near], levels[near], none, none)


def density_of(distribution: Distribution, what: str) -> Outline:
    """(F(b) - F(a)) / (b - a) over 200 equal cells, at their middles; `what` is the name in the error.

    The density of a linear interpolation is a spike for every score. So one with more than 2 peaks is smoothed by a
    normal kernel of 2 cells, or of 4 or 8 as long as that makes it much smoother: all steps up and down then add up to
    less than 1/1.15 of what they did. A distribution of counts is drawn as bars, one for each count, or for equally
    many of them where there are more than 200.
    """
    q, _ = _quantiles(distribution)
    low, high = reach(q)
    if distribution.lattice is not None:
        return _bars(distribution, low, high)
    middle = np.quantile(q, np.linspace(0.05, 0.95, 91))
    if np.all(np.isneginf(numbers(distribution.logpdf(middle)))):
        raise ValueError(f"{what} has no density, only atoms: draw its cdf instead")
    at, counts = np.unique(q, return_counts=True)
    at = at[counts > 1]
    masses = numbers(distribution.cdf(at)) - numbers(distribution.cdf_left(at))
    at, masses = at[masses > 0.002], masses[masses > 0.002]
    edges = np.linspace(low, high, _CELLS + 1)
    mass = np.diff(numbers(distribution.cdf(edges)))
    cell = np.searchsorted(edges, at) - 1  # that in (a, b]; an atom on the first edge is in none
    np.subtract.at(mass, cell[cell >= 0], masses[cell >= 0])
    rough = density = np.maximum(mass, 0) / np.diff(edges)
    for width in (2, 4, 8) if _peaks(rough) > 2 else ():
        smoother = gaussian_filter1d(rough, width, mode="reflect")
        if _steps(density) < 1.15 * _steps(smoother):
            break
        density = smoother
    x = np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
    return Outline(x, np.pad(density, 1, mode="edge"), at, masses, density is not rough)


def _bars(distribution: Distribution, low: float, high: float) -> Outline:
    """The outline of bars around the points of a lattice, whose areas are probabilities."""
    origin, step = distribution.lattice or (0.0, 1.0)
    first, last = math.floor((low - origin) / step + 1e-9), math.ceil((high - origin) / step - 1e-9)
    each, none = math.ceil((last - first + 1) / _CELLS), np.zeros(0)
    edges = origin + step * (np.arange(first, last + each + 1, each) - 0.5)
    heights = np.diff(numbers(distribution.cdf(edges))) / np.diff(edges)
    return Outline(np.repeat(edges, 2), np.pad(np.repeat(heights, 2), 1), none, none)


def _steps(heights: Numbers) -> float:
    """All steps up and down, from 0 to 0."""
    return float(np.abs(np.diff(heights, prepend=0.0, append=0.0)).sum())


def _peaks(heights: Numbers) -> int:
    """How often it turns from up to down, by more than a thousandth of the highest."""
    steps = np.diff(heights, prepend=0.0, append=0.0)
    up = steps[np.abs(steps) > 1e-3 * heights.max()] > 0
    return int(np.sum(up[:-1] & ~up[1:]))
