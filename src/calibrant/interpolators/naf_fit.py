"""A neural autoregressive flow of one layer and one input, a CDF that is a mixture of logistics.

All happens on the scale theta = arcsin(sqrt(p)), p = (rank - 1/2) / n, on which a rank has the same standard error,
1 / (2 sqrt(n)), at every level. With Q(theta) the quantile function of the scores:

- the centres m_k are the scores nearest to equally spaced theta_k, hence dense in the tails;
- the scales t_k give unit k the standard deviation delta * dQ/dtheta, the slope of Q over theta_k +- delta: as
  dp/dtheta = 2 sqrt(p (1 - p)), units widen like density**(-1/2) in exponential tails and like |s| in Cauchy's, and an
  outlier widens only the few units next to it;
- the weights w_k maximise the likelihood, by EM from the mass that belongs to each centre;
- delta, the one smoothing parameter, has the best cross-validated likelihood among the candidates with
  |(n+1) q(u_(i)) - i| < 0.9 sqrt(n)/2, so that the lambda guard rests; if none, the nearest wins.

Deterministic, blind to the order of the scores, equivariant under s -> a s + b (a > 0) up to rounding. Ties share their
mid-rank. More than `BINS` distinct scores are binned: beyond the sort, the cost does not grow with n.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from calibrant._arrays import concatenate, namespace
from calibrant._special import log_logistic, sigmoid
from calibrant.distributions.logit_spline import LogitSpline, knots_of_units

Array = NDArray[np.float64]
Mixture = tuple[Array, Array, Array]
"""The weights, the centres and the scales."""

BANDWIDTHS, WIDEST, NARROWEST = 7, 0.4, 0.0125  # candidates for delta, in theta, which runs from 0 to pi/2
STEPS = 100  # of EM on the weights
FOLDS = 5  # of the cross-validation that picks delta
BINS = 1000  # more distinct scores than this are summarised by this many weighted ones
NEAR = 0.9  # of sqrt(n)/2: how near to the ranks a candidate must stay
AT_ONCE = 2**26  # densities at a time, of many fits as one batch


class Problem(NamedTuple):
    """The scores, summarised as points, and the units that need weights; of many at once, with more axes before."""

    points: Any
    by_fold: Any
    """The number of scores at each point, by fold."""
    ends: Any
    """The last score of each point, where q is compared with its rank."""
    ranks: Any
    n: Any
    locs: Any
    mass: Any
    scales: Any
    """A line for each delta."""


def fit_logistic_mixture(scores: Array, units: int = 200, weights: Array | None = None) -> Mixture:
    """q(s) = sum of w_k sigmoid((s - m_k) / t_k) with at most so many units, 2 or more, of scores not all equal.

    A score counts its weight.
    """
    problem = problem_of(scores, units, weights)
    found = [solve(problem, scales) for scales in problem.scales]
    return best(problem, *map(np.asarray, zip(*found, strict=True)))


def problem_of(scores: Array, units: int, weights: Array | None = None) -> Problem:
    """What is to be solved for scores that are not all equal."""
    scores = np.asarray(scores, np.float64)
    order = np.argsort(scores, kind="stable")
    weights = np.ones(scores.size) if weights is None else weights[order]
    values, place = np.unique(scores[order], return_inverse=True)
    counts, n = np.bincount(place, weights), weights.sum(keepdims=True)
    ranks = np.cumsum(counts) - (counts - 1) / 2
    theta = np.arcsin(np.sqrt(np.clip((ranks - 0.5) / n, 0, 1)))
    bins = np.arange(values.size)
    if values.size > BINS:
        bins = np.unique(np.searchsorted(np.linspace(theta[0], theta[-1], BINS), theta), return_inverse=True)[1]
    last = np.flatnonzero(np.diff(bins, append=bins[-1] + 1))  # the last value of every bin
    fold = np.random.default_rng(0).permutation(scores.size) % FOLDS  # a fixed shuffle of the ranks
    by_fold = np.bincount(bins[place] * FOLDS + fold, weights, last.size * FOLDS).reshape(last.size, FOLDS)
    points = np.bincount(bins, values * counts) / by_fold.sum(axis=1)

    levels = np.linspace(theta[0], theta[-1], units)
    nearest = np.unique(np.rint(np.interp(levels, theta, np.arange(values.size))).astype(np.int64))
    nodes = theta[nearest]
    mass = np.diff(np.sin(np.concatenate(([0.0], (nodes[1:] + nodes[:-1]) / 2, [np.pi / 2]))) ** 2)
    delta = np.geomspace(np.clip(1 / np.sqrt(n), NARROWEST, WIDEST), WIDEST, BANDWIDTHS)
    low, high = np.maximum(nodes - delta, theta[0]), np.minimum(nodes + delta, theta[-1])
    slopes = (np.interp(high, theta, values) - np.interp(low, theta, values)) / (high - low)
    scales = delta * slopes * np.sqrt(3) / np.pi
    return Problem(points, by_fold, values[last], ranks[last], n, values[nearest], mass, scales)


def solve(problem: Problem, scales: Any) -> tuple[Any, Any, Any]:
    """The weights by EM on all the counts; the loss, minus the mean log density of each fold by the others; the gap.

    One step is w_k <- (mass_k + sum_i c_i w_k f_k(x_i) / f(x_i)) / (1 + sum_i c_i), with c_i the count of
    point x_i: the prior mass counts as one score and keeps every weight positive. The folds and the whole run side by
    side, one column each. Dividing the f_k(x_i) by their largest over k cancels in the step. The gap is the largest
    |(n+1) q(u_(i)) - i|. In a batch a padded unit has no mass, so its weight stays 0; a padded point holds no score.
    """
    xp, by_fold, mass = namespace(problem.points), problem.by_fold, problem.mass
    locs, scales = problem.locs[..., None, :], scales[..., None, :]
    log_density = log_logistic((problem.points[..., None] - locs) / scales) - xp.log(scales)
    largest = xp.max(log_density, axis=-1, keepdims=True)
    density = xp.exp(log_density - largest)
    total = xp.sum(by_fold, axis=-1, keepdims=True)
    counts = concatenate([total - by_fold, total], axis=-1)
    prior, size = mass[..., None], 1 + xp.sum(counts, axis=-2, keepdims=True)
    weights, transposed = prior * xp.ones_like(size), xp.matrix_transpose(density)
    for _ in range(STEPS):
        weights = (prior + weights * (transposed @ (counts / (density @ weights)))) / size
    fit = xp.log(density @ weights[..., :FOLDS]) + largest
    loss = -xp.sum(by_fold * fit, axis=(-1, -2)) / xp.sum(by_fold, axis=(-1, -2))
    last = weights[..., -1] / xp.sum(weights[..., -1], axis=-1, keepdims=True)
    q = (sigmoid((problem.ends[..., None] - locs) / scales) @ last[..., None])[..., 0]
    gap = abs((problem.n + 1) * q - problem.ranks)
    return last, loss, xp.max(xp.where(total[..., 0] > 0, gap, xp.zeros_like(gap)), axis=-1)


def best(problem: Problem, weights: Array, losses: Array, gaps: Array) -> Mixture:
    """The solution near the ranks with the least loss."""
    far = np.maximum(gaps / (np.sqrt(problem.n) / 2), NEAR)
    k = np.lexsort((losses, far))[0]
    return weights[k][: problem.locs.size], problem.locs, problem.scales[k]


def fit_together(many: Sequence[Array], units: int, device: Any) -> list[Mixture]:
    """`fit_logistic_mixture` of each, no set of equal scores, as one batch on a torch device."""
    problems, found = [problem_of(scores, units) for scores in many], {}
    order = np.argsort([problem.points.size for problem in problems])
    batch = max(1, AT_ONCE // (BINS * BANDWIDTHS * units))
    for some in np.array_split(order, -(-len(many) // batch)):
        columns = [_stacked(each, device) for each in zip(*(problems[i] for i in some), strict=True)]
        columns[-1][columns[-1] == 0] = np.inf  # a padded unit has no density
        solved = solve(Problem(*(column[:, None] for column in columns)), columns[-1])
        for i, *own in zip(some.tolist(), *(each.cpu().numpy() for each in solved), strict=True):
            found[i] = best(problems[i], *own)
    return [found[i] for i in range(len(many))]


def splines_together(many: Sequence[Array], units: int, device: Any) -> list[LogitSpline]:
    """The smooth distribution of each, as NAF has it before its guard."""
    import torch

    splines = []
    for mixture in fit_together(many, units, device):
        knots = np.unique(knots_of_units(*mixture[1:]))
        s, w, m, t = (torch.as_tensor(part, device=device) for part in (knots, *mixture))
        z = (s[:, None] - m) / t
        below, above = torch.nn.functional.logsigmoid(z), torch.nn.functional.logsigmoid(-z)
        F, S, f = (torch.logsumexp(torch.log(w) + part, -1) for part in (below, above, below + above - torch.log(t)))
        splines.append(LogitSpline.drawn(knots, (F - S).cpu().numpy(), (f - F - S).cpu().numpy(), like=knots))
    return splines


def _stacked(parts: Sequence[Any], device: Any) -> Any:
    """Arrays of one kind on a torch device, each padded with zeros to the largest."""
    import torch

    table = np.zeros((len(parts), *np.max([part.shape for part in parts], axis=0)))
    for line, part in zip(table, parts, strict=True):
        line[tuple(map(slice, part.shape))] = part
    return torch.as_tensor(table, device=device)
