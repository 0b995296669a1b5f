"""How neighbouring horizons lend: the place and the spread of the scores are smoothed along the horizons.

The scores of horizon h have the place m_h and the spread s_h. What its neighbours say of them is a local line in log h,

    (a, b) = argmin sum over h' of n_h' exp(-(h' - h)^2 / (2 w^2)) (log s_h' - a - b log(h' / h))^2,    log s(h) = a,

and the same for m. So a spread that grows as a power of h, as that of a random walk does, is met exactly, however wide
the kernel. The shape of the law is that of all scores, each in units of what its neighbours say without the score's own
fold. The width w is the largest that makes the scores held out as likely as any other does, up to one standard error.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from calibrant.distributions.piecewise_linear import Numbers
from calibrant.interpolators.borrowing import FOLDS, Counts, Lent, Parts, loc_scale, smooth

Told = list[tuple[NDArray[np.bool_], tuple[Numbers, Numbers], Counts]]
"""Of each fold: which scores it holds out, and the place, the spread and the count of the others of each horizon."""

WIDTHS = (1.0, 2.0, 4.0, 8.0, np.inf)
"""Of the kernel, in steps."""


def lent(parts: Parts, horizons: Numbers, folds: Counts, units: int) -> Lent | None:
    """What the neighbours of each horizon say of its law; None where no horizon has a spread."""
    kept = [(folds == fold, parts.only(folds != fold)) for fold in range(FOLDS)]
    told = [(held, loc_scale(some), some.counts) for held, some in kept]
    own, counts = loc_scale(parts), parts.counts
    if not all((spread > 0).any() for spread in (own[1], *(spread for _, (_, spread), _ in told))):
        return None
    width, place, spread = _widest([(width, *_held_out(width, parts, horizons, told)) for width in WIDTHS], parts)
    z = (parts.scores - place) / spread
    shape = smooth(np.sort(z), units)
    return Lent(shape, *smoothed(horizons, *own, counts, width), np.exp(shape.logpdf(z)) / spread)


def _held_out(width: float, parts: Parts, horizons: Numbers, told: Told) -> tuple[Numbers, Numbers]:
    """What the neighbours of each score's horizon say of it, without the fold that the score is in."""
    place, spread, group = np.zeros(len(parts.scores)), np.ones(len(parts.scores)), parts.group
    for held, (m, s), counts in told:
        m, s = smoothed(horizons, m, s, counts, width)
        place[held], spread[held] = m[group[held]], s[group[held]]
    return place, spread


def _widest(found: list[tuple[float, Numbers, Numbers]], parts: Parts) -> tuple[float, Numbers, Numbers]:
    """The widest kernel within one standard error of the most likely one."""
    # Laplace's law, up to a constant: its best spread is the mean distance, which is what was smoothed
    said = [-np.log(spread) - np.abs(parts.scores - place) / spread for _, place, spread in found]
    best = max(said, key=np.sum)
    near = [bool(np.sum(best - each) <= np.std(best - each) * np.sqrt(len(best))) for each in said]
    return found[max(place for place, good in enumerate(near) if good)]


def smoothed(
    horizons: Numbers, place: Numbers, spread: Numbers, counts: Counts, width: float
) -> tuple[Numbers, Numbers]:
    """m(h) and s(h) by local lines in log h; horizons without a spread of their own say nothing."""
    lines = _local_lines(horizons, np.where(spread > 0, counts, 0), width)
    log_spread = np.log(np.where(spread > 0, spread, 1.0))
    return lines @ place, np.exp(lines @ log_spread)


def _local_lines(horizons: Numbers, counts: Counts, width: float) -> Numbers:
    """The weight of each horizon in the local line at each."""
    steps = horizons - horizons[:, None]
    nearest = np.min(np.where(counts > 0, np.abs(steps), np.inf), axis=1, keepdims=True)
    # relative to the nearest horizon that says something: far from all of them the kernel must not vanish
    kernel = counts * np.exp(np.minimum(nearest**2 - steps**2, 0.0) / (2 * width**2))
    x = np.log(horizons / horizons[:, None])
    s0, s1, s2 = ((kernel * x**k).sum(axis=1, keepdims=True) for k in range(3))
    spread = s0 * s2 - s1**2
    line = spread > 1e-6 * s0**2  # else all weight lies on one horizon, which tells a place and no slope
    return np.asarray(np.where(line, kernel * (s2 - s1 * x) / np.where(line, spread, 1.0), kernel / s0))
