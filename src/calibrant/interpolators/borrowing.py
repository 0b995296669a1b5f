"""How a group borrows: its distribution is a mixture of that of all scores and of ever more of its own.

Group g has n_g scores u with the location m and the spread s. Its distribution is

    F_g(u) = a_0 P(u) + sum over k of a_k B_k(v),    v = W((u - m) / s),

where P is the smooth distribution of all scores, W that of all scores standardised without the score itself, and B_k
the Bernstein polynomial of degree k through that of the group's own v: B_1(v) = v is the shape of all groups at the
group's place and spread, and the larger k is, the more is the group's own. The weights a have the largest likelihood on
scores that were left out, group by group. Nothing is iterated but these weights, and all groups are worked on at once.
"""

from __future__ import annotations

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
FEWEST = 4  # scores that tell a place and a spread when some are held out
FOLDS = 5  # of the held-out scores
FINEST = 8  # a degree is at most so many times the number of scores
STEPS = 20  # of EM on the weights
CELLS = 1024  # of [0, 1], on which the Bernstein polynomials are drawn
OUTLYING = 6  # half inter-quartile ranges, beyond which a score counts as if it lay there
LEVELS: NDArray[np.float64] = expit(np.linspace(-10, 10, 21))  # where P and W are drawn, beside the scores
SHARED = 5  # scores that the weights of all groups count as, where they lend to each other
NOTHING = 1e-3  # a weight below this is none
AT_ONCE = 2**22  # numbers that are worked on at a time


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

    def only(self, kept: NDArray[np.bool_]) -> Parts:
        """Some of the scores."""
        before = np.concatenate([[0], np.cumsum(kept)])
        return Parts(self.scores[kept], before[self.first])


@dataclass(frozen=True)
class Lent:
    """What neighbours lend, one more part of the mixture: L_g(u) = shape((u - place_g) / spread_g)."""

    shape: Distribution
    place: Numbers
    spread: Numbers
    likelihood: Numbers
    """The density of each score, from neighbours without the fold that the score is in."""

    def cdf(self, u: Numbers, owners: Counts) -> Numbers:
        """The distribution function of each owner at its u."""
        return np.asarray(self.shape.cdf((u - self.place[owners]) / self.spread[owners]), np.float64)

    def grid(self) -> Numbers:
        """Where the distributions are drawn."""
        return np.asarray(self.place[:, None] + self.spread[:, None] * self.shape.ppf(LEVELS), np.float64)


def borrowed(
    parts: Parts, accuracies: Numbers, units: int, *, folds: Counts | None = None, lent: Lent | None = None
) -> tuple[Lines, Distribution]:
    """The distributions of the groups, each within its lambda of its own ranks, as one table; and P, that of all.

    `folds` says which scores are held out together; without it, they are drawn.
    """
    pooled = smooth(np.sort(parts.scores), units)
    place, spread = loc_scale(parts)
    out_place, out_spread = _held_out(parts, _shuffled(parts) if folds is None else folds)
    group = parts.group
    degenerate = np.bincount(group, out_spread <= 0, minlength=len(spread)) > 0
    able = (parts.counts >= FEWEST) & (spread > 0) & ~degenerate
    place, spread, own = np.where(able, place, 0.0), np.where(able, spread, 1.0), able[group]
    likelihood = [np.exp(pooled.logpdf(parts.scores))]
    shape = None
    if own.any():
        out = (parts.scores - out_place)[own] / out_spread[own]
        shape = smooth(np.sort(out), units)
        likelihood.append(np.zeros(len(own)))
        likelihood[1][own] = np.exp(shape.logpdf(out)) / out_spread[own]
        z = (parts.scores - place[group]) / spread[group]
        v, density = np.asarray(shape.cdf(z)), np.exp(shape.logpdf(z)) / spread[group]
        likelihood += [density * _left_out(v, parts, able, degree) for degree in _degrees(parts, able)]
    if lent is not None:
        likelihood.append(lent.likelihood)
    weights = _weights(np.stack(likelihood, axis=1), parts, lending=lent is not None)
    return _drawn(parts, accuracies, pooled, shape, place, spread, weights, lent), pooled


def _degrees(parts: Parts, able: NDArray[np.bool_]) -> tuple[int, ...]:
    """Those that some group is large enough for."""
    most = FINEST * int(parts.counts[able].max(initial=0))
    return tuple(degree for degree in DEGREES if degree <= most)


def smooth(ordered: Numbers, units: int) -> Distribution:
    """The smooth distribution of sorted scores, as NAF has it before its guard."""
    return LogitSpline.of_mixture(*fit_logistic_mixture(ordered, units), like=ordered)


def loc_scale(parts: Parts) -> tuple[Numbers, Numbers]:
    """The mean of each group and the mean distance from it, outliers drawn in; 0 and 0 of no scores."""
    u, n = parts.scores, parts.counts
    if not len(u):  # each group has a single score, and it is held out
        return np.zeros(len(n)), np.zeros(len(n))
    begin, last = np.minimum(parts.first[:-1], len(u) - 1), len(u) - 1
    median = (u[begin + np.maximum(n - 1, 0) // 2] + u[np.minimum(begin + n // 2, last)]) / 2
    half = (u[np.minimum(begin + 3 * n // 4, last)] - u[np.minimum(begin + n // 4, last)]) / 2
    cap, group = np.where(half > 0, OUTLYING * half, np.inf), parts.group
    inner = np.clip(u - median[group], -cap[group], cap[group])
    some = np.maximum(n, 1)
    place = median + np.bincount(group, inner, minlength=len(n)) / some
    spread = np.bincount(group, np.abs(inner + (median - place)[group]), minlength=len(n)) / some
    return np.where(n > 0, place, 0.0), np.where(n > 0, spread, 0.0)


def _shuffled(parts: Parts) -> Counts:
    """The fold of each score, a fifth of its group."""
    key, group = np.random.default_rng(0).random(len(parts.scores)), parts.group
    order = np.lexsort((key, group))  # a fixed shuffle of the ranks: the order of the rows does not count
    folds = np.empty(len(key), np.int64)
    folds[order] = (np.arange(len(key)) - parts.first[group]) % FOLDS
    return folds


def _held_out(parts: Parts, folds: Counts) -> tuple[Numbers, Numbers]:
    """The place and spread of each score's group without the fold that the score is in."""
    group = parts.group
    place, spread = np.zeros(len(folds)), np.zeros(len(folds))
    for fold in range(FOLDS):
        held = folds == fold
        m, s = loc_scale(parts.only(~held))
        place[held], spread[held] = m[group[held]], s[group[held]]
    return place, spread


# ---- the group's own distribution of v ------------------------------------------------------------------------------


@cache
def _basis(degree: int) -> Numbers:
    """The Beta(j, k - j + 1) CDFs at the edges of the cells: (k, CELLS + 1)."""
    j = np.arange(1, degree + 1)[:, None]
    return np.asarray(betainc(j, degree - j + 1, np.linspace(0, 1, CELLS + 1)), np.float64)


def _cells(v: Numbers, count: int) -> Counts:
    """Which of so many equal parts of [0, 1] each v lies in."""
    return np.minimum((v * count).astype(np.int64), count - 1)


def _counts(v: Numbers, group: Counts, groups: int, degree: int) -> Numbers:
    """How many of each group's v lie in each of k equal parts of [0, 1]."""
    counts = np.bincount(group * degree + _cells(v, degree), minlength=groups * degree)
    return counts.reshape(groups, degree).astype(np.float64)


def _left_out(v: Numbers, parts: Parts, able: NDArray[np.bool_], degree: int) -> Numbers:
    """The density of each v under the Bernstein polynomial of its group's other scores; 0 where they are too few."""
    steps, group = np.diff(_basis(degree), axis=1).T * CELLS, parts.group
    density, rows = np.zeros(len(v)), np.flatnonzero((able & (FINEST * parts.counts >= degree))[group])
    counts = _counts(v, group, len(parts.counts), degree)
    for some in np.array_split(rows, 1 + len(rows) * degree // AT_ONCE):
        at = steps[_cells(v[some], CELLS)]
        all_of_them = np.einsum("ij,ij->i", counts[group[some]], at)
        its_own = at[np.arange(len(some)), _cells(v[some], degree)]
        density[some] = np.maximum(all_of_them - its_own, 0.0) / (parts.counts[group[some]] - 1)
    return density


def _weights(likelihood: Numbers, parts: Parts, *, lending: bool) -> Numbers:
    """The weights of each group's components, by EM from equal ones, which count as one more score.

    Where groups lend to each other, the weights that suit all of them count as `SHARED` more.
    """
    begin = parts.first[:-1]
    there = np.add.reduceat(likelihood, begin, axis=0) > 0
    there[:, 0] = True
    prior = there / there.sum(axis=1, keepdims=True)
    if lending:
        one = np.zeros(len(likelihood), np.int64)
        of_all = _em(likelihood, one, one[:1], prior.mean(axis=0)[None], 10 * STEPS)
        prior = SHARED * np.where(there, of_all, 0.0)
    weights = _em(likelihood, parts.group, begin, prior)
    weights[weights < NOTHING] = 0.0
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


def _drawn(
    parts: Parts,
    accuracies: Numbers,
    pooled: Distribution,
    shape: Any,
    place: Numbers,
    spread: Numbers,
    weights: Numbers,
    lent: Lent | None,
) -> Lines:
    """Each F_g at the group's scores and at some quantiles, held to its ranks, with straight lines in between."""
    groups, n, group = len(parts.counts), parts.counts, parts.group
    grids = [np.broadcast_to(pooled.ppf(LEVELS), (groups, len(LEVELS)))]
    if lent is not None:
        grids.append(lent.grid())
    if shape is not None:
        grids.append(place[:, None] + spread[:, None] * shape.ppf(LEVELS))
    grid = np.concatenate(grids, axis=1)
    owner = np.repeat(np.arange(groups), grid.shape[1])
    knots, owners = np.concatenate([parts.scores, grid.ravel()]), np.concatenate([group, owner])
    F = weights[owners, 0] * pooled.cdf(knots)
    if lent is not None:
        F += weights[owners, -1] * lent.cdf(knots, owners)
        weights = weights[:, :-1]
    if shape is not None:
        v = shape.cdf((knots - place[owners]) / spread[owners])
        F += weights[owners, 1] * v
        own_v = v[: len(group)]
        for i, degree in enumerate(DEGREES[: weights.shape[1] - 2]):
            F += _bernstein(own_v, parts, degree, v, owners, weights[:, 2 + i])
    rank = np.arange(len(group)) - parts.first[group] + 1
    low, high = ((rank + sign * accuracies[group]) / (n[group] + 1) for sign in (-1, 1))
    held = np.clip(F[: len(group)], low, high)
    probs = np.concatenate([held, _bent(F, held, parts, knots, owners)])
    order = np.lexsort((probs, knots, owners))
    knots, probs = knots[order], probs[order]
    first = np.searchsorted(owners[order], np.arange(groups + 1))
    return Lines(knots, probs, first, *_tails(knots, probs, first))


def drawn(law: Distribution) -> Lines:
    """A smooth distribution by itself, drawn at many quantiles."""
    probs = expit(np.linspace(-10, 10, 1001))
    knots, first = np.asarray(law.ppf(probs)), np.asarray([0, len(probs)])
    return Lines(knots, probs, first, *_tails(knots, probs, first))


def _bernstein(own_v: Numbers, parts: Parts, degree: int, v: Numbers, owners: Counts, weights: Numbers) -> Numbers:
    """w B_k of each owner at its v: straight between the edges of the cells."""
    F, cell = np.zeros_like(v), _cells(v, CELLS)
    group, number = parts.group, np.cumsum(weights > 0) - 1  # of each group among those that have any of it
    having = np.flatnonzero(weights > 0)
    order = np.argsort(owners, kind="stable")
    first = np.searchsorted(owners[order], np.arange(len(weights) + 1))
    mine = weights[group] > 0
    counts = _counts(own_v[mine], number[group[mine]], len(having), degree)
    for some in np.array_split(having, 1 + len(having) * CELLS // AT_ONCE):
        at_edges = (weights[some] / parts.counts[some])[:, None] * counts[number[some]] @ _basis(degree)
        if not len(some):
            break
        asked = np.concatenate([order[first[g] : first[g + 1]] for g in some])
        g, c = number[owners[asked]] - number[some[0]], cell[asked]
        low, high = at_edges[g, c], at_edges[g, c + 1]
        F[asked] = low + (high - low) * (v[asked] * CELLS - c)
    return F


def _bent(F: Numbers, held: Numbers, parts: Parts, knots: Numbers, owners: Counts) -> Numbers:
    """F beside the scores: bent by the broken line through (0, 0), (F(u_(i)), what it is held to) and (1, 1)."""
    count = len(held)
    order = np.lexsort((np.arange(len(knots)) >= count, knots, owners))  # a score comes before what ties with it
    scores_so_far = np.cumsum(order < count)
    after = np.empty(len(order), np.int64)
    after[order] = scores_so_far
    before = after[count:] - 1  # the last score at or below each point of the grid, if it is of the same group
    g = owners[count:]
    lowest, highest = before < parts.first[g], before + 1 >= parts.first[g + 1]
    a, b = np.maximum(before, 0), np.minimum(before + 1, count - 1)
    Fa, Ha = np.where(lowest, 0.0, F[a]), np.where(lowest, 0.0, held[a])
    Fb, Hb = np.where(highest, 1.0, F[b]), np.where(highest, 1.0, held[b])
    share = np.divide(F[count:] - Fa, Fb - Fa, out=np.zeros(len(g)), where=Fb > Fa)
    return np.asarray(Ha + (Hb - Ha) * np.clip(share, 0.0, 1.0))


def _tails(knots: Numbers, probs: Numbers, first: Counts) -> tuple[Numbers, Numbers]:
    """The mean excess of exponential tails that fall as the distribution does between its outermost two knots."""
    begin, end = first[:-1], first[1:] - 1

    def excess(step: Numbers, inner: Numbers, outer: Numbers) -> Numbers:
        falls = (inner > outer) & (outer > 0) & (step > 0)
        ratio = np.where(falls, inner / np.where(falls, outer, 1.0), 2.0)
        usual = np.maximum(knots[end] - knots[begin], np.finfo(np.float64).tiny)
        return np.asarray(np.where(falls, step / np.log(ratio), usual))

    left = excess(knots[begin + 1] - knots[begin], probs[begin + 1], probs[begin])
    right = excess(knots[end] - knots[end - 1], 1 - probs[end - 1], 1 - probs[end])
    return left, right
