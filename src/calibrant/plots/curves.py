"""A single distribution in numbers to draw: where it lies, its atoms, its density, its CDF."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.ndimage import gaussian_filter1d

from calibrant._arrays import namespace
from calibrant.distributions.base import Distribution
from calibrant.plots.inputs import Numbers, numbers

_LEVELS = np.concatenate([[0.001], np.arange(1, 400) / 400, [0.999]])
_SMALLEST_ATOM = 1 / 400
_CELLS = 200
_MANY_PEAKS = 2


def quantiles(distribution: Distribution) -> Numbers:
    """The quantiles of a single distribution that are finite, at 399 even levels and at 0.001 and 0.999."""
    q = numbers(distribution.quantiles(_LEVELS))
    q = q[np.isfinite(q)]
    if not len(q):
        raise ValueError(f"{distribution!r} has no finite quantile to draw")
    return q


def reach(values: Numbers) -> tuple[float, float]:
    """From the least to the largest value, but at most 4 interquartile ranges off the quartiles; never empty.

    Of `quantiles`, the range in which to draw a distribution.
    """
    low, first, third, high = np.quantile(values, [0, 0.25, 0.75, 1])
    far = 4 * (third - first)
    if far > 0:
        low, high = max(low, first - far), min(high, third + far)
    if low == high:
        far = 0.05 * abs(low) or 1.0
        low, high = low - far, high + far
    return float(low), float(high)


class Atoms(NamedTuple):
    """Points with a probability of their own."""

    at: Numbers
    mass: Numbers


def atoms(distribution: Distribution, q: Numbers) -> Atoms:
    """The larger atoms: where two quantiles agree and the CDF jumps. None of 1/200 or more is missed.

    Where neighbours lie no more than roundings apart, it is the floats that repeat, not the distribution.
    """
    tiny = _rounding(distribution, q)
    at, counts = np.unique(q, return_counts=True)
    gaps = np.diff(at, prepend=-np.inf, append=np.inf)
    at = at[(counts > 1) & (np.minimum(gaps[1:], gaps[:-1]) > 16 * tiny)]
    mass = numbers(distribution.cdf(at + tiny)) - numbers(distribution.cdf(at - tiny))
    return Atoms(at[mass >= _SMALLEST_ATOM], mass[mass >= _SMALLEST_ATOM])


def _rounding(distribution: Distribution, q: Numbers) -> float:
    """How far a number may be off after it was shifted and scaled."""
    like = distribution.like
    precision = np.finfo(np.float64).eps if like is None else float(namespace(like).finfo(like.dtype).eps)
    return float(4 * precision * np.max(np.abs(q)))


class Density(NamedTuple):
    """A density to draw: points to join, and the atoms, which are not part of it."""

    x: Numbers
    height: Numbers
    atoms: Atoms
    smoothed: bool

    def at(self, y: float) -> float:
        """The height of the drawn line at y; 0 beyond its ends."""
        return float(np.interp(y, self.x, self.height, left=0.0, right=0.0))


def density_of(distribution: Distribution, what: str) -> Density:
    """(F(b) - F(a)) / (b - a) over 200 equal cells, at their middles; `what` is the name in the error.

    The density of a linear interpolation is a spike for every score. So one with more than 2 peaks is smoothed by a
    normal kernel of 2 cells, or of 4 or 8 as long as that makes it much smoother: all steps up and down then add up to
    less than 1/1.15 of what they did. A distribution of counts is drawn as bars,
    one for each count, or for equally many of them where there are more than 200.
    """
    q = quantiles(distribution)
    if distribution.lattice is not None:
        return _bars(distribution, *reach(q))
    middle = np.quantile(q, np.linspace(0.05, 0.95, 91))
    if np.all(np.isneginf(numbers(distribution.logpdf(middle)))):
        raise ValueError(f"{what} has no density, only atoms: draw its cdf instead")
    edges, tiny, points = np.linspace(*reach(q), _CELLS + 1), _rounding(distribution, q), atoms(distribution, q)
    # an atom may lie on an edge: just after the edge the CDF has surely jumped
    jumped = np.concatenate([[0.0], np.cumsum(points.mass)])[np.searchsorted(points.at, edges + tiny)]
    rough = np.maximum(np.diff(numbers(distribution.cdf(edges + 2 * tiny)) - jumped), 0) / np.diff(edges)
    density = rough
    for width in (2, 4, 8) if _peaks(rough) > _MANY_PEAKS else ():
        smoother = gaussian_filter1d(rough, width, mode="reflect")
        if _steps(density) < 1.15 * _steps(smoother):
            break
        density = smoother
    x = np.concatenate([edges[:1], (edges[1:] + edges[:-1]) / 2, edges[-1:]])
    return Density(x, np.concatenate([density[:1], density, density[-1:]]), points, density is not rough)


def _bars(distribution: Distribution, low: float, high: float) -> Density:
    """The outline of bars around the points of a lattice, whose areas are probabilities."""
    origin, step = distribution.lattice or (0.0, 1.0)
    first, last = math.floor((low - origin) / step + 1e-9), math.ceil((high - origin) / step - 1e-9)
    each = math.ceil((last - first + 1) / _CELLS)
    edges = origin + step * (np.arange(first, last + each + 1, each) - 0.5)
    heights = np.diff(numbers(distribution.cdf(edges))) / np.diff(edges)
    x, heights = np.repeat(edges, 2), np.repeat(heights, 2)
    return Density(x, np.concatenate([[0.0], heights, [0.0]]), Atoms(np.zeros(0), np.zeros(0)), smoothed=False)


def _steps(heights: Numbers) -> float:
    """All steps up and down, from 0 to 0."""
    return float(np.sum(np.abs(np.diff(heights, prepend=0.0, append=0.0))))


def _peaks(heights: Numbers) -> int:
    """How often it turns from up to down, by more than a thousandth of the highest."""
    steps = np.diff(heights, prepend=0.0, append=0.0)
    up = steps[np.abs(steps) > 1e-3 * heights.max()] > 0
    return int(np.sum(up[:-1] & ~up[1:]))


def cdf_curve(distribution: Distribution, q: Numbers, grid: Numbers) -> tuple[Numbers, Numbers]:
    """Points (x, F(x)) to join along a grid, upright at the atoms; q are the distribution's `quantiles`."""
    at, tiny = atoms(distribution, q).at, _rounding(distribution, q)
    at = at[(at >= grid[0]) & (at <= grid[-1])]
    x = np.concatenate([grid, at, at])
    F = numbers(distribution.cdf(np.concatenate([grid, at - tiny, at + tiny])))
    order = np.lexsort((F, x))
    return x[order], F[order]
