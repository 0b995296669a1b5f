"""A neural autoregressive flow of one layer and one input: a CDF that is a mixture of logistics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import expit

Array = NDArray[np.float64]
Parts = tuple[Array, Array, Array]

BANDWIDTHS, WIDEST, NARROWEST = 7, 0.4, 0.0125  # candidates for delta, in theta, which runs from 0 to pi/2
STEPS = 100  # of EM on the weights
FOLDS = 5  # of the cross-validation that picks delta
BINS = 1000  # more distinct scores than this are summarised by this many weighted ones
NEAR = 0.9  # of sqrt(n)/2: how near to the ranks a candidate must stay
POINT_WIDTH = 2.0**-20  # the scale, relative to their magnitude, of scores that are all equal
FLOOR = 1e-307  # the least scale relative to the largest score: keeps every (s - m_k) / t_k finite


def fit_logistic_mixture(scores: Array, units: int = 200, weights: Array | None = None) -> Parts:
    """Fit q(s) = sum_k w_k sigmoid((s - m_k) / t_k) to the scores; return (w, m, t), each <= ``units`` long.

    All happens on the scale theta = arcsin(sqrt(p)), p = (rank - 1/2) / n, on which a rank has the same
    standard error, 1 / (2 sqrt(n)), at every level. With Q(theta) the quantile function of the scores:

    - the centres m_k are the scores nearest to equally spaced theta_k, hence dense in the tails;
    - the scales give unit k the standard deviation delta * dQ/dtheta, the slope of Q over theta_k +- delta:
      as dp/dtheta = 2 sqrt(p (1 - p)), units widen like density**(-1/2) in exponential tails and like |s| in
      Cauchy's, and an outlier widens only the few units next to it;
    - the weights maximise the likelihood, by EM from the mass that belongs to each centre;
    - delta, the one smoothing parameter, has the best cross-validated likelihood among the candidates with
      |(n+1) q(u_(i)) - i| < 0.9 sqrt(n)/2, so that the lambda guard rests; if none, the nearest wins.

    Deterministic, blind to the order of the scores, equivariant under s -> a s + b (a > 0) up to rounding.
    Ties share their mid-rank. Equal scores give one narrow logistic (of scale 1 if they are 0). More than
    ``BINS`` distinct scores are binned: beyond the sort, the cost does not grow with n. Needs units >= 2.
    A score with a weight counts as so many; n is then their sum.
    """
    problem = prepare(scores, units, weights)
    return problem if isinstance(problem, tuple) else problem.best([_solve(problem, t) for t in problem.scales])


@dataclass(frozen=True, eq=False)
class Solution:
    """What EM found with one delta."""

    weights: Array
    loss: float
    """Minus the cross-validated log likelihood of a score."""
    gap: float
    """The largest |(n+1) q(u_(i)) - i|."""


@dataclass(frozen=True, eq=False)
class Problem:
    """The scores, summarised and scaled into [-1, 1] about their median, and the units that are to have weights."""

    points: Array
    held: Array
    """The number of scores at each point, by fold."""
    ends: Array
    """The last score of each point, where q is compared with its rank."""
    ranks: Array
    n: float
    locs: Array
    mass: Array
    scales: Array
    """A line for each delta."""
    centre: float
    exponent: int

    def best(self, solutions: Sequence[Solution]) -> Parts:
        """The solution near the ranks with the least loss, in the unit of the scores."""
        far = [solution.gap / (np.sqrt(self.n) / 2) for solution in solutions]
        k = min(range(len(solutions)), key=lambda k: (max(far[k], NEAR), solutions[k].loss))
        with np.errstate(over="ignore"):
            scales = np.ldexp(self.scales[k], self.exponent)
        scales = np.clip(scales, np.finfo(np.float64).tiny, np.finfo(np.float64).max)
        return solutions[k].weights, np.ldexp(self.locs + self.centre, self.exponent), scales


def prepare(scores: Array, units: int, weights: Array | None = None) -> Problem | Parts:
    """What is to be solved; or the one narrow logistic of scores that floats cannot tell apart."""
    scores = np.asarray(scores, dtype=np.float64).ravel()
    order = np.argsort(scores, kind="stable")
    scores, weights = scores[order], np.ones(scores.size) if weights is None else np.asarray(weights)[order]
    size, n = scores.size, float(weights.sum())
    exponent = int(np.frexp(np.abs(scores[[0, -1]]).max())[1])
    scores = np.ldexp(scores, -exponent)  # now in [-1, 1], exactly: no difference or ratio below overflows
    centre = scores[(size - 1) // 2]
    values, place = np.unique(scores - centre, return_inverse=True)
    counts = np.bincount(place, weights)
    if values.size == 1:
        scale = np.ldexp(POINT_WIDTH * np.abs(centre), exponent) if centre else 1.0
        return np.ones(1), np.ldexp([centre], exponent), np.array([max(scale, np.finfo(np.float64).tiny)])

    ranks = np.cumsum(counts) - (counts - 1) / 2
    theta = np.arcsin(np.sqrt(np.clip((ranks - 0.5) / n, 0, 1)))
    bins = np.arange(values.size)
    if values.size > BINS:
        edges = np.linspace(theta[0], theta[-1], BINS)
        bins = np.unique(np.searchsorted(edges, theta), return_inverse=True)[1]
    last = np.flatnonzero(np.diff(bins, append=bins[-1] + 1))  # the last value of every bin
    fold = np.random.default_rng(0).permutation(size) % FOLDS  # a fixed shuffle of the ranks
    held: Array = np.zeros(last.size * FOLDS)
    np.add.at(held, bins[place] * FOLDS + fold, weights)
    held = held.reshape(last.size, FOLDS)
    points = np.bincount(bins, values * counts) / held.sum(axis=1)

    levels = np.linspace(theta[0], theta[-1], units)
    nearest = np.unique(np.rint(np.interp(levels, theta, np.arange(values.size))).astype(np.int64))
    nodes, locs = theta[nearest], values[nearest]
    mass = np.diff(np.sin(np.concatenate(([0.0], (nodes[1:] + nodes[:-1]) / 2, [np.pi / 2]))) ** 2)
    scales = []
    for delta in np.geomspace(np.clip(1 / np.sqrt(n), NARROWEST, WIDEST), WIDEST, BANDWIDTHS):
        low, high = np.maximum(nodes - delta, theta[0]), np.minimum(nodes + delta, theta[-1])
        slopes = (np.interp(high, theta, values) - np.interp(low, theta, values)) / (high - low)
        scales.append(np.maximum(delta * slopes * np.sqrt(3) / np.pi, FLOOR))
    ends = values[last], ranks[last]
    return Problem(points, held, *ends, n, locs, mass, np.stack(scales), float(centre), exponent)


def _solve(problem: Problem, scales: Array) -> Solution:
    weights, loss = _fit_weights(problem.points, problem.held, problem.locs, scales, problem.mass)
    q = expit((problem.ends[:, None] - problem.locs) / scales) @ weights
    return Solution(weights, loss, float(np.abs((problem.n + 1) * q - problem.ranks).max()))


def _fit_weights(points: Array, held: Array, locs: Array, scales: Array, mass: Array) -> tuple[Array, float]:
    """Weights by EM on all the counts; and the loss, minus the mean log density of each fold by the others.

    One step is w_k <- (mass_k + sum_i c_i w_k f_k(x_i) / f(x_i)) / (1 + sum_i c_i), with c_i the count of
    point x_i: the prior ``mass`` counts as one score and keeps every weight positive. The folds and the whole
    run side by side, one column each. Dividing the f_k(x_i) by their largest over k cancels in the step.
    """
    distance = np.abs(points[:, None] - locs) / scales
    log_density = -distance - 2 * np.log1p(np.exp(-distance)) - np.log(scales)
    largest = log_density.max(axis=1, keepdims=True)
    density = np.exp(log_density - largest)
    total = held.sum(axis=1, keepdims=True)
    counts = np.hstack([total - held, total])
    prior, size = mass[:, None], 1 + counts.sum(axis=0)
    weights = np.repeat(prior, FOLDS + 1, axis=1)
    for _ in range(STEPS):
        weights = (prior + weights * (density.T @ (counts / (density @ weights)))) / size
    loss = -(held * (np.log(density @ weights[:, :FOLDS]) + largest)).sum() / held.sum()
    return weights[:, -1] / weights[:, -1].sum(), float(loss)
