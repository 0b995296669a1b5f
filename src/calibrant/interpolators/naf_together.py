"""Many NAFs fitted as one batch on a torch device: the EM of all of them, with every delta, side by side.

The numbers are those of `naf_fit`, up to the rounding of sums in another order.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import torch

from calibrant._arrays import to_numpy
from calibrant.distributions.logit_spline import LogitSpline, knots_of_units
from calibrant.interpolators.naf_fit import FOLDS, STEPS, Parts, Problem, Solution, prepare

Device = str | torch.device

_AT_ONCE = 2**28  # densities held at a time: 2 GiB, and as much again while they are made


def splines_together(many: Sequence[Any], units: int, device: Device) -> list[LogitSpline]:
    """The smooth distribution of each set of scores, as NAF has it before its guard, in numpy."""
    mixtures = fit_together([prepare(to_numpy(scores), units) for scores in many], device)
    knots = [np.unique(knots_of_units(*parts[1:])) for parts in mixtures]
    splines = []
    for some in _slices(knots, units):
        points = _stacked(knots[some], device)
        columns = (
            _stacked(column, device, fill)
            for column, fill in zip(zip(*mixtures[some], strict=True), (0.0, 0.0, 1.0), strict=True)
        )
        values, slopes = (part.cpu().numpy() for part in _logits(points, *columns))
        for own, value, log_slope in zip(knots[some], values, slopes, strict=True):
            splines.append(LogitSpline.drawn(own, value[: own.size], log_slope[: own.size], own[:0]))
    return splines


def _slices(knots: Sequence[Any], units: int) -> Iterator[slice]:
    """As many distributions at a time as the memory may hold."""
    size = max(1, _AT_ONCE // (8 * units * max(own.size for own in knots)))
    return (slice(i, i + size) for i in range(0, len(knots), size))


def _logits(s: torch.Tensor, w: torch.Tensor, m: torch.Tensor, t: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """The logit of sum_k w_k sigmoid((s - m_k) / t_k), and the log of its slope: one line per distribution."""
    w, m, t = (part[:, None, :] for part in (w, m, t))
    z, w = (s[..., None] - m) / t, torch.log(w)
    below, above = torch.nn.functional.logsigmoid(z), torch.nn.functional.logsigmoid(-z)
    F, S = torch.logsumexp(w + below, -1), torch.logsumexp(w + above, -1)
    return F - S, torch.logsumexp(w - torch.log(t) + below + above, -1) - F - S


def fit_together(problems: Sequence[Problem | Parts], device: Device) -> list[Parts]:
    """What `Problem.best` gives of each."""
    found: dict[int, Parts] = {i: each for i, each in enumerate(problems) if isinstance(each, tuple)}
    open_ones = {i: each for i, each in enumerate(problems) if isinstance(each, Problem)}
    for group in _groups(open_ones):
        solved = _solve([open_ones[i] for i in group], device)
        found |= {i: open_ones[i].best(solutions) for i, solutions in zip(group, solved, strict=True)}
    return [found[i] for i in range(len(problems))]


def _groups(problems: dict[int, Problem]) -> Iterator[list[int]]:
    """Problems of like size together, each padded to the last of its group, as many as the memory may hold."""
    group: list[int] = []
    for i in sorted(problems, key=lambda i: (problems[i].points.size, problems[i].locs.size)):
        if group:
            first, points = problems[group[0]].points.size, problems[i].points.size
            units = max(problems[j].locs.size for j in (*group, i))
            if points > 2 * first or (len(group) + 1) * len(problems[i].scales) * points * units > _AT_ONCE:
                yield group
                group = []
        group.append(i)
    if group:
        yield group


def _solve(problems: Sequence[Problem], device: Device) -> list[list[Solution]]:
    """`naf_fit._fit_weights` of every problem and delta.

    A padded unit has mass and density 0, so its weight stays 0; at a padded point all densities are 1 and no score is
    held. Axes: problem, delta, point, unit.
    """

    def stacked(name: str, fill: float = 0.0) -> torch.Tensor:
        return _stacked([getattr(problem, name) for problem in problems], device, fill)

    locs, scales, mass = stacked("locs")[:, None, None, :], stacked("scales", 1.0)[:, :, None, :], stacked("mass")
    points, held = stacked("points")[:, None, :, None], stacked("held")[:, None]
    total = held.sum(-1, keepdim=True)
    distance = (points - locs).abs() / scales
    log_density = -distance - 2 * torch.log1p(torch.exp(-distance)) - torch.log(scales)
    log_density.masked_fill_((mass == 0)[:, None, None, :], -torch.inf)
    log_density.masked_fill_(total == 0, 0.0)
    largest = log_density.amax(-1, keepdim=True)
    density = log_density.sub_(largest).exp_().mul_((mass > 0)[:, None, None, :])
    transposed = density.transpose(-1, -2)
    counts = torch.cat([total - held, total], -1)
    prior, size = mass[:, None, :, None], 1 + counts.sum(-2, keepdim=True)
    weights = prior.expand(-1, scales.shape[1], -1, FOLDS + 1)
    for _ in range(STEPS):
        weights = (prior + weights * (transposed @ (counts / (density @ weights)))) / size
    fit = torch.log(density @ weights[..., :FOLDS]) + largest
    loss = -(held * fit).sum((-1, -2)) / held.sum((-1, -2))
    last = weights[..., -1]
    last = last / last.sum(-1, keepdim=True)
    q = (torch.sigmoid((stacked("ends")[:, None, :, None] - locs) / scales) @ last[..., None])[..., 0]
    n = torch.as_tensor([problem.n for problem in problems], dtype=torch.float64, device=device)[:, None, None]
    gap = ((n + 1) * q - stacked("ranks")[:, None]).abs_().masked_fill_(total[..., 0] == 0, 0.0).amax(-1)
    columns = (part.cpu().numpy() for part in (last, loss, gap))
    return [
        [Solution(w[: problem.locs.size], float(a), float(b)) for w, a, b in zip(*lines, strict=True)]
        for problem, *lines in zip(problems, *columns, strict=True)
    ]


def _stacked(parts: Sequence[Any], device: Device, fill: float = 0.0) -> torch.Tensor:
    """Arrays of one kind, each padded to the largest."""
    table = np.full((len(parts), *np.max([part.shape for part in parts], axis=0)), fill)
    for line, part in zip(table, parts, strict=True):
        line[tuple(map(slice, part.shape))] = part
    return torch.as_tensor(table, device=device)
