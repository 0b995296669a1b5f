"""Two methods over all datasets: shares, wins, Wilcoxon's test, ranks."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.stats import rankdata, wilcoxon

from studies.means import Mean, over_datasets
from studies.tabular.outcomes import Outcomes


@dataclass(frozen=True)
class Duel:
    """One method against another, dataset by dataset."""

    one: str
    other: str
    share: Mean
    """The mean over datasets of one's value over the other's."""
    wins: int
    """Tables on which one's mean is lower."""
    ties: int
    """Tables on which both are equal, as where a choice fell on the other."""
    of: int
    p: float
    """Of Wilcoxon's signed-rank test on the logarithms of the shares, two-sided."""
    adjusted: float
    """By Holm, for all duels of the same table of results."""


def duels(outcomes: Outcomes, base: str, metric: str, one: str, others: Sequence[str]) -> list[Duel]:
    """One method against several; those that share no dataset with it are left out."""
    found = []
    for other in others:
        shares = [outcomes.share(dataset, base, one, metric, other) for dataset in outcomes.datasets]
        known = [share.value for share in shares if share.value is not None]
        if known:
            found.append((other, over_datasets(s for s in shares if s.value is not None), known))
    ps = [signed_rank(known) for _, _, known in found]
    return [
        Duel(one, other, mean, sum(v < 1 for v in known), sum(v == 1 for v in known), len(known), p, adjusted)
        for (other, mean, known), p, adjusted in zip(found, ps, holm(ps), strict=True)
    ]


def signed_rank(shares: Sequence[float]) -> float:
    """The p-value of Wilcoxon's signed-rank test that the shares lie about 1; exact for few datasets without ties.

    >>> round(signed_rank([0.9, 0.8, 0.7, 0.6, 0.5]), 4)
    0.0625
    >>> signed_rank([1.0, 1.0])
    1.0
    """
    logs = np.log(np.asarray(shares, dtype=np.float64))
    logs = logs[logs != 0]  # ties say nothing either way
    return 1.0 if logs.size == 0 else float(wilcoxon(logs).pvalue)


def holm(ps: Sequence[float]) -> list[float]:
    """Holm's adjusted p-values: the i-th smallest of m is multiplied by m - i + 1, and none is below one before it.

    >>> holm([0.01, 0.04, 0.03])
    [0.03, 0.06, 0.06]
    """
    adjusted, before = [0.0] * len(ps), 0.0
    for rank, k in enumerate(sorted(range(len(ps)), key=ps.__getitem__)):
        before = max(before, min(1.0, (len(ps) - rank) * ps[k]))
        adjusted[k] = before
    return adjusted


def mean_ranks(outcomes: Outcomes, base: str, metric: str, methods: Sequence[str]) -> dict[str, float]:
    """The mean over datasets of each method's rank, 1 for the lowest; a value that is not finite comes last."""
    ranks = []
    for dataset in outcomes.datasets:
        means = [outcomes.mean(dataset, base, method, metric) for method in methods]
        if all(mean.of for mean in means):
            ranks.append(rankdata([math.inf if mean.value is None else mean.value for mean in means]))
    return dict(zip(methods, map(float, np.mean(ranks, axis=0)), strict=True)) if ranks else {}
