"""How a group borrows: its distribution is a mixture of that of all scores and of ever more of its own.

Group g has n_g scores u with the location m and the spread s. Its distribution is

    F_g(u) = a_0 P(u) + sum over k of a_k B_k(v),    v = W((u - m) / s),

where P is the smooth distribution of all scores, W that of all scores standardised without the score itself, and B_k
the Bernstein polynomial of degree k through that of the group's own v: B_1(v) = v is the shape of all groups at the
group's place and spread, and the larger k is, the more is the group's own. The weights a have the largest likelihood on
scores that were left out, group by group. Nothing is iterated but these weights, and all groups are worked on at once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import betainc, expit

from calibrant.distributions.base import Distribution
from calibrant.distributions.logit_spline import LogitSpline
from calibrant.distributions.piecewise_linear import Lines, Numbers
from calibrant.interpolators.naf_fit import fit_logistic_mixture

Counts = NDArray[np.int64]

DEGREES = (4, 16, 64, 256, 1024)  # of the group's own distributions
FEWEST = 4  # scores that give a place and a spread when some are held out
FOLDS = 5  # of the held-out scores
FINEST = 8  # a degree is at most so many times the number of scores
STEPS = 20  # of EM on the weights
CELLS = 1024  # of [0, 1], on which the Bernstein polynomials are drawn
OUTLYING = 6  # half inter-quartile ranges, beyond which a score counts as if it lay there
LEVELS: NDArray[np.float64] = expit(np.linspace(-10, 10, 21))  # where P and W are drawn, besides the scores
SHARED = 5  # scores that the weights of all groups count as, where neighbours count
NEGLIGIBLE = 1e-3  # a weight below this is 0
AT_ONCE = 1024  # groups whose polynomials are in memory at a time


@dataclass(frozen=True)
class Parts:
    """Scores sorted by group and then by size: those of group g lie from first[g] to first[g + 1]."""

    scores: Numbers
    first: Counts

    @property
    def counts(self) -> Counts:
        """n_g."""
        return np.diff(self.first)

    @property
    def group(self) -> Counts:
        """The group of each score."""
        return np.repeat(np.arange(len(self.first) - 1), self.counts)

    def only(self, some: NDArray[np.bool_]) -> Parts:
        """Some of the scores."""
        before = np.concatenate([[0], np.cumsum(some)])
        return Parts(self.scores[some], before[self.first])

    def split(self) -> list[Numbers]:
        """The scores of each group."""
        return np.split(self.scores, self.first[1:-1])

    def places(self, key: Counts | Numbers) -> Counts:
        """The place of each score in its group, 0, 1, ..., where groups are sorted by a key."""
        places = np.empty(len(key), np.int64)
        places[np.lexsort((key, self.group))] = np.arange(len(key)) - self.first[self.group]
        return places


@dataclass(frozen=True)
class Component:
    """A component of the mixture: shape((u - place_g) / spread_g)."""

    shape: Distribution
    place: Numbers
    spread: Numbers
    likelihood: Numbers
    """The density of each score, by one that did not see it."""

    def cdf(self, u: Numbers, groups: Counts) -> Numbers:
        """The distribution function of each u's group."""
        return np.asarray(self.shape.cdf((u - self.place[groups]) / self.spread[groups]), np.float64)

    def grid(self) -> Numbers:
        """Where the distributions are drawn."""
        return np.asarray(self.place[:, None] + self.spread[:, None] * self.shape.ppf(LEVELS), np.float64)


def borrowed(
    parts: Parts, accuracies: Numbers, units: int, folds: Counts, neighbours: Component | None
) -> tuple[Lines, Distribution]:
    """The distributions of the groups, each within its lambda of its own ranks, as one table; and P, that of all.

    `folds` says which scores are held out together; `neighbours` is one more component.
    """
    group, n, groups = parts.group, parts.counts, len(parts.counts)
    pooled = smooth(parts.scores, units)
    components = [Component(pooled, np.zeros(groups), np.ones(groups), np.exp(pooled.logpdf(parts.scores)))]
    components += [] if neighbours is None else [neighbours]
    (place, spread), out = loc_scale(parts), held_out(parts, folds)
    able = (n >= FEWEST) & (spread > 0) & ~(np.bincount(group, out[1] <= 0, groups) > 0)
    own, most, likelihood = able[group], FINEST * n[able].max(initial=0), []
    degrees = [degree for degree in DEGREES if degree <= most]
    if degrees:
        place, spread = np.where(able, place, 0.0), np.where(able, spread, 1.0)
        shape, densities = standardised(parts.scores[own], out[0][own], out[1][own], units)
        components.append(Component(shape, place, spread, np.zeros(len(own))))
        components[-1].likelihood[own] = densities
        z = (parts.scores - place[group]) / spread[group]
        v, density = np.asarray(shape.cdf(z)), np.exp(shape.logpdf(z)) / spread[group]
        likelihood = [density * _left_out(v, parts, able & (degree <= FINEST * n), degree) for degree in degrees]
    likelihood = [each.likelihood for each in components] + likelihood
    weights = _weights(np.stack(likelihood, axis=1), parts, shared=neighbours is not None)

    grid = np.concatenate([each.grid() for each in components], axis=1)
    owners = np.concatenate([group, np.repeat(np.arange(groups), grid.shape[1])])
    order = np.argsort(owners, kind="stable")  # of each group its scores, then its grid
    owners, knots, of_scores = owners[order], np.concatenate([parts.scores, grid.ravel()])[order], order < len(group)
    columns = zip(weights.T, components, strict=False)
    F = np.sum([weight[owners] * each.cdf(knots, owners) for weight, each in columns], axis=0)
    if degrees:
        first, v_knots = parts.first + grid.shape[1] * np.arange(groups + 1), components[-1].cdf(knots, owners)
        for weight, degree in zip(weights.T[len(components) :], degrees, strict=True):
            for rows, number, edges in _polynomials(v, parts, weight > 0, degree, first):
                cell, g = _cells(v_knots[rows], CELLS), owners[rows]
                low, high = edges[number, cell], edges[number, cell + 1]
                F[rows] += (weight / n)[g] * (low + (high - low) * (v_knots[rows] * CELLS - cell))
    return _guarded(F, knots, owners, of_scores, parts, accuracies), pooled


def smooth(scores: Numbers, units: int) -> Distribution:
    """The smooth distribution of scores, as NAF has it before its guard."""
    return LogitSpline.of_mixture(*fit_logistic_mixture(scores, units), like=scores)


def standardised(u: Numbers, place: Numbers, spread: Numbers, units: int) -> tuple[Distribution, Numbers]:
    """The smooth distribution of (u - place) / spread, and the density that it gives each u."""
    z = (u - place) / spread
    shape = smooth(z, units)
    return shape, np.exp(shape.logpdf(z)) / spread


def loc_scale(parts: Parts) -> tuple[Numbers, Numbers]:
    """The mean of each group and the mean distance from it, outliers drawn in; 0 and 0 of no scores."""
    u, n, group = parts.scores, parts.counts, parts.group
    if not len(u):  # each group has a single score, and it is held out
        return np.zeros(len(n)), np.zeros(len(n))

    def at(rank: Counts) -> Numbers:
        return np.asarray(u[np.minimum(parts.first[:-1] + rank, len(u) - 1)])

    def mean(values: Numbers) -> Numbers:
        return np.bincount(group, values, len(n)) / np.maximum(n, 1)

    median, half = (at(np.maximum(n - 1, 0) // 2) + at(n // 2)) / 2, (at(3 * n // 4) - at(n // 4)) / 2
    cap = np.where(half > 0, OUTLYING * half, np.inf)[group]
    inner = np.clip(u - median[group], -cap, cap)
    moved = mean(inner)
    return np.where(n > 0, median + moved, 0.0), mean(np.abs(inner - moved[group]))


def held_out(parts: Parts, folds: Counts, smoothed: Callable[..., Any] | None = None) -> tuple[Numbers, Numbers]:
    """The place and spread of each score's group, as it is or smoothed, without the fold that the score is in."""
    found, group = np.zeros((2, len(folds))), parts.group
    for fold in range(FOLDS):
        out, rest = folds == fold, parts.only(folds != fold)
        own = loc_scale(rest)
        found[:, out] = np.stack(own if smoothed is None else smoothed(*own, rest.counts))[:, group[out]]
    return found[0], found[1]


# ---- the group's own distribution of v ------------------------------------------------------------------------------


@cache
def _basis(degree: int) -> Numbers:
    """The Beta(j, k - j + 1) CDFs at the edges of the cells: (k, CELLS + 1)."""
    j = np.arange(1, degree + 1)[:, None]
    return np.asarray(betainc(j, degree - j + 1, np.linspace(0, 1, CELLS + 1)), np.float64)


def _cells(v: Numbers, count: int) -> Counts:
    """Which of so many equal parts of [0, 1] each v lies in."""
    return np.minimum((v * count).astype(np.int64), count - 1)


def _polynomials(
    v: Numbers, parts: Parts, chosen: NDArray[np.bool_], degree: int, first: Counts
) -> Iterator[tuple[Counts, Counts, Numbers]]:
    """n_g times the Bernstein polynomial through the v of each chosen group, at the edges of the cells; some at a time.

    With the rows of each group, which lie from first[g] to first[g + 1], and its number in the table.
    """
    for some in np.array_split(np.flatnonzero(chosen), 1 + np.sum(chosen) // AT_ONCE):
        if some.size:
            mine, number = _rows(parts.first, some)
            bins = number * degree + _cells(v[mine], degree)
            counts = np.bincount(bins, minlength=degree * some.size).reshape(-1, degree)
            yield *_rows(first, some), counts.astype(np.float64) @ _basis(degree)


def _rows(first: Counts, groups: Counts) -> tuple[Counts, Counts]:
    """The rows of some groups, and which of these groups each is of."""
    rows = [np.arange(first[g], first[g + 1]) for g in groups]
    return np.concatenate(rows), np.repeat(np.arange(len(groups)), [len(each) for each in rows])


def _left_out(v: Numbers, parts: Parts, chosen: NDArray[np.bool_], degree: int) -> Numbers:
    """The density of each v under the Bernstein polynomial of its group's other scores; 0 where it is not chosen."""
    density, steps = np.zeros(len(v)), np.diff(_basis(degree))
    for rows, number, edges in _polynomials(v, parts, chosen, degree, parts.first):
        cell = _cells(v[rows], CELLS)
        others = edges[number, cell + 1] - edges[number, cell] - steps[_cells(v[rows], degree), cell]
        density[rows] = np.maximum(others, 0.0) * CELLS / (parts.counts[parts.group[rows]] - 1)
    return density


def _weights(likelihood: Numbers, parts: Parts, *, shared: bool) -> Numbers:
    """The weights of each group's components, by EM from equal ones, which count as one more score.

    Where neighbouring groups count, the weights that suit all groups are `SHARED` more.
    """
    begin = parts.first[:-1]
    there = np.add.reduceat(likelihood, begin, axis=0) > 0
    there[:, 0] = True
    prior = there / there.sum(axis=1, keepdims=True)
    if shared:
        one = np.zeros(len(likelihood), np.int64)
        of_all = _em(likelihood, one, one[:1], prior.mean(axis=0)[None], 10 * STEPS)
        prior = SHARED * np.where(there, of_all, 0.0)
    weights = _em(likelihood, parts.group, begin, prior)
    weights[weights < NEGLIGIBLE] = 0.0
    return np.asarray(weights / weights.sum(axis=1, keepdims=True))


def _em(likelihood: Numbers, group: Counts, begin: Counts, prior: Numbers, steps: int = STEPS) -> Numbers:
    """The weights of the largest likelihood, with a prior that counts as so many more scores."""
    weights = prior / prior.sum(axis=1, keepdims=True)
    for _ in range(steps):
        share = weights[group] * likelihood
        share /= np.maximum(share.sum(axis=1, keepdims=True), np.finfo(np.float64).tiny)
        weights = prior + np.add.reduceat(share, begin, axis=0)
        weights /= weights.sum(axis=1, keepdims=True)
    return np.asarray(weights)


# ---- the distributions, drawn ---------------------------------------------------------------------------------------


def _guarded(
    F: Numbers, knots: Numbers, owners: Counts, of_scores: NDArray[np.bool_], parts: Parts, accuracies: Numbers
) -> Lines:
    """Each F_g clipped to the ranks of the group's scores; between these bent by lines, from (0, 0) to (1, 1)."""
    group, n, numbers = parts.group, parts.counts[parts.group], 2 * np.arange(len(parts.counts))
    rank = np.arange(len(group)) - parts.first[group] + 1
    low, high = ((rank + sign * accuracies[group]) / (n + 1) for sign in (-1, 1))
    clipped = np.clip(F[of_scores], low, high)
    # all lines in one: that of group g runs from (2g, 2g) to (2g + 1, 2g + 1)
    x, y = (np.sort(np.concatenate([2 * group + p, numbers, numbers + 1])) for p in (F[of_scores], clipped))
    probs = np.interp(2 * owners + F, x, y) - 2 * owners
    probs[of_scores] = clipped
    knots, probs = (column[np.lexsort((column, owners))] for column in (knots, probs))
    return _lines(knots, probs, np.searchsorted(owners, np.arange(len(numbers) + 1)))


def drawn(smooth: Distribution) -> Lines:
    """A smooth distribution by itself, drawn at many quantiles."""
    probs = expit(np.linspace(-10, 10, 1001))
    return _lines(np.asarray(smooth.ppf(probs)), probs, np.asarray([0, len(probs)]))


def _lines(knots: Numbers, probs: Numbers, first: Counts) -> Lines:
    """With exponential tails that fall as the distribution does between its outermost two knots."""
    begin, end = first[:-1], first[1:] - 1
    usual = np.maximum(knots[end] - knots[begin], np.finfo(np.float64).tiny)

    def excess(step: Numbers, inner: Numbers, outer: Numbers) -> Numbers:
        with np.errstate(all="ignore"):
            mean = step / np.log(inner / outer)
        return np.asarray(np.where(np.isfinite(mean) & (mean > 0), mean, usual))

    left = excess(knots[begin + 1] - knots[begin], probs[begin + 1], probs[begin])
    right = excess(knots[end] - knots[end - 1], 1 - probs[end - 1], 1 - probs[end])
    return Lines(knots, probs, first, left, right)
