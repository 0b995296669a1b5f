"""Many NAFs fitted as one batch on a torch device."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from calibrant.distributions.logit_spline import LogitSpline, knots_of_units
from calibrant.interpolators.naf_fit import BANDWIDTHS, Array, Mixture, Problem, best, problem_of, solve

AT_ONCE = 2**26  # densities at a time


def fit_together(many: Sequence[Array], units: int, device: Any) -> list[Mixture]:
    """`fit_logistic_mixture` of each, no set of equal scores, as one batch on a torch device."""
    problems, found = [problem_of(scores, units) for scores in many], {}
    for some in _batches([problem.points.size for problem in problems], BANDWIDTHS * units):
        columns = [_stacked(each, device) for each in zip(*(problems[i] for i in some), strict=True)]
        columns[-1][columns[-1] == 0] = np.inf  # a padded unit has no density
        solved = solve(Problem(*(column[:, None] for column in columns)), columns[-1])
        for i, *own in zip(some, *(each.cpu().numpy() for each in solved), strict=True):
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


def _batches(sizes: Sequence[int], each: int) -> Iterator[list[int]]:
    """Which to work on together: such of like size, with so many numbers for each of it, as many as memory may hold."""
    powers = np.frexp(sizes)[1]
    for power in np.unique(powers):
        alike = np.flatnonzero(powers == power)
        parts = -(-alike.size * 2 ** int(power) * each // AT_ONCE)
        yield from (some.tolist() for some in np.array_split(alike, min(parts, alike.size)))


def _stacked(parts: Sequence[Any], device: Any) -> Any:
    """Arrays of one kind on a torch device, each padded with zeros to the largest."""
    import torch

    table = np.zeros((len(parts), *np.max([part.shape for part in parts], axis=0)))
    for line, part in zip(table, parts, strict=True):
        line[tuple(map(slice, part.shape))] = part
    return torch.as_tensor(table, device=device)
